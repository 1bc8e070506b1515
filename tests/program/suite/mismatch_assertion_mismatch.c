/* The assertion of a fence is a lock type (12.5.5). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  for (int i = 0; i < 16; ++i) cells[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_fence(MPI_LOCK_SHARED + (1 << 24), window); /* first */
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
