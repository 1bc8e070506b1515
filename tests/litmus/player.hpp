/// \file
/// Runs litmus programs in any world.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "nearfar/core/world.hpp"
#include "tests/litmus/programs.hpp"

namespace nearfar::litmus {

/// The words of one round. The constructor is collective.
template <world W>
class board {
 public:
  explicit board(W& w) : world_(&w), far_(w), near_(w) {}

  /// Thread `thread` of `what`, whose threads are the ranks of `cast`; its registers go to `observed`.
  void play(const program& what, std::size_t thread, const std::vector<int>& cast, outcome& observed) {
    std::size_t next_register = what.what->first_register(thread);
    bool is_first = true;
    for (const auto& [word, written] : what.what->threads[thread]) {
      if (!std::exchange(is_first, false) && what.how->between != std::memory_order_relaxed)
        world_->fence(what.how->between);
      const medium& by = what.of(word);
      const int home = cast[by.home];
      if (written == 0)
        observed[next_register++] = read(by.read, home, word);
      else
        write(by.write, home, word, constants[written]);
    }
  }

  /// Notes the final values of this rank's words, after a barrier that follows the last access.
  void note_last(const program& what, const std::vector<int>& cast, outcome& observed) {
    for (std::size_t word = 0; word < word_count; ++word) {
      const medium& by = what.of(word);
      if (cast[by.home] != world_->rank()) continue;
      observed[what.what->registers() + word] = read(
          by.write < writing::near_relaxed ? reading::in_place : reading::near_relaxed, world_->rank(), word);
    }
  }

  /// Zeroes the words of this rank; called between two barriers.
  void reset() {
    for (const auto field : {&far_words::x, &far_words::y, &far_words::outcome})
      far_.write_direct(world_->rank(), field, value{0});
    auto& mine = near_.at(world_->rank());
    for (auto* cell : {&mine.x, &mine.y, &mine.arrived}) cell->store(0, std::memory_order_relaxed);
  }

  /// Waits for `count` ranks of the node of `host` in a few nanoseconds.
  void meet(int host, std::size_t count) {
    auto& arrived = near_.at(host).arrived;
    arrived.fetch_add(1, std::memory_order_acq_rel);
    world_->await(arrived, [count](value ranks) { return ranks == count; });
  }

  /// Adds this rank's part of the outcome; rank 0 calls `collected` after a flush and a barrier.
  void contribute(const value& part) { far_.accumulate(0, &far_words::outcome, part, far_op::sum); }
  void flush_contributions() { far_.flush(0); }
  [[nodiscard]] value collected() const { return far_.read_direct(0, &far_words::outcome); }

 private:
  using near_word = typename W::template near<value>;
  struct alignas(slot_bytes) far_words {
    far<value> x;
    alignas(slot_bytes) far<value> y;
    alignas(slot_bytes) far<value> outcome;
  };
  struct alignas(cache_line) near_words {
    near_word x{};
    alignas(cache_line) near_word y{};
    alignas(cache_line) near_word arrived{};
  };

  static constexpr std::array far_fields{&far_words::x, &far_words::y};
  static constexpr std::array near_fields{&near_words::x, &near_words::y};
  /// Origins that outlive every flush.
  static constexpr std::array<value, 3> constants{0, 1, 2};

  void write(writing how, int home, std::size_t word, const value& written) {
    const auto field = far_fields[word];
    value old = 0;
    switch (how) {
      case writing::put:
        far_.put(home, field, written);
        break;
      case writing::replace:
        far_.accumulate(home, field, written, far_op::replace);
        break;
      case writing::swap:
        far_.swap(home, field, written, old);
        break;
      case writing::add:
        far_.fetch_add(home, field, written, old);
        break;
      case writing::compare_and_swap:
        far_.compare_and_swap(home, field, constants[0], written, old);
        break;
      case writing::in_place:
        far_.write_direct(home, field, written);
        return;
      case writing::near_relaxed:
        near(home, word).store(written, std::memory_order_relaxed);
        return;
      case writing::near_release:
        near(home, word).store(written, std::memory_order_release);
        return;
      case writing::near_sequential:
        near(home, word).store(written, std::memory_order_seq_cst);
        return;
      case writing::near_exchange:
        (void)near(home, word).exchange(written, std::memory_order_acq_rel);
        return;
    }
    far_.flush(home);
  }

  [[nodiscard]] value read(reading how, int home, std::size_t word) {
    const auto field = far_fields[word];
    value result = 0;
    switch (how) {
      case reading::get:
        far_.get(home, field, result);
        break;
      case reading::fetch:
        far_.fetch(home, field, result);
        break;
      case reading::add:
        far_.fetch_add(home, field, constants[0], result);
        break;
      case reading::compare_and_swap:
        far_.compare_and_swap(home, field, constants[0], constants[0], result);
        break;
      case reading::in_place:
        return far_.read_direct(home, field);
      case reading::near_relaxed:
        return near(home, word).load(std::memory_order_relaxed);
      case reading::near_sequential:
        return near(home, word).load(std::memory_order_seq_cst);
      case reading::near_acquire:
        return near(home, word).load(std::memory_order_acquire);
      case reading::near_add:
        return near(home, word).fetch_add(0, std::memory_order_acq_rel);
    }
    far_.flush(home);
    return result;
  }

  [[nodiscard]] near_word& near(int home, std::size_t word) const {
    return near_.at(home).*near_fields[word];
  }

  W* world_;
  typename W::template far_segment<far_words> far_;
  typename W::template near_segment<near_words> near_;
};

/// The number of times that each outcome was met.
using counts = std::map<outcome, std::uint64_t>;

/// Plays programs again and again on fresh words, with random delays so that accesses meet. All functions are
/// collective.
template <world W>
class player {
 public:
  player(W& w, std::uint32_t seed)
      : world_(&w), random_(seed * 7919U + static_cast<std::uint32_t>(w.rank()) + 1U) {
    for (std::size_t i = 0; i < batch; ++i) boards_.push_back(std::make_unique<board<W>>(w));
  }

  /// Whether the world has the ranks that `what` needs.
  [[nodiscard]] bool can_play(const program& what) const { return candidates(what).size() >= what.ranks(); }

  /// The outcomes of `rounds` rounds at rank 0; empty at other ranks. The threads of the program go round the
  /// ranks.
  [[nodiscard]] counts play(const program& what, std::size_t rounds) {
    const std::vector<int> ranks = candidates(what);
    counts met;
    for (std::size_t done = 0; done < rounds; done += batch) {
      const std::size_t now = std::min(batch, rounds - done);
      std::vector<outcome> observed(now, outcome(entries(what)));
      std::vector<std::vector<int>> casts;
      for (std::size_t i = 0; i < now; ++i) casts.push_back(cast_of(what, ranks, done + i));
      for (std::size_t i = 0; i < now; ++i) play_round(what, *boards_[i], casts[i], observed[i]);
      world_->barrier();
      std::vector<value> parts(now);
      for (std::size_t i = 0; i < now; ++i) {
        boards_[i]->note_last(what, casts[i], observed[i]);
        parts[i] = packed(observed[i]);
        boards_[i]->contribute(parts[i]);
      }
      boards_.front()->flush_contributions();
      world_->barrier();
      if (world_->rank() == 0)
        for (std::size_t i = 0; i < now; ++i) ++met[unpacked(boards_[i]->collected(), entries(what))];
      world_->barrier();
      for (const auto& one : boards_) one->reset();
      world_->barrier();
    }
    return met;
  }

 private:
  static constexpr std::size_t batch = 64;
  static constexpr unsigned bits_of_entry = 8;

  [[nodiscard]] static std::size_t entries(const program& what) {
    return what.what->registers() + word_count;
  }

  /// The ranks that may take part: all, or the node of rank 0.
  [[nodiscard]] std::vector<int> candidates(const program& what) const {
    const locality& where = world_->locality();
    if (what.shares_memory()) {
      const auto members = where.members(level::node, where.group(level::node, 0));
      return {members.begin(), members.end()};
    }
    std::vector<int> all(static_cast<std::size_t>(world_->size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  [[nodiscard]] static std::vector<int> cast_of(const program& what, const std::vector<int>& ranks,
                                                std::size_t round) {
    std::vector<int> cast;
    for (std::size_t thread = 0; thread < what.ranks(); ++thread)
      cast.push_back(ranks[(thread + round) % ranks.size()]);
    return cast;
  }

  void play_round(const program& what, board<W>& on, const std::vector<int>& cast, outcome& observed) {
    const auto me = std::find(cast.begin(), cast.end(), world_->rank());
    const bool has_one_node = what.shares_memory() || world_->locality().groups(level::node) == 1;
    if (!has_one_node) world_->barrier();
    if (me == cast.end()) return;
    if (has_one_node) on.meet(cast.front(), cast.size());
    if (const auto span = std::chrono::nanoseconds{random_() % 512}; span.count() < 256) world_->delay(span);
    on.play(what, static_cast<std::size_t>(me - cast.begin()), cast, observed);
  }

  /// An outcome in one word, to which each rank adds its part. A value that no program writes becomes the
  /// largest entry.
  [[nodiscard]] static value packed(const outcome& entries) {
    constexpr value most = (value{1} << bits_of_entry) - 1;
    value result = 0;
    for (std::size_t i = entries.size(); i-- != 0;)
      result = result << bits_of_entry | std::min(entries[i], most);
    return result;
  }
  [[nodiscard]] static outcome unpacked(value all, std::size_t entries) {
    outcome result;
    for (std::size_t i = 0; i < entries; ++i, all >>= bits_of_entry)
      result.push_back(all & ((value{1} << bits_of_entry) - 1));
    return result;
  }

  W* world_;
  std::minstd_rand random_;
  std::vector<std::unique_ptr<board<W>>> boards_;
};

}  // namespace nearfar::litmus
