/* Two subarrays cover two columns each and share none (5.1.3, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const int sizes[2] = {4, 4}, part[2] = {4, 2};
  const int starts[2] = {0, rank == 0 ? 0 : 2};
  MPI_Datatype columns;
  MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &columns);
  MPI_Type_commit(&columns);
  for (int i = 0; i < 16; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 8, MPI_INT, 1, 0, 1, columns, window);
  if (rank == 2) MPI_Put(values, 8, MPI_INT, 1, 0, 1, columns, window);
  MPI_Win_fence(0, window);
  MPI_Type_free(&columns);
  printf("%d\n", cells[1]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
