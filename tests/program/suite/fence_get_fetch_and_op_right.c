/* A fence separates the get of rank 0 from the fetch-and-op of rank 2 on the same cell (12.5.1). */
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
  if (rank == 0) MPI_Get(&result, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 2) MPI_Fetch_and_op(&value, &result, MPI_INT, 1, 0, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
