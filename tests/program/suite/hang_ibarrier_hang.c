/* Rank 1 never begins the nonblocking barrier for which rank 0 waits (6.12). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request = MPI_REQUEST_NULL;
  const int members = 1;
  if (rank < members) MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* first */
  MPI_Finalize();
  return 0;
}
