/* A fetch of one origin sees the accumulate that this origin issued before (12.7.2). */
#include <assert.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win win;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "raw");
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &cells, &win);
  MPI_Info_free(&info);
  int value = 7, old = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  cells[0] = 0;
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_NO_OP, win);
    MPI_Win_flush(1, win);
    assert(old == 7);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
