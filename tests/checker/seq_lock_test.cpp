// The sequence lock in the checker: readers get the values of a register, in whichever order the words
// arrive.

#include "nearfar/lock/seq_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;
using pair = std::array<std::uint32_t, 2>;
using lock = seq_lock<world, pair, tas_lock<world>>;
using spec = register_specification;

/// Scripts of writes (w), loads (r) and attempts to load (R). Both halves of a value are equal.
program of_scripts(const char* nodes, const std::vector<std::string>& scripts) {
  return {.where = topology_spec::parse(nodes).place(static_cast<int>(scripts.size())),
          .body =
              [scripts](world& w, monitor& watch) {
                lock shared(w);
                std::uint32_t written = 0;
                for (const char what : scripts[static_cast<std::size_t>(w.rank())]) {
                  if (what == 'w') {
                    const auto value = static_cast<std::uint32_t>(10 * (w.rank() + 1)) + written++;
                    watch.call(0, spec::write, {value});
                    shared.store({value, value});
                    watch.expect_complete("store()");
                    watch.returned({});
                    continue;
                  }
                  watch.call(0, spec::read, {});
                  const pair seen = what == 'r' ? shared.load() : shared.try_load().value_or(shared.load());
                  watch.expect_complete("load()");
                  if (seen[0] != seen[1]) throw error("torn");
                  watch.returned({seen[0]});
                }
              },
          .bytes = std::size_t{16} << 10U,
          .judge = linearizable_by(spec())};
}

TEST(seq_locks, are_registers) {
  for (const delivery_mode mode : {delivery_mode::eager, delivery_mode::lazy, delivery_mode::progress})
    for (const char* nodes : {"node:1", "node:2"})
      for (const std::vector<std::string>& scripts : {std::vector<std::string>{"ww", "rr"},
                                                      {"w", "r", "w"},
                                                      {"w", "w", "r"},
                                                      {"wr", "rw"},
                                                      {"w", "R"}}) {
        const report result = check(of_scripts(nodes, scripts), {.mode = mode});
        EXPECT_FALSE(result.found) << nodes << " " << scripts[0] << ": " << result.found->text;
        EXPECT_TRUE(result.complete);
      }
}

/// A reader that never checks the numbers.
TEST(seq_locks, would_be_torn_without_their_numbers) {
  struct word {
    far<std::uint64_t> state;
  };
  const program what{.where = topology_spec::parse("node:2").place(2), .body = [](world& w, monitor&) {
                       world::far_array<word> words(w, 2);
                       constexpr std::uint64_t one = 1;
                       if (w.rank() == 0) {
                         words.put({1, 0}, &word::state, one);
                         words.put({1, 1}, &word::state, one);
                         words.flush(1);
                         return;
                       }
                       std::array<std::uint64_t, 2> seen{};
                       words.get_range(1, &word::state, std::span<std::uint64_t>(seen));
                       words.flush(1);
                       if (seen[0] != seen[1]) throw error("torn");
                     }};
  for (const delivery_mode mode : {delivery_mode::lazy, delivery_mode::progress}) {
    const report result = check(what, {.mode = mode});
    ASSERT_TRUE(result.found);
    EXPECT_EQ(result.found->what, fault::exception);
  }
}

}  // namespace
}  // namespace nearfar::checker::testing
