/* Both ranks broadcast an int (6.4). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  union {
    int whole;
    float real;
  } value = {rank};
  const MPI_Datatype type = MPI_INT;
  MPI_Bcast(&value, 1, type, 0, MPI_COMM_WORLD);
  printf("%d\n", value.whole);
  MPI_Finalize();
  return 0;
}
