// Locks that are tried first, as the library has them and as the registry wraps them.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "nearfar/checker/lock_program.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/rw_spin_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

/// A lock whose try_lock is `Attempt`.
template <typename Attempt>
struct tried_lock {
  mcs_lock<world> of;
  Attempt attempt;
  bool is_held = false;

  void lock() {
    of.lock();
    is_held = true;
  }
  void unlock() {
    if (is_held) of.unlock();
    is_held = false;
  }
  [[nodiscard]] bool try_lock() { return attempt(); }
};
struct waiting_lock {
  explicit waiting_lock(world& w) : of(w) {}
  mcs_lock<world> of;

  void lock() { of.lock(); }
  void unlock() { of.unlock(); }
};

template <typename Make>
[[nodiscard]] report checked(Make make, search tier = search::exhaustive) {
  const program what = lock_program(topology_spec::parse("node:1").place(2), 1, make, bypass_bound::none, 0,
                                    attempts::try_first);
  options how = by(delivery_mode::progress);
  how.by = tier;
  how.most_executions = tier == search::random ? 1 : 0;
  return check(what, how);
}
template <typename Attempt>
[[nodiscard]] report checked_attempt(Attempt attempt) {
  return checked([=](world& w) {
    return std::unique_ptr<tried_lock<Attempt>>(
        new tried_lock<Attempt>{.of = mcs_lock<world>(w), .attempt = attempt});
  });
}

TEST(attempts, of_the_librarys_own_locks_are_made) {
  const report result = checked([](world& w) { return std::make_unique<mcs_lock<world>>(w); });
  EXPECT_FALSE(result.found);
  EXPECT_TRUE(result.reached.contains(std::string(acquired_by_attempt)));
}

TEST(attempts, that_always_succeed_are_found) {
  const report result = checked_attempt([] { return true; });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::exclusion);
}

TEST(attempts, that_never_succeed_are_no_proof) {
  const report result = checked_attempt([] { return false; });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::unreached);
}

TEST(attempts, that_wait_for_the_lock_are_no_attempts) {
  struct patient_lock : mcs_lock<world> {
    using mcs_lock::mcs_lock;
    [[nodiscard]] bool try_lock() {
      lock();
      return true;
    }
  };
  const auto make = [](world& w) { return std::make_unique<patient_lock>(w); };
  const report result = checked(make);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::unreached);
  EXPECT_EQ(result.unmet, std::vector{std::string(failed_attempt)});
  const report drawn = checked(make, search::random);
  EXPECT_FALSE(drawn.found);
  EXPECT_EQ(drawn.unmet, std::vector{std::string(failed_attempt)});
}

TEST(attempts, of_a_lock_without_any_are_found_by_every_search) {
  for (const search tier : {search::exhaustive, search::random}) {
    const report result = checked([](world& w) { return std::make_unique<waiting_lock>(w); }, tier);
    ASSERT_TRUE(result.found);
    EXPECT_NE(result.found->text.find("has no try_lock"), std::string::npos) << result.found->text;
  }
}

// ---- reader-writer locks ----------------------------------------------------------------------------------

/// A lock whose attempts all fail.
struct refusing_lock : rw_spin_lock<world> {
  using rw_spin_lock::rw_spin_lock;
  [[nodiscard]] static bool try_lock() { return false; }
  [[nodiscard]] static bool try_lock_shared() { return false; }
  [[nodiscard]] static bool try_lock_until(std::chrono::nanoseconds /*deadline*/) { return false; }
  [[nodiscard]] static bool try_lock_shared_until(std::chrono::nanoseconds /*deadline*/) { return false; }
  [[nodiscard]] static bool try_unlock_shared_and_lock() { return false; }
};
/// A lock with the functions that every reader-writer lock has.
struct simple_rw_lock {
  explicit simple_rw_lock(world& w) : of(w, 0) {}
  rw_spin_lock<world> of;

  void lock() { of.lock(); }
  void unlock() { of.unlock(); }
  void lock_shared() { of.lock_shared(); }
  void unlock_shared() { of.unlock_shared(); }
};

template <typename Make>
[[nodiscard]] report checked_script(const rw_script& script, Make make, const options& how = {}) {
  return check(rw_program(topology_spec::parse("node:1").place(1), {script}, make), how);
}

TEST(letters_of_scripts, come_true) {
  for (const char letter : std::string("WRTtAadu")) {
    const report result =
        checked_script({letter}, [](world& w) { return std::make_unique<rw_spin_lock<world>>(w, 0); });
    EXPECT_FALSE(result.found) << letter << ": " << result.found->text;
    EXPECT_TRUE(result.reached.contains(acquired_as(letter))) << letter;
  }
}

/// A lock whose attempts wait.
struct patient_rw_lock : rw_spin_lock<world> {
  using rw_spin_lock::rw_spin_lock;
  [[nodiscard]] bool try_lock() {
    lock();
    return true;
  }
  [[nodiscard]] bool try_lock_shared() {
    lock_shared();
    return true;
  }
  [[nodiscard]] bool try_lock_until(std::chrono::nanoseconds /*deadline*/) { return try_lock(); }
  [[nodiscard]] bool try_lock_shared_until(std::chrono::nanoseconds /*deadline*/) {
    return try_lock_shared();
  }
};

TEST(letters_of_scripts, fail_in_some_schedule) {
  const auto fault_with = [](auto make, char letter, const rw_script& other) {
    const program what =
        rw_program(topology_spec::parse("node:1").place(2), {rw_script{letter}, other}, make);
    const report result = check(what, {});
    return result.found ? result.found->text : std::string();
  };
  const auto right = [](world& w) { return std::make_unique<rw_spin_lock<world>>(w, 0); };
  const auto patient = [](world& w) { return std::make_unique<patient_rw_lock>(w, 0); };
  for (const char letter : std::string("WRTtAa"))
    for (const rw_script other : {"w", "r"}) {
      EXPECT_EQ(fault_with(right, letter, other), "") << letter << ' ' << other;
      const bool excludes_it = other == "w" || std::string("WTA").find(letter) != std::string::npos;
      EXPECT_EQ(fault_with(patient, letter, other).find(failed_as(letter)) != std::string::npos, excludes_it)
          << letter << ' ' << other;
    }
}

TEST(letters_of_scripts, that_come_true_in_no_schedule_are_found) {
  for (const char letter : std::string("WRTtAau")) {
    const report result =
        checked_script({letter}, [](world& w) { return std::make_unique<refusing_lock>(w, 0); });
    ASSERT_TRUE(result.found) << letter;
    EXPECT_EQ(result.found->what, fault::unreached);
    EXPECT_NE(result.found->text.find(acquired_as(letter)), std::string::npos) << result.found->text;
  }
}

TEST(letters_of_scripts, for_what_a_lock_lacks_are_found_by_every_search) {
  for (const char letter : std::string("WRTtAadu"))
    for (const search tier : {search::exhaustive, search::random}) {
      const report result =
          checked_script({letter}, [](world& w) { return std::make_unique<simple_rw_lock>(w); },
                         {.by = tier, .most_executions = 1});
      ASSERT_TRUE(result.found) << letter;
      EXPECT_NE(result.found->text.find("the lock has no function"), std::string::npos) << result.found->text;
    }
}

}  // namespace
}  // namespace nearfar::checker::testing
