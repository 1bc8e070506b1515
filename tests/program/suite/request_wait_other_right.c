/* Rank 0 reads the result of its first get after unlock and wait (12.3.5, 12.5.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int results[2] = {0, 0};
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Request requests[2];
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    MPI_Rget(&results[0], 1, MPI_INT, 1, 0, 1, MPI_INT, window, &requests[0]);
    MPI_Rget(&results[1], 1, MPI_INT, 1, 1, 1, MPI_INT, window, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Win_unlock(1, window);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    printf("%d\n", results[0]);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
