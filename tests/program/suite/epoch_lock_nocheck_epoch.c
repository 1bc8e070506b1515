/* Two exclusive locks with MPI_MODE_NOCHECK may be held together (12.5.5). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = rank, token = 0;
  const int first = 3;
  if (rank != 1) {
    if (rank > first) MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, MPI_MODE_NOCHECK, window); /* first, second */
    MPI_Put(&value, 1, MPI_INT, 1, rank, 1, MPI_INT, window);
    MPI_Win_unlock(1, window);
    if (rank == 0) MPI_Send(&token, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    if (rank == 2 && rank <= first) MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
