// Checks a lock of your own with the model checker: a ticket lock over RMA that does not flush its hand-over,
// and the same lock with this flush.
// [headers]
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/topology/spec.hpp"
// [end]

namespace {

// [lock]
/// A rank draws a number at rank 0 and waits until it is served. Works over any world, like nearfar's locks.
template <nearfar::world W, bool FlushesHandOver>
class ticket_lock {
 public:
  explicit ticket_lock(W& w) : world_(&w), words_(w) {}

  void lock() {
    words_.fetch_add(home, &words::next, one, mine_);
    words_.flush(home);
    world_->await_fetch(words_, home, &words::serving,
                        [this](std::uint64_t serving) { return serving == mine_; });
  }

  void unlock() {
    words_.accumulate(home, &words::serving, one, nearfar::far_op::sum);
    if constexpr (FlushesHandOver) words_.flush(home);
  }

 private:
  struct alignas(nearfar::slot_bytes) words {
    nearfar::far<std::uint64_t> next;
    nearfar::far<std::uint64_t> serving;
  };
  static constexpr int home = 0;
  static constexpr std::uint64_t one = 1;

  W* world_;
  typename W::template far_segment<words> words_;
  std::uint64_t mine_ = 0;
};
// [end]

// [check]
/// Returns whether the search is complete and finds no fault.
template <bool FlushesHandOver>
bool check(const char* title) {
  using namespace nearfar;
  using lock = ticket_lock<engine::world, FlushesHandOver>;
  const checker::program two_ranks_on_two_nodes = checker::lock_program(
      topology_spec::parse("node:2").place(2), 2, [](engine::world& w) { return std::make_unique<lock>(w); },
      checker::bypass_bound::fifo);
  const checker::options how{.mode = checker::delivery_mode::lazy};
  const checker::report result = checker::check(two_ranks_on_two_nodes, how);
  if (!result.found) {
    std::printf("%s: nothing found in %llu executions\n", title,
                static_cast<unsigned long long>(result.executions));
    return result.complete;
  }
  const checker::violation shortest = checker::minimised(two_ranks_on_two_nodes, how, *result.found);
  std::printf("%s: %s: %s\n%s\n", title, std::string(name(shortest.what)).c_str(), shortest.text.c_str(),
              checker::steps_text(checker::replay(two_ranks_on_two_nodes, how, shortest.schedule)).c_str());
  return false;
}
// [end]

}  // namespace

int main() {
  const bool broken_is_found = !check<false>("without the flush");
  const bool right_is_right = check<true>("with it");
  return broken_is_found && right_is_right ? 0 : 1;
}
