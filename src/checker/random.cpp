// Random schedules: uniform, and by priorities that change a few times.

#include <algorithm>
#include <map>
#include <vector>

#include "searches.hpp"

namespace nearfar::checker {

namespace {

/// Draws the same numbers on every platform: the standard's distributions differ between libraries.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }
  [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

/// Draws at most `most` ranks to crash, sometimes fewer.
std::vector<int> victims_by(random_numbers& random, int most, int ranks) {
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  all.resize(random.below(static_cast<std::size_t>(std::min(most, ranks)) + 1));
  return all;
}

/// Runs the enabled process of the highest priority; at a few random steps that process is put last.
class priorities {
 public:
  priorities(random_numbers& random, int changes, std::size_t expected_steps) : random_(&random) {
    for (int i = 0; i < changes; ++i)
      changes_.push_back(random.below(std::max<std::size_t>(expected_steps, 1)));
  }

  [[nodiscard]] process choose(const std::vector<process>& enabled, std::size_t at_step) {
    const process highest = first_of(enabled);
    if (std::find(changes_.begin(), changes_.end(), at_step) == changes_.end()) return highest;
    of_[highest] = --lowest_;
    return first_of(enabled);
  }

 private:
  [[nodiscard]] process first_of(const std::vector<process>& enabled) {
    return *std::max_element(enabled.begin(), enabled.end(), [this](const process& a, const process& b) {
      return priority(a) < priority(b);
    });
  }
  [[nodiscard]] std::int64_t priority(const process& of) {
    const auto [place, is_new] = of_.try_emplace(of, 0);
    if (is_new) place->second = static_cast<std::int64_t>(random_->next() >> 2U);
    return place->second;
  }

  random_numbers* random_;
  std::vector<std::size_t> changes_;
  std::map<process, std::int64_t> of_;
  std::int64_t lowest_ = 0;
};

}  // namespace

void search_randomly(execution& run, const options& how, const budget& within, report& result) {
  // Expected length of a schedule, for the places of priority changes; learnt from earlier schedules.
  std::size_t expected = 64;
  for (std::uint64_t number = 0;; ++number) {
    random_numbers random(how.seed + number * 0xD1B54A32D192ED03U);
    const bool by_priority = number % 2 == 1;
    priorities order(random, how.priority_changes, expected);
    if (how.crashes > 0) run.let_crash(victims_by(random, how.crashes, run.size()));
    run.restart();
    while (!run.is_over()) {
      if (within.is_late()) return;  // executions may be long
      const std::vector<process>& enabled = run.enabled();
      const process next =
          by_priority ? order.choose(enabled, run.events().size()) : enabled[random.below(enabled.size())];
      const int choices = run.choices(next);
      // Mostly the newest value, as a real machine would.
      const bool is_stale = choices > 1 && random.below(2) == 1;
      run.take(next, is_stale ? static_cast<int>(random.below(static_cast<std::size_t>(choices))) : 0);
    }
    ++result.executions;
    if (!run.found()) note_how_it_ended(run, result);
    result.steps += run.events().size();
    expected = std::max(expected, run.events().size());
    if (!run.found()) repeat_now_and_then(run, result.executions, [&] { return within.is_late(); });
    if (run.found()) {
      result.found = run.found();
      return;
    }
    if (within.is_spent(result)) return;
  }
}

}  // namespace nearfar::checker
