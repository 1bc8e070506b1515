/* The vector of the put is destroyed before the unlock (12.3). */
#include <mpi.h>

#include <vector>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    {
      std::vector<int> values{7, 8};
      MPI_Put(values.data(), 2, MPI_INT, 1, 0, 2, MPI_INT, window); /* first */
    }                                                               /* second */
    MPI_Win_unlock(1, window);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
