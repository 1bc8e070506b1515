/* The post of rank 1 promises MPI_MODE_NOPUT, and rank 0 puts (12.5.5). */
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
  if (rank == 0) {
    MPI_Win_start(partner, 0, window);
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window); /* first */
    MPI_Win_complete(window);
  } else {
    MPI_Win_post(partner, MPI_MODE_NOPUT, window);
    MPI_Win_wait(window);
  }
  MPI_Group_free(&partner);
  MPI_Group_free(&world);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
