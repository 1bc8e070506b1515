/* An accumulate does not take an operation of the user (12.3.4). */
#include <mpi.h>
#include <stdio.h>

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  cells[0] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, own, window); /* first */
  MPI_Win_fence(0, window);
  MPI_Op_free(&own);
  printf("%d\n", cells[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
