/* Rank 0 gets into one cell of its window while rank 1 puts into the other (12.7, unified model). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Get(&cells[0], 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  if (rank == 1) MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 0) printf("%d %d\n", cells[0], cells[1]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
