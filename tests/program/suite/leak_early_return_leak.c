/* The function keeps its window where it leaves early (12.2.5). */
#include <mpi.h>
#include <stdio.h>

static int sum_of(int value, int limit) {
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window); /* first */
  cells[0] = 0;
  MPI_Win_fence(0, window);
  MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  const int sum = cells[0];
  if (limit == 0) return 0;
  MPI_Win_free(&window);
  return sum < limit ? sum : limit;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int sum = sum_of(rank, 0);
  printf("%d\n", sum);
  MPI_Finalize();
  return 0;
}
