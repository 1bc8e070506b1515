/* Rank 0 grows its buffer after the put is complete at the origin (12.3, 12.5.4). */
#include <mpi.h>
#include <stdio.h>
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
    int* values = malloc(sizeof(int));
    values[0] = 7;
    MPI_Put(values, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_flush_local(1, window);
    values = realloc(values, 1000 * sizeof(int));
    values[999] = values[0];
    printf("%d\n", values[999]);
    free(values);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
