// Histories and the search for their linearizations, against known ones and against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <random>

#include "nearfar/checker/linearizability.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::checker::testing {
namespace {

using enum linearizability;
using reg = register_specification;
using counter = counter_specification;
using fifo = queue_specification;
using lifo = stack_specification;
using table = map_specification;

/// The example of specification.hpp, as users write it.
class flag_specification {
 public:
  enum method : int { raise, is_raised };
  [[nodiscard]] static std::string_view name(int method) { return method == raise ? "raise" : "is_raised"; }
  [[nodiscard]] bool apply(const operation& what) {
    if (what.method == is_raised) return what.may_return({raised_ ? 1U : 0U});
    if (!what.may_return({})) return false;
    raised_ = true;
    return true;
  }
  [[nodiscard]] std::size_t hash() const { return raised_ ? 1 : 0; }
  [[nodiscard]] friend bool operator==(const flag_specification&, const flag_specification&) = default;

 private:
  bool raised_ = false;
};

/// States that only equality tells apart.
class badly_hashed_register : public reg {
 public:
  using reg::reg;
  [[nodiscard]] static std::size_t hash() { return 0; }
};

// ---- checks of verdicts -----------------------------------------------------------------------------------

history of(const std::vector<operation>& operations) {
  history result;
  for (const operation& one : operations) {
    result.call(one.process, one.object, one.method, one.arguments, one.called);
    if (one.returned) result.returned(one.process, one.returned->result, one.returned->at);
  }
  return result;
}

operation done(int process, int method, value_list arguments, std::uint64_t called, value_list result,
               std::uint64_t at) {
  return {.process = process,
          .method = method,
          .arguments = arguments,
          .called = called,
          .returned = response{result, at}};
}

operation pending(int process, int method, value_list arguments, std::uint64_t called) {
  return {.process = process, .method = method, .arguments = arguments, .called = called};
}

/// Whether they may come in this order in time, and as the specification has it.
template <typename S>
bool is_legal(const history& what, const std::vector<std::size_t>& order, const S& initial) {
  std::map<std::uint64_t, S> objects;
  std::uint64_t last_call = 0;
  for (const std::size_t number : order) {
    const operation& one = what.operations()[number];
    last_call = std::max(last_call, one.called);
    if (one.returned && one.returned->at < last_call) return false;
    if (!objects.try_emplace(one.object, initial).first->second.apply(one)) return false;
  }
  return true;
}

/// Whether the order has every completed operation, and each once.
bool has_all(const history& what, std::vector<std::size_t> order) {
  std::sort(order.begin(), order.end());
  if (std::adjacent_find(order.begin(), order.end()) != order.end()) return false;
  for (std::size_t number = 0; number < what.size(); ++number)
    if (!what.operations()[number].is_pending() && !std::binary_search(order.begin(), order.end(), number))
      return false;
  return true;
}

/// The answer, after a check of the evidence for it.
template <typename S>
linearizability judged(const history& what, const S& initial, const linearizability_options& how = {}) {
  const verdict found = linearizable(what, initial, how);
  EXPECT_TRUE(is_legal(what, found.order, initial)) << what.text(S::name);
  EXPECT_EQ(found.text.empty(), found.is_linearizable == yes);
  EXPECT_EQ(found.impossible.empty(), found.is_linearizable != no) << what.text(S::name);
  EXPECT_TRUE(found.is_linearizable != yes || has_all(what, found.order)) << what.text(S::name);
  return found.is_linearizable;
}

template <typename S>
linearizability judged(const std::vector<operation>& operations, const S& initial) {
  return judged(of(operations), initial);
}

// ---- histories
// ---------------------------------------------------------------------------------------------

TEST(histories, number_their_events) {
  history what;
  what.call(0, 7, fifo::push, {5});
  what.call(1, 7, fifo::pop, {});
  what.returned(1, {5});
  what.returned(0, {fifo::done});
  what.call(1, 8, fifo::pop, {});
  ASSERT_EQ(what.size(), 3U);
  const operation push{
      .object = 7, .method = fifo::push, .arguments = {5}, .called = 1, .returned = response{{1}, 4}};
  EXPECT_EQ(what.operations()[0], push);
  EXPECT_EQ(what.operations()[1].returned, (response{{5}, 3}));
  EXPECT_TRUE(what.operations()[2].is_pending());
  EXPECT_EQ(what.operations()[2].called, 5U);
}

TEST(histories, precede_by_strictly_smaller_stamps) {
  const operation first = done(0, reg::write, {1}, 1, {}, 3);
  EXPECT_TRUE(first.precedes(done(1, reg::read, {}, 4, {1}, 5)));
  EXPECT_FALSE(first.precedes(done(1, reg::read, {}, 3, {1}, 5)));
  EXPECT_FALSE(pending(0, reg::write, {1}, 1).precedes(done(1, reg::read, {}, 4, {1}, 5)));
}

TEST(histories, refuse_misuse) {
  history what;
  EXPECT_THROW(what.returned(0, {}), misuse);
  what.call(0, 1, reg::read, {}, 10);
  EXPECT_THROW(what.call(0, 1, reg::read, {}), misuse);
  EXPECT_THROW(what.returned(0, {}, 9), misuse);
  what.returned(0, {1}, 12);
  EXPECT_THROW(what.returned(0, {1}), misuse);
  EXPECT_THROW(what.call(0, 1, reg::read, {}, 11), misuse);
  EXPECT_THROW((value_list{1, 2, 3, 4, 5}), misuse);
  EXPECT_EQ(what.size(), 1U);
  EXPECT_THROW(judged({done(0, reg::write, {}, 1, {}, 2)}, reg()), misuse);
  EXPECT_THROW(judged({done(0, 9, {1, 2}, 1, {}, 2)}, reg()), misuse);
  EXPECT_THROW(judged({done(0, 9, {1, 2}, 1, {}, 2)}, counter()), misuse);
  EXPECT_THROW(judged({done(0, 9, {1, 2}, 1, {}, 2)}, lifo()), misuse);
  EXPECT_THROW(judged({done(0, 9, {1, 2}, 1, {}, 2)}, table()), misuse);
}

TEST(histories, of_several_processes_are_merged) {
  history one = of({done(0, reg::write, {1}, 1, {}, 4)});
  const history other = of({done(1, reg::read, {}, 2, {1}, 3), pending(1, reg::write, {2}, 5)});
  one.append(other);
  ASSERT_EQ(one.size(), 3U);
  EXPECT_EQ(one.operations()[2], other.operations()[1]);
  EXPECT_THROW(one.append(other), misuse);  // which is not later
  EXPECT_EQ(one.size(), 3U);
  one.returned(1, {});
  EXPECT_EQ(one.operations()[2].returned->at, 6U);
  one.append(of({done(1, reg::read, {}, 6, {2}, 7)}));
  EXPECT_THROW(one.append(of({done(1, reg::read, {}, 6, {2}, 7)})), misuse);
  EXPECT_EQ(judged(one, reg()), yes);
}

TEST(histories, are_divided_by_object) {
  history what;
  what.call(0, 1, fifo::push, {5});
  what.call(1, 2, counter::add, {3});
  what.returned(0, {fifo::done});
  what.call(0, 2, counter::read, {});
  what.returned(0, {3});
  EXPECT_EQ(judged(what.of_object(1), fifo()), yes);
  EXPECT_EQ(judged(what.of_object(2), counter()), yes);
  ASSERT_EQ(what.of_object(2).size(), 2U);
  EXPECT_EQ(what.of_object(2).operations()[0], what.operations()[1]);
}

TEST(histories, are_printed_in_order_of_call) {
  history what;
  what.call(10, 1, reg::compare_and_swap, {0, 5}, 7);
  what.call(2, 1, reg::write, {std::uint64_t(0) - 1}, 5);
  what.returned(2, {}, 12);
  what.call(3, 1, reg::read, {}, 100);
  what.returned(3, {5}, 110);
  EXPECT_EQ(what.text(reg::name),
            "#1  process 2   object 1  [5, 12]     write(-1) -> nothing\n"
            "#0  process 10  object 1  [7, ...     compare_and_swap(0, 5) is pending\n"
            "#2  process 3   object 1  [100, 110]  read() -> 5\n");
}

// ---- histories known to be right or wrong
// ------------------------------------------------------------------

TEST(registers, return_the_last_value_written) {
  EXPECT_EQ(judged({done(0, reg::write, {1}, 1, {}, 2), done(1, reg::read, {}, 3, {1}, 4)}, reg()), yes);
  EXPECT_EQ(judged({done(1, reg::read, {}, 3, {4}, 4)}, reg(4)), yes);
  // A stale read after a write that has returned. Equal stamps put no order between operations.
  EXPECT_EQ(judged({done(0, reg::write, {1}, 1, {}, 2), done(1, reg::read, {}, 3, {0}, 4)}, reg()), no);
  EXPECT_EQ(judged({done(0, reg::write, {1}, 1, {}, 3), done(1, reg::read, {}, 3, {0}, 4)}, reg()), yes);
  EXPECT_EQ(judged({done(0, reg::write, {1}, 1, {}, 3), done(0, reg::read, {}, 3, {0}, 4)}, reg()), yes);
}

TEST(registers, do_not_go_back_while_a_write_lasts) {
  const operation write = done(0, reg::write, {1}, 1, {}, 10);
  EXPECT_EQ(judged({write, done(1, reg::read, {}, 2, {0}, 3), done(2, reg::read, {}, 4, {1}, 5)}, reg()),
            yes);
  EXPECT_EQ(judged({write, done(1, reg::read, {}, 2, {1}, 3), done(2, reg::read, {}, 4, {0}, 5)}, reg()), no);
  EXPECT_EQ(judged({write, done(1, reg::read, {}, 2, {1}, 4), done(2, reg::read, {}, 3, {0}, 5)}, reg()),
            yes);
}

TEST(registers, are_swapped_by_one_of_two) {
  constexpr int cas = reg::compare_and_swap;
  EXPECT_EQ(judged({done(0, cas, {0, 1}, 1, {0}, 4), done(1, cas, {0, 2}, 2, {1}, 3)}, reg()), yes);
  EXPECT_EQ(judged({done(0, cas, {0, 1}, 1, {0}, 4), done(1, cas, {0, 2}, 2, {0}, 3)}, reg()), no);
  EXPECT_EQ(judged({done(0, cas, {0, 1}, 1, {0}, 2), done(1, reg::read, {}, 3, {1}, 4)}, reg()), yes);
  EXPECT_EQ(judged({done(0, cas, {3, 1}, 1, {0}, 2), done(1, reg::read, {}, 3, {1}, 4)}, reg()), no);
}

TEST(registers, may_be_written_by_one_who_stopped_but_once) {
  const auto reads = [](std::uint64_t first, std::uint64_t second, std::uint64_t third) {
    return std::vector{pending(0, reg::write, {1}, 1), done(1, reg::read, {}, 2, {first}, 3),
                       done(1, reg::read, {}, 4, {second}, 5), done(1, reg::read, {}, 6, {third}, 7)};
  };
  EXPECT_EQ(judged(reads(0, 0, 0), reg()), yes);
  EXPECT_EQ(judged(reads(0, 1, 1), reg()), yes);
  EXPECT_EQ(judged(reads(0, 1, 0), reg()), no);
  auto twice = reads(1, 5, 1);
  twice.push_back(done(2, reg::write, {5}, 4, {}, 5));
  EXPECT_EQ(judged(twice, reg()), no);
  // And not before it is called.
  EXPECT_EQ(judged({done(1, reg::read, {}, 2, {1}, 3), pending(0, reg::write, {1}, 4)}, reg()), no);
}

TEST(registers, that_are_several_are_judged_one_by_one) {
  operation stale = done(1, reg::read, {}, 3, {0}, 4);
  EXPECT_EQ(judged({done(0, reg::write, {1}, 1, {}, 2), stale}, reg()), no);
  stale.object = 1;
  EXPECT_EQ(judged({done(0, reg::write, {1}, 1, {}, 2), stale}, reg()), yes);
}

TEST(counters, lose_nothing) {
  const operation one = done(0, counter::add, {1}, 1, {}, 4);
  const operation other = done(1, counter::add, {1}, 2, {}, 3);
  EXPECT_EQ(judged({one, other, done(2, counter::read, {}, 5, {2}, 6)}, counter()), yes);
  EXPECT_EQ(judged({one, other, done(2, counter::read, {}, 5, {1}, 6)}, counter()), no);
  EXPECT_EQ(judged({one, other, done(2, counter::read, {}, 2, {0}, 6)}, counter()), yes);
  EXPECT_EQ(judged({one, pending(1, counter::add, {1}, 2), done(2, counter::read, {}, 5, {3}, 6)}, counter()),
            no);
  EXPECT_EQ(judged({one, done(2, counter::read, {}, 5, {9}, 6)}, counter(8)), yes);
  // Without an effect a pending operation is like one that was never called.
  EXPECT_EQ(judged({one, pending(1, counter::read, {}, 2)}, counter()), yes);
}

operation push(int process, std::uint64_t value, std::uint64_t called, std::uint64_t at) {
  return done(process, fifo::push, {value}, called, {fifo::done}, at);
}
operation pop(int process, value_list result, std::uint64_t called, std::uint64_t at) {
  return done(process, fifo::pop, {}, called, result, at);
}

TEST(queues, keep_their_order) {
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), pop(1, {1}, 5, 6), pop(1, {2}, 7, 8)}, fifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), pop(1, {2}, 5, 6), pop(1, {1}, 7, 8)}, fifo()), no);
  // Pushes or pops that overlap may come in either order.
  EXPECT_EQ(judged({push(0, 1, 1, 4), push(1, 2, 2, 3), pop(1, {2}, 5, 6), pop(1, {1}, 7, 8)}, fifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), pop(1, {2}, 5, 8), pop(2, {1}, 6, 7)}, fifo()), yes);
}

TEST(queues, neither_lose_nor_double_nor_invent) {
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), pop(1, {2}, 5, 6)}, fifo()), no);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {}, 3, 4)}, fifo()), no);
  EXPECT_EQ(judged({push(0, 1, 1, 3), pop(1, {}, 2, 4)}, fifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {1}, 3, 5), pop(2, {1}, 4, 6)}, fifo()), no);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {1}, 3, 5), pop(2, {}, 4, 6)}, fifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {2}, 3, 4)}, fifo()), no);
  EXPECT_EQ(judged({pop(1, {1}, 1, 2), push(0, 1, 3, 4)}, fifo()), no);
  // The queue holds some value all the time, though no value is in it throughout.
  EXPECT_EQ(
      judged({push(0, 1, 1, 2), pop(2, {}, 3, 9), push(0, 2, 4, 5), pop(1, {1}, 6, 7), pop(1, {2}, 10, 11)},
             fifo()),
      no);
}

TEST(queues, have_room_for_so_many) {
  const operation full = done(0, fifo::push, {2}, 3, {fifo::full}, 4);
  EXPECT_EQ(judged({push(0, 1, 1, 2), full}, fifo(1)), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), full}, fifo(2)), no);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4)}, fifo(1)), no);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 6), pop(1, {1}, 4, 5)}, fifo(1)), yes);
}

TEST(queues, of_processes_that_stopped) {
  const operation stopped_push = pending(0, fifo::push, {1}, 1);
  EXPECT_EQ(judged({stopped_push, pop(1, {1}, 2, 3)}, fifo()), yes);
  EXPECT_EQ(judged({stopped_push, pop(1, {}, 2, 3)}, fifo()), yes);
  EXPECT_EQ(judged({stopped_push, pop(1, {1}, 2, 3), pop(1, {1}, 4, 5)}, fifo()), no);
  EXPECT_EQ(judged({pop(1, {1}, 2, 3), pending(0, fifo::push, {1}, 4)}, fifo()), no);
  const operation stopped_pop = pending(2, fifo::pop, {}, 5);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), stopped_pop, pop(1, {2}, 6, 7)}, fifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), stopped_pop, pop(1, {}, 6, 7)}, fifo()), no);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {}, 3, 4), stopped_pop}, fifo()), no);
}

TEST(queues, that_begin_with_elements) {
  fifo initial;
  ASSERT_TRUE(initial.apply(push(0, 7, 1, 2)));
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {7}, 3, 4), pop(1, {1}, 5, 6)}, initial), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {1}, 3, 4)}, initial), no);
}

TEST(stacks, return_the_last_pushed_first) {
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), pop(1, {2}, 5, 6), pop(1, {1}, 7, 8)}, lifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 4), pop(1, {1}, 5, 6), pop(1, {2}, 7, 8)}, lifo()), no);
  EXPECT_EQ(judged({push(0, 1, 1, 4), push(1, 2, 2, 3), pop(1, {1}, 5, 6), pop(1, {2}, 7, 8)}, lifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), push(0, 2, 3, 6), pop(1, {1}, 4, 5), pop(1, {2}, 7, 8)}, lifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {}, 3, 4)}, lifo()), no);
  EXPECT_EQ(judged({push(0, 1, 1, 2), pop(1, {1}, 3, 4), pop(1, {1}, 5, 6)}, lifo()), no);
  EXPECT_EQ(judged({pending(0, lifo::push, {1}, 1), pop(1, {1}, 2, 3)}, lifo()), yes);
  EXPECT_EQ(judged({push(0, 1, 1, 2), done(0, lifo::push, {2}, 3, {lifo::full}, 4)}, lifo(1)), yes);
}

TEST(maps, keep_a_value_for_each_key) {
  const operation insert = done(0, table::insert, {1, 10}, 1, {table::done}, 2);
  const auto later = [](int method, value_list arguments, value_list result) {
    return done(1, method, arguments, 3, result, 4);
  };
  EXPECT_EQ(judged({insert, later(table::find, {1}, {10})}, table()), yes);
  EXPECT_EQ(judged({insert, later(table::find, {1}, {})}, table()), no);
  EXPECT_EQ(judged({insert, later(table::find, {2}, {})}, table()), yes);
  EXPECT_EQ(judged({insert, later(table::find, {2}, {10})}, table()), no);
  EXPECT_EQ(judged({insert, later(table::insert, {1, 11}, {table::refused})}, table()), yes);
  EXPECT_EQ(judged({insert, later(table::insert, {1, 11}, {table::done})}, table()), no);
  EXPECT_EQ(judged({insert, later(table::update, {1, 11}, {table::done})}, table()), yes);
  EXPECT_EQ(judged({insert, later(table::update, {2, 11}, {table::done})}, table()), no);
  EXPECT_EQ(judged({insert, later(table::erase, {1}, {table::done})}, table()), yes);
  EXPECT_EQ(judged({insert, later(table::erase, {1}, {table::refused})}, table()), no);
  EXPECT_EQ(
      judged({insert, later(table::update, {1, 11}, {table::done}), done(2, table::find, {1}, 5, {10}, 6)},
             table()),
      no);
  EXPECT_EQ(judged({insert, pending(1, table::erase, {1}, 3), done(2, table::find, {1}, 5, {}, 6)}, table()),
            yes);
}

TEST(refutations, say_what_cannot_come_next) {
  const history what = of({done(0, table::insert, {7, 1}, 1, {1}, 2),
                           done(1, table::update, {7, 2}, 3, {1}, 6), done(2, table::find, {7}, 4, {1}, 5),
                           done(2, table::find, {7}, 8, {1}, 9), done(0, table::insert, {8, 1}, 3, {1}, 4)});
  const verdict found = linearizable(what, table());
  EXPECT_EQ(found.is_linearizable, no);
  EXPECT_EQ(found.order, (std::vector<std::size_t>{0, 2, 1}));
  EXPECT_EQ(found.impossible, (std::vector<std::size_t>{3}));
  EXPECT_EQ(found.text,
            "object 0, part 7 is not linearizable: of 4 operations 3 can be ordered at most\n"
            "#0  process 0  object 0  [1, 2]  insert(7, 1) -> done\n"
            "#2  process 2  object 0  [4, 5]  find(7) -> 1\n"
            "#1  process 1  object 0  [3, 6]  update(7, 2) -> done\n"
            "then its state is {7: 2}, and none of these can come next\n"
            "#3  process 2  object 0  [8, 9]  find(7) -> 1\n");
}

// ---- against brute force
// -----------------------------------------------------------------------------------

/// Whether the operations that are not `in` can be put behind those that are, tried in every order.
template <typename S>
bool can_be_ordered(const history& what, std::vector<bool>& in, const std::map<std::uint64_t, S>& objects,
                    const S& initial) {
  const auto all = what.operations();
  bool is_complete = true;
  for (std::size_t i = 0; i < all.size(); ++i) is_complete = is_complete && (in[i] || all[i].is_pending());
  if (is_complete) return true;
  for (std::size_t next = 0; next < all.size(); ++next) {
    bool may_come = !in[next];
    for (std::size_t i = 0; i < all.size(); ++i)
      may_come = may_come && (in[i] || !all[i].precedes(all[next]));
    if (!may_come) continue;
    std::map<std::uint64_t, S> changed = objects;
    if (!changed.try_emplace(all[next].object, initial).first->second.apply(all[next])) continue;
    in[next] = true;
    if (can_be_ordered(what, in, changed, initial)) return true;
    in[next] = false;
  }
  return false;
}

/// How random histories are made.
struct recipe {
  int methods = 2;
  bool different_values = false;  ///< or two that come again and again
  std::uint64_t results = 8;      ///< how many to draw from
};

class random_history {
 public:
  random_history(std::uint64_t seed, const recipe& from) : draw_(seed), from_(from) {}

  /// Up to six operations, whose results are right for effects about when they last.
  template <typename S>
  [[nodiscard]] history made(const S& initial) {
    draw_intervals();
    std::map<std::uint64_t, S> objects;
    std::sort(effects_.begin(), effects_.end());
    for (const auto& [moment, number] : effects_)
      let_take_effect(operations_[number],
                      objects.try_emplace(operations_[number].object, initial).first->second);
    return of(operations_);
  }

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t end) { return draw_() % end; }

  void draw_intervals() {
    const int processes = 2 + static_cast<int>(below(2));
    const std::uint64_t objects = 1 + below(5) / 4;
    const std::uint64_t slack = below(6);
    for (int process = 0; process < processes; ++process) {
      std::uint64_t time = 10 + below(3);
      for (std::uint64_t left = 1 + below(processes == 2 ? 3 : 2); left > 0; --left) {
        const std::uint64_t from = time;
        time += below(4);
        const std::uint64_t effect = from - slack + below(time - from + 2 * slack + 1);
        effects_.emplace_back(std::pair(effect, draw_()), operations_.size());
        operations_.push_back(done(process,
                                   static_cast<int>(below(static_cast<std::uint64_t>(from_.methods))),
                                   {value(), 1 + below(2)}, from, {}, time));
        operations_.back().object = below(objects);
        if (left == 1 && below(4) == 0) stop();
        time += below(2);
      }
    }
  }

  [[nodiscard]] std::uint64_t value() {
    return from_.different_values ? operations_.size() + 1 : 1 + below(2);
  }

  /// Ends with an operation that often has no effect.
  void stop() {
    operations_.back().returned.reset();
    if (below(2) == 0) effects_.pop_back();
  }

  template <typename S>
  void let_take_effect(operation& one, S& object) {
    if (one.is_pending()) {
      static_cast<void>(object.apply(one));
      return;
    }
    if (object.apply(one)) return;
    for (one.returned->result = {0}; !object.apply(one); one.returned->result = {one.returned->result[0] + 1})
      ASSERT_LE(one.returned->result[0], from_.results);
  }

  std::mt19937_64 draw_;
  recipe from_;
  std::vector<operation> operations_;
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::size_t>> effects_;
};

template <typename S>
void compare(const S& initial, const recipe& from) {
  int right = 0;
  constexpr int all = 10000;
  for (std::uint64_t seed = 1; seed <= all; ++seed) {
    const history what = random_history(seed, from).made(initial);
    std::vector<bool> in(what.size());
    const bool expected = can_be_ordered(what, in, {}, initial);
    right += expected ? 1 : 0;
    ASSERT_EQ(judged(what, initial), expected ? yes : no) << "seed " << seed << "\n" << what.text(S::name);
  }
  EXPECT_GE(right, all / 4);
  EXPECT_LE(right, all - all / 20);
}

TEST(random_histories, of_registers_are_judged_as_by_brute_force) { compare(reg(1), {.methods = 3}); }
TEST(random_histories, of_states_with_equal_hashes_are_judged_as_by_brute_force) {
  compare(badly_hashed_register(1), {.methods = 3});
}
TEST(random_histories, of_counters_are_judged_as_by_brute_force) { compare(counter(), {.results = 20}); }
TEST(random_histories, of_flags_are_judged_as_by_brute_force) { compare(flag_specification(), {}); }
TEST(random_histories, of_maps_are_judged_as_by_brute_force) { compare(table(), {.methods = 4}); }

TEST(random_histories, of_queues_are_judged_as_by_brute_force) {
  for (const bool different_values : {false, true})
    for (const std::size_t capacity : {fifo::unbounded, std::size_t{1}, std::size_t{2}})
      compare(fifo(capacity), {.different_values = different_values});
  fifo initial;
  ASSERT_TRUE(initial.apply(push(0, 3, 1, 2)));
  compare(initial, {.different_values = true});
}

TEST(random_histories, of_stacks_are_judged_as_by_brute_force) {
  for (const bool different_values : {false, true})
    for (const std::size_t capacity : {lifo::unbounded, std::size_t{1}})
      compare(lifo(capacity), {.different_values = different_values});
}

// ---- long histories, and the limit ---------------------------------------------------------------------

/// Operations of a queue in use. The queue loses the element that is pushed when `loses_at` operations have
/// been called.
class queue_in_use {
 public:
  /// Processes work for about `busy` units of time, then rest for about `idle`.
  queue_in_use(int processes, double busy, double idle, std::size_t loses_at = 0)
      : busy_(busy), idle_(idle), loses_at_(loses_at), doing_(static_cast<std::size_t>(processes)) {
    for (int process = 0; process < processes; ++process) next(process, idle_, &queue_in_use::call);
  }

  [[nodiscard]] history of(std::size_t operations) {
    while (!events_.empty()) {
      const event now = events_.top();
      events_.pop();
      now_ = now.at;
      if (now.what != &queue_in_use::call || recorded_.size() < operations) (this->*now.what)(now.process);
    }
    return recorded_;
  }

 private:
  struct event {
    double at;
    int process;
    void (queue_in_use::*what)(int process);

    [[nodiscard]] friend bool operator<(const event& a, const event& b) { return a.at > b.at; }
  };

  void next(int process, double mean, void (queue_in_use::*what)(int process)) {
    const double in = -mean * std::log(1 - std::uniform_real_distribution<double>()(draw_));
    events_.push({now_ + in, process, what});
  }
  [[nodiscard]] operation& doing(int process) { return doing_[static_cast<std::size_t>(process)]; }

  void call(int process) {
    operation& one = doing(process);
    one.method = draw_() % 2 == 0 ? fifo::push : fifo::pop;
    one.arguments = one.method == fifo::push ? value_list{recorded_.size()} : value_list{};
    recorded_.call(process, 0, one.method, one.arguments);
    next(process, busy_ / 2, &queue_in_use::take_effect);
  }

  void take_effect(int process) {
    operation& one = doing(process);
    one.returned = response{};
    if (one.method == fifo::push) {
      if (loses_at_ == 0 || recorded_.size() < loses_at_)
        elements_.push_back(one.arguments[0]);
      else
        loses_at_ = 0;
      one.returned->result = {fifo::done};
    } else if (!elements_.empty()) {
      one.returned->result = {elements_.front()};
      elements_.pop_front();
    }
    next(process, busy_ / 2, &queue_in_use::finish);
  }

  void finish(int process) {
    recorded_.returned(process, doing(process).returned->result);
    next(process, idle_, &queue_in_use::call);
  }

  double busy_;
  double idle_;
  std::size_t loses_at_;
  double now_ = 0;
  std::mt19937_64 draw_{1};
  std::priority_queue<event> events_;
  std::vector<operation> doing_;
  std::deque<std::uint64_t> elements_;
  history recorded_;
};

constexpr std::size_t very_many = 100'000;

TEST(long_histories, of_queues_are_judged) {
  EXPECT_EQ(judged(queue_in_use(4, 1, 20).of(very_many), fifo()), yes);
  EXPECT_EQ(judged(queue_in_use(4, 1, 20, very_many / 2).of(very_many), fifo()), no);
}

TEST(long_histories, of_processes_that_never_rest_are_judged) {
  EXPECT_EQ(judged(queue_in_use(4, 10, 1).of(very_many), fifo()), yes);
  const history what = queue_in_use(4, 10, 1, very_many / 2).of(very_many);
  const verdict found = linearizable(what, fifo());
  EXPECT_EQ(found.is_linearizable, no);
  EXPECT_LE(found.order.size() + found.impossible.size(), 4U) << "what is shown should be small:\n"
                                                              << found.text;
}

/// Some pushes onto a stack, then two at once, of which the first to return has to take effect last. Many
/// operations follow before pops show that.
history stack_with_a_late_surprise(std::uint64_t last) {
  history what;
  const auto does = [&what](int method, value_list arguments, value_list result) {
    what.call(0, 0, method, arguments);
    what.returned(0, result);
  };
  for (std::uint64_t value = 100; value < 140; ++value) does(lifo::push, {value}, {lifo::done});
  what.call(0, 0, lifo::push, {1});
  what.call(1, 0, lifo::push, {2});
  what.returned(1, {lifo::done});
  what.returned(0, {lifo::done});
  for (std::uint64_t value = 200; value < 500; ++value) {
    does(lifo::push, {value}, {lifo::done});
    does(lifo::pop, {}, {value});
  }
  does(lifo::pop, {}, {2});
  does(lifo::pop, {}, {last});
  for (std::uint64_t value = 140; value-- > 100;) does(lifo::pop, {}, {value});
  return what;
}

TEST(long_histories, whose_first_choice_shows_at_their_end_are_judged) {
  EXPECT_EQ(judged(stack_with_a_late_surprise(1), lifo()), yes);
  EXPECT_EQ(judged(stack_with_a_late_surprise(2), lifo()), no);
}

TEST(long_histories, may_repeat_what_led_nowhere_before) {
  // Of two writes, first one and then the other takes effect last, with as many operations between as words
  // have bits.
  history what;
  for (const std::uint64_t last : {1U, 2U}) {
    what.call(0, 0, reg::write, {1});
    what.call(1, 0, reg::write, {2});
    what.returned(0, {});
    what.returned(1, {});
    for (int i = 0; i < 62; ++i) {
      what.call(0, 0, reg::read, {});
      what.returned(0, {last});
    }
  }
  EXPECT_EQ(judged(what, reg()), yes);
}

TEST(long_histories, may_all_go_on_during_one_operation) {
  const auto slow_write_seen_at = [](std::uint64_t first, std::uint64_t back) {
    history what;
    what.call(0, 0, reg::write, {1});
    for (std::uint64_t i = 0; i < 1000; ++i) {
      what.call(1, 0, reg::read, {});
      what.returned(1, {i < first || i == back ? 0U : 1U});
    }
    return what;
  };
  for (const bool returns : {false, true}) {
    history right = slow_write_seen_at(700, 0);
    history wrong = slow_write_seen_at(700, 900);
    if (returns) right.returned(0, {});
    if (returns) wrong.returned(0, {});
    EXPECT_EQ(judged(right, reg()), yes);
    EXPECT_EQ(judged(wrong, reg()), no);
  }
}

TEST(long_histories, are_not_mixed_up_by_what_came_last) {
  // Of two long writes the first to return takes effect last, behind many others. A search that takes it
  // first leads nowhere.
  history what;
  what.call(0, 0, reg::read, {});
  what.call(1, 0, reg::write, {1});
  for (int i = 0; i < 70; ++i) {
    what.call(2, 0, reg::read, {});
    what.returned(2, {0});
  }
  what.call(3, 0, reg::write, {0});
  what.returned(1, {});
  what.returned(3, {});
  what.call(2, 0, reg::read, {});
  what.returned(2, {1});
  what.returned(0, {1});
  EXPECT_EQ(judged(what, reg()), yes);
}

TEST(long_histories, take_what_only_observes_as_early_as_it_can_be) {
  // The long pop finds the queue empty, as it was at the beginning only. Meanwhile two processes go on whose
  // operations overlap.
  history what;
  what.call(0, 0, fifo::pop, {});
  for (std::uint64_t i = 0; i < 200; ++i) {
    what.call(1, 0, fifo::push, {2 * i});
    what.call(2, 0, fifo::push, {2 * i + 1});
    what.returned(2, {fifo::done});
    what.returned(1, {fifo::done});
  }
  what.returned(0, {});
  const verdict found = linearizable(what, fifo(), {.most_remembered = 0});
  EXPECT_EQ(found.is_linearizable, yes) << found.text;
}

/// `pushes` pushes at once and then as many pops; the last pop is impossible.
history stack_in_many_orders(int pushes) {
  history what;
  for (int process = 0; process < pushes; ++process)
    what.call(process, 0, lifo::push, {static_cast<std::uint64_t>(process)});
  for (int process = 0; process < pushes; ++process) what.returned(process, {lifo::done});
  for (int process = 0; process < pushes; ++process) {
    what.call(process, 0, lifo::pop, {});
    what.returned(process, {process + 1 < pushes ? static_cast<std::uint64_t>(process) : 0});
  }
  return what;
}

TEST(limits, are_never_taken_for_a_yes) {
  const history what = stack_in_many_orders(7);
  EXPECT_EQ(judged(what, lifo()), no);
  const verdict given_up = linearizable(what, lifo(), {.most_remembered = 1000});
  EXPECT_EQ(given_up.is_linearizable, unknown);
  EXPECT_TRUE(given_up.order.empty());
  EXPECT_EQ(given_up.text.find("object 0 is not judged: the search gave up; "), 0U) << given_up.text;
  EXPECT_LE(given_up.configurations, 1000U + what.size());
}

TEST(limits, count_what_is_met_in_several_orders_once) {
  history what;
  constexpr int processes = 8;
  for (int process = 0; process < processes; ++process) what.call(process, 0, counter::add, {1});
  for (int process = 0; process < processes; ++process) what.returned(process, {});
  what.call(0, 0, counter::read, {});
  what.returned(0, {0});
  const verdict found = linearizable(what, counter());
  EXPECT_EQ(found.is_linearizable, no);
  EXPECT_EQ(found.configurations, 1U << processes);
}

TEST(limits, of_one_object_do_not_hide_the_fault_of_another) {
  history what = stack_in_many_orders(7);
  what.call(0, 1, lifo::pop, {});
  what.returned(0, {1});
  EXPECT_EQ(judged(what, lifo(), {.most_remembered = 1000}), no);
}

TEST(limits, do_not_matter_where_nothing_overlaps) {
  history what;
  for (std::uint64_t value = 0; value < 100; ++value) {
    what.call(0, 0, lifo::push, {value});
    what.returned(0, {lifo::done});
  }
  EXPECT_EQ(judged(what, lifo(), {.most_remembered = 0}), yes);
}

}  // namespace
}  // namespace nearfar::checker::testing
