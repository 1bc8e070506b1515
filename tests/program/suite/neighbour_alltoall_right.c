/* Each rank writes what it has sent to its neighbours after it waits (8.7). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int sizes[1] = {2}, periods[1] = {1};
  MPI_Comm grid;
  MPI_Request request;
  int out[2] = {rank, rank}, in[2] = {0, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &grid);
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  out[1] = 3;
  printf("%d\n", in[0]);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
