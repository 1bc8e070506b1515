// The functions that ranks of an execution call. Each makes a request, which the execution takes when a
// search says so.
#pragma once

#include <cstdint>

#include "nearfar/engine/substrate.hpp"

namespace nearfar::checker {

class execution;
enum class fence_kind : std::uint8_t;

class requests final : public engine::operations {
 public:
  explicit requests(execution& of) : run_(&of) {}

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

 private:
  void fence_by(fence_kind how);
  void perform_on_object(const engine::operation& what);
  void issue_word(const engine::operation& what, std::uint64_t writer);
  /// Called before a wait for `what`. A far poll flushes its target, and with that every outstanding
  /// operation to it.
  void prepare(const engine::wait& what);
  /// Called before a wait that does not progress, in the mode where that matters.
  void leave_library(const engine::wait& before);

  execution* run_;
};

}  // namespace nearfar::checker
