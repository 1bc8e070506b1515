/* Rank 0 asserts that the receive from rank 1 completes first (3.7.5). */
#include <assert.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int tokens[2] = {0, 0}, index = 0;
  if (rank == 0) {
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i) MPI_Irecv(&tokens[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    assert(index == 0); /* first */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
