/* The owner loads from attached memory before the barrier that follows the flush (12.2.4, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int cells[2];
  int value = 7;
  MPI_Aint place;
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, cells, sizeof(cells));
  MPI_Get_address(&cells[1], &place);
  MPI_Bcast(&place, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Put(&value, 1, MPI_INT, 1, place, 1, MPI_INT, window); /* first */
    MPI_Win_flush(1, window);
  }
  if (rank == 1) {
    MPI_Win_sync(window);
    printf("%d\n", cells[1]); /* second */
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(window);
  MPI_Win_detach(window, cells);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
