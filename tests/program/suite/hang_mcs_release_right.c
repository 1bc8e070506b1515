/* A D-MCS lock: the holder waits for a successor that has swapped but not linked (12.3.4). */
#include <mpi.h>

enum { NEXT, BLOCKED, TAIL };

static int swap(int value, int target, int cell, MPI_Op op, MPI_Win window) {
  int before;
  MPI_Fetch_and_op(&value, &before, MPI_INT, target, cell, op, window);
  MPI_Win_flush(target, window);
  return before;
}

static void acquire(int rank, MPI_Win window) {
  swap(-1, rank, NEXT, MPI_REPLACE, window);
  swap(1, rank, BLOCKED, MPI_REPLACE, window);
  const int predecessor = swap(rank, 0, TAIL, MPI_REPLACE, window);
  if (predecessor == -1) return;
  swap(rank, predecessor, NEXT, MPI_REPLACE, window);
  while (swap(0, rank, BLOCKED, MPI_NO_OP, window) == 1)
    ;
}

static void release(int rank, MPI_Win window) {
  int nobody = -1, last;
  int successor = swap(0, rank, NEXT, MPI_NO_OP, window);
  if (successor == -1) {
    MPI_Compare_and_swap(&nobody, &rank, &last, MPI_INT, 0, TAIL, window);
    MPI_Win_flush(0, window);
    if (last == rank) return;
    while (successor == -1) successor = swap(0, rank, NEXT, MPI_NO_OP, window);
  }
  swap(0, successor, BLOCKED, MPI_REPLACE, window);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  for (int i = 0; i < 3; ++i) cells[i] = -1;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  acquire(rank, window);
  release(rank, window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
