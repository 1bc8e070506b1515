// The doctor's checks of the memory that the ranks of a node share.

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "apps/nearfar/doctor/tools.hpp"

namespace nearfar::command::doctor {

namespace {

/// A word that the ranks of a node can also load and store.
class near_word {
 public:
  explicit near_word(const examination& e)
      : window_(mpi::window::allocate_shared(e.node().get(), slot_bytes)),
        word_(reinterpret_cast<std::uint64_t*>(window_.part_of(0))),
        displacement_(e.node().gather_to_all({window_.displacement()}).front()) {
    window_.open();
    if (e.node().rank() == 0) *word_ = 0;
    mpi::check(MPI_Win_sync(window_.get()), "MPI_Win_sync");
    e.barrier();
  }

  std::uint64_t add_by_host() { return std::atomic_ref(*word_).fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t add_by_rma() {
    const std::uint64_t one = 1;
    std::uint64_t before = 0;
    mpi::check(MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, displacement_, MPI_SUM, window_.get()),
               "MPI_Fetch_and_op");
    mpi::check(MPI_Win_flush(0, window_.get()), "MPI_Win_flush");
    return before;
  }
  /// The word, on the node's first rank; 0 on the others.
  [[nodiscard]] std::uint64_t value(const examination& e) const {
    mpi::check(MPI_Win_sync(window_.get()), "MPI_Win_sync");
    return e.node().rank() == 0 ? std::atomic_ref(*word_).load(std::memory_order_relaxed) : 0;
  }

 private:
  mpi::window window_;
  std::uint64_t* word_;
  MPI_Aint displacement_;
};

/// Nothing if some node has several ranks. Collective.
std::optional<finding> unless_alone(const examination& e) {
  if (e.largest(static_cast<std::uint64_t>(e.node().size())) > 1) return std::nullopt;
  return finding{outcome::skip, "every node has one rank only", "start at least 2 ranks on a node"};
}

}  // namespace

finding near_atomics(examination& e) {
  if (auto skipped = unless_alone(e)) return *skipped;
  near_word word(e);
  return increments::of(
             e, [&] { return word.add_by_host(); }, [&] { return word.value(e); })
      .judge(outcome::fail);
}

/// The ranks that are odd on their node by RMA, the others by host atomics.
finding mixed_atomics(examination& e) {
  if (auto skipped = unless_alone(e)) return *skipped;
  near_word word(e);
  const bool by_host = e.node().rank() % 2 == 0;
  return increments::of(
             e, [&] { return by_host ? word.add_by_host() : word.add_by_rma(); },
             [&] { return word.value(e); })
      .judge(outcome::warn);
}

}  // namespace nearfar::command::doctor
