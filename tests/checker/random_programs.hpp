/// \file
/// Small programs drawn at random, to compare searches on.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {

/// The value of a word that a rank waits for.
struct condition {
  enum class kind : std::uint8_t { differs, equals, at_least, is_either };
  kind what = kind::differs;
  word first = 0;
  word second = 0;  ///< of `is_either`

  [[nodiscard]] bool operator()(word value) const {
    switch (what) {
      case kind::differs:
        return value != first;
      case kind::equals:
        return value == first;
      case kind::at_least:
        return value >= first;
      case kind::is_either:
        return value == first || value == second;
    }
    return false;
  }
};

/// One step of a rank of a random program.
struct instruction {
  engine::action what = engine::action::load;
  bool waits = false;   ///< until the value read satisfies `until`
  bool flushes = true;  ///< after an RMA operation
  bool progresses = true;
  int place = 0;  ///< which of the words
  std::size_t value = 1;
  std::memory_order order = relaxed;
  bool is_signal = false;               ///< one that is sent, or awaited if `waits`
  std::memory_order failure = relaxed;  ///< for a compare_exchange
  condition until{};
  bool is_fence = false;
  bool has_deadline = false;  ///< for a wait
};
using random_program = std::vector<std::vector<instruction>>;
/// For one rank.
inline constexpr std::size_t most_instructions = 8;

/// The part of an order that a store has, and that a load has.
[[nodiscard]] constexpr std::memory_order store_order(std::memory_order order) {
  return order == acquire || order == acq_rel ? release : order;
}
[[nodiscard]] constexpr std::memory_order load_order(std::memory_order order) {
  return order == release || order == acq_rel ? acquire : order;
}

/// The receiver of a signal, and the sender of an awaited one.
[[nodiscard]] inline int receiver_of(const instruction& signal, std::size_t ranks) {
  return static_cast<int>(signal.value % ranks);
}
[[nodiscard]] inline int sender_of(const instruction& awaited, std::size_t ranks) {
  return awaited.value == 3 ? any_rank : static_cast<int>(awaited.value % ranks);
}

/// The ingredients of random programs.
struct ingredients {
  int ranks = 2;
  int length = 3;
  bool near = true;
  bool far = false;
  bool waits = false;
  bool may_deadlock = false;  ///< waits for words that any rank may write, also 0
  bool conflicts = false;     ///< puts and writes in place of any word by any rank
  bool signals = false;       ///< for `drawn_widely`; `drawn` uses them if it may deadlock
  bool fences = false;        ///< of `drawn_widely`, and seq_cst accesses
  bool deadlines = false;     ///< for half of the waits of `drawn_widely`
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

/// Unless the program may deadlock, rank 0 alone writes the third word, never waits and leaves it other than
/// 0, and other ranks wait for that word only. One rank writes the third far word by put; accumulates write
/// all others.
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
      next.failure = load_order(next.order);
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

/// A condition that `value` meets, mostly.
[[nodiscard]] inline condition drawn_condition(random_draw& draw, word value) {
  using enum condition::kind;
  const word other = static_cast<word>(draw.below(4));
  switch (draw.below(7)) {
    case 0:
      return {};
    case 1:
      return {.what = differs, .first = other};
    case 2:
      return {.what = at_least, .first = value};
    case 3:
    case 4:
      return {.what = is_either, .first = value, .second = draw.below(2) == 0 ? 0 : other};
    default:
      return {.what = equals, .first = value};
  }
}

/// Draws from all ingredients: waits for any value of any word, and signals, at any place; most programs end.
/// All ranks write far words by accumulates, or one rank writes them in any way, unless conflicts are wanted.
[[nodiscard]] inline random_program drawn_widely(std::uint64_t seed, const ingredients& from) {
  using engine::action;
  random_draw draw(seed);
  random_program result(static_cast<std::size_t>(from.ranks));
  const auto is_near_next = [&] { return from.near && (!from.far || draw.below(2) == 0); };
  const auto value = [&] { return static_cast<std::size_t>(draw.of({0, 1, 1, 2, 2, 3})); };
  const int places = draw.of({1, 2, 2, 2});
  const auto place = [&] { return draw.below(places); };
  std::array<int, 3> writer{};
  for (int& of_word : writer) of_word = draw.below(2) == 0 ? any_rank : draw.below(from.ranks);
  for (int rank = 0; rank < from.ranks; ++rank) {
    const int length = 2 + draw.below(from.length - 1) - draw.below(2);
    for (int i = 0; i < length; ++i) {
      instruction next{.flushes = draw.below(2) == 0, .place = place(), .value = value()};
      next.order = draw.of({relaxed, relaxed, acquire, release, acq_rel});
      next.failure = draw.of({relaxed, acquire});
      if (from.fences) {
        next.is_fence = i > 0 && i + 1 < length && draw.below(3) == 0;
        const std::memory_order strong_order = draw.of({seq_cst, seq_cst, acq_rel, acquire, release});
        if (next.is_fence || draw.below(3) == 0) next.order = strong_order;
        if (draw.below(3) == 0) next.failure = seq_cst;
        if (next.is_fence) {
          result[static_cast<std::size_t>(rank)].push_back(next);
          continue;
        }
      }
      const int owner = writer[static_cast<std::size_t>(next.place)];
      if (is_near_next())
        next.what = draw.of({action::load, action::store, action::store, action::exchange, action::exchange,
                             action::compare_exchange, action::add});
      else if ((owner == rank && draw.below(2) == 0) || (from.conflicts && draw.below(2) == 0))
        next.what = draw.of({action::put, action::write_direct});
      else if (owner != rank && owner != any_rank && !from.conflicts)
        next.what = draw.of({action::get, action::fetch, action::read_direct});
      else
        next.what = draw.of({action::get, action::fetch, action::swap, action::fetch_add, action::replace,
                             action::sum, action::compare_and_swap, action::read_direct});
      result[static_cast<std::size_t>(rank)].push_back(next);
    }
  }
  const auto insert = [&](std::size_t rank, const instruction& next) {
    auto& steps = result[rank];
    if (steps.size() == most_instructions) return;
    steps.insert(steps.begin() + draw.below(static_cast<int>(steps.size()) + 1), next);
  };
  const auto any = [&] { return static_cast<std::size_t>(draw.below(from.ranks)); };
  for (int left = from.waits ? 1 + draw.below(2) : 0; left > 0; --left) {
    const std::size_t rank = any();
    const auto& others = result[any()];
    instruction wait{.waits = true, .place = place()};
    bool near = is_near_next();
    word expected = value();
    // The rank waits for a value that another rank writes, if one does.
    if (&others != &result[rank] && !others.empty()) {
      const auto& written = others[static_cast<std::size_t>(draw.below(static_cast<int>(others.size())))];
      if (!written.waits && is_write(written.what)) {
        near = is_near(written.what);
        wait.place = written.place;
        expected = written.value;
      }
    }
    wait.what = near ? action::load : draw.of({action::read_direct, action::get, action::fetch});
    wait.progresses = wait.what != action::read_direct || draw.below(3) != 0;
    wait.until = drawn_condition(draw, expected);
    if (from.deadlines && draw.below(2) == 0) wait.has_deadline = wait.progresses = true;
    insert(rank, wait);
  }
  for (int left = from.signals ? 1 + draw.below(2) : 0; left > 0; --left) {
    const std::size_t sender = any();
    const std::size_t receiver = any();
    insert(sender, {.value = receiver, .is_signal = true});
    if (draw.below(8) != 0)
      insert(receiver, {.waits = true, .value = draw.below(2) == 0 ? sender : 3, .is_signal = true});
  }
  return result;
}

/// Registers that a random program notes its observations in.
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
  for (std::size_t i = 0; i < of[rank].size(); ++i) {
    const instruction& next = of[rank][i];
    auto& cell = *cells[next.place];
    const auto field = fields[next.place];
    const word& value = constants[next.value];
    word& result = results[i];
    if (next.is_fence) {
      s.w.fence(next.order);
      continue;
    }
    if (next.is_signal) {
      if (next.waits)
        s.signals.await_signal(sender_of(next, of.size()));
      else
        s.signals.signal(receiver_of(next, of.size()));
      continue;
    }
    if (next.waits && next.has_deadline) {
      constexpr std::chrono::nanoseconds at_once{1};
      std::optional<word> read;
      if (next.what == action::load) read = s.w.await_until(at_once, cell, next.until);
      if (next.what == action::read_direct)
        read = s.w.await_direct_until(at_once, s.far, target, field, next.until);
      if (next.what == action::get) read = s.w.await_get_until(at_once, s.far, target, field, next.until);
      if (next.what == action::fetch) read = s.w.await_fetch_until(at_once, s.far, target, field, next.until);
      result = read.value_or(too_late);
      continue;
    }
    if (next.waits) {
      if (next.what == action::load) result = s.w.await(cell, next.until);
      if (next.what == action::read_direct)
        result = next.progresses ? s.w.await_direct(s.far, target, field, next.until)
                                 : s.w.await_direct_without_progress(s.far, target, field, next.until);
      if (next.what == action::get) result = s.w.await_get(s.far, target, field, next.until);
      if (next.what == action::fetch) result = s.w.await_fetch(s.far, target, field, next.until);
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
        (void)cell.compare_exchange(result, value, next.order, next.failure);
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

/// Results of a search of a random program.
struct search_result {
  report found;
  outcomes seen;
};

[[nodiscard]] inline search_result searched(const random_program& of, options how,
                                            std::vector<std::vector<int>> alike = {}) {
  search_result result;
  outcome observed;
  const std::size_t words_at = of.size() * most_instructions;
  const program what{.where = one_node(static_cast<int>(of.size())),
                     .body =
                         [&](world& w, monitor& watch) {
                           if (w.rank() == 0) observed.assign(registers_of(of), 0);
                           scene s(w, watch, observed);
                           run(s, of);
                           w.barrier();
                           if (w.rank() != w.size() - 1) return w.barrier();
                           // The rank knows everything now, so each of these has one outcome.
                           observed[words_at] = s.cells.x.load(relaxed);
                           observed[words_at + 1] = s.cells.y.load(relaxed);
                           observed[words_at + 2] = s.cells.z.load(relaxed);
                           observed[words_at + 3] = s.far.read_direct(w.rank(), &words::a);
                           observed[words_at + 4] = s.far.read_direct(w.rank(), &words::b);
                           observed[words_at + 5] = s.far.read_direct(w.rank(), &words::c);
                           result.seen.insert(observed);
                           w.barrier();
                         },
                     .alike = std::move(alike)};
  result.found = check(what, how);
  return result;
}

[[nodiscard]] inline std::string text_of(const instruction& next, std::size_t ranks) {
  constexpr std::array orders{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  constexpr std::array tests{" != ", " == ", " >= ", " in "};
  const auto order_name = [&](std::memory_order order) {
    return std::string(orders[static_cast<std::size_t>(order)]);
  };
  if (next.is_fence) return "fence " + order_name(next.order);
  if (next.is_signal && next.waits) {
    const int sender = sender_of(next, ranks);
    return "await signal of " + (sender == any_rank ? "any" : std::to_string(sender));
  }
  if (next.is_signal) return "signal " + std::to_string(receiver_of(next, ranks));
  std::string text =
      std::string(name(next.what)) + " " + std::string(1, (is_near(next.what) ? "xyz" : "abc")[next.place]);
  if (next.waits) {
    text =
        "await " + text + tests[static_cast<std::size_t>(next.until.what)] + std::to_string(next.until.first);
    if (next.until.what == condition::kind::is_either) text += "," + std::to_string(next.until.second);
    return text + (next.has_deadline ? " until a deadline" : next.progresses ? "" : " without progress");
  }
  if (is_write(next.what)) text += " " + std::to_string(next.value);
  if (next.what == engine::action::load) text += " " + order_name(load_order(next.order));
  if (next.what == engine::action::store) text += " " + order_name(store_order(next.order));
  if (is_near(next.what) && is_read(next.what) && is_write(next.what)) text += " " + order_name(next.order);
  if (next.what == engine::action::compare_exchange) text += "/" + order_name(next.failure);
  if (is_rma(next.what) && (next.flushes || next.what == engine::action::put)) text += " flush";
  return text;
}
/// The program as text for failures, a line for each rank.
[[nodiscard]] inline std::string text_of(const random_program& of) {
  std::string text;
  for (std::size_t rank = 0; rank < of.size(); ++rank) {
    text += "rank " + std::to_string(rank) + ": ";
    for (const instruction& next : of[rank]) text += text_of(next, of.size()) + "; ";
    text += "\n";
  }
  return text;
}

}  // namespace nearfar::checker::testing
