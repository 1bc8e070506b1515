/* The owner hands the cell to a function of libc after the fence (12.7). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  for (int i = 0; i < 16; ++i) cells[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  int value = 7, copy[16] = {0};
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 1) fwrite(cells, sizeof(int), 4, stdout);
  printf("%d\n", copy[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
