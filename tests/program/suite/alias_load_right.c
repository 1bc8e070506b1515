/* The owner reads by a second pointer the cell into which nobody puts (12.7). */
#include <mpi.h>
#include <stdio.h>

static int last_of(const int* begin, const int* end) { return begin == end ? 0 : end[-1]; }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, window);
  if (rank == 1) printf("%d\n", last_of(cells, cells + 1));
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
