/* The origin of the put has two integers, and the target one (12.3.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {7, 8};
  MPI_Win_fence(0, window);
  const int count = 1;
  if (rank == 0) MPI_Put(values, 2, MPI_INT, 1, 0, count, MPI_INT, window); /* first */
  MPI_Win_fence(0, window);
  if (rank == 1) printf("%d\n", cells[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
