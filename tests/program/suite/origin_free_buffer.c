/* Rank 0 frees the buffer of its put before the flush (12.3). */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    int* values = malloc(4 * sizeof(int));
    for (int i = 0; i < 4; ++i) values[i] = i;
    MPI_Put(values, 4, MPI_INT, 1, 0, 4, MPI_INT, window); /* first */
    free(values);                                          /* second */
    MPI_Win_flush(1, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
