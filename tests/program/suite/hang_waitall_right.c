/* Rank 1 waits for one receive, and rank 0 sends one message (3.7.5). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int tokens[2] = {rank, rank};
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Send(&tokens[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    const int count = 1;
    for (int i = 0; i < count; ++i) MPI_Irecv(&tokens[i], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
