/* The program frees its operation (6.9.5). */
#include <mpi.h>
#include <stdio.h>

static void keep_larger(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i)
    if (((int*)in)[i] > ((int*)inout)[i]) ((int*)inout)[i] = ((int*)in)[i];
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op larger;
  int sum = 0;
  MPI_Op_create(keep_larger, 1, &larger);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, larger, MPI_COMM_WORLD);
  MPI_Op_free(&larger);
  printf("%d\n", sum);
  MPI_Finalize();
  return 0;
}
