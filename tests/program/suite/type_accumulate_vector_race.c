/* A sum and a put over vectors of the same type share an element (12.7). */
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
  MPI_Datatype every_second;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  for (int i = 0; i < 6; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Accumulate(values, 2, MPI_INT, 1, 0, 1, every_second, MPI_SUM, window); /* first */
  if (rank == 2) MPI_Put(values, 2, MPI_INT, 1, 2, 1, every_second, window);                 /* second */
  MPI_Win_fence(0, window);
  MPI_Type_free(&every_second);
  printf("%d\n", cells[2]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
