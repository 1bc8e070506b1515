// Hemlocks that share their ranks' words: a hand-over concerns its own queue only, even if ranks of another
// queue wait at the same word.
#include "nearfar/lock/hemlock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "nearfar/checker/checker.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;

/// The data of a lock. Two ranks inside at once make two accesses that nothing orders.
struct alignas(cache_line) guarded {
  world::plain<std::uint64_t> by_one{};
  world::plain<std::uint64_t> by_other{};
};

void count(world::plain<std::uint64_t>& value) { value.store(value.load() + 1); }

/// The deeds of each rank: o, t: the one lock, the other; b: both, the other within the one.
template <hemlock_policy Policy>
program with_two_locks(const std::string& script) {
  const auto ranks = static_cast<int>(script.size());
  return {.where = topology_spec::parse("node:1").place(ranks), .body = [script](world& w, monitor&) {
            hemlock_words<world> words(w);
            hemlock<world, Policy> one(w, words);
            hemlock<world, Policy> other(w, words);
            world::near_segment<guarded> values(w);
            guarded& shared = values.at(0);
            const auto take = [](auto& lock, auto does) {
              lock.lock();
              does();
              lock.unlock();
            };
            const auto count_one = [&] { count(shared.by_one); };
            const auto count_other = [&] { count(shared.by_other); };
            switch (script[static_cast<std::size_t>(w.rank())]) {
              case 'o':
                return take(one, count_one);
              case 't':
                return take(other, count_other);
              default:
                take(one, [&] {
                  count_one();
                  take(other, count_other);
                });
                // Once more, at a time when other ranks may not have taken their grants yet.
                take(one, count_one);
            }
          }};
}

template <hemlock_policy Policy>
void expect_locks_apart() {
  for (const near_model near : {near_model::sequential, near_model::release_acquire}) {
    options how{.near = near};
    expect_nothing_found(with_two_locks<Policy>("bo"), how);
    expect_nothing_found(with_two_locks<Policy>("bt"), how);
    expect_nothing_found(with_two_locks<Policy>("bb"), how);
    how.by = search::random;
    how.most_executions = 5000;
    for (const char* const script : {"bot", "bbo", "bbt", "bott"})
      expect_nothing_found(with_two_locks<Policy>(script), how);
  }
}

constexpr hemlock_policy of(hemlock_release how, bool reads_to_write) {
  return {.releases = how, .reads_to_write = reads_to_write, .passes = pass_place::beside};
}

TEST(hemlocks, of_the_same_words_are_apart) {
  expect_locks_apart<hemlock_policy{}>();
  expect_locks_apart<of(hemlock_release::in_turn, false)>();
  expect_locks_apart<of(hemlock_release::in_turn, true)>();
  expect_locks_apart<of(hemlock_release::overlapped, false)>();
  expect_locks_apart<of(hemlock_release::aggressive, false)>();
}

}  // namespace
}  // namespace nearfar::checker::testing
