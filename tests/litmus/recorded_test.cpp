// Histories of concurrent threads, judged by the model checker's judge.
#include "tests/litmus/recorded.hpp"

#include <gtest/gtest.h>

#include "nearfar/memory/threads/world.hpp"

namespace nearfar::litmus {
namespace {

void on_threads(int ranks, const std::function<void(threads::world&)>& body) {
  threads::run(ranks, body, {});
}

TEST(recorded, what_atomics_return_is_linearizable) {
  on_threads(3, [](threads::world& w) { expect_linearizable_atomics(w, 2000); });
}

TEST(recorded, what_is_read_and_written_apart_is_not) {
  on_threads(2, [](threads::world& w) { expect_lost_update(w); });
}

TEST(recorded, nothing_is_a_history_too) {
  on_threads(2, [](threads::world& w) { EXPECT_EQ(checker::recorder(w).gathered().size(), 0U); });
}

}  // namespace
}  // namespace nearfar::litmus
