/* A ticket lock: each rank calls the next ticket when it leaves (12.3.4). */
#include <mpi.h>

enum { NEXT, SERVED };

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int one = 1, ticket = 0, served = -1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, NEXT, MPI_SUM, window);
  MPI_Win_flush(0, window);
  while (served != ticket) {
    MPI_Fetch_and_op(&one, &served, MPI_INT, 0, SERVED, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
  }
  MPI_Accumulate(&one, 1, MPI_INT, 0, SERVED, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_flush(0, window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
