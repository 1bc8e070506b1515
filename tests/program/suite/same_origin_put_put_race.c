/* Nothing orders two puts of one origin to the same cell (12.7.2). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {7, 8};
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, window); /* first */
    MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, window); /* second */
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
