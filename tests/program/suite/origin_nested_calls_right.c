/* Three calls below main a get begins and ends; main reads its result (12.3, 12.5.4). */
#include <mpi.h>
#include <stdio.h>

static void fetch(int* place, MPI_Win window) {
  MPI_Get(place, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_flush_local(1, window);
}

static void fetch_into(int* places, int index, MPI_Win window) { fetch(places + index, window); }

static void fetch_last(int* places, int count, MPI_Win window) { fetch_into(places, count - 1, window); }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int results[3] = {0, 0, 0};
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    fetch_last(results, 3, window);
    printf("%d\n", results[2]);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
