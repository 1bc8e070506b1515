// The last rank calls MPI_Finalize while an exception leaves its world behind, the others when all is done.
// MPI_Finalize frees the windows of that world in all of them; otherwise the others would wait there for
// ever.
#include <mpi.h>

#include <cstdio>

#include "nearfar/lock/mpi_win_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace {

struct own_error {};

class session {
 public:
  session(int& argc, char**& argv) { MPI_Init(&argc, &argv); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() { MPI_Finalize(); }
};

void leave_a_world(int& argc, char**& argv) {
  const session all(argc, argv);
  nearfar::mpi::world w(MPI_COMM_WORLD);
  const nearfar::mpi_win_lock<nearfar::mpi::world> lock(w);
  if (w.rank() == w.size() - 1) throw own_error();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    leave_a_world(argc, argv);
  } catch (const own_error&) {
    std::puts("the last rank left");
  }
}
