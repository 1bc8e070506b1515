// Uses each lock of the catalogue once, and shows the parameters of some. All locks work with std::lock_guard
// and its relatives. docs/catalogue.md has their guarantees and costs. Programs with nearfar::threads::world
// or the model checker's world make the locks in the same way, except for MPI's own locks.
//
//   mpirun -n 2 every_lock
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <shared_mutex>

#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/clh_lock.hpp"
#include "nearfar/lock/clof_lock.hpp"
#include "nearfar/lock/cna_lock.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/cst_lock.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/fc_mcs_lock.hpp"
#include "nearfar/lock/fissile_lock.hpp"
#include "nearfar/lock/hclh_lock.hpp"
#include "nearfar/lock/hemlock.hpp"
#include "nearfar/lock/hmcs_lock.hpp"
#include "nearfar/lock/late_rw_lock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/mpi_rw_lock.hpp"
#include "nearfar/lock/mpi_win_lock.hpp"
#include "nearfar/lock/near_clh_lock.hpp"
#include "nearfar/lock/near_rw_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
#include "nearfar/lock/near_tts_lock.hpp"
#include "nearfar/lock/optimised_rma_rw_lock.hpp"
#include "nearfar/lock/rh_lock.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"
#include "nearfar/lock/rw_spin_lock.hpp"
#include "nearfar/lock/rw_ticket_lock.hpp"
#include "nearfar/lock/shfl_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/lock/ticket_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace {

using nearfar::mpi::world;
using namespace std::chrono_literals;

struct alignas(nearfar::slot_bytes) shared_words {
  nearfar::far<std::uint64_t> count;
};

/// A counter in the far memory of rank 0. A rank increments it while it holds a lock.
class counter {
 public:
  explicit counter(world& w) : world_(&w), memory_(w) {}

  template <typename Lock>
  void count_under(const char* name, Lock& lock) {
    constexpr int rounds = 100;
    for (int i = 0; i < rounds; ++i) {
      const std::lock_guard hold(lock);
      add_one();
    }
    check(name, rounds);
  }

  template <typename Lock>
  void count_and_read_under(const char* name, Lock& lock) {
    constexpr int rounds = 25;
    for (int i = 0; i < rounds; ++i) {
      {
        const std::lock_guard hold(lock);
        add_one();
      }
      const std::shared_lock hold(lock);
      is_right_ = is_right_ && read() > static_cast<std::uint64_t>(i);
    }
    check(name, rounds);
  }

  [[nodiscard]] bool is_right() const { return is_right_; }

 private:
  [[nodiscard]] std::uint64_t read() {
    std::uint64_t count = 0;
    memory_.get(0, &shared_words::count, count);
    memory_.flush(0);  // `count` is valid after the flush
    return count;
  }
  void add_one() {
    const std::uint64_t count = read() + 1;
    memory_.put(0, &shared_words::count, count);
    memory_.flush(0);  // completes the put before the lock is released
  }
  /// Checks that each rank has counted `rounds` times more. Collective.
  void check(const char* name, int rounds) {
    world_->barrier();  // waits until all ranks have counted
    expected_ += static_cast<std::uint64_t>(rounds) * static_cast<std::uint64_t>(world_->size());
    if (world_->rank() == 0) {
      const std::uint64_t found = memory_.read_direct(0, &shared_words::count);
      std::printf("%-18s %llu\n", name, static_cast<unsigned long long>(found));
      is_right_ = is_right_ && found == expected_;
    }
    world_->barrier();
  }

  world* world_;
  world::far_segment<shared_words> memory_;
  std::uint64_t expected_ = 0;
  bool is_right_ = true;
};

/// Locks for all ranks, on any number of nodes.
void use_far_locks(world& w, counter& c) {
  constexpr int home = 0;  // the rank that keeps the lock's central words
  {
    nearfar::default_cohort_lock<world> lock(w, home);
    c.count_under("cohort", lock);
  }
  {
    // Limits the turn of a node while another node waits: to 16 passes, or to 50 us.
    nearfar::default_cohort_lock<world> lock(w, home, 16);
    c.count_under("cohort, 16 passes", lock);
    constexpr nearfar::cohort_policy timed{.turn = nearfar::turn_limit::time};
    nearfar::cohort_lock<nearfar::biased_queue<world>, nearfar::mcs_lock<world>, timed> for_a_time(w, home,
                                                                                                   50us);
    c.count_under("cohort.timed", for_a_time);
  }
  {
    // Any global lock that another rank of the node may release, and any near lock that can tell whether
    // another rank waits.
    nearfar::cohort_lock<nearfar::tas_lock<world>, nearfar::near_ticket_lock<world>> lock(w);
    c.count_under("cohort of others", lock);
  }
  {
    nearfar::dash_lock<world> lock(w);
    c.count_under("dash", lock);
  }
  {
    nearfar::d_mcs_lock<world> lock(w);
    c.count_under("d_mcs", lock);
  }
  {
    nearfar::rma_mcs_lock<world> lock(w, home, 16);
    c.count_under("rma_mcs", lock);
  }
  {
    nearfar::ticket_lock<world> lock(w);
    c.count_under("ticket", lock);
  }
  {
    nearfar::clh_lock<world> lock(w);
    c.count_under("clh", lock);
    nearfar::clh_lock<world, nearfar::clh_waiting::at_home> craig(w);
    c.count_under("clh_craig", craig);
  }
  {
    nearfar::hclh_lock<world> lock(w);
    c.count_under("hclh", lock);
  }
  {
    // One release in 100 frees the lock for all nodes although a rank of this node waits.
    nearfar::rh_lock<world> lock(w, home, {.fairness_factor = 100});
    c.count_under("rh", lock);
  }
  {
    nearfar::shfl_lock<world> lock(w);
    c.count_under("shfl", lock);
  }
  {
    nearfar::tas_lock<world> lock(w, home, {.shortest = 1us, .longest = 100us});
    c.count_under("tas", lock);
  }
  {
    nearfar::hmcs_lock<world> lock(w);
    c.count_under("hmcs", lock);
    nearfar::hmcs_lock<world, nearfar::hmcs_entry::adaptive> adaptive(w);
    c.count_under("ahmcs", adaptive);
  }
  {
    // A lock of any type for each level: between nodes, within a node, within each of a level inside it.
    using ticket =
        nearfar::near_ticket_lock<world, nearfar::ticket_waiting::at_ticket, nearfar::ticket_memory::served>;
    nearfar::clof_lock<nearfar::biased_queue<world>, nearfar::mcs_lock<world>, ticket> lock(w);
    c.count_under("clof", lock);
  }
  {
    // A rank sleeps after it has waited for 20 us. For more ranks than processors.
    nearfar::cst_lock<world> lock(w, home, nearfar::default_max_local_passes,
                                  nearfar::default_max_local_passes, 20us);
    c.count_under("cst", lock);
  }
  {
    nearfar::fc_mcs_lock<world> lock(w);
    c.count_under("fc_mcs", lock);
  }
  {
    nearfar::mpi_win_lock<world> lock(w);
    c.count_under("mpi_win", lock);
  }
}

/// Reader-writer locks: many ranks read at the same time, by std::shared_lock.
void use_reader_writer_locks(world& w, counter& c) {
  constexpr int home = 0;
  {
    nearfar::cohort_rw_lock<world> lock(w, home);
    c.count_and_read_under("cohort_rw", lock);
  }
  {
    nearfar::default_late_rw_lock<world> lock(w, home);
    c.count_and_read_under("cohort_rw.late", lock);
  }
  {
    nearfar::rma_rw_lock<world> lock(w, home);
    c.count_and_read_under("rma_rw", lock);
  }
  {
    nearfar::optimised_rma_rw_lock<world> lock(w, home);
    c.count_and_read_under("rma_rw.optimised", lock);
  }
  {
    nearfar::rw_ticket_lock<world> lock(w, home);
    c.count_and_read_under("rw_ticket", lock);
  }
  {
    nearfar::cohort_rw_ticket_lock<world> lock(w, home);
    c.count_and_read_under("rw_ticket.cohort", lock);
  }
  {
    nearfar::rw_spin_lock<world> lock(w, home);
    c.count_and_read_under("rw_spin", lock);
  }
  {
    nearfar::mpi_rw_lock<world> lock(w, home);
    c.count_and_read_under("mpi_rw", lock);
  }
}

/// Locks for the ranks of one node. With near_scope::node, each node has a lock of its own.
void use_near_locks(world& w, counter& c) {
  {
    nearfar::mcs_lock<world> lock(w);
    c.count_under("mcs", lock);
  }
  {
    nearfar::near_clh_lock<world> lock(w);
    c.count_under("near_clh", lock);
  }
  {
    nearfar::near_ticket_lock<world> lock(w);
    c.count_under("near_ticket", lock);
    nearfar::near_ticket_lock<world, nearfar::ticket_waiting::in_array> in_array(w);
    c.count_under("twa", in_array);
  }
  {
    nearfar::near_tts_lock<world> lock(w);
    c.count_under("near_tts", lock);
  }
  {
    // A rank has one word for all its locks.
    nearfar::hemlock_words<world> words(w);
    nearfar::hemlock<world> one(w, words);
    nearfar::hemlock<world> other(w, words);
    c.count_under("hemlock", one);
    c.count_under("another hemlock", other);
  }
  {
    nearfar::fissile_lock<world> lock(w);
    c.count_under("fissile", lock);
  }
  {
    nearfar::near_rw_lock<world> lock(w);
    c.count_and_read_under("near_rw", lock);
    nearfar::near_rw_lock<world, nearfar::fissile_lock<world>> fissile(w);
    c.count_and_read_under("near_rw.fissile", fissile);
  }
  {
    nearfar::cna_lock<world> lock(w);
    c.count_under("cna", lock);
  }
  {
    nearfar::near_hmcs_lock<world> lock(w);
    c.count_under("near_hmcs", lock);
  }
  {
    nearfar::parking_lock<world> lock(w);
    c.count_under("near_cst", lock);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    world w(MPI_COMM_WORLD);
    counter c(w);
    use_far_locks(w, c);
    use_reader_writer_locks(w, c);
    if (w.locality().groups(nearfar::level::node) == 1) use_near_locks(w, c);
    is_right = c.is_right();
  } catch (const std::exception& problem) {
    // Other ranks may be waiting for this one.
    std::fprintf(stderr, "%s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
