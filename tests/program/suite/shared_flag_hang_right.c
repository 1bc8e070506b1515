/* Rank 0 sets the flag that rank 1 awaits (12.2.3; C11, 7.17). */
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
  _Atomic int* const flags = (_Atomic int*)first_cell;
  MPI_Win_lock_all(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    atomic_store(&flags[0], 1);
  } else {
    while (atomic_load(&flags[0]) == 0) continue;
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
