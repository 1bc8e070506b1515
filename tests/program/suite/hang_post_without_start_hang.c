/* Rank 1 posts its window to rank 2 as well, which never starts an epoch (12.5.2). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  const int origins[2] = {0, 2};
  const int target = 1;
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (rank == 0) {
    MPI_Group_incl(world, 1, &target, &group);
    MPI_Win_start(group, 0, window);
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
  } else {
    MPI_Group_incl(world, 2, origins, &group);
    if (rank == 1) MPI_Win_post(group, 0, window);
    if (rank == 1) MPI_Win_wait(window); /* first */
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
