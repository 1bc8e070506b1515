/* The function returns while the get may still write to its local variable (12.3). */
#include <mpi.h>
#include <stdio.h>

static void prefetch(MPI_Win window) {
  int result = 0;
  MPI_Get(&result, 1, MPI_INT, 1, 0, 1, MPI_INT, window); /* first */
} /* second */

static int sum_to(int last) {
  int terms[4] = {0, 0, 0, 0};
  for (int i = 0; i <= last; ++i) terms[i % 4] += i;
  return terms[0] + terms[1] + terms[2] + terms[3];
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  cells[0] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    prefetch(window);
    printf("%d\n", sum_to(9));
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
