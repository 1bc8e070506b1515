/* A fence separates the compare-and-swap of rank 0 from the owner's load on the same cell (12.5.1). */
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
  int result = 0;
  int compare = 0;
  cells[0] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Compare_and_swap(&value, &compare, &result, MPI_INT, 1, 0, window);
  MPI_Win_fence(0, window);
  if (rank == 1) printf("%d\n", cells[0]);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
