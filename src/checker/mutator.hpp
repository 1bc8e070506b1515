// Changes what ranks ask for at one place of the program, as a mutation says.
#pragma once

#include <optional>
#include <set>
#include <source_location>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/checker/mutation.hpp"
#include "nearfar/engine/substrate.hpp"

namespace nearfar::checker {

/// Passes on every request that the mutation leaves alone.
class mutator final : public engine::operations {
 public:
  mutator(engine::substrate& of, engine::operations& next, const std::optional<mutation>& broken)
      : substrate_(&of), next_(&next), broken_(&broken), ranks_(static_cast<std::size_t>(of.size())) {}

  /// Forgets the operations that were put off.
  void clear() { ranks_.assign(ranks_.size(), {}); }
  /// Collects the changes that are possible at each site; only while `into` is set.
  void note_sites(std::set<mutation>* into) { noted_ = into; }

  std::uint64_t perform(const engine::operation& what) override;
  void issue(const engine::operation& what) override;
  void flush(int target) override;
  std::uint64_t await(const engine::wait& what) override;
  engine::waited await_any(std::span<const engine::wait> any, engine::deadline until) override;
  void signal(int channel, int to) override;
  void await_signal(int channel, int from) override;
  bool await_signal_until(int channel, int from, std::chrono::nanoseconds until) override;
  void begin_epoch(int epoch, int home, engine::epoch_kind how) override;
  void end_epoch(int epoch, int home, engine::epoch_kind how) override;
  void fence(std::memory_order order) override;
  void light_fence() override;
  void heavy_fence() override;

  // Requests that are no operations: see `engine::substrate`.
  [[nodiscard]] bool looks_before_sleep();
  [[nodiscard]] int to_wake(int most);

 private:
  template <typename What>
  struct put_off {
    What what;
    std::source_location site;
    std::vector<std::byte> object;  // the bytes to write, if the operation writes an object
  };
  struct rank_state {
    std::uint64_t result = 0;  // result of an operation that the program does not know of
    std::optional<put_off<engine::operation>> operation;
    std::optional<put_off<std::pair<int, int>>> signal;  // channel, receiver
  };

  [[nodiscard]] rank_state& self() { return ranks_[static_cast<std::size_t>(substrate_->running())]; }
  /// Whether the mutation changes the current request in this way.
  [[nodiscard]] bool changes(change how, std::string_view operation);
  /// The receiver of the next request, with this place noted: other ranks may have asked since.
  [[nodiscard]] engine::operations& next_at(const std::source_location& site) {
    substrate_->at(site);
    return *next_;
  }
  /// A wait as the mutation leaves or changes it.
  [[nodiscard]] engine::wait changed(const engine::wait& what, std::string_view text);
  /// The value that a wait reads, read once.
  std::uint64_t read_once(const engine::operation& read);
  [[nodiscard]] put_off<engine::operation> postponed(const engine::operation& what) const;
  std::uint64_t split_near(const engine::operation& what);
  void split_rma(const engine::operation& what);
  /// Makes the request, and then the one that was put off until now. An operation that is no plain write
  /// waits for the one put off.
  template <typename Ask>
  void ask_in_turn(bool is_plain_write, Ask ask);

  engine::substrate* substrate_;
  engine::operations* next_;
  const std::optional<mutation>* broken_;
  std::vector<rank_state> ranks_;
  std::set<mutation>* noted_ = nullptr;
};

}  // namespace nearfar::checker
