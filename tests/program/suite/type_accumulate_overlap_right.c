/* Two sums over two elements each share one element of the same type (12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {1, 2};
  short small = 1;
  for (int i = 0; i < 4; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Accumulate(values, 2, MPI_INT, 1, 0, 2, MPI_INT, MPI_SUM, window);
  if (rank == 2) MPI_Accumulate(values, 2, MPI_INT, 1, 1, 2, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  printf("%d\n", cells[1] + small);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
