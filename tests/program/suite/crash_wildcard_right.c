/* Rank 0 receives from rank 1 and then from rank 2 (3.5). */
#include <assert.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    const int sources[2] = {1, 2};
    for (int i = 0; i < 2; ++i) {
      MPI_Recv(&token, 1, MPI_INT, sources[i], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      assert(token == i + 1);
    }
  } else {
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
