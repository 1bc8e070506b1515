/* The fetch-and-op of rank 0 and the owner's store meet on a cell in one fence epoch (12.7). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  int result = 0;
  cells[0] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Fetch_and_op(&value, &result, MPI_INT, 1, 0, MPI_SUM, window); /* first */
  if (rank == 1) cells[0] = 9;                                                      /* second */
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
