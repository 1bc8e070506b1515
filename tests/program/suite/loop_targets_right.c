/* Each rank puts its number into its own cell at every rank (12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = rank;
  for (int i = 0; i < 3; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  for (int target = 0; target < 3; ++target) {
    MPI_Put(&value, 1, MPI_INT, target, rank, 1, MPI_INT, window);
  }
  MPI_Win_fence(0, window);
  printf("%d\n", cells[0] + cells[2]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
