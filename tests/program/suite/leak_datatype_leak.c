/* Neither rank frees its derived datatype (5.1.9). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int values[4] = {rank, rank, rank, rank};
  MPI_Datatype every_second;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_second); /* first */
  MPI_Type_commit(&every_second);
  if (rank == 0) {
    MPI_Send(values, 1, every_second, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(values, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
