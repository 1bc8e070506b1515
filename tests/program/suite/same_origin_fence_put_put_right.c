/* Two puts of one origin in one fence epoch go to two cells (12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {7, 8};
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) {
    MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Put(&values[1], 1, MPI_INT, 1, 1, 1, MPI_INT, window);
  }
  MPI_Win_fence(0, window);
  printf("%d\n", cells[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
