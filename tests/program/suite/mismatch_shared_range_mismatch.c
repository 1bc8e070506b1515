/* Rank 1 takes the size in bytes for a displacement in cells (12.2.3, 12.3.2). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int* base;
  MPI_Aint size;
  int unit;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_shared_query(window, 0, &size, &unit, &base);
  MPI_Win_lock_all(0, window);
  int value = 0;
  if (rank == 1) MPI_Get(&value, 1, MPI_INT, 0, size, 1, MPI_INT, window); /* first */
  MPI_Win_unlock_all(window);
  printf("%d\n", value + (int)size);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
