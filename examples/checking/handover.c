// Rank 0 hands data to rank 1 and forgets a flush (docs/checking-a-program.md).
// [program]
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;  // the data, and a flag that says that they are there
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
  volatile int* const is_there = cells + 1;
  cells[0] = cells[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    const int data = 42, flag = 1;
    MPI_Put(&data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Put(&flag, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
  } else {
    while (*is_there != 1) MPI_Win_sync(win);
    printf("got %d\n", cells[0]);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
// [end]
