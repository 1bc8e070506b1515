// Data in far and near memory: a rank sends a position to the next rank, reads samples of another rank, and
// meets the ranks of its node. The same function runs on MPI ranks and on threads.
//
//   mpirun -n 4 shared_data
// [headers]
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>

#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/locality.hpp"
#include "nearfar/topology/spec.hpp"
// [end]

namespace {

// [far]
/// An inbox in far memory. Its size is a multiple of 64 bytes.
struct alignas(nearfar::slot_bytes) inbox {
  nearfar::far<std::uint64_t> letters;                  // a word
  nearfar::far_object<std::array<double, 3>> position;  // an object of several words
};
/// An element of a far array, of 8 bytes.
struct sample {
  nearfar::far<std::uint64_t> value;
};
// [end]

// [near]
/// A meeting place in near memory. Its size is a multiple of 64 bytes, too.
template <nearfar::world W>
struct alignas(nearfar::cache_line) meeting {
  typename W::template near<std::uint64_t> arrived{};
};
// [end]

/// Returns whether this rank finds the data of the other ranks.
template <nearfar::world W>
bool share(W& w) {
  constexpr std::size_t count = 4;
  const int previous = (w.rank() + w.size() - 1) % w.size();
  // [segments]
  typename W::template far_segment<inbox> inboxes(w);        // one inbox on each rank
  typename W::template far_array<sample> samples(w, count);  // `count` samples on each rank
  // [end]
  // [meetings]
  typename W::template near_segment<meeting<W>> meetings(w);  // one meeting place on each rank
  // [end]

  // [send]
  const int next = (w.rank() + 1) % w.size();
  const std::array<double, 3> position{1.0 * w.rank(), 2, 3};
  const std::uint64_t one = 1;
  inboxes.put(next, &inbox::position, position);
  inboxes.flush(next);  // completes the put before the next rank learns of it
  inboxes.accumulate(next, &inbox::letters, one, nearfar::far_op::sum);
  inboxes.flush(next);  // before `position` and `one` end
  // [end]
  // [receive]
  w.await_direct(inboxes, w.rank(), &inbox::letters, [](std::uint64_t letters) { return letters == 1; });
  const std::array<double, 3> received = inboxes.read_direct(w.rank(), &inbox::position);
  // [end]
  bool is_right = received == std::array<double, 3>{1.0 * previous, 2, 3};

  // [range]
  std::array<std::uint64_t, count> mine{};
  mine.fill(static_cast<std::uint64_t>(w.rank()));
  samples.put_range({w.rank(), 0}, &sample::value, std::span<const std::uint64_t>(mine));
  samples.flush(w.rank());
  w.barrier();  // the flushes of all ranks have returned
  std::array<std::uint64_t, count> theirs{};
  samples.get_range({previous, 0}, &sample::value, std::span<std::uint64_t>(theirs));
  samples.flush(previous);  // now `theirs` has the values
  // [end]
  for (const std::uint64_t value : theirs)
    is_right = is_right && value == static_cast<std::uint64_t>(previous);

  // [meet]
  const nearfar::locality& where = w.locality();
  const int node = where.group(nearfar::level::node, w.rank());
  const std::uint64_t ranks = where.members(nearfar::level::node, node).size();
  meeting<W>& here = meetings.at(where.leader(nearfar::level::node, w.rank()));
  here.arrived.fetch_add(1, std::memory_order_acq_rel);
  w.await(here.arrived, [ranks](std::uint64_t arrived) { return arrived == ranks; });
  // [end]
  return is_right;
}

/// Runs `share` on the ranks of MPI and on threads, and returns whether all is right.
bool share_everywhere(MPI_Comm comm) {
  // [world]
  constexpr std::size_t MiB = std::size_t{1} << 20U;
  nearfar::mpi::world w(comm, {.far_bytes = MiB, .near_bytes = MiB});
  // [end]
  std::atomic<bool> is_right = share(w);

  bool is_refused = false;
  // [out of memory]
  try {
    const nearfar::mpi::world::far_array<sample> large(w, 1'000'000);
  } catch (const nearfar::out_of_memory& problem) {  // on all ranks
    std::printf("%s\n", problem.what());
    is_refused = true;
  }
  // [end]

  // [threads]
  // Four threads, as if they were on two nodes.
  nearfar::threads::options chosen;
  chosen.topology = nearfar::topology_spec::parse("node:2");
  nearfar::threads::run(
      4,
      [&](nearfar::threads::world& of_threads) {
        if (!share(of_threads)) is_right = false;
      },
      chosen);
  // [end]
  w.barrier();
  return is_right && is_refused;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    is_right = share_everywhere(MPI_COMM_WORLD);
  } catch (const std::exception& problem) {
    // Other ranks may be waiting for this one.
    std::fprintf(stderr, "%s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
