#include "signals.hpp"

#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

#include "execution.hpp"

namespace nearfar::program {

std::atomic<bool> is_spent = false;

namespace {

/// Processor seconds after which a rank that takes no step is given up.
constexpr int patience = 10;

[[nodiscard]] std::clock_t clock_of_process() noexcept {
  timespec now{};
  const checker_scope scope;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

[[nodiscard]] const void* place_of(void* context) noexcept {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  static_cast<void>(context);
  return nullptr;
#endif
}

void on_crash(int number, siginfo_t* what, void* context) {
  if (current == nullptr) {
    std::signal(number, SIG_DFL);
    std::raise(number);
    return;
  }
  rank& by = *current;
  const char* const call = is_inside ? nullptr : by.call;
  is_inside = false;
  const auto* const at = static_cast<const std::byte*>(what->si_addr);
  std::string text = number == SIGFPE   ? "the program divides by zero"
                     : number == SIGILL ? "the program executes an invalid instruction"
                                        : "the program accesses memory that it does not have";
  if (number == SIGSEGV && at < by.stack && at >= by.stack - rank::guard_bytes)
    text = "the stack of the rank overflows: it has " + std::to_string(rank::stack_bytes >> 20U) + " MiB";
  else if (number == SIGSEGV && reinterpret_cast<std::uintptr_t>(at) < 4096)
    text = "the program accesses memory through a null pointer";
  if (call != nullptr) text += std::string(", in ") + call;
  fault found{.kind = "crash", .text = std::move(text), .places = {}, .rule = {}};
  found.places.push_back(
      {.rank = by.number, .what = {}, .where = by.here(call == nullptr ? place_of(context) : nullptr)});
  run().report(std::move(found));
  // The stack of the handler is given up with that of the rank.
  run().leave(by);
}

/// Counts the ticks of a timer in which a rank went on without a step.
class idle_ticks {
 public:
  /// Whether the rank is to be given up. In the checker's own code, which a rank that reads window memory
  /// seldom leaves, it is so at its next access.
  [[nodiscard]] bool are_too_many() noexcept {
    if (current == nullptr || run().size() != last_ || which_ != current) {
      which_ = current;
      last_ = current == nullptr ? 0 : run().size();
      idle_ = 0;
      return false;
    }
    if (++idle_ < patience) return false;
    if (!is_inside) {
      is_spent = true;
      return false;
    }
    idle_ = 0;
    return true;
  }

 private:
  std::size_t last_ = 0;
  int idle_ = 0;
  const rank* which_ = nullptr;
};

[[noreturn]] void give_up(const char* does, const void* place) {
  rank& by = *current;
  is_inside = false;
  fault found{.outcome = verdict::undecided,
              .kind = "limit",
              .text = std::string("the rank ") + does + " for " + std::to_string(patience) +
                      " seconds without a call of MPI: it may never end",
              .places = {},
              .rule = {}};
  found.places.push_back({.rank = by.number, .what = "is here", .where = by.here(place)});
  run().report(std::move(found));
  run().leave(by);
}

/// Of the time that the process computes.
void on_tick(int, siginfo_t*, void* context) {
  static idle_ticks ticks;
  if (ticks.are_too_many()) give_up("computes", place_of(context));
}

/// Of real time: a rank that neither computes nor ends waits for something that no other rank does.
void on_real_tick(int, siginfo_t*, void*) {
  static idle_ticks ticks;
  static std::clock_t computed = 0;
  const std::clock_t now = clock_of_process();
  const bool computes = now - computed > CLOCKS_PER_SEC / 100;
  computed = now;
  if (computes) ticks = {};
  if (ticks.are_too_many()) give_up("waits", current->last_access);
}

}  // namespace

void give_up_spent(const void* place) {
  is_spent = false;
  give_up("computes", place);
}

void catch_signals() {
  static std::array<std::byte, std::size_t{64} * 1024> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);
  struct sigaction how {};
  how.sa_sigaction = on_crash;
  // A rank's stack may be used up, and the handler does not return.
  how.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &how, nullptr);
  how.sa_sigaction = on_tick;
  how.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigaction(SIGVTALRM, &how, nullptr);
  const itimerval each_second{.it_interval = {1, 0}, .it_value = {1, 0}};
  setitimer(ITIMER_VIRTUAL, &each_second, nullptr);
  if (isatty(STDIN_FILENO) != 0) return;  // somebody may be typing
  how.sa_sigaction = on_real_tick;
  sigaction(SIGALRM, &how, nullptr);
  setitimer(ITIMER_REAL, &each_second, nullptr);
}

}  // namespace nearfar::program
