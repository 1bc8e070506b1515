/* The vector grows, and frees its old memory, while the put is pending (12.3). */
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
    std::vector<int> values{7};
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    MPI_Put(values.data(), 1, MPI_INT, 1, 0, 1, MPI_INT, window); /* first */
    values.push_back(8);                                          /* second */
    MPI_Win_unlock(1, window);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
