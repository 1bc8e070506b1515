/* One swap tells each rank whether the other one has already been here (12.7.1). */
#include <mpi.h>

enum { NOBODY, SLEEPS, WOKEN };

static int swap(int state, MPI_Op op, MPI_Win window) {
  int before;
  MPI_Fetch_and_op(&state, &before, MPI_INT, 1, 0, op, window);
  MPI_Win_flush(1, window);
  return before;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int token = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = NOBODY;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    if (swap(WOKEN, MPI_REPLACE, window) == SLEEPS) MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    const int before = swap(SLEEPS, MPI_REPLACE, window);
    if (before != WOKEN) MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
