/* An atomic read and an atomic replace lose an update under some schedules (12.7.1). */
#include <assert.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 1, seen = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  MPI_Fetch_and_op(&value, &seen, MPI_INT, 0, 0, MPI_NO_OP, window);
  MPI_Win_flush(0, window);
  value += seen;
  MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, window);
  MPI_Win_flush(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Fetch_and_op(&value, &seen, MPI_INT, 0, 0, MPI_NO_OP, window);
  MPI_Win_flush(0, window);
  assert(seen == 2); /* first */
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
