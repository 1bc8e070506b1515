// A lock that excludes but does not order, which the tests' plain counters have to find. ThreadSanitizer must
// report the race. Without ThreadSanitizer the program prints that it found nothing.
#include <cstdint>
#include <cstdio>
#include <string>

#include "bench/kinds/locks/any_lock.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "tests/lock/conformance.hpp"

namespace {

using nearfar::threads::world;

class relaxed_lock : public nearfar::lockable<relaxed_lock, world> {
 public:
  explicit relaxed_lock(world& w) : lockable(w, {}), world_(&w), cells_(w) {}

  nearfar::handover acquire() {
    for (std::uint64_t free = 0;
         !cells_.at(0).held.compare_exchange(free, 1, std::memory_order_relaxed, std::memory_order_relaxed);
         free = 0)
      world_->delay(std::chrono::nanoseconds{1});
    return nearfar::handover::unknown;
  }
  void release() { cells_.at(0).held.store(0, std::memory_order_relaxed); }

 private:
  struct alignas(nearfar::cache_line) cells {
    world::near<std::uint64_t> held;
  };
  world* world_;
  world::near_segment<cells> cells_;
};

}  // namespace

int main() {
  nearfar::threads::run(2, [](world& w) {
    const auto lock = nearfar::bench::make_any_lock<relaxed_lock>(w);
    nearfar::testing::guarded<world> inside(w);
    const std::string found = nearfar::testing::check_exclusion(w, *lock, inside, {.rounds = 1000});
    if (w.rank() == 0)
      std::printf("no race found; %s\n", found.empty() ? "exclusion is kept" : found.c_str());
  });
}
