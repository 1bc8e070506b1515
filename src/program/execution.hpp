// One execution of the program by all ranks, in the order of steps that a search chooses.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fault.hpp"
#include "rank.hpp"

namespace nearfar::program {

/// An operation between its issue and its end. Each of its steps is one of the search.
struct flight {
  process self;
  step* next = nullptr;  ///< null at the end
  event_set past;
  int last_event = -1;
  int issued_after = -1;  ///< the last event of its rank at its issue
  site issued_at;
};

/// An event as replays and pictures show it.
struct shown_event {
  int by = 0;        ///< the rank
  std::string text;  ///< describes the step
  site where;        ///< of the step, or of the issue of an operation in flight
  destination to;
  int issued_after = -1;  ///< of an operation in flight: the last event of its rank at its issue
};

struct event {
  process by;
  footprint touched;
  event_set before;  ///< the events that precede this one by dependence
  int choice = 0;
  bool changed = true;
  shown_event shown;  ///< if the execution tells
};

/// Programs rely on these beyond the standard (docs/checking-a-program.md). The names are those of
/// `--promises`.
enum class promise : std::uint8_t { racing_loads, plain_loads, mixed_accumulates, racing_gets };
inline constexpr const char* promise_names[] = {"racing_loads", "plain_loads", "mixed_accumulates",
                                                "racing_gets"};

/// Which of the freedoms of MPI an execution takes.
struct freedom {
  bool sends_wait = true;        ///< a standard send waits for its receive
  bool collectives_wait = true;  ///< a collective waits for all ranks, also where its data do not
};

struct settings {
  std::string program;
  std::vector<std::string> arguments;
  int ranks = 2;
  int ranks_per_node = 0;  ///< 0: all are on one node
  bool shows_output = false;
  std::uint64_t most_steps = 20000;  ///< of one execution
  /// Turns that a rank may take while nothing changes, before the checker says that it waits for ever.
  int most_idle_turns = 300;
  /// Operations reach no rank that waits in a loop without calls of MPI: the library needs the target's help.
  bool needs_help = false;
  /// Tests of requests may say once that what is complete is not, which multiplies the executions.
  bool has_lag = false;
  bool grants_racing_loads = true;
  bool grants_plain_loads = false;
  bool grants_mixed_accumulates = false;
  bool grants_racing_gets = false;
};

class execution {
 public:
  /// Loads the program. Throws `std::runtime_error` if it cannot be run.
  explicit execution(settings how);
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution();

  /// Begins anew. Each rank runs to its first step.
  void restart(freedom choose);

  [[nodiscard]] const std::vector<process>& enabled();
  /// Whether no process goes on. Finds what is wrong with such an end.
  [[nodiscard]] bool is_over();
  [[nodiscard]] footprint next_footprint(process one);
  [[nodiscard]] int choices(process one) { return next_step(one)->choices(); }
  /// Whether the next step is taken even if no rank waits for it.
  [[nodiscard]] bool is_certain(process one) { return one.flight == 0 || next_step(one)->is_certain(); }
  /// Whether its target was outside MPI for turns of a loop, and has come back.
  [[nodiscard]] bool is_overdue(process one) {
    if (one.flight == 0 || !how_.needs_help || !is_certain(one)) return false;
    const int target = next_step(one)->goes_to().rank;
    return target >= 0 && at_rank(target).idle_turns > 0;
  }
  void take(process one, int choice);
  [[nodiscard]] const std::vector<process> blocked();

  [[nodiscard]] const event_set& past_of(process one);
  [[nodiscard]] std::size_t size() const noexcept { return event_count_; }
  [[nodiscard]] const event& at(std::size_t i) const { return events_[i]; }
  /// The last step of a process, -1 before the first.
  [[nodiscard]] int last_event_of(process one);

  [[nodiscard]] const std::optional<fault>& found() const noexcept { return found_; }
  /// The first fault counts.
  void report(fault what);
  /// An object that the program has left behind. A leak counts only if the execution has no other fault.
  [[nodiscard]] const std::optional<fault>& leaked() const noexcept { return leaked_; }
  void report_leak(fault what);
  [[nodiscard]] const std::optional<fault>& found_or_leaked() const noexcept {
    return found_ ? found_ : leaked_;
  }
  [[nodiscard]] const settings& how() const noexcept { return how_; }
  [[nodiscard]] const freedom& chosen() const noexcept { return freedom_; }
  [[nodiscard]] int ranks() const noexcept { return how_.ranks; }
  [[nodiscard]] rank& at_rank(int number) { return *ranks_[static_cast<std::size_t>(number)]; }
  /// The program relies on a promise, in any execution so far.
  void rely_on(promise one) noexcept { relied_on_[static_cast<std::size_t>(one)] = true; }
  [[nodiscard]] std::vector<std::string> relied_on() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < relied_on_.size(); ++i)
      if (relied_on_[i]) names.emplace_back(promise_names[i]);
    return names;
  }
  /// The operations in flight, if the execution tells.
  [[nodiscard]] std::vector<shown_event> undelivered() const;
  void tell_steps(bool whether) noexcept { tells_ = whether; }
  /// Whether events know those that precede them by dependence, which a search needs that reverses races.
  void keep_dependence(bool whether) noexcept { keeps_dependence_ = whether; }

  // ---- for the code of MPI, which runs on the stack of a rank or inside a step ----

  /// A rank has called a collective.
  void note_arrival() noexcept {
    ++arrivals_;
    is_known_ = false;
  }
  [[nodiscard]] std::size_t arrivals() const noexcept { return arrivals_; }
  /// Starts an operation of the rank.
  flight& launch(rank& by, step& first);
  /// The next steps of `one` depend on all that the process of event `last` has done up to it.
  void depend(rank& one, int last);
  void depend(flight& one, int last);

  /// Blocks the rank until the step has been taken.
  void perform(rank& self, step& what);
  /// Says whether the last step of the rank changed anything, if that is known only now.
  void correct_last(rank& by, bool changed);
  /// Ends the rank, whose stack is given up.
  [[noreturn]] void leave(rank& self);

 private:
  void start(rank& one);
  void resume(rank& one);
  [[nodiscard]] step* next_step(process one);
  void join_past(event_set& past, int last);
  [[nodiscard]] flight& flight_of(process one);
  void find_hang();
  /// Whether MPI passed over a chance to reach a rank that waits.
  [[nodiscard]] bool is_unfair();

  settings how_;
  freedom freedom_;
  std::vector<std::unique_ptr<rank>> ranks_;
  std::deque<flight> flights_;  // kept for reuse
  std::size_t flight_count_ = 0;
  std::vector<std::size_t> active_flights_;  ///< in the order of their issue
  std::size_t arrivals_ = 0;
  std::vector<event> events_;  // kept for reuse
  std::size_t event_count_ = 0;
  std::vector<process> enabled_;
  std::vector<process> last_resorts_;
  bool is_known_ = false;  ///< `enabled_`
  std::optional<fault> found_;
  std::optional<fault> leaked_;
  bool tells_ = false;
  bool keeps_dependence_ = false;
  std::array<bool, std::size(promise_names)> relied_on_{};
};

/// The execution that the functions of MPI and the hooks belong to. A process has one.
[[nodiscard]] execution& run() noexcept;
/// The rank whose code runs, or null.
extern rank* current;
/// Whether the code of a rank runs, rather than the checker's on its stack.
extern bool is_inside;

[[nodiscard]] inline rank& self() noexcept { return *current; }

/// Marks the checker's own code on the stack of a rank, so that its memory is not the rank's.
class checker_scope {
 public:
  checker_scope() noexcept : before_(is_inside) { is_inside = false; }
  checker_scope(const checker_scope&) = delete;
  checker_scope& operator=(const checker_scope&) = delete;
  ~checker_scope() { is_inside = before_; }

 private:
  bool before_;
};

/// Reports what the running rank did wrong; the rank does not go on.
[[noreturn]] void fail(fault what);
/// The same with the place of the current call or of the access at `pc`.
[[noreturn]] void fail(std::string kind, std::string text, const void* pc = nullptr, std::string rule = {});

}  // namespace nearfar::program
