/* Shared locks let the get-accumulate of rank 0 and the owner's store meet on a cell (12.5.3, 12.7). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win win;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
  int value = 7;
  int old = 0;
  const int kind = MPI_LOCK_SHARED;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  cells[0] = 0;
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(kind, 1, 0, win);
    MPI_Get_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); /* first */
    MPI_Win_unlock(1, win);
  }
  if (rank == 1) {
    MPI_Win_lock(kind, 1, 0, win);
    cells[0] = 9; /* second */
    MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
