/* The function object puts from the variable that it holds by reference (12.3). */
#include <mpi.h>

template <class Action>
static void for_rank(int wanted, int rank, Action action) {
  if (wanted == rank) action();
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  MPI_Win_lock_all(0, window);
  for_rank(0, rank, [&value, window]() mutable { MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window); });
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
