/* The put of rank 0 leaves out the last cell that the owner sums up (12.3.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[3] = {1, 2, 3};
  const int count = 2;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, count, MPI_INT, 1, 0, count, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 1) {
    int sum = 0;
    for (int i = 0; i < 3; ++i) sum += cells[i]; /* first */
    if (sum == 3) printf("three\n");
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
