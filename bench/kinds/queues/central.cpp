#include <fmt/format.h>

#include "bench/kinds/queues/queue_catalogue.hpp"
#include "nearfar/lock/mpi_win_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/queue/central_queue.hpp"

namespace nearfar::bench {

template <world W>
using spin_lock = tas_lock<W>;
/// Accepts any world, as a policy must, but is constructed only in worlds with epochs.
template <world W>
class window_lock : public mpi_win_lock<W> {
 public:
  using mpi_win_lock<W>::mpi_win_lock;
};

namespace {

/// Adds the queue with one of the locks that its source allows.
template <typename Locks, bool needs_epochs = false>
void add(queue_catalogue& to, const char* name, const char* lock) {
  to.add(
      {.name = name,
       .summary = fmt::format("a list in pools of all ranks, ends at the first, a {} for each rank", lock),
       .paper = "Paznikov, Burachenko, Derzhavin 2023: bc",
       .fairness = fmt::format("that of {}", lock),
       .bypass = {},
       .cost = "5; 6, + the locks'",
       .parameters = {}},
      []<world W>(W & w, int /*home*/,
                  const queue_parameters& of) requires(!needs_epochs || has_lock_epochs<W>) {
        return make_any_queue<central_queue<W, std::uint64_t, Locks>>(w, {.capacity = of.capacity});
      });
}

}  // namespace

void add_central_queue(queue_catalogue& to) {
  add<lock_per_volume<fair_lock>>(to, "central_queue", "rma_mcs_lock");
  add<lock_per_volume<window_lock>, true>(to, "central_queue.mpi_win", "mpi_win_lock");
  add<lock_per_volume<spin_lock>>(to, "central_queue.tas", "tas_lock");
}

}  // namespace nearfar::bench
