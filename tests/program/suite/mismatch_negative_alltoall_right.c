/* A collective has a count of 1 (6.1). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int data[2] = {rank, rank}, got[2] = {0, 0};
  MPI_Alltoall(data, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  printf("%d %d\n", data[0], got[0]);
  MPI_Finalize();
  return 0;
}
