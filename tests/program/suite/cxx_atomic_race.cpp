/* A plain flag in shared memory does not order the payload (12.2.3; C++20, 6.9.2). */
#include <mpi.h>

#include <cstdio>
#include <new>

struct shared {
  int payload;
  int flag;
};

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  shared* mine;
  shared* of_first;
  MPI_Win window;
  MPI_Aint size;
  int unit;
  MPI_Win_allocate_shared(sizeof(shared), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &of_first);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  new (mine) shared{0, 0};
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    of_first->payload = 42;
    of_first->flag = 1; /* first */
  } else {
    if (of_first->flag == 1) printf("%d\n", of_first->payload); /* second */
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
