// A table in the memory of rank 0. All ranks look up rows, and from time to time a rank replaces all rows. A
// reader-writer lock protects the table. A small value beside the table needs no lock.
//
//   mpirun -n 4 read_mostly_table
// [headers]
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <shared_mutex>

#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/seq_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
// [end]

namespace {

// [table]
using nearfar::mpi::world;

constexpr std::size_t rows = 16;
struct row {
  nearfar::far<std::uint64_t> version;
  nearfar::far_object<std::array<double, 3>> value;
};
// [end]

/// Returns the number of wrong lookups. A lookup is right if it finds rows of one version.
int look_up_and_replace(MPI_Comm comm) {
  constexpr int keeper = 0;
  constexpr int rounds = 50;
  int mixed = 0;
  // [locks]
  world w(comm);
  nearfar::cohort_rw_lock<world> lock(w);        // collective; rank 0 is the home rank
  world::far_array<row> table(w, rows);          // each rank has `rows` rows; rank 0's are used
  nearfar::seq_lock<world, double> scale(w, 1);  // one value: a lookup is one get
  // [end]
  for (int round = 0; round < rounds; ++round) {
    if (round % 10 == w.rank() % 10) {
      // [replace]
      {
        const std::lock_guard alone(lock);
        std::uint64_t version = 0;
        table.get(keeper, &row::version, version);
        table.flush(keeper);
        ++version;
        const std::array<double, 3> value{1.0 * static_cast<double>(version), 2.0, 3.0};
        for (std::size_t i = 0; i < rows; ++i) {
          table.put({keeper, i}, &row::version, version);
          table.put({keeper, i}, &row::value, value);
        }
        table.flush(keeper);  // completes the puts before the lock is released
      }
      scale.update([](double& value) { value *= 2; });
      // [end]
    }
    // [look up]
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    {
      const std::shared_lock together(lock);  // no far operation if no writer is active
      table.get({keeper, 0}, &row::version, first);
      table.get({keeper, rows - 1}, &row::version, last);
      table.flush(keeper);
    }
    const double factor = scale.load();
    // [end]
    if (first != last || factor < 1) ++mixed;
  }
  w.barrier();
  return mixed;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int mixed = 1;
  try {
    mixed = look_up_and_replace(MPI_COMM_WORLD);
  } catch (const std::exception& problem) {
    // Other ranks may be waiting for this one.
    std::fprintf(stderr, "%s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return mixed == 0 ? 0 : 1;
}
