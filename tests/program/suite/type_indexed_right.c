/* The indexed type leaves out the element into which rank 2 puts (5.1.2, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[3] = {1, 2, 3};
  const int starts[2] = {0, 4};
  const int lengths[2] = {1, 2};
  MPI_Datatype parts;
  MPI_Type_indexed(2, lengths, starts, MPI_INT, &parts);
  MPI_Type_commit(&parts);
  for (int i = 0; i < 6; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 3, MPI_INT, 1, 0, 1, parts, window);
  if (rank == 2) MPI_Put(values, 1, MPI_INT, 1, 3, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Type_free(&parts);
  printf("%d\n", cells[3]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
