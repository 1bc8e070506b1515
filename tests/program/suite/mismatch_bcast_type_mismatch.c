/* The root broadcasts an int, and rank 1 takes a float (6.4). */
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
  const MPI_Datatype type = rank == 0 ? MPI_INT : MPI_FLOAT;
  MPI_Bcast(&value, 1, type, 0, MPI_COMM_WORLD); /* first */
  printf("%d\n", value.whole);
  MPI_Finalize();
  return 0;
}
