/* Rank 0 waits for one of two puts and writes the buffer of the other (12.3.5). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[2] = {7, 8};
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i)
      MPI_Rput(&values[i], 1, MPI_INT, 1, i, 1, MPI_INT, window, &requests[i]); /* first */
    MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    values[1] = 9; /* second */
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
