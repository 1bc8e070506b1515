/* All steps use one cell, so one fence a step does not suffice (12.5.1, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int edge = rank;
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  for (int step = 0; step < 3; ++step) {
    const int cell = step / 3;
    MPI_Put(&edge, 1, MPI_INT, 1 - rank, cell, 1, MPI_INT, window); /* first */
    MPI_Win_fence(0, window);
    printf("%d\n", cells[cell]); /* second */
  }
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
