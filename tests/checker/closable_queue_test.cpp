// The foresight of the specification of closable queues: the search has the same verdict without it, or none.
#include "nearfar/checker/closable_queue.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "nearfar/checker/history.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::checker {
namespace {

/// The same specification without foresight.
class blind_queue : public closable_queue {
 public:
  using closable_queue::closable_queue;
  void foresee() = delete;
};
static_assert(foreseeing_specification<closable_queue> && !foreseeing_specification<blind_queue>);

[[nodiscard]] value_list of_status(queue_status status) { return closable_queue::result_of(status); }

/// `count` processes push their number at the same time; then one pops these numbers.
[[nodiscard]] history pushes_at_once(int count, const std::vector<std::uint64_t>& popped) {
  history result;
  std::uint64_t now = 0;
  for (int process = 0; process < count; ++process)
    result.call(process, 0, closable_queue::push, {static_cast<std::uint64_t>(process)}, ++now);
  for (int process = 0; process < count; ++process)
    result.returned(process, of_status(queue_status::success), ++now);
  for (const std::uint64_t value : popped) {
    result.call(0, 0, closable_queue::pop, {}, ++now);
    result.returned(0, closable_queue::result_of_pop(value), ++now);
  }
  return result;
}

TEST(closable_queues, tell_the_order_of_many_pushes_at_once) {
  std::vector<std::uint64_t> backwards;
  for (std::uint64_t value = 24; value-- > 0;) backwards.push_back(value);
  EXPECT_EQ(linearizable(pushes_at_once(24, backwards), closable_queue()).is_linearizable,
            linearizability::yes);
  backwards.back() = 23;  // which is popped twice
  EXPECT_EQ(linearizable(pushes_at_once(24, backwards), closable_queue()).is_linearizable,
            linearizability::no);
}

/// A few calls of three processes with drawn results, which may be right or wrong.
[[nodiscard]] history drawn(std::minstd_rand& random) {
  constexpr int processes = 3;
  history result;
  std::vector<int> running(processes, -1);
  std::uint64_t pushed = 0;
  for (std::uint64_t now = 1; now < 14; ++now) {
    const int process = static_cast<int>(random() % processes);
    int& method = running[static_cast<std::size_t>(process)];
    if (method < 0) {
      method = static_cast<int>(random() % 8) % 5;
      const bool pushes = method == closable_queue::push || method == closable_queue::try_push;
      result.call(process, 0, method, pushes ? value_list{pushed++} : value_list{}, now);
      continue;
    }
    const auto any = [&](std::uint64_t most) { return static_cast<std::uint64_t>(random()) % most; };
    if (method == closable_queue::close)
      result.returned(process, {any(2)}, now);
    else if ((method == closable_queue::pop || method == closable_queue::try_pop) && any(3) != 0)
      result.returned(process, closable_queue::result_of_pop(any(pushed + 1)), now);
    else
      result.returned(process, of_status(any(4) != 0 ? queue_status::success : queue_status::closed), now);
    method = -1;
  }
  return result;
}

TEST(closable_queues, are_judged_as_without_foresight) {
  std::minstd_rand random(1);
  int legal = 0;
  constexpr int histories = 20000;
  for (int i = 0; i < histories; ++i) {
    const history what = drawn(random);
    const auto with = linearizable(what, closable_queue()).is_linearizable;
    ASSERT_EQ(with, linearizable(what, blind_queue()).is_linearizable) << "history " << i;
    if (with == linearizability::yes) ++legal;
  }
  EXPECT_GT(legal, histories / 50);
  EXPECT_LT(legal, histories / 2);
}

}  // namespace
}  // namespace nearfar::checker
