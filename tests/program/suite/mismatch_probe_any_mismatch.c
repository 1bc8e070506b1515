/* Rank 0 receives from any source, perhaps a longer message than the probe has found (3.8.1). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int values[2] = {rank, rank};
  if (rank == 0) {
    for (int i = 0; i < 2; ++i) {
      MPI_Status status;
      int count;
      MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      const int source = MPI_ANY_SOURCE;
      MPI_Recv(values, count, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* first */
    }
  } else {
    MPI_Send(values, rank, MPI_INT, 0, 0, MPI_COMM_WORLD); /* second */
  }
  MPI_Finalize();
  return 0;
}
