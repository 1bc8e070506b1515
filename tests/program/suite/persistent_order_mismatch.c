/* The ranks make their persistent collectives in different orders (6.13). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request a, b;
  int value = rank;
  if (rank == 0) MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &a);       /* first */
  MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &b); /* second */
  if (!(rank == 0)) MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &a);
  MPI_Request_free(&a);
  MPI_Request_free(&b);
  MPI_Finalize();
  return 0;
}
