/* A rank leaves the critical section early and keeps the lock (12.3.4). */
#include <mpi.h>
#include <stdio.h>

static void release(int rank, MPI_Win window) {
  int mine = rank + 1, none = 0, found;
  MPI_Compare_and_swap(&none, &mine, &found, MPI_INT, 0, 0, window);
  MPI_Win_flush(0, window);
}

static void visit(int rank, MPI_Win window) {
  int mine = rank + 1, none = 0, found = -1;
  while (found != none) {
    MPI_Compare_and_swap(&mine, &none, &found, MPI_INT, 0, 0, window); /* first */
    MPI_Win_flush(0, window);
  }
  if (rank == 0) return;
  printf("rank %d\n", rank);
  release(rank, window);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  visit(rank, window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
