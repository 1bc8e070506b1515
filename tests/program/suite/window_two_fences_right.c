/* A fence of the window of the put completes the put (12.5.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int cells[1];
  int value = 7;
  MPI_Win windows[2];
  for (int i = 0; i < 2; ++i)
    MPI_Win_create(cells, sizeof(cells), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
  MPI_Win_fence(0, windows[0]);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, windows[0]);
  MPI_Win_fence(0, windows[0]);
  if (rank == 1) printf("%d\n", cells[0]);
  MPI_Win_fence(0, windows[0]);
  for (int i = 0; i < 2; ++i) MPI_Win_free(&windows[i]);
  MPI_Finalize();
  return 0;
}
