/* Rank 0 writes the member beside the one that its put reads (12.3). */
#include <mpi.h>
#include <stdio.h>

struct particle {
  int mass;
  int charge;
};

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  struct particle one = {3, 4};
  MPI_Win_fence(0, window);
  if (rank == 0) {
    MPI_Put(&one.mass, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    one.charge = 5;
  }
  MPI_Win_fence(0, window);
  printf("%d %d\n", one.mass, one.charge);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
