/* A stride of eight bytes covers the third element (5.1.2, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {rank, rank};
  MPI_Datatype strided;
  MPI_Type_create_hvector(2, 1, 2 * sizeof(int), MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int i = 0; i < 6; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 2, MPI_INT, 1, 0, 1, strided, window); /* first */
  if (rank == 2) MPI_Get(values, 1, MPI_INT, 1, 2, 1, MPI_INT, window); /* second */
  MPI_Win_fence(0, window);
  MPI_Type_free(&strided);
  printf("%d\n", cells[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
