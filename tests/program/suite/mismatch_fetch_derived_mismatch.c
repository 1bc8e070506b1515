/* MPI_Fetch_and_op has a derived datatype (12.3.4). */
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
  MPI_Datatype one;
  MPI_Type_contiguous(1, MPI_INT, &one);
  MPI_Type_commit(&one);
  int value = 1, before = 0;
  MPI_Win_lock_all(0, window);
  MPI_Fetch_and_op(&value, &before, one, 0, 0, MPI_SUM, window); /* first */
  MPI_Win_unlock_all(window);
  MPI_Type_free(&one);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
