/* Rank 0 may fetch before the owner clears the cell by an accumulate (12.2.2). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int zero = 0, seen = 1;
  MPI_Win_lock_all(0, window);
  if (rank == 1) MPI_Accumulate(&zero, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, window);
  MPI_Win_flush_all(window);
  if (rank == 0) {
    MPI_Fetch_and_op(&zero, &seen, MPI_INT, 1, 0, MPI_NO_OP, window);
    MPI_Win_flush(1, window);
    if (seen == 0) printf("cleared\n"); /* first */
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
