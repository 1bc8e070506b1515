/* Both ranks see the same sum, and both leave the loop in the same turn (6.14). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int mine = rank + 1, sum = 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum > 2) break;
  }
  printf("%d\n", sum);
  MPI_Finalize();
  return 0;
}
