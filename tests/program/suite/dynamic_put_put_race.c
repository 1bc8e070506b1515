/* Two puts into attached memory go to the same element (12.2.4, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int cells[2];
  int value = rank;
  MPI_Aint place;
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, cells, sizeof(cells));
  MPI_Get_address(cells, &place);
  MPI_Bcast(&place, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, place, 1, MPI_INT, window); /* first */
  if (rank == 2) MPI_Put(&value, 1, MPI_INT, 1, place, 1, MPI_INT, window); /* second */
  MPI_Win_fence(0, window);
  printf("%d\n", cells[0]);
  MPI_Win_detach(window, cells);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
