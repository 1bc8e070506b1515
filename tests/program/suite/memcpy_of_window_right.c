/* The memcpy of rank 1 copies the window after the fence that completes the put (12.5.1). */
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
  int values[4] = {1, 2, 3, 4};
  int copy[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 4, MPI_INT, 1, 0, 4, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 1) memcpy(copy, cells, sizeof(copy));
  printf("%d\n", copy[3]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
