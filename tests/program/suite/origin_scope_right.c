/* The function flushes the put before its local buffer goes out of scope (12.3, 12.5.4). */
#include <mpi.h>

static void put_square(int number, MPI_Win window) {
  int square = number * number;
  MPI_Put(&square, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_flush_local(1, window);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  MPI_Win_lock_all(0, window);
  if (rank == 0) put_square(3, window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
