/* Rank 0 puts into one of two attached arrays, and the owner loads from the other (12.2.4, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int low[2], high[2];
  int value = 7;
  MPI_Aint place;
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, low, sizeof(low));
  MPI_Win_attach(window, high, sizeof(high));
  MPI_Get_address(low, &place);
  MPI_Bcast(&place, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, place, 1, MPI_INT, window);
  if (rank == 1) printf("%d\n", high[0]);
  MPI_Win_fence(0, window);
  MPI_Win_detach(window, low);
  MPI_Win_detach(window, high);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
