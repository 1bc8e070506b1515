/* The memset of rank 1 clears the window in the epoch in which rank 0 gets (12.7). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int results[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 1) memset(cells, 0, 4 * sizeof(int));                      /* second */
  if (rank == 0) MPI_Get(results, 4, MPI_INT, 1, 0, 4, MPI_INT, window); /* first */
  MPI_Win_fence(0, window);
  printf("%d\n", results[3]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
