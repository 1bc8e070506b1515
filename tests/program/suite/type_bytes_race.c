/* Two puts of three bytes each share bytes of an integer (12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  const int length = 3;
  const int place = rank == 0 ? 0 : 4 - length;
  char bytes[4] = {1, 2, 3, 4};
  cells[0] = 0;
  MPI_Win_fence(0, window);
  if (rank != 1) MPI_Put(bytes, length, MPI_BYTE, 1, place, length, MPI_BYTE, window); /* first, second */
  MPI_Win_fence(0, window);
  printf("%d\n", cells[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
