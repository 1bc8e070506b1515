// A counter in the memory of rank 0 that every rank increments, guarded by a lock.
//
//   mpirun -n 4 c_protected_counter
// [headers]
#include <inttypes.h>
#include <mpi.h>
#include <nearfar.h>
#include <stdio.h>
// [end]

// [check]
/// After an error, prints it and ends the program, since other ranks may wait for this one.
static void check(nearfar_status status) {
  if (status >= NEARFAR_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", nearfar_error_text(status), nearfar_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
// [end]

int main(int argc, char** argv) {
  enum { rounds = 100, keeper = 0 };
  MPI_Init(&argc, &argv);

  // An ordinary window. MPICH puts to wrong addresses if a window's size is no multiple of 16 bytes.
  uint64_t* memory = NULL;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memory[0] = 0;
  MPI_Win_lock_all(0, window);
  MPI_Win_sync(window);

  // [counter]
  // All ranks make the world and the lock in the same order.
  nearfar_world* world = NULL;
  nearfar_lock* lock = NULL;
  check(nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  check(nearfar_lock_create(world, 0, &lock));

  for (int i = 0; i < rounds; ++i) {
    uint64_t count = 0;
    check(nearfar_lock_acquire(lock));
    MPI_Get(&count, 1, MPI_UINT64_T, keeper, 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(keeper, window);
    ++count;
    MPI_Put(&count, 1, MPI_UINT64_T, keeper, 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(keeper, window);  // completes the put before the lock is released
    check(nearfar_lock_release(lock));
  }
  check(nearfar_world_barrier(world));  // a rank that waits here drives MPI's progress for the others
  // [end]

  int rank = 0;
  int ranks = 0;
  check(nearfar_world_rank(world, &rank));
  check(nearfar_world_size(world, &ranks));
  uint64_t found = 0;
  MPI_Get(&found, 1, MPI_UINT64_T, keeper, 0, 1, MPI_UINT64_T, window);
  MPI_Win_flush(keeper, window);
  if (rank == keeper) printf("%d ranks counted to %" PRIu64 "\n", ranks, found);

  // [destroy]
  check(nearfar_lock_destroy(&lock));
  check(nearfar_world_destroy(&world));  // collective, and before MPI_Finalize
  // [end]
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return found == (uint64_t)rounds * (uint64_t)ranks ? 0 : 1;
}
