/* Each rank repeats its compare-exchange until no other one came between (C11, 7.17.7.4). */
#include <assert.h>
#include <mpi.h>
#include <stdatomic.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int* first_cell;
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(window, 0, &size, &unit, &first_cell);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  _Atomic int* const counter = (_Atomic int*)first_cell;
  MPI_Win_lock_all(0, window);
  int seen = atomic_load(counter);
  while (!atomic_compare_exchange_strong(counter, &seen, seen + 1)) continue;
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);
  assert(atomic_load(counter) == 2);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
