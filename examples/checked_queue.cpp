// Checks a queue of your own with the model checker: a ring in the memory of a node, which one rank fills and
// another empties. Shows the effect of a missing release, and that the ring is weaker than a queue.
// [headers]
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/topology/locality.hpp"
// [end]

namespace {

// [queue]
/// Rank 1 pushes, rank 0 pops. Works over any world, like nearfar's own algorithms.
template <nearfar::world W, std::memory_order Publish = std::memory_order_release>
class ring {
 public:
  explicit ring(W& w) : indices_(w), slots_(w, capacity) {}

  static constexpr std::size_t capacity = 2;

  [[nodiscard]] bool try_push(std::uint64_t value) {
    auto& [head, tail] = indices_.at(0);
    const std::uint64_t last = tail.load(std::memory_order_relaxed);
    // (1) Pairs with (4): the pop has read the slot.
    if (last - head.load(std::memory_order_acquire) == capacity) return false;
    slots_.at({0, last % capacity}).value.store(value);
    tail.store(last + 1, Publish);  // (2) publishes the value
    return true;
  }

  [[nodiscard]] std::optional<std::uint64_t> try_pop() {
    auto& [head, tail] = indices_.at(0);
    const std::uint64_t first = head.load(std::memory_order_relaxed);
    if (tail.load(std::memory_order_acquire) == first) return std::nullopt;  // (3) pairs with (2)
    const std::uint64_t value = slots_.at({0, first % capacity}).value.load();
    head.store(first + 1, std::memory_order_release);  // (4)
    return value;
  }

 private:
  struct alignas(nearfar::cache_line) indices {
    typename W::template near<std::uint64_t> head{};
    alignas(nearfar::cache_line) typename W::template near<std::uint64_t> tail{};
  };
  struct slot {
    typename W::template plain<std::uint64_t> value{};  // not atomic: the indices order its accesses
  };

  typename W::template near_segment<indices> indices_;
  typename W::template near_array<slot> slots_;
};
// [end]

// [specification]
/// The ring promises first in, first out. Its answers "full" and "empty" may be out of date.
class ring_specification {
 public:
  using queue = nearfar::checker::queue_specification;

  explicit ring_specification(std::size_t capacity) : elements_(capacity) {}

  [[nodiscard]] static std::string_view name(int method) { return queue::name(method); }
  [[nodiscard]] bool apply(const nearfar::checker::operation& what) {
    const nearfar::checker::value_list failure = what.method == queue::push
                                                     ? nearfar::checker::value_list{queue::full}
                                                     : nearfar::checker::value_list{};
    if (what.returned && what.returned->result == failure) return true;
    return elements_.apply(what);
  }
  [[nodiscard]] std::size_t hash() const { return elements_.hash(); }
  [[nodiscard]] std::string text() const { return elements_.text(); }
  [[nodiscard]] friend bool operator==(const ring_specification&, const ring_specification&) = default;

 private:
  queue elements_;
};
// [end]

// [program]
/// Three pushes and three pops. Some of them find the ring full or empty.
template <typename Ring, nearfar::checker::sequential_specification Specification>
nearfar::checker::program pushes_and_pops() {
  using namespace nearfar;
  using specification = checker::queue_specification;
  const auto body = [](engine::world& w, checker::monitor& watch) {
    constexpr std::uint64_t object = 0;
    Ring queue(w);
    for (std::uint64_t value = 1; value <= 3; ++value) {
      if (w.rank() == 1) {
        watch.call(object, specification::push, {value});
        watch.returned({queue.try_push(value) ? specification::done : specification::full});
      } else {
        watch.call(object, specification::pop, {});
        const std::optional<std::uint64_t> popped = queue.try_pop();
        if (popped) watch.reach("a value");
        watch.returned(popped ? checker::value_list{*popped} : checker::value_list{});
      }
    }
  };
  return {.where = locality::single_node(2),
          .body = body,
          .demands = {"a value"},
          .is_nonblocking = true,
          .judge = checker::linearizable_by(Specification(Ring::capacity))};
}
// [end]

// [check]
/// Returns whether the search is complete and finds no fault, even if one rank stops for good at any step.
template <typename Ring, typename Specification>
bool check(const char* title) {
  using namespace nearfar;
  const checker::program what = pushes_and_pops<Ring, Specification>();
  const checker::options how{.crashes = 1};
  const checker::report result = checker::check(what, how);
  if (!result.found) {
    std::printf("%s: nothing found in %llu executions\n", title,
                static_cast<unsigned long long>(result.executions));
    return result.complete;
  }
  const checker::violation shortest = checker::minimised(what, how, *result.found);
  std::printf("%s: %s: %s\n%s\n", title, std::string(name(shortest.what)).c_str(), shortest.text.c_str(),
              checker::steps_text(checker::replay(what, how, shortest.schedule)).c_str());
  return false;
}
// [end]

}  // namespace

int main() {
  using nearfar::engine::world;
  using queue = nearfar::checker::queue_specification;
  const bool race_is_found =
      !check<ring<world, std::memory_order_relaxed>, ring_specification>("published by a relaxed store");
  const bool staleness_is_found = !check<ring<world>, queue>("by a release, as a queue");
  const bool right_is_right = check<ring<world>, ring_specification>("by a release, as what it is");
  return race_is_found && staleness_is_found && right_is_right ? 0 : 1;
}
