/* Each turn of the loop puts from an element of its own (12.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[4] = {0, 0, 0, 0};
  MPI_Win_fence(0, window);
  if (rank == 0) {
    for (int i = 0; i < 4; ++i) {
      int* const place = &values[i];
      *place = i * i;
      MPI_Put(place, 1, MPI_INT, 1, i, 1, MPI_INT, window);
    }
  }
  MPI_Win_fence(0, window);
  if (rank == 1) printf("%d\n", cells[3]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
