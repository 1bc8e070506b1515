/// \file
/// The common tools of the doctor's checks: words to operate on, and how often to do so.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/nearfar/doctor/checks.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/mpi/far_segment.hpp"

namespace nearfar::command::doctor {

using clock = std::chrono::steady_clock;

/// How long a rank waits for others; longer than anything here takes on an oversubscribed machine.
inline constexpr std::chrono::seconds patience{10};

/// A far window made in the way of `mpi::world`, and as much of a world as `mpi::far_segment` needs: so the
/// checks issue the operations that the locks do.
class bare_world {
 public:
  explicit bare_world(const examination& e, std::size_t bytes = slot_bytes) {
    mpi::window& shared = e.one_node() ? far_ : backing_;
    shared = mpi::window::allocate_shared(e.one_node() ? e.comm().get() : e.node().get(), bytes);
    if (!e.one_node()) far_ = mpi::window::create(e.comm().get(), backing_.base(), bytes);
    far_.open();
    displacements_ = e.comm().gather_to_all({far_.displacement()});
    std::fill_n(far_.base(), bytes, std::byte{0});
    mpi::check(MPI_Win_sync(far_.get()), "MPI_Win_sync");
    e.barrier();
  }

  [[nodiscard]] int size() const noexcept { return static_cast<int>(displacements_.size()); }
  [[nodiscard]] const mpi::window& window() const noexcept { return far_; }
  [[nodiscard]] MPI_Win far_window() const noexcept { return far_.get(); }
  [[nodiscard]] MPI_Aint far_displacement(int rank) const {
    return displacements_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::size_t allocate_far(std::size_t) const noexcept { return 0; }
  /// Of this rank only: a segment reads what is its own.
  [[nodiscard]] std::byte* direct_memory(int) const noexcept { return far_.base(); }

 private:
  mpi::window backing_;
  mpi::window far_;
  std::vector<int> displacements_;
};

struct alignas(slot_bytes) one_word {
  far<std::uint64_t> word;
};

/// The word that all ranks work on is that of rank 0.
class shared_word {
 public:
  explicit shared_word(const examination& e) : world_(e), segment_(world_) {}

  std::uint64_t swap(const std::uint64_t& value) {
    std::uint64_t before = 0;
    segment_.swap(0, &one_word::word, value, before);
    segment_.flush(0);
    return before;
  }
  std::uint64_t fetch_add(const std::uint64_t& value) {
    std::uint64_t before = 0;
    segment_.fetch_add(0, &one_word::word, value, before);
    segment_.flush(0);
    return before;
  }
  std::uint64_t compare_and_swap(const std::uint64_t& expected, const std::uint64_t& desired) {
    std::uint64_t before = 0;
    segment_.compare_and_swap(0, &one_word::word, expected, desired, before);
    segment_.flush(0);
    return before;
  }
  void replace(const std::uint64_t& value) {
    segment_.accumulate(0, &one_word::word, value, far_op::replace);
    segment_.flush(0);
  }
  /// Not atomic.
  [[nodiscard]] std::uint64_t get() {
    std::uint64_t value = 0;
    segment_.get(0, &one_word::word, value);
    segment_.flush(0);
    return value;
  }
  void put(const std::uint64_t& value) {
    segment_.put(0, &one_word::word, value);
    segment_.flush(0);
  }
  /// On rank 0 only.
  [[nodiscard]] std::uint64_t read() const { return segment_.read_direct(0, &one_word::word); }
  void sync() { mpi::check(MPI_Win_sync(world_.far_window()), "MPI_Win_sync"); }

 private:
  bare_world world_;
  mpi::far_segment<bare_world, one_word> segment_;
};

inline void drive_progress(const examination& e) {
  int found = 0;
  mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, e.comm().get(), &found, MPI_STATUS_IGNORE),
             "MPI_Iprobe");
}

/// Polls, and drives progress now and then, until `ready` says so. Throws `unanswered`, with what did not
/// happen, when it takes too long.
template <typename Ready>
void await(const examination& e, const char* what, Ready ready) {
  const auto end = clock::now() + patience;
  for (std::uint64_t polls = 1; !ready(); ++polls) {
    if (polls % 16 != 0) continue;
    drive_progress(e);
    if (e.processors().oversubscribed()) std::this_thread::yield();
    if (clock::now() > end) throw unanswered(what);
  }
}

/// Repeats `step(k)` for the check's budget, and longer if it has not met other ranks often: where processors
/// are short, ranks take turns and hardly meet. The step returns whether it met one. A minimum of steps,
/// since one may take a scheduler's slice. Returns how often others were met.
template <typename Step>
std::uint64_t hammer(const examination& e, Step step) {
  constexpr std::uint64_t often = 100;
  const auto begin = clock::now();
  std::uint64_t met = 0;
  for (std::uint64_t k = 1; k < std::uint64_t{1} << 24U; ++k) {
    if (step(k)) ++met;
    const auto spent = clock::now() - begin;
    if (k >= 20 && spent > (met >= often ? 1 : 8) * e.budget()) break;
  }
  return met;
}

inline finding never_met() {
  return {outcome::skip, "the ranks took turns and never met",
          "try again with a processor for each rank and nothing else running"};
}

/// The outcome of increments of one word by all ranks, or of one word on each node by its ranks.
struct increments {
  std::uint64_t done = 0;
  std::uint64_t met = 0;             ///< found another rank's increment
  std::uint64_t sum_of_results = 0;  ///< of what was in the word before each
  std::uint64_t counted = 0;         ///< the sum of the words at the end

  /// `add` increments and returns the old value; `read` returns the word on one rank and 0 on the others.
  /// Collective.
  template <typename Add, typename Read>
  static increments of(const examination& e, Add add, Read read) {
    increments mine;
    std::uint64_t next = 0;
    mine.met = hammer(e, [&](std::uint64_t) {
      const std::uint64_t before = add();
      const bool met_another = before != next;
      next = before + 1;
      mine.sum_of_results += before;
      ++mine.done;
      return met_another;
    });
    e.barrier();
    return {e.sum(mine.done), e.sum(mine.met), e.sum(mine.sum_of_results), e.sum(read())};
  }

  [[nodiscard]] finding judge(outcome if_lost) const {
    if (counted != done) return {if_lost, fmt::format("{} increments, {} counted", done, counted)};
    if (met == 0) return never_met();
    return {outcome::ok, fmt::format("{} increments, {} met another rank's, all counted", done, met)};
  }
};

/// The text with which nearfar refuses to run, if it would for ranks placed so.
[[nodiscard]] std::optional<std::string> refusal(const examination& e, bool one_node);

[[nodiscard]] inline std::string duration_text(std::chrono::nanoseconds span) {
  const auto nanoseconds = static_cast<double>(span.count());
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.0f} ms", nanoseconds / 1e6);
}

// ---- the checks, by the file that they are in -------------------------------------------------------------

// installation.cpp
finding thread_level(examination& e);
finding known_faults(examination& e);
finding shared_memory(examination& e);
finding processors(examination& e);
finding environment(examination& e);
finding memory_model(examination& e);
finding windows(examination& e);
finding whole_world(examination& e);

// signals.cpp
finding signals(examination& e);

// progress.cpp
finding progress_computing(examination& e);
finding progress_waiting(examination& e);

// atomics.cpp
finding atomic_swap(examination& e);
finding atomic_fetch_add(examination& e);
finding atomic_compare_and_swap(examination& e);
finding atomic_tail(examination& e);
finding atomic_mixture(examination& e);

// near_memory.cpp
finding near_atomics(examination& e);
finding mixed_atomics(examination& e);

// writes.cpp
finding put_address(examination& e);
finding put_awkward(examination& e);
finding whole_words(examination& e);
finding racing_gets(examination& e);
finding reappearing_writes(examination& e);

}  // namespace nearfar::command::doctor
