/* The info key accumulate_ordering=none lets the first of two accumulates arrive last (12.7.2). */
#include <assert.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &cells, &window);
  MPI_Info_free(&info);
  int values[2] = {7, 8};
  cells[0] = 0;
  MPI_Win_fence(0, window);
  if (rank == 0)
    for (int i = 0; i < 2; ++i) MPI_Accumulate(&values[i], 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, window);
  MPI_Win_fence(0, window);
  if (rank == 1) assert(cells[0] == 8); /* first */
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
