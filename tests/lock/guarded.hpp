/// \file The data that the locks under test guard: words that only exclusion keeps right.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "tests/lock/jitter.hpp"

namespace nearfar::testing {

/// The accesses to the words.
enum class access : std::uint8_t {
  plain,    ///< not atomic at all: ThreadSanitizer reports a missing order as a race
  relaxed,  ///< by relaxed loads and stores, for locks that have to fail
};

[[nodiscard]] inline std::uint64_t load(std::uint64_t& word, access how) {
  return how == access::plain ? word : std::atomic_ref(word).load(std::memory_order_relaxed);
}
inline void store(std::uint64_t& word, std::uint64_t value, access how) {
  if (how == access::plain)
    word = value;
  else
    std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

/// Memory of `Words` that every rank of a node reaches by load and store. In the world of threads every rank
/// of the world reaches it, whatever the topology says.
template <nearfar::world W, near_layout Words>
class shared_words {
 public:
  /// Collective.
  explicit shared_words(W& w) : segment_(w) {
    if constexpr (std::same_as<W, threads::world>) {
      const auto mine = reinterpret_cast<std::int64_t>(&segment_.at(w.rank()));
      words_ = reinterpret_cast<Words*>(w.gather_to_all(mine).front());
    } else {
      words_ = &segment_.at(w.locality().leader(level::node, w.rank()));
    }
    one_for_all_ = std::same_as<W, threads::world> || w.locality().groups(level::node) == 1;
    is_keeper_ = one_for_all_ ? w.rank() == 0 : w.rank() == w.locality().leader(level::node, w.rank());
  }

  [[nodiscard]] Words& operator*() const noexcept { return *words_; }
  [[nodiscard]] Words* operator->() const noexcept { return words_; }
  /// Whether all ranks of the world share one object, and not only those of each node.
  [[nodiscard]] bool one_for_all() const noexcept { return one_for_all_; }
  /// True on one rank for each object.
  [[nodiscard]] bool is_keeper() const noexcept { return is_keeper_; }

 private:
  typename W::template near_segment<Words> segment_;
  Words* words_ = nullptr;
  bool one_for_all_ = false;
  bool is_keeper_ = false;
};

/// The data of one lock: a count, the rank inside, the rank before it. Where the ranks share no memory, rank
/// 0 also has the count and the last holder, by far reads and writes.
template <nearfar::world W>
class guarded {
 public:
  /// Collective.
  explicit guarded(W& w, access how = access::plain) : world_(&w), how_(how), near_(w), far_(w) {}

  /// The lock's holder calls this. Returns the holder before, in `rank_word`.
  rank_word visit(jitter& timing) {
    const rank_word me = to_word(world_->rank());
    ++visits_;
    if (load(near_->inside) != nobody) ++intrusions_;
    store(near_->inside, me);
    const std::uint64_t count = load(near_->count);
    rank_word last = load(near_->last);
    timing.pause();
    if (!near_.one_for_all()) last = visit_far(me);
    store(near_->count, count + 1);
    store(near_->last, me);
    if (load(near_->inside) != me) ++intrusions_;
    store(near_->inside, nobody);
    return last;
  }

  /// Counts consecutive hand-overs within a node. The lock's holder calls this, like `visit`.
  void note(bool passed_on_within_node) {
    const std::uint64_t run = passed_on_within_node ? load(near_->run) + 1 : 0;
    store(near_->run, run);
    if (run > load(near_->longest_run)) store(near_->longest_run, run);
  }
  [[nodiscard]] std::uint64_t longest_run() const { return load(near_->longest_run); }

  /// The faults so far, or an empty text. Collective; the lock must be free.
  [[nodiscard]] std::string violations() {
    world_->barrier();
    const bool keeps_far = !near_.one_for_all() && world_->rank() == 0;
    const auto mine = static_cast<std::int64_t>(visits_);
    const auto near_total = near_.is_keeper() ? static_cast<std::int64_t>(load(near_->count)) : 0;
    const auto far_total =
        keeps_far ? static_cast<std::int64_t>(far_.read_direct(0, &far_words::count)) : std::int64_t{0};
    const auto sums =
        world_->sum_over_ranks({mine, near_total, far_total, static_cast<std::int64_t>(intrusions_)});
    world_->barrier();
    std::string result;
    if (sums[0] != sums[1])
      result += " " + std::to_string(sums[0]) + " visits but a count of " + std::to_string(sums[1]) + ".";
    if (!near_.one_for_all() && sums[0] != sums[2])
      result += " " + std::to_string(sums[0]) + " visits but a far count of " + std::to_string(sums[2]) + ".";
    if (sums[3] != 0) result += " Somebody else was inside " + std::to_string(sums[3]) + " times.";
    return result.empty() ? result : "exclusion:" + result;
  }

 private:
  struct alignas(cache_line) near_words {
    std::uint64_t count = 0;
    rank_word inside = nobody;
    rank_word last = nobody;
    std::uint64_t run = 0;
    std::uint64_t longest_run = 0;
  };
  struct alignas(slot_bytes) far_words {
    far<std::uint64_t> count;
    far<rank_word> last;
  };

  rank_word visit_far(rank_word me) {
    std::uint64_t count = 0;
    rank_word last = nobody;
    far_.get(0, &far_words::count, count);
    far_.get(0, &far_words::last, last);
    far_.flush(0);
    ++count;
    far_.put(0, &far_words::count, count);
    far_.put(0, &far_words::last, me);
    far_.flush(0);
    return last;
  }

  [[nodiscard]] std::uint64_t load(std::uint64_t& word) const { return testing::load(word, how_); }
  void store(std::uint64_t& word, std::uint64_t value) const { testing::store(word, value, how_); }

  W* world_;
  access how_;
  shared_words<W, near_words> near_;
  typename W::template far_segment<far_words> far_;
  std::uint64_t visits_ = 0;
  std::uint64_t intrusions_ = 0;
};

/// Plain counters for many locks, one each: a set for all ranks where they share memory, else a set for each
/// node.
template <nearfar::world W, std::size_t Locks>
class guarded_counts {
 public:
  /// Collective.
  explicit guarded_counts(W& w, access how = access::plain) : world_(&w), how_(how), words_(w) {}

  /// The holder of lock number `lock` calls this.
  void visit(std::size_t lock, jitter& timing) {
    ++visits_;
    std::uint64_t& word = words_->counts[lock];
    const std::uint64_t count = load(word, how_);
    timing.pause();
    store(word, count + 1, how_);
  }

  /// The faults so far, or an empty text. Collective; the locks must be free.
  [[nodiscard]] std::string violations() {
    world_->barrier();
    std::int64_t total = 0;
    if (words_.is_keeper())
      for (const std::uint64_t count : words_->counts) total += static_cast<std::int64_t>(count);
    const auto sums = world_->sum_over_ranks({static_cast<std::int64_t>(visits_), total});
    world_->barrier();
    if (sums[0] == sums[1]) return {};
    return "exclusion: " + std::to_string(sums[0]) + " visits but counts of " + std::to_string(sums[1]);
  }

 private:
  struct alignas(cache_line) counters {
    std::array<std::uint64_t, Locks> counts{};
  };
  W* world_;
  access how_;
  shared_words<W, counters> words_;
  std::uint64_t visits_ = 0;
};

}  // namespace nearfar::testing
