/* Blocks of two elements from 0 and 4 on leave elements 2 and 3 free (5.1.2, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[4] = {1, 2, 3, 4};
  const int starts[2] = {0, 4};
  MPI_Datatype blocks;
  MPI_Type_create_indexed_block(2, 2, starts, MPI_INT, &blocks);
  MPI_Type_commit(&blocks);
  for (int i = 0; i < 6; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 4, MPI_INT, 1, 0, 1, blocks, window);
  if (rank == 2) MPI_Get(values, 2, MPI_INT, 1, 2, 2, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Type_free(&blocks);
  printf("%d\n", values[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
