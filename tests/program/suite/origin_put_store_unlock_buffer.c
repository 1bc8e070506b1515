/* Rank 0 writes the buffer of its put before the unlock (12.3, 12.5.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window); /* first */
    value = 8;                                             /* second */
    MPI_Win_unlock(1, window);
    printf("%d\n", value);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
