// Preloaded mutexes and condition variables in the model checker: the code by which they sleep and wake, over
// a model of the system. pthread_program.cpp tests slots, tables and `fork` with threads only.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/lock/fissile_lock.hpp"
#include "nearfar/lock/hemlock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
#include "nearfar/lock/near_tts_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "src/dropin/pthread/waiting_line.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/checker/mutants.hpp"
#include "tests/dropin/modelled_system.hpp"

namespace nearfar::checker::testing {
namespace {

constexpr std::array near_models{near_model::sequential, near_model::release_acquire};

[[nodiscard]] locality node_of(int ranks) { return topology_spec::parse("node:1").place(ranks); }

/// These programs have no far memory. Each rank may wake `early_wakes` times without a reason.
[[nodiscard]] options searched(near_model near, int early_wakes, std::uint64_t executions) {
  return {.mode = delivery_mode::eager,
          .near = near,
          .by = executions == 0 ? search::exhaustive : search::random,
          .most_early_wakes = early_wakes,
          .most_steps = 2000,
          .most_executions = executions};
}

/// Searches every order.
void expect_sound(const program& what) {
  for (const near_model near : near_models)
    for (const int early_wakes : {0, 1}) expect_nothing_found(what, searched(near, early_wakes, 0));
}
void expect_sound_at_random(const program& what, std::uint64_t executions) {
  for (const near_model near : near_models)
    for (const int early_wakes : {0, 1}) expect_nothing_found(what, searched(near, early_wakes, executions));
}
[[nodiscard]] bool is_found(const program& what, fault as) {
  const report result = check(what, searched(near_model::release_acquire, 0, 5000));
  return result.found && result.found->what == as;
}

// ---- mutexes ----------------------------------------------------------------------------------------------

/// A lock whose waiting ranks sleep, as each thread with a slot of a mutex sees it.
template <template <typename...> typename Lock>
class sleeping_lock {
 public:
  explicit sleeping_lock(engine::world& w) : world_(w), of_(world_) {}
  void lock() { of_.lock(); }
  void unlock() { of_.unlock(); }
  [[nodiscard]] bool try_lock() { return of_.try_lock(); }

 private:
  sleeping_world world_;
  Lock<sleeping_world> of_;
};
template <typename W>
using ticket_of = near_ticket_lock<W>;
template <typename W>
using tts_of = near_tts_lock<W>;
template <typename W>
using hemlock_of = hemlock<W>;
template <typename W>
using fissile_of = fissile_lock<W>;
template <typename W>
using mcs_of = mcs_lock<W>;

template <template <typename...> typename Lock>
[[nodiscard]] program mutex_of(int ranks, int acquisitions, attempts by = attempts::lock) {
  program result = lock_program(
      node_of(ranks), acquisitions, [](engine::world& w) { return std::make_unique<sleeping_lock<Lock>>(w); },
      bypass_bound::none, 0, by);
  result.bytes = std::size_t{16} << 10U;
  return result;
}

template <template <typename...> typename Lock>
void expect_sound_mutex() {
  expect_sound_at_random(mutex_of<Lock>(2, 2), 300);
  expect_sound_at_random(mutex_of<Lock>(3, 1, attempts::try_first), 300);
  expect_sound_at_random(mutex_of<Lock>(3, 2), 300);
}

TEST(checked_mutexes, lose_no_wake_up) {
  expect_sound_mutex<fissile_of>();
  expect_sound_mutex<mcs_of>();
  expect_sound_mutex<ticket_of>();
  expect_sound_mutex<tts_of>();
  expect_sound_mutex<hemlock_of>();
}
TEST(checked_mutexes, lose_no_wake_up_in_any_order) {
  expect_sound(mutex_of<ticket_of>(2, 1));
  expect_sound(mutex_of<mcs_of>(2, 1));
}

/// A thread that waits with a time limit, without the end of that time: it attempts whenever the mutex is
/// released.
struct timed_words {
  struct alignas(cache_line) all {
    preload::basic_change<modelled_system> released{};
  };
};
[[nodiscard]] program timed_waits(int ranks) {
  return {.where = node_of(ranks), .body = [](engine::world& w, monitor& watch) {
            sleeping_world mine(w);
            mcs_lock<sleeping_world> lock(mine);
            const sleeping_world::near_segment<timed_words::all> words(mine);
            auto& released = words.at(0).released;
            watch.ask();
            for (;;) {
              const std::uint32_t announced = released.announce();
              if (lock.try_lock()) break;
              released.sleep(announced);
            }
            watch.enter();
            watch.leave();
            lock.unlock();
            released.tell();
            w.barrier();
          }};
}
TEST(checked_mutexes, tell_those_that_wait_for_a_time) {
  expect_sound(timed_waits(2));
  expect_sound_at_random(timed_waits(3), 1000);
}

/// Rank 0 writes in each possible way; the other rank waits for the value.
struct cell_words {
  struct alignas(cache_line) all {
    sleeping_world::near<std::uint64_t> turn{};
  };
};
[[nodiscard]] program writes_of_cells() {
  return {.where = node_of(2), .body = [](engine::world& w, monitor&) {
            sleeping_world mine(w);
            const sleeping_world::near_segment<cell_words::all> words(mine);
            auto& turn = words.at(0).turn;
            constexpr std::uint64_t last = 4;
            if (w.rank() == 0) {
              turn.store(1, std::memory_order_release);
              static_cast<void>(turn.exchange(2, std::memory_order_release));
              std::uint64_t expected = 2;
              static_cast<void>(
                  turn.compare_exchange(expected, 3, std::memory_order_release, std::memory_order_relaxed));
              turn.fetch_add(1, std::memory_order_release);
            } else {
              for (std::uint64_t seen = 0; seen != last;)
                seen = sleeping_world::await(turn, [seen](std::uint64_t now) { return now > seen; });
            }
            w.barrier();
          }};
}
TEST(checked_mutexes, have_cells_whose_writes_all_wake) { expect_sound_at_random(writes_of_cells(), 1000); }

/// The lock of the bookkeeping, which a thread may hold twice.
struct inner_words {
  struct alignas(cache_line) all {
    preload::basic_inner_lock<modelled_system> lock{};
  };
};
[[nodiscard]] program inner_locks(int ranks, int times = 1) {
  return {.where = node_of(ranks), .body = [times](engine::world& w, monitor& watch) {
            modelled_system::enter(w);
            const engine::world::near_segment<inner_words::all> words(w);
            auto& lock = words.at(0).lock;
            const auto me = static_cast<std::uint32_t>(w.rank()) + 1;
            for (int time = 0; time < times; ++time) {
              watch.ask();
              lock.lock(me);
              lock.lock(me);
              watch.enter();
              lock.unlock();
              watch.leave();
              lock.unlock();
            }
            w.barrier();
          }};
}
TEST(checked_mutexes, have_a_bookkeeping_that_excludes) {
  expect_sound(inner_locks(2));
  expect_sound_at_random(inner_locks(3), 1000);
}

// ---- condition variables ----------------------------------------------------------------------------------

/// The C library's functions, except that a thread that unwinds its stack signals no other.
class forgetful_system : public modelled_system {
 public:
  static void signal(condition& of) {
    if (std::uncaught_exceptions() == 0) modelled_system::signal(of);
  }
};

/// Objects that threads share: a mutex, two condition variables of one line, named by number, and the tokens
/// that they wait for.
template <typename System>
class meeting {
  using line = preload::waiting_line<System>;
  using waiter = preload::waiter<System>;

 public:
  explicit meeting(engine::world& w)
      : world_(&w), common_(w, 1), own_(w, 1), words_(&common_.at(0)), mine_(&own_.at(w.rank()).one) {
    System::enter(w);
  }
  void lock() { System::lock(words_->mutex); }
  int unlock() {
    System::unlock(words_->mutex);
    return 0;
  }
  [[nodiscard]] auto& tokens(int number) { return number == 0 ? words_->of_first : words_->of_second; }
  int wait(int number, const typename System::deadline& until = {}) {
    preload::waiting_in_line<System, meeting> waits(words_->line, *mine_, variable(number), *this);
    return waits.wait(until);
  }
  unsigned tell(int number, unsigned most) {
    return preload::tell_of_signal(words_->line, variable(number), most);
  }
  [[nodiscard]] std::chrono::nanoseconds soon() const { return world_->now() + std::chrono::nanoseconds(1); }

 private:
  struct alignas(cache_line) common {
    typename System::mutex mutex{};
    typename System::template plain<int> of_first{};
    typename System::template plain<int> of_second{};
    preload::waiting_line<System> line{};
  };
  struct alignas(cache_line) own {
    waiter one{};
  };
  [[nodiscard]] const void* variable(int number) { return &tokens(number); }

  engine::world* world_;
  engine::world::near_array<common> common_;
  engine::world::near_array<own> own_;
  common* words_;
  waiter* mine_;
};

enum class holds : std::uint8_t { while_it_tells, not_any_more };

/// A program with one function per rank.
template <typename System = modelled_system>
[[nodiscard]] program threads(std::vector<std::function<void(meeting<System>&)>> all) {
  return {.where = node_of(static_cast<int>(all.size())),
          .body = [all = std::move(all)](engine::world& w, monitor&) {
            meeting<System> of(w);
            all[static_cast<std::size_t>(w.rank())](of);
            w.barrier();
          }};
}

/// Waits for a token, and takes the token.
template <int number = 0, typename System = modelled_system>
void take(meeting<System>& of) {
  of.lock();
  while (of.tokens(number).load() == 0) of.wait(number);
  of.tokens(number).store(of.tokens(number).load() - 1);
  of.unlock();
}
/// Takes a token if it comes soon.
void take_soon(meeting<modelled_system>& of) {
  of.lock();
  const std::chrono::nanoseconds soon = of.soon();
  int status = 0;
  while (of.tokens(0).load() == 0 && status == 0) status = of.wait(0, {.until = soon});
  if (of.tokens(0).load() != 0) of.tokens(0).store(of.tokens(0).load() - 1);
  of.unlock();
}
/// Is cancelled when it wakes, in time or late, and leaves the token to another thread.
template <typename System>
void be_cancelled(meeting<System>& of) {
  of.lock();
  try {
    if (of.tokens(0).load() == 0) of.wait(0, {.until = of.soon(), .cancels = true});
  } catch (const thread_cancelled&) {
  }
  of.unlock();
}
/// Gives tokens, and signals waiting threads, as many as the arguments say.
template <typename System = modelled_system>
[[nodiscard]] auto give(int tokens, unsigned most, holds how, int number = 0) {
  return [=](meeting<System>& of) {
    of.lock();
    of.tokens(number).store(of.tokens(number).load() + tokens);
    if (how == holds::not_any_more) of.unlock();
    of.tell(number, most);
    if (how == holds::while_it_tells) of.unlock();
  };
}
/// Does one after the other.
template <typename One, typename Other>
[[nodiscard]] auto both(One one, Other other) {
  return [=](meeting<modelled_system>& of) {
    one(of);
    other(of);
  };
}

constexpr unsigned everybody = ~0U;
constexpr std::array ways{holds::while_it_tells, holds::not_any_more};

[[nodiscard]] program signals(holds how) {
  return threads({&take<>, &take<>, both(give(1, 1, how), give(1, 1, how))});
}
[[nodiscard]] program broadcast(holds how) { return threads({&take<>, &take<>, give(2, everybody, how)}); }
[[nodiscard]] program two_variables(holds how) {
  return threads({&take<0>, &take<1>, both(give(1, 1, how, 1), give(1, 1, how, 0))});
}
/// A thread that gives up has taken no signal along.
[[nodiscard]] program timed() {
  return threads(
      {&take_soon, &take<>, both(give(1, 1, holds::while_it_tells), give(1, 1, holds::not_any_more))});
}
template <typename System = modelled_system>
[[nodiscard]] program cancelled() {
  return threads<System>(
      {&be_cancelled<System>, &take<0, System>, give<System>(1, 1, holds::while_it_tells)});
}

TEST(checked_conditions, lose_no_signal) {
  for (const holds how : ways) {
    expect_sound_at_random(signals(how), 1000);
    expect_sound_at_random(broadcast(how), 1000);
    expect_sound_at_random(two_variables(how), 1000);
  }
  expect_sound_at_random(timed(), 1000);
}
TEST(checked_conditions, lose_no_signal_in_any_order) {
  for (const holds how : ways) expect_sound(threads({&take<>, give(1, 1, how)}));
}
TEST(checked_conditions, pass_on_the_signal_of_a_cancelled_thread) {
  expect_sound_at_random(cancelled(), 1000);
  EXPECT_TRUE(is_found(cancelled<forgetful_system>(), fault::deadlock));
}
TEST(checked_conditions, that_tell_too_few_are_found) {
  for (const holds how : ways) {
    EXPECT_TRUE(is_found(threads({&take<>, give(1, 0, how)}), fault::deadlock));
    EXPECT_TRUE(is_found(threads({&take<>, &take<>, give(2, 1, how)}), fault::deadlock));
    // The signal goes to a thread of the other variable.
    EXPECT_TRUE(is_found(threads({&take<0>, give(1, 1, how, 1)}), fault::deadlock));
  }
}

// ---- mutants ----------------------------------------------------------------------------------------------

/// Changes that leave them right.
constexpr std::array harmless_changes{
    test::harmless{"pthread/sleeping.hpp", "word.compare_exchange(seen, seen + 1", change::split,
                   "who writes wakes all that sleep, and who is about to sleep finds another number"},
    test::harmless{"pthread/waiting_line.hpp", "length_.load(std::memory_order_relaxed) - 1", change::dropped,
                   "who signals looks in vain"},
};

/// Every operation of the drop-in's own code, and every call by which it sleeps or wakes.
[[nodiscard]] std::set<mutation> mutants_of(const std::vector<program>& programs) {
  std::set<mutation> result;
  for (const program& what : programs)
    for (const near_model near : near_models)
      for (const mutation& one : mutations_of(what, searched(near, 0, 0), "dropin/", 100)) {
        const bool is_of_model = one.where.file.ends_with("modelled_system.hpp");
        if (!is_of_model || one.operation == "wake" || one.operation == "sleep") result.insert(one);
      }
  return result;
}
[[nodiscard]] bool is_caught(const std::vector<program>& programs, const mutation& broken) {
  for (const std::uint64_t executions : {200U, 3000U})
    for (const program& what : programs)
      for (const near_model near : near_models) {
        options how = searched(near, 0, executions);
        how.broken = broken;
        if (check(what, how).found) return true;
      }
  return false;
}
/// The mutants that no program finds.
[[nodiscard]] std::string missed(const std::vector<program>& programs) {
  const std::set<mutation> all = mutants_of(programs);
  EXPECT_GT(all.size(), 5U);
  std::string result;
  for (const mutation& one : all)
    if (!test::is_known_harmless(harmless_changes, "dropin", one) && !is_caught(programs, one))
      result += one.text() + ": " + test::line_at(one.where) + "\n";
  return result;
}

TEST(broken_dropin, is_found_in_its_mutexes) {
  EXPECT_EQ(missed({mutex_of<mcs_of>(2, 2), mutex_of<ticket_of>(3, 1), mutex_of<fissile_of>(3, 1),
                    timed_waits(2), timed_waits(3), inner_locks(2, 2), inner_locks(3), writes_of_cells()}),
            "");
}
TEST(broken_dropin, is_found_in_its_condition_variables) {
  EXPECT_EQ(missed({threads({&take<>, give(1, 1, holds::while_it_tells)}), signals(holds::while_it_tells),
                    signals(holds::not_any_more), broadcast(holds::not_any_more), timed()}),
            "");
}

}  // namespace
}  // namespace nearfar::checker::testing
