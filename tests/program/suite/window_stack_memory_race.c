/* The window covers an array of main; the owner loads before the fence (12.2.1, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int cells[2] = {0, 0};
  int value = 7;
  MPI_Win window;
  MPI_Win_create(cells, sizeof(cells), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, window); /* first */
  if (rank == 1) printf("%d\n", cells[1]);                              /* second */
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
