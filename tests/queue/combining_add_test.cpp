// Combined additions on threads.
#include "nearfar/queue/combining_add.hpp"

#include <gtest/gtest.h>

#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/queue/combining_add_cases.hpp"

namespace nearfar::testing {
namespace {

TEST(combining_add, loses_nothing_on_threads) {
  for (const char* topology : {"node:1", "node:2"})
    for (const int ranks : {2, 3, 4})
      threads::run(ranks, [](threads::world& w) { expect_additions(w, 20'000); },
                   {.topology = topology_spec::parse(topology)});
}
TEST(combining_add, is_linearizable_on_threads) {
  for (const int ranks : {2, 4})
    for (int round = 0; round < 5; ++round)
      threads::run(ranks, [](threads::world& w) { expect_linearizable_additions(w, 200); });
}

}  // namespace
}  // namespace nearfar::testing
