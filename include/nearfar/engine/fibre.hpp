/// \file
/// Stackful fibres: what a simulated rank runs in.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "nearfar/core/language.hpp"

namespace nearfar::engine {

/// Stacks of one size, kept for reuse, since a model checker starts fibres by the million. Pages are used as
/// they are touched; below each stack lies one that faults, as long as there are not more than
/// `most_guarded`.
class stack_pool {
 public:
  explicit stack_pool(std::size_t bytes = default_bytes);
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();

  static constexpr std::size_t default_bytes = std::size_t{256} << 10U;
  /// A stack with a page that faults is two mappings, without it is one with its neighbours. Linux gives a
  /// process 65,530 by default, and memory of other kinds cannot be had any more once these are used up.
  static constexpr std::size_t most_guarded = 16384;

  [[nodiscard]] boost::context::stack_context take();
  void give_back(boost::context::stack_context stack);

 private:
  std::size_t bytes_;
  std::vector<boost::context::stack_context> free_;
  std::vector<void*> mapped_;
};

/// A function with a stack of its own that runs when resumed, until it suspends itself or ends. All fibres of
/// a program are run by one thread.
class fibre {
 public:
  /// Starts nothing yet: the first `resume` does.
  fibre(stack_pool& stacks, std::function<void()> body);
  fibre(const fibre&) = delete;
  fibre& operator=(const fibre&) = delete;
  /// Ends the function by `cancel` if it has not ended.
  ~fibre() { cancel(); }

  /// Runs the function until it suspends or ends. From outside.
  void resume();
  /// Returns to whoever resumed. From inside; throws `cancelled` when the fibre is to end.
  void suspend();
  /// Ends the function by an exception where it is suspended, so that its objects are destroyed. Where that
  /// cannot pass, in a destructor that waits, the function is dropped.
  void cancel() noexcept;
  /// Returns to whoever resumed, for good, without unwinding: what is on the stack is not destroyed. From
  /// inside.
  [[noreturn]] void drop() noexcept;

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }
  /// What the function threw, other than by being cancelled.
  [[nodiscard]] std::exception_ptr thrown() const noexcept { return thrown_; }
  /// Whether `object` lies in the part of this fibre's stack that no function uses any more, as seen from a
  /// function whose frame is at `frame`.
  [[nodiscard]] bool is_dangling(const void* object, const void* frame) const noexcept;

  /// What `suspend` throws in a fibre that is to end. Deliberately no `std::exception`, so that no handler of
  /// the program under test takes it for an error.
  struct cancelled {};

 private:
  struct exception_state {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  void swap_exception_state() noexcept;

  std::function<void()> body_;
  const std::byte* stack_low_ = nullptr;
  const std::byte* stack_high_ = nullptr;
  boost::context::fiber inside_;
  boost::context::fiber outside_;
  exception_state exceptions_;
  // What AddressSanitizer wants to know of a change of stacks.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] const void* outside_stack_ = nullptr;
  [[maybe_unused]] std::size_t outside_stack_bytes_ = 0;
  std::exception_ptr thrown_;
  stack_pool* stacks_ = nullptr;
  boost::context::stack_context stack_;
  bool ended_ = false;
  bool cancelled_ = false;
  bool is_dropped_ = false;
};

}  // namespace nearfar::engine
