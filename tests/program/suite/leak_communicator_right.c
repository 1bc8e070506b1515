/* Both ranks free the copy of the communicator (7.4.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Bcast(&value, 1, MPI_INT, 0, copy);
  MPI_Comm_free(&copy);
  printf("%d\n", value);
  MPI_Finalize();
  return 0;
}
