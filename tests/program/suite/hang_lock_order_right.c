/* Both ranks lock two windows in the same order (12.5.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win windows[2];
  int* cells[2];
  int value = rank, result = 0;
  for (int i = 0; i < 2; ++i) {
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells[i], &windows[i]);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, windows[i]);
    cells[i][0] = 0;
    MPI_Win_unlock(rank, windows[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int first = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[first]);
  MPI_Get(&result, 1, MPI_INT, 0, 0, 1, MPI_INT, windows[first]);
  MPI_Win_flush(0, windows[first]);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[1 - first]);
  MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, windows[1 - first]);
  MPI_Win_unlock(0, windows[1 - first]);
  MPI_Win_unlock(0, windows[first]);
  for (int i = 0; i < 2; ++i) MPI_Win_free(&windows[i]);
  printf("%d\n", result);
  MPI_Finalize();
  return 0;
}
