/* The grid is a line, so the gather of neighbours does not reach from rank 0 to rank 2 (8.6). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int sizes[1] = {3}, periods[1] = {0};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &grid);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  for (int i = 0; i < 16; ++i) cells[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  int value = 7, got[2] = {0, 0};
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, window); /* first */
    MPI_Win_flush(2, window);
  }
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, grid);
  if (rank == 2) printf("%d\n", cells[0]); /* second */
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
