/* The first window is freed before the variable takes the second one (12.2.5). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  cells[0] = rank;
  printf("%d\n", cells[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
