// A hash table in the memory of all ranks.
//
//   mpirun -n 4 c_distributed_map
// [headers]
#include <inttypes.h>
#include <mpi.h>
#include <nearfar.h>
#include <stdio.h>
// [end]

/// After an error, prints it and ends the program, since other ranks may wait for this one.
static void check(nearfar_status status) {
  if (status >= NEARFAR_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", nearfar_error_text(status), nearfar_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// [map]
typedef struct position {
  double x;
  double y;
} position;

/// Returns how many of the next rank's particles are missing. Collective.
static int exchange(nearfar_world* world) {
  enum { mine = 100 };
  nearfar_map* particles = NULL;
  int rank = 0;
  int ranks = 0;
  int missing = 0;
  check(nearfar_world_rank(world, &rank));
  check(nearfar_world_size(world, &ranks));
  // A hash chooses the rank, so each rank has twice the room needed on average.
  check(nearfar_map_create(world, sizeof(uint64_t), sizeof(position), 2 * mine, &particles));

  for (uint64_t i = 0; i < mine; ++i) {
    const uint64_t number = (uint64_t)rank * mine + i;
    const position at = {(double)number, 0};
    if (nearfar_map_insert(particles, &number, &at) != NEARFAR_SUCCESS) ++missing;
  }
  check(nearfar_world_barrier(world));
  for (uint64_t i = 0; i < mine; ++i) {
    const uint64_t number = (uint64_t)((rank + 1) % ranks) * mine + i;
    position at;
    if (nearfar_map_find(particles, &number, &at) != NEARFAR_SUCCESS || at.x != (double)number) ++missing;
  }
  check(nearfar_world_barrier(world));
  check(nearfar_map_destroy(&particles));
  return missing;
}
// [end]

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  nearfar_world* world = NULL;
  check(nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  const int missing = exchange(world);
  printf("%d particles are missing\n", missing);
  check(nearfar_world_destroy(&world));
  MPI_Finalize();
  return missing == 0 ? 0 : 1;
}
