/* Rank 0 reads the first variable, whichever receive MPI_Waitany has completed (3.7.5). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int tokens[2] = {0, 0}, index = 0;
  if (rank == 0) {
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(&tokens[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]); /* first */
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    printf("%d\n", tokens[0]); /* second */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
