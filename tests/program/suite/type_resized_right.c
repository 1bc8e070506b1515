/* An extent of three elements leaves room for the element of rank 2 (5.1.7, 12.7). */
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
  MPI_Datatype spaced;
  const MPI_Aint extent = 3 * sizeof(int);
  MPI_Type_create_resized(MPI_INT, 0, extent, &spaced);
  MPI_Type_commit(&spaced);
  for (int i = 0; i < 6; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 2, MPI_INT, 1, 0, 2, spaced, window);
  if (rank == 2) MPI_Put(values, 1, MPI_INT, 1, 2, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Type_free(&spaced);
  printf("%d\n", cells[2]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
