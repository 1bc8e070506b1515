/* Rank 0 writes an element in the gap of the vector that its put reads (5.1.2, 12.3). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int values[4] = {1, 2, 3, 4};
  MPI_Datatype every_second;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    MPI_Put(values, 1, every_second, 1, 0, 2, MPI_INT, window);
    values[1] = 9;
    MPI_Win_flush(1, window);
    printf("%d\n", values[0]);
  }
  MPI_Win_unlock_all(window);
  MPI_Type_free(&every_second);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
