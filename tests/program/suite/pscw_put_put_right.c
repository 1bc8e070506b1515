/* The put of rank 0 and the put of rank 2 touch two cells in one exposure epoch (12.5.2, 12.7). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  const int cell = 1;
  MPI_Group world, group;
  const int origins[2] = {0, 2};
  const int target = 1;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < 2; ++i) cells[i] = 0;
  if (rank == 1) {
    MPI_Group_incl(world, 2, origins, &group);
    MPI_Win_post(group, 0, window);
    MPI_Win_wait(window);
  } else {
    MPI_Group_incl(world, 1, &target, &group);
    MPI_Win_start(group, 0, window);
    if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    if (rank == 2) MPI_Put(&value, 1, MPI_INT, 1, cell, 1, MPI_INT, window);
    MPI_Win_complete(window);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
