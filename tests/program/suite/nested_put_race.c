/* Two functions, one within the other, put into the same cell of rank 1 (12.7). */
#include <mpi.h>
#include <stdio.h>

static void put(int* value, int cell, MPI_Win window) {
  MPI_Put(value, 1, MPI_INT, 1, cell, 1, MPI_INT, window); /* first, second */
}

static void put_behind(int* value, int cell, MPI_Win window) { put(value, cell, window); }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = rank;
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) put(&value, 0, window);
  if (rank == 2) put_behind(&value, 0, window);
  MPI_Win_fence(0, window);
  printf("%d\n", cells[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
