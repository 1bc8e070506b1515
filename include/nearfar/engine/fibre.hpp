/// \file
/// Stackful fibres. Each simulated rank runs in one.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "nearfar/language.hpp"

namespace nearfar::engine {

/// Stacks of one size. The pool keeps them for reuse, because a model checker starts fibres by the million.
/// The system provides a page when the fibre touches it. Below each of the first `most_guarded` stacks lies a
/// guard page that faults.
class stack_pool {
 public:
  explicit stack_pool(std::size_t bytes = default_bytes);
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();

  static constexpr std::size_t default_bytes = std::size_t{256} << 10U;
  /// A stack with a guard page takes two mappings; a stack without one shares a mapping with its neighbours.
  /// Linux gives a process 65,530 mappings by default, and once they are used up no memory of any kind can be
  /// mapped.
  static constexpr std::size_t most_guarded = 16384;

  [[nodiscard]] boost::context::stack_context take();
  void give_back(boost::context::stack_context stack);
  /// Takes back the stack of a dropped fibre, whose objects were not destroyed. LeakSanitizer is to find what
  /// they own, so a build with AddressSanitizer keeps the stack for ever.
  void give_back_dropped(boost::context::stack_context stack);

 private:
  std::size_t bytes_;
  std::vector<boost::context::stack_context> free_;
  std::vector<void*> mapped_;
};

/// A function with a stack of its own. It runs when resumed, until it suspends itself or ends. One thread
/// runs all fibres of a program.
class fibre {
 public:
  /// Does not start the function; the first `resume` does.
  fibre(stack_pool& stacks, std::function<void()> body);
  fibre(const fibre&) = delete;
  fibre& operator=(const fibre&) = delete;
  /// Ends the function by `cancel` if it has not ended.
  ~fibre() { cancel(); }

  /// Runs the function until it suspends or ends. Called from outside the fibre.
  void resume();
  /// Returns to the caller of `resume`. Called from inside; throws `cancelled` when the fibre is to end.
  void suspend();
  /// Ends the function by an exception where it is suspended, which destroys its objects. Where that
  /// exception cannot pass, as in a destructor that waits, the function is dropped.
  void cancel() noexcept;
  /// Returns to the caller of `resume` for good and without unwinding: the objects on the stack are not
  /// destroyed. Called from inside.
  [[noreturn]] void drop() noexcept;

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }
  /// The exception that the function threw, except `cancelled`.
  [[nodiscard]] std::exception_ptr thrown() const noexcept { return thrown_; }
  /// Whether `object` is known to be gone: it lies in the unused part of this fibre's stack, as seen from a
  /// function whose frame is at `frame`. A build with AddressSanitizer also knows variables whose scope has
  /// ended in a frame that is in use, and freed memory.
  [[nodiscard]] bool is_dangling(const void* object, const void* frame) const noexcept;

  /// `suspend` throws this in a fibre that is to end. Deliberately not derived from `std::exception`, so that
  /// no handler of the program under test takes it for an error.
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
  // AddressSanitizer needs these when stacks change.
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
