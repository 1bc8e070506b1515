/* Rank 0 gets a cell that its owner has written (12.2.2). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int result = 0;
  cells[0] = 3;
  cells[1] = 4;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Get(&result, 1, MPI_INT, 1, 1, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (result > 3) printf("%d\n", result);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
