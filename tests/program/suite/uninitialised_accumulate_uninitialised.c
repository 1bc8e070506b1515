/* Nobody clears the cell to which rank 0 adds (12.2.2). */
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
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  if (rank == 1) {
    if (cells[0] == 7) printf("seven\n"); /* first */
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
