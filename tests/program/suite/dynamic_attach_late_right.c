/* Rank 1 attaches its memory before the message with its address (12.2.4). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int cells[1];
  int value = 7;
  MPI_Aint place;
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Get_address(cells, &place);
  if (rank == 0) {
    MPI_Recv(&place, 1, MPI_AINT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Put(&value, 1, MPI_INT, 1, place, 1, MPI_INT, window);
    MPI_Win_unlock(1, window);
  } else {
    MPI_Win_attach(window, cells, sizeof(cells));
    MPI_Send(&place, 1, MPI_AINT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Win_detach(window, cells);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
