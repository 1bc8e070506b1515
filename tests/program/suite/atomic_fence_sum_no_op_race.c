/* An accumulate meets a get that is not atomic, in a fence epoch (12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win win;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
  int value = 7;
  int old = 0;
  cells[0] = 0;
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); /* first */
  if (rank == 2) MPI_Get(&old, 1, MPI_INT, 1, 0, 1, MPI_INT, win);                   /* second */
  MPI_Win_fence(0, win);
  if (rank == 1) printf("%d\n", cells[0]);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
