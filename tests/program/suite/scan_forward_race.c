/* A scan does not make rank 0 wait for rank 1, and the put of rank 1 races (6.11, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7, sum = 0;
  const int owner = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank != owner) {
    MPI_Put(&value, 1, MPI_INT, owner, 0, 1, MPI_INT, window); /* first */
    MPI_Win_flush(owner, window);
  }
  MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == owner) {
    MPI_Win_sync(window);
    printf("%d\n", cells[0]); /* second */
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
