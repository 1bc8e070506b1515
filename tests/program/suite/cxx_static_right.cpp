/* A static object holds the cells; the owner loads after the fence (12.5.1). */
#include <mpi.h>

#include <cstdio>
#include <vector>

struct table {
  std::vector<int> cells = std::vector<int>(4, 0);
  int sum() const {
    int result = 0;
    for (const int cell : cells) result += cell;
    return result;
  }
};

static table all;
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = 7;
  MPI_Win window;
  MPI_Win_create(all.cells.data(), 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 2, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (rank == 1) printf("%d\n", all.sum());
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
