/* Rank 0 puts one byte, and the owner loads the integer around it (12.7). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char* bytes;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bytes, &window);
  unsigned char value = 7;
  memset(bytes, 0, sizeof(int));
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&value, 1, MPI_BYTE, 1, 1, 1, MPI_BYTE, window); /* first */
  if (rank == 1) printf("%d\n", *(int*)bytes);                            /* second */
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
