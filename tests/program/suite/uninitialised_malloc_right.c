/* The window covers memory of calloc (12.2.1). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* const cells = calloc(2, sizeof(int));
  int result = 0;
  MPI_Win window;
  MPI_Win_create(cells, 2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Get(&result, 1, MPI_INT, 1, 1, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (result == 0) printf("rank %d\n", rank);
  MPI_Win_free(&window);
  free(cells);
  MPI_Finalize();
  return 0;
}
