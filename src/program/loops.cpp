#include "loops.hpp"

#include <algorithm>

namespace nearfar::program {

namespace {

constexpr std::size_t longest_turn = 16;

/// Steps in a turn of the loop that the rank is in, or 0.
[[nodiscard]] std::size_t steps_of_turn(const rank& of) {
  const std::vector<turn_step>& all = of.turns;
  for (std::size_t k = 1; k <= longest_turn && 2 * k <= all.size(); ++k) {
    const auto last = all.end() - static_cast<std::ptrdiff_t>(k);
    const auto before = last - static_cast<std::ptrdiff_t>(k);
    const bool is_alike = std::equal(before, last, last, [](const turn_step& a, const turn_step& b) {
      return a.what == b.what && !a.changed && !b.changed;
    });
    if (is_alike) return k;
  }
  return 0;
}

class sleep_step final : public step {
 public:
  sleep_step(rank& of, std::size_t steps) noexcept : of_(&of), steps_(steps) {
    changed = false;
    is_sleep = true;
    of.waits_outside = run().how().needs_help && !of.enters_mpi &&
                       std::none_of(of.turns.end() - static_cast<std::ptrdiff_t>(steps), of.turns.end(),
                                    [](const turn_step& one) { return one.enters_mpi; });
  }

  bool is_enabled() override { return is_awake() || of_->idle_turns < run().how().most_idle_turns; }
  bool is_last_resort() override { return !is_awake(); }
  void touch(footprint& to) override {
    for (std::size_t i = of_->turns.size() - steps_; i < of_->turns.size(); ++i)
      for (const touched_bytes& range : run().at(of_->turns[i].event).touched)
        to.add(range.begin, range.end, range.how == effects::write ? effects::read : range.how);
    touch_help(to, *of_);
  }
  void take(int /*choice*/) override {
    if (is_awake()) {
      forget_turns(*of_);
    } else {
      ++of_->idle_turns;
      of_->turns.erase(of_->turns.begin(), of_->turns.end() - static_cast<std::ptrdiff_t>(steps_));
    }
  }
  void describe(std::string& to) const override {
    to += "waits in a loop until what it reads changes";
    if (of_->waits_outside) to += "; no call in the loop lets MPI progress";
  }

 private:
  /// Looks at the steps since the last look.
  [[nodiscard]] bool is_awake() {
    is_awake_ =
        is_awake_ || (run().arrivals() != arrivals_ &&
                      std::any_of(of_->turns.end() - static_cast<std::ptrdiff_t>(steps_), of_->turns.end(),
                                  [](const turn_step& one) { return one.awaits_arrivals; }));
    for (; !is_awake_ && looked_ < run().size(); ++looked_) {
      const event& one = run().at(looked_);
      if (!one.changed || one.by.rank == of_->number) continue;
      for (std::size_t i = of_->turns.size() - steps_; i < of_->turns.size(); ++i) {
        const turn_step& mine = of_->turns[i];
        is_awake_ =
            is_awake_ || (looked_ > mine.event && one.touched.conflicts_with(run().at(mine.event).touched));
      }
    }
    return is_awake_;
  }
  rank* of_;
  std::size_t steps_;
  std::size_t looked_ = of_->turns[of_->turns.size() - steps_].event + 1;
  std::size_t arrivals_ = run().arrivals();
  bool is_awake_ = false;
};

}  // namespace

void sleep_if_looping(rank& self) {
  const std::size_t steps = steps_of_turn(self);
  if (steps == 0) {
    const bool is_over =
        std::any_of(self.turns.begin(), self.turns.end(), [](const turn_step& one) { return one.changed; });
    if (is_over) {
      self.idle_turns = 0;
      self.waits_outside = false;
    }
    return;
  }
  sleep_step sleeping(self, steps);
  run().perform(self, sleeping);
}

void forget_turns(rank& of) noexcept {
  of.turns.clear();
  of.idle_turns = 0;
  of.was_inside = false;
  of.waits_outside = false;
}

void touch_help(footprint& to, const rank& of) {
  if (run().how().needs_help) to.add(keys::help_of(of.number), keys::help_of(of.number) + 1, effects::write);
}

void note_turn(rank& of, const turn_step& one) {
  if (of.turns.size() >= 4 * longest_turn)
    of.turns.erase(of.turns.begin(), of.turns.end() - 2 * longest_turn);
  of.turns.push_back(one);
}

}  // namespace nearfar::program
