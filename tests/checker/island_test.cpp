// HMCS with queues of islands, checked and broken: three levels on few ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nearfar/lock/hmcs_lock.hpp"
#include "tests/checker/lock_mutants.hpp"

namespace nearfar::test {
namespace {

using checker::attempts;
using checker::change;

const bench::lock_entry& hmcs() { return *bench::catalogue::instance().find("hmcs"); }

// Two nodes form an island. Three ranks on nodes of their own: the third is alone on its island.
constexpr shape three_nodes{.ranks = 3, .acquisitions = 1, .nodes = 3, .nodes_per_island = 2};
constexpr shape three_nodes_twice{.ranks = 3, .acquisitions = 2, .nodes = 3, .nodes_per_island = 2};
constexpr shape four_nodes{.ranks = 4, .acquisitions = 1, .nodes = 4, .nodes_per_island = 2};
/// Two ranks on the first node, so that one acquires for its node and another one releases.
constexpr shape shared_node{.ranks = 4, .acquisitions = 1, .nodes = 3, .nodes_per_island = 2};

shape trying(shape of) {
  of.by = attempts::try_first;
  return of;
}

TEST(islands, are_in_the_lock_that_is_checked) {
  const auto reaches_islands = [](const shape& of) {
    const std::set<checker::mutation> all = mutants_of(hmcs(), {of});
    return std::any_of(all.begin(), all.end(), [](const checker::mutation& one) {
      return one.where.file.ends_with("lock/island_queue.hpp");
    });
  };
  EXPECT_TRUE(reaches_islands(three_nodes));
  EXPECT_FALSE(reaches_islands({.ranks = 3, .acquisitions = 1, .nodes = 3}));
  EXPECT_FALSE(reaches_islands({.ranks = 3, .acquisitions = 1, .nodes = 3, .nodes_per_island = 1}));
}

TEST(islands, have_a_right_lock_in_every_order) {
  for (const shape& of : {three_nodes, trying(three_nodes), shared_node})
    for (const auto mode : checker::testing::all_modes) {
      const checker::report result = checker::check(program_of(hmcs(), of), {.mode = mode});
      EXPECT_FALSE(result.found) << result.found->text;
      EXPECT_TRUE(result.complete);
    }
}

TEST(islands, have_a_right_lock_in_many_orders) {
  for (const shape& of : {three_nodes_twice, trying(three_nodes_twice), four_nodes, trying(shared_node)}) {
    const checker::report result = checker::check(program_of(hmcs(), of), {.most_executions = 50'000});
    EXPECT_FALSE(result.found) << result.found->text;
  }
  // A word of a queue is used again by the third acquisition.
  for (const shape& of : {shape{4, 4, 4, attempts::lock, 2}, shape{6, 3, 4, attempts::try_first, 2},
                          shape{6, 3, 6, attempts::lock, 2}})
    for (const auto mode : checker::testing::all_modes)
      for (const auto conflict : {checker::conflicts::reported, checker::conflicts::enacted}) {
        checker::options how{.mode = mode, .conflict = conflict};
        how.by = checker::search::random;
        how.most_executions = 500;
        const checker::report result = checker::check(program_of(hmcs(), of), how);
        EXPECT_FALSE(result.found) << result.found->text;
      }
}

// The limit holds for islands as for nodes; a lock with another limit breaks it. Each node has one rank, so
// that no limit within nodes is broken.
TEST(islands, have_a_limit) {
  const shape three_of_four{.ranks = 4, .acquisitions = 2, .nodes = 4, .nodes_per_island = 3};
  checker::options how;
  how.by = checker::search::random;
  how.most_executions = 20'000;
  EXPECT_FALSE(checker::check(program_of(hmcs(), three_of_four), how).found);
  const checker::report wrong = checker::check(program_of(hmcs(), three_of_four, local_passes + 1), how);
  ASSERT_TRUE(wrong.found);
  EXPECT_EQ(wrong.found->what, checker::fault::bypass);
  EXPECT_NE(wrong.found->text.find("island 1 waits"), std::string::npos) << wrong.found->text;
}

constexpr harmless harmless_changes[] = {
    {"lock/island_queue.hpp", "turn_->store", change::postponed,
     "comes before the lock within the node is handed over all the same"},
    {"lock/far_handover.hpp", "words_.accumulate(owner, &words::status", change::postponed,
     "the queue nodes are free once the successor is known; the grant may come later"},
};

std::vector<shape> shapes_to_break() {
  return {three_nodes, trying(three_nodes), three_nodes_twice, trying(three_nodes_twice),
          shared_node, four_nodes};
}

std::optional<checker::violation> search(const checker::mutation& mutant) {
  const auto search_in = [&](const std::vector<shape>& among, checker::options how) {
    how.broken = mutant;
    return violation_in(programs_of(hmcs(), among), how);
  };
  for (const std::uint64_t executions : {50U, 400U, 3000U, 30'000U}) {
    if (auto found = search_in(
            {{4, 3, 4, attempts::lock, 2},
             {6, 3, 4, attempts::lock, 2},
             {6, 3, 6, attempts::lock, 3},
             {4, 3, 4, attempts::try_first, 2}},
            {.by = checker::search::random, .most_executions = std::min<std::uint64_t>(executions, 2000)}))
      return found;
    if (auto found = search_in(shapes_to_break(), {.most_executions = executions})) return found;
  }
  return std::nullopt;
}

/// Those lines that other locks do not reach, or in another way.
bool is_of_islands(const checker::mutation& mutant) {
  return mutant.where.file.ends_with("lock/island_queue.hpp") ||
         mutant.where.file.ends_with("lock/far_queue.hpp") ||
         mutant.where.file.ends_with("lock/far_handover.hpp");
}

TEST(islands, have_mutants_that_are_all_caught) {
  std::set<checker::mutation> all = mutants_of(hmcs(), shapes_to_break());
  std::erase_if(all, [](const checker::mutation& one) { return !is_of_islands(one); });
  ASSERT_TRUE(changes(all, change::dropped, "get")) << "no node looks for another island elsewhere";
  ASSERT_TRUE(changes(all, change::dropped, "flush"));
  ASSERT_TRUE(changes(all, change::dropped, "await"));
  for (const checker::mutation& mutant : all) {
    if (is_known_harmless(harmless_changes, hmcs().name, mutant)) continue;
    EXPECT_TRUE(search(mutant).has_value())
        << "not caught: " << mutant.text() << "\n  " << line_at(mutant.where);
  }
}

}  // namespace
}  // namespace nearfar::test
