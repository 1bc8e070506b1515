/* Rank 1 does not take part when rank 0 allocates a window (12.2.2). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window = MPI_WIN_NULL;
  const int members = 1;
  if (rank < members) {
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window); /* first */
    MPI_Win_free(&window);
  }
  MPI_Finalize();
  return 0;
}
