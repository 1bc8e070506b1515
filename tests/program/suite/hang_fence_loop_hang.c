/* Rank 0 makes one turn, and one fence, more than rank 1 (12.5.1). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  MPI_Win_fence(0, window);
  const int turns = 3 - rank;
  for (int i = 0; i < turns; ++i) {
    if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window); /* first */
  }
  MPI_Barrier(MPI_COMM_WORLD); /* second */
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
