/* A second pointer writes the element beside the one that the put reads (12.3). */
#include <mpi.h>
#include <stdio.h>

static void set(int* place) { *place = 9; }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {7, 8};
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Put(values, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    int* const end = values + 2;
    set(end - 1);
    MPI_Win_flush(1, window);
    printf("%d\n", values[0]);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
