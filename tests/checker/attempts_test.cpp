// Locks that are tried first, as the library has them and as the registry wraps them.
#include <gtest/gtest.h>

#include <memory>

#include "nearfar/checker/lock_program.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

/// A lock with an attempt of its own.
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
  mcs_lock<world> of;

  void lock() { of.lock(); }
  void unlock() { of.unlock(); }
};

template <typename Make>
[[nodiscard]] report checked(Make make) {
  const program what = lock_program(topology_spec::parse("node:1").place(2), 1, make, bypass_bound::none, 0,
                                    attempts::try_first);
  return check(what, by(delivery_mode::progress));
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

TEST(attempts, of_a_lock_without_any_are_no_proof) {
  const report result =
      checked([](world& w) { return std::unique_ptr<waiting_lock>(new waiting_lock{mcs_lock<world>(w)}); });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::unreached);
}

}  // namespace
}  // namespace nearfar::checker::testing
