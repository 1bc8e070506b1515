/* Rank 0 puts into the last cell of the window (12.3.1). */
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
  for (int i = 0; i < 4; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  const int last = 3;
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, last, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  printf("%d\n", cells[3]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
