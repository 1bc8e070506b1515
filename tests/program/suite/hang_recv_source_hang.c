/* Rank 2 receives from a rank that does not send (3.2.4). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  const int source = 1;
  if (rank == 0) MPI_Send(&token, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(&token, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* first */
  printf("%d\n", token);
  MPI_Finalize();
  return 0;
}
