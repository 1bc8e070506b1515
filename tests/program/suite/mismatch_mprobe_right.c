/* A matched probe keeps its message for the receive (3.8.2). */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int values[2] = {rank, rank};
  if (rank == 0) {
    for (int i = 0; i < 2; ++i) {
      MPI_Status status;
      int count;
      MPI_Message message;
      MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      MPI_Mrecv(values, count, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Send(values, rank, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
