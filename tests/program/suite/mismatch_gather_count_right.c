/* The root takes from each rank as much as each rank sends (6.5). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mine[2] = {rank, rank}, all[4] = {0, 0, 0, 0};
  const int each = 2;
  MPI_Gather(mine, 2, MPI_INT, all, each, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d\n", all[3]);
  MPI_Finalize();
  return 0;
}
