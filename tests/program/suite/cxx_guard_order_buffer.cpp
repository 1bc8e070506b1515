/* The vector is destroyed before the guard, which was there first, unlocks (12.3). */
#include <mpi.h>

#include <vector>

struct guard {
  MPI_Win window;
  explicit guard(MPI_Win locked) : window(locked) { MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window); }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() { MPI_Win_unlock(1, window); }
};

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* cells;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
  if (rank == 0) {
    const guard locked(window);
    std::vector<int> values{7};
    MPI_Put(values.data(), 1, MPI_INT, 1, 0, 1, MPI_INT, window); /* first */
  }                                                               /* second */
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
