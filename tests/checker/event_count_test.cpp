// Ranks that wait on an event count for others: the right form, and each form that loses a wake-up.
#include "nearfar/channel/event_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>

#include "tests/channel/channel_programs.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using memory = node_memory<world>;
using told_after = nearfar::detail::told_after;

/// The fault of the rank that makes an event, or of a rank that waits for it.
enum class flaw : std::uint8_t {
  none,
  // Faults of the rank that makes the event.
  tells_nobody,
  tells_too_early,         ///< before it is made
  tells_one,               ///< where it is for all
  looks_unfenced,          ///< for waiting ranks
  tells_no_observer,       ///< tells sleeping ranks only
  wakes_without_counting,  ///< leaves the word alone that others sleep on
  // Faults of a waiting rank.
  looks_once,        ///< and registers then
  counts_too_late,   ///< reads the count after it has looked
  is_not_registered  ///< but sleeps all the same
};

struct door {
  struct alignas(cache_line) words {
    event_count<memory> event{};
    world::near<std::uint32_t> is_open{};
  };
  struct alignas(cache_line) own {
    nearfar::detail::waiter<memory> me{};
    nearfar::detail::observer<memory> entry{};
  };
};

/// Memory that the ranks of a program share.
template <told_after how>
class doorway {
 public:
  explicit doorway(world& w)
      : memory_(w), words_(w, 1), own_(w, 1), door_(&words_.at(0)), mine_(&own_.at(w.rank())) {}

  void open(flaw wrong, bool is_for_all) {
    if (wrong == flaw::tells_too_early) tell(wrong, is_for_all);
    constexpr auto order = how == told_after::itself ? std::memory_order_seq_cst : std::memory_order_relaxed;
    door_->is_open.store(1, order);
    if (wrong != flaw::tells_too_early && wrong != flaw::tells_nobody)
      tell(wrong, is_for_all && wrong != flaw::tells_one);
  }
  void wait(flaw wrong) {
    if (wrong == flaw::none)
      static_cast<void>(nearfar::detail::attempt_until<how>(
          memory_, door_->event, std::nullopt, [this] { return is_open(); },
          [](bool open) { return !open; }));
    else
      while (!is_open()) wait_once(wrong);
  }
  /// Waits, and finds that it cannot use what it has waited for.
  void wait_in_vain() {
    struct unusable {};
    try {
      static_cast<void>(nearfar::detail::attempt_until<how>(
          memory_, door_->event, std::nullopt,
          [this] {
            if (is_open()) throw unusable();
            return false;
          },
          [](bool open) { return !open; }));
    } catch (const unusable&) {
    }
  }
  /// Waits like a rank that waits for several events (select.hpp).
  void observe() {
    while (!is_open()) {
      mine_->me.state.value.store(nearfar::detail::decision::none, std::memory_order_relaxed);
      nearfar::detail::waiting_list<memory>::aim(mine_->entry, mine_->me, 0);
      nearfar::detail::observe<how>(memory_, door_->event, mine_->entry);
      if (!is_open()) static_cast<void>(nearfar::detail::await_decision(memory_, mine_->me, std::nullopt));
      nearfar::detail::unobserve(memory_, door_->event, mine_->entry);
    }
  }

 private:
  [[nodiscard]] bool is_open() const { return door_->is_open.load(std::memory_order_acquire) != 0; }

  void tell(flaw wrong, bool tells_all) {
    event_count<memory>& event = door_->event;
    switch (wrong) {
      case flaw::looks_unfenced:
        if (event.waiting.load(std::memory_order_relaxed) == 0) return;
        return nearfar::detail::tell_those_that_wait<how>(memory_, event, tells_all);
      case flaw::tells_no_observer:
        event.count.value.fetch_add(1, std::memory_order_release);
        return memory_.unpark_all(event.count);
      case flaw::wakes_without_counting:
        return memory_.unpark_all(event.count);
      default:
        return nearfar::detail::tell<how>(memory_, event, tells_all);
    }
  }
  /// `attempt_until` written once more, so that it can be wrong.
  void wait_once(flaw wrong) {
    event_count<memory>& event = door_->event;
    if (wrong != flaw::is_not_registered) event.waiting.fetch_add(1, std::memory_order_relaxed);
    nearfar::detail::register_before_look<how>(memory_);
    std::uint32_t seen = event.count.value.load(std::memory_order_acquire);
    const bool looks = wrong != flaw::looks_once;
    if (!looks || !is_open()) {
      if (wrong == flaw::counts_too_late) seen = event.count.value.load(std::memory_order_acquire);
      memory::sleeping_wait one;
      memory_.park(one, event.count, seen, std::nullopt);
    }
    if (wrong != flaw::is_not_registered)
      event.waiting.fetch_add(~std::uint32_t{0}, std::memory_order_relaxed);
  }

  memory memory_;
  world::near_array<door::words> words_;
  world::near_array<door::own> own_;
  door::words* door_;
  door::own* mine_;
};

/// Rank 0 opens the door, the others wait for it.
template <told_after how>
[[nodiscard]] program opened(int waiting, flaw wrong = flaw::none) {
  return on_a_node(waiting + 1, [=](world& w, monitor&) {
    doorway<how> way(w);
    if (w.rank() == 0)
      way.open(wrong, waiting > 1);
    else
      way.wait(wrong);
    w.barrier();
  });
}
/// The last rank observes.
template <told_after how>
[[nodiscard]] program observed(int ranks, flaw wrong = flaw::none) {
  return on_a_node(ranks, [=](world& w, monitor&) {
    doorway<how> way(w);
    if (w.rank() == 0)
      way.open(wrong, ranks > 2);
    else if (w.rank() + 1 < w.size())
      way.wait(flaw::none);
    else
      way.observe();
    w.barrier();
  });
}

/// Rank 0 opens the door for one of two. Rank 1 throws once it finds the door open, and rank 2 opens it for
/// the next.
template <told_after how>
[[nodiscard]] program opened_for_one_that_throws() {
  return on_a_node(3, [=](world& w, monitor&) {
    doorway<how> way(w);
    if (w.rank() == 0)
      way.open(flaw::none, false);
    else if (w.rank() == 1)
      way.wait_in_vain();
    else {
      way.wait(flaw::none);
      way.open(flaw::none, false);
    }
    w.barrier();
  });
}

void expect_sound(const program& what, std::uint64_t executions = 0) {
  for (const near_model near : near_models)
    for (options how : {by(near), waking_early(by(near))}) {
      if (executions != 0) how.by = search::random;
      how.most_executions = executions;
      expect_nothing_found(what, how);
    }
}
/// Whether somebody sleeps for ever.
[[nodiscard]] bool loses_a_wake_up(const program& what) {
  const report result = check(what, by(near_model::release_acquire));
  EXPECT_TRUE(!result.found || result.found->what == fault::deadlock) << result.found->text;
  return result.found.has_value();
}

template <told_after how>
void expect_every_flaw_found() {
  for (const flaw wrong :
       {flaw::tells_nobody, flaw::tells_too_early, flaw::looks_unfenced, flaw::wakes_without_counting,
        flaw::looks_once, flaw::counts_too_late, flaw::is_not_registered})
    EXPECT_TRUE(loses_a_wake_up(opened<how>(1, wrong))) << static_cast<int>(wrong);
  EXPECT_TRUE(loses_a_wake_up(opened<how>(2, flaw::tells_one)));
  EXPECT_TRUE(loses_a_wake_up(observed<how>(2, flaw::tells_no_observer)));
}

TEST(event_counts, lose_no_wake_up) {
  expect_sound(opened<told_after::fence>(1));
  expect_sound(opened<told_after::itself>(1));
  expect_sound(opened<told_after::light_fence>(1));
  for (const int ranks : {2, 3}) {
    expect_sound(observed<told_after::fence>(ranks), 1000);
    expect_sound(observed<told_after::itself>(ranks), 1000);
    expect_sound(observed<told_after::light_fence>(ranks), 1000);
  }
  expect_sound(opened<told_after::fence>(2), 1000);
  expect_sound(opened<told_after::itself>(2), 1000);
  expect_sound(opened<told_after::light_fence>(2), 1000);
}
TEST(event_counts, lose_no_wake_up_to_a_rank_that_throws) {
  expect_sound(opened_for_one_that_throws<told_after::fence>(), 1000);
  expect_sound(opened_for_one_that_throws<told_after::itself>(), 1000);
  expect_sound(opened_for_one_that_throws<told_after::light_fence>(), 1000);
}
TEST(event_counts, lose_one_where_who_tells_or_waits_is_wrong) {
  expect_every_flaw_found<told_after::fence>();
  expect_every_flaw_found<told_after::itself>();
  expect_every_flaw_found<told_after::light_fence>();
}

}  // namespace
}  // namespace nearfar::checker::testing
