/* Rank 0 asserts that the message of rank 1 comes first, and receives from any source (3.5). */
#include <assert.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int token = rank;
  if (rank == 0) {
    const int sources[2] = {MPI_ANY_SOURCE, MPI_ANY_SOURCE};
    for (int i = 0; i < 2; ++i) {
      MPI_Recv(&token, 1, MPI_INT, sources[i], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      assert(token == i + 1); /* first */
    }
  } else {
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
