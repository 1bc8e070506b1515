/* The owner's load precedes the wait that completes the fetch-and-op of rank 0 (12.5.2, 12.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  int result = 0;
  MPI_Group world, partner;
  const int other = 1 - rank;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &other, &partner);
  cells[0] = 0;
  if (rank == 0) {
    MPI_Win_start(partner, 0, window);
    MPI_Fetch_and_op(&value, &result, MPI_INT, 1, 0, MPI_SUM, window); /* first */
    MPI_Win_complete(window);
  } else {
    MPI_Win_post(partner, 0, window);
    printf("%d\n", cells[0]); /* second */
    MPI_Win_wait(window);
  }
  MPI_Group_free(&partner);
  MPI_Group_free(&world);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
