/* Rank 1 locks itself as rank 1 of a window in which it is rank 0, and loads (12.2.1, 12.5.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part;
  MPI_Win window;
  int* cells;
  int value = 7;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, part, &cells, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  if (rank == 1) cells[0] = 0;
  MPI_Win_unlock(0, window);
  MPI_Barrier(part);
  if (rank == 2) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window); /* first */
    MPI_Win_unlock(0, window);
  }
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    printf("%d\n", cells[0]); /* second */
    MPI_Win_unlock(1, window);
  }
  MPI_Win_free(&window);
  MPI_Comm_free(&part);
  MPI_Finalize();
  return 0;
}
