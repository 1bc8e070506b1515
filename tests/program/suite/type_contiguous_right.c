/* Rank 2 puts behind the two elements of the contiguous type (5.1.2, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {rank, rank};
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  for (int i = 0; i < 4; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 1, two, 1, 0, 1, two, window);
  if (rank == 2) MPI_Put(values, 1, MPI_INT, 1, 2, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Type_free(&two);
  printf("%d\n", cells[1]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
