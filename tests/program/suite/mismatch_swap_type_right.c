/* Compare-and-swap takes an integer type (12.3.4). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7, compare = 0, result = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  const MPI_Datatype type = MPI_INT;
  if (rank == 0) MPI_Compare_and_swap(&value, &compare, &result, type, 1, 0, window);
  MPI_Win_unlock_all(window);
  printf("%d\n", result);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
