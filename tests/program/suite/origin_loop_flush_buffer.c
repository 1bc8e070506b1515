/* The loop flushes every second put only, and a turn writes a buffer in use (12.3, 12.5.4). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    int value = 0;
    for (int i = 0; i < 4; ++i) {
      value += i;                                            /* second */
      MPI_Put(&value, 1, MPI_INT, 1, i, 1, MPI_INT, window); /* first */
      if (i % 2 == 1) MPI_Win_flush_local(1, window);
    }
    MPI_Win_flush_local(1, window);
    printf("%d\n", value);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
