/* A memcpy fills the buffer of the put after the flush (12.3, 12.5.4). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[4] = {1, 2, 3, 4};
  const int next[4] = {5, 6, 7, 8};
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Put(values, 4, MPI_INT, 1, 0, 4, MPI_INT, window);
    MPI_Win_flush_local(1, window);
    memcpy(values, next, sizeof(values));
    printf("%d\n", values[0]);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
