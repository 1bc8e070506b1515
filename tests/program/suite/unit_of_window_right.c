/* Displacements count integers, and two puts share nothing (12.2.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int cells[8];
  int values[2] = {rank, rank};
  MPI_Win window;
  const int unit = sizeof(int);
  MPI_Win_create(cells, sizeof(cells), unit, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(values, 2, MPI_INT, 1, 0, 2, MPI_INT, window);
  if (rank == 2) MPI_Put(values, 1, MPI_INT, 1, 4, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  printf("%d\n", cells[1]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
