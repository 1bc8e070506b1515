/// \file
/// Small programs drawn at random, to compare searches on.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {

/// What a rank of a random program does next.
struct instruction {
  engine::action what = engine::action::load;
  bool waits = false;   ///< for a value other than 0
  bool flushes = true;  ///< after an RMA operation
  bool progresses = true;
  int place = 0;  ///< which of the words
  std::size_t value = 1;
  std::memory_order order = relaxed;
  bool is_signal = false;  ///< one that is sent, or awaited if `waits`
};
using random_program = std::vector<std::vector<instruction>>;

/// What programs are drawn from.
struct ingredients {
  int ranks = 2;
  int length = 3;
  bool near = true;
  bool far = false;
  bool waits = false;
  bool may_deadlock = false;  ///< waits for words that any rank may write, also 0
  bool conflicts = false;     ///< puts and writes in place of any word by any rank
};

class random_draw {
 public:
  explicit random_draw(std::uint64_t seed) : random_(seed) {}
  [[nodiscard]] int below(int limit) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(limit));
  }
  template <typename T>
  [[nodiscard]] T of(std::initializer_list<T> some) {
    return some.begin()[below(static_cast<int>(some.size()))];
  }

 private:
  std::mt19937_64 random_;
};

/// Unless it may deadlock, rank 0 alone writes the third word, never waits and leaves it other than 0, and
/// others wait for that word only. The third far word is written by put, and so by one rank; all others by
/// accumulates.
[[nodiscard]] inline random_program drawn(std::uint64_t seed, const ingredients& from) {
  using engine::action;
  random_draw draw(seed);
  random_program result(static_cast<std::size_t>(from.ranks));
  for (int rank = 0; rank < from.ranks; ++rank) {
    const bool is_first = rank == 0;
    const int length = from.length - draw.below(2);
    for (int i = 0; i < length; ++i) {
      instruction next;
      const bool near = from.near && (!from.far || draw.below(2) == 0);
      next.value = static_cast<std::size_t>(1 + draw.below(3));
      next.flushes = draw.below(2) == 0;
      next.order = draw.of({relaxed, relaxed, acquire, release, acq_rel});
      if (from.waits && (!is_first || from.may_deadlock) && draw.below(3) == 0) {
        next.waits = true;
        next.place = from.may_deadlock ? draw.below(3) : 2;
        next.what = near ? action::load : draw.of({action::read_direct, action::get, action::fetch});
        next.progresses = draw.below(3) != 0;
        next.is_signal = from.may_deadlock && draw.below(4) == 0;
      } else if (from.waits && from.may_deadlock && draw.below(6) == 0) {
        next.is_signal = true;
      } else if (from.waits && is_first && draw.below(2) == 0) {
        next.place = 2;
        next.what = near ? action::store : action::put;
        next.value = static_cast<std::size_t>(draw.below(2));
      } else {
        next.place = draw.below(2);
        next.what =
            near ? draw.of({action::load, action::load, action::store, action::store, action::exchange,
                            action::compare_exchange, action::add})
                 : draw.of({action::get, action::fetch, action::swap, action::fetch_add, action::replace,
                            action::sum, action::compare_and_swap, action::read_direct});
        if (from.may_deadlock && draw.below(4) == 0) next.value = 0;
        if (from.conflicts && draw.below(2) == 0)
          next.what = draw.of({action::put, action::put, action::write_direct});
      }
      result[static_cast<std::size_t>(rank)].push_back(next);
    }
    if (from.waits && is_first) {
      if (from.near) result[0].push_back({.what = action::store, .place = 2, .value = 2, .order = release});
      if (from.far) result[0].push_back({.what = action::put, .place = 2, .value = 2});
    }
  }
  return result;
}

/// Registers that a random program notes its observations in.
inline constexpr std::size_t most_instructions = 8;
[[nodiscard]] inline std::size_t registers_of(const random_program& of) {
  return of.size() * most_instructions + 6;
}

/// Runs one rank's part. All far words are in the last rank's memory.
inline void run(scene& s, const random_program& of) {
  using engine::action;
  const auto rank = static_cast<std::size_t>(s.rank());
  const int target = s.w.size() - 1;
  world::near<word>* const cells[] = {&s.cells.x, &s.cells.y, &s.cells.z};
  far<word> words::*const fields[] = {&words::a, &words::b, &words::c};
  std::array<word, most_instructions> results{};
  const auto store_order = [](std::memory_order order) {
    return order == acquire || order == acq_rel ? release : order;
  };
  const auto load_order = [](std::memory_order order) {
    return order == release || order == acq_rel ? acquire : order;
  };
  for (std::size_t i = 0; i < of[rank].size(); ++i) {
    const instruction& next = of[rank][i];
    auto& cell = *cells[next.place];
    const auto field = fields[next.place];
    const word& value = constants[next.value];
    word& result = results[i];
    if (next.is_signal) {
      if (next.waits)
        s.signals.await_signal(next.value == 3 ? any_rank : static_cast<int>(next.value) % s.w.size());
      else
        s.signals.signal(static_cast<int>(next.value) % s.w.size());
      continue;
    }
    if (next.waits) {
      if (next.what == action::load) result = s.w.await(cell, is_set);
      if (next.what == action::read_direct)
        result = next.progresses ? s.w.await_direct(s.far, target, field, is_set)
                                 : s.w.await_direct_without_progress(s.far, target, field, is_set);
      if (next.what == action::get) result = s.w.await_get(s.far, target, field, is_set);
      if (next.what == action::fetch) result = s.w.await_fetch(s.far, target, field, is_set);
      continue;
    }
    switch (next.what) {
      case action::load:
        result = cell.load(load_order(next.order));
        break;
      case action::store:
        cell.store(value, store_order(next.order));
        break;
      case action::exchange:
        result = cell.exchange(value, next.order);
        break;
      case action::compare_exchange:
        (void)cell.compare_exchange(result, value, next.order, load_order(next.order));
        break;
      case action::add:
        result = cell.fetch_add(value, next.order);
        break;
      case action::read_direct:
        result = s.far.read_direct(target, field);
        break;
      case action::write_direct:
        s.far.write_direct(target, field, value);
        break;
      case action::put:
        s.far.put(target, field, value);
        s.far.flush(target);
        break;
      case action::get:
        s.far.get(target, field, result);
        break;
      case action::fetch:
        s.far.fetch(target, field, result);
        break;
      case action::swap:
        s.far.swap(target, field, value, result);
        break;
      case action::fetch_add:
        s.far.fetch_add(target, field, value, result);
        break;
      case action::compare_and_swap:
        s.far.compare_and_swap(target, field, zero, value, result);
        break;
      case action::replace:
      case action::sum:
        s.far.accumulate(target, field, value, next.what == action::sum ? far_op::sum : far_op::replace);
        break;
      default:
        break;
    }
    if (is_rma(next.what) && next.flushes) s.far.flush(target);
  }
  s.far.flush(target);
  for (std::size_t i = 0; i < of[rank].size(); ++i) s.r[rank * most_instructions + i] = results[i];
}

/// What a search makes of a random program.
struct search_result {
  report found;
  outcomes seen;
};

[[nodiscard]] inline search_result searched(const random_program& of, options how) {
  search_result result;
  outcome observed;
  how.keep_traces = how.keep_end_states = true;
  const std::size_t words_at = of.size() * most_instructions;
  const program what{.where = one_node(static_cast<int>(of.size())), .body = [&](world& w, monitor& watch) {
                       if (w.rank() == 0) observed.assign(registers_of(of), 0);
                       scene s(w, watch, observed);
                       run(s, of);
                       w.barrier();
                       if (w.rank() != w.size() - 1) return w.barrier();
                       // Everything is known now: these have one outcome each.
                       observed[words_at] = s.cells.x.load(relaxed);
                       observed[words_at + 1] = s.cells.y.load(relaxed);
                       observed[words_at + 2] = s.cells.z.load(relaxed);
                       observed[words_at + 3] = s.far.read_direct(w.rank(), &words::a);
                       observed[words_at + 4] = s.far.read_direct(w.rank(), &words::b);
                       observed[words_at + 5] = s.far.read_direct(w.rank(), &words::c);
                       result.seen.insert(observed);
                       w.barrier();
                     }};
  result.found = check(what, how);
  return result;
}

/// The program as text, for failures.
[[nodiscard]] inline std::string text_of(const random_program& of) {
  std::string text;
  for (const auto& rank : of) {
    for (const instruction& next : rank) {
      text += next.waits ? "await " : "";
      text += next.is_signal ? "signal" : std::string(name(next.what));
      text += " " + std::to_string(next.place) + " value " + std::to_string(next.value) + " order " +
              std::to_string(static_cast<int>(next.order)) + (next.flushes ? " flush" : "") +
              (next.progresses ? "" : " no progress") + "; ";
    }
    text += "\n";
  }
  return text;
}

}  // namespace nearfar::checker::testing
