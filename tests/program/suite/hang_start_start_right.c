/* Each rank posts its window before it starts and completes its own epoch (12.5.2). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  int value = 7;
  const int other = 1 - rank;
  MPI_Group world, partner;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &other, &partner);
  MPI_Win_post(partner, 0, window);
  MPI_Win_start(partner, 0, window);
  MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Group_free(&partner);
  MPI_Group_free(&world);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
