/* The owner loads after it waits for the persistent barrier (6.13.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  for (int i = 0; i < 16; ++i) cells[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request;
  int value = 7;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_flush(1, window);
  }
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) printf("%d\n", cells[0]);
  MPI_Win_unlock_all(window);
  MPI_Request_free(&request);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
