// One run of a program under a schedule that is decided step by step from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "critical_section.hpp"
#include "event_sets.hpp"
#include "footprint.hpp"
#include "mutator.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/engine/substrate.hpp"
#include "request.hpp"
#include "requests.hpp"
#include "shared_memory.hpp"
#include "view.hpp"

namespace nearfar::checker {

/// The actor of a step: a rank, or one of a rank's RMA operations, which is delivered as if by a process of
/// its own, or a crash. An operation's name is its origin and its number at the origin. A name that depended
/// on the order of other steps would make equal traces look different.
struct process {
  int rank = 0;
  int delivery = 0;  // as that of a step

  [[nodiscard]] bool is_rank() const noexcept { return delivery == 0; }
  [[nodiscard]] bool is_delivery() const noexcept { return delivery > 0; }
  [[nodiscard]] bool is_crash() const noexcept { return delivery == step::crash; }

  [[nodiscard]] friend bool operator==(const process&, const process&) = default;
  [[nodiscard]] friend auto operator<=>(const process&, const process&) = default;
};

/// A step that was taken.
struct event {
  process by;
  footprint touched;
  std::uint64_t read = 0;                           ///< the value that the step read, possibly stale
  std::size_t behind = checker::touched::no_event;  ///< of a near cell: the event that wrote the value
  event_set happens_before;                         ///< earlier events only
};

/// An RMA operation that its rank has not flushed yet.
struct rma {
  engine::operation what;
  int number = 0;
  std::size_t result_number = 0;  // in the execution's list of results, once delivered
  std::uint64_t filling = 0;      // in the result's buffer until the operation is complete
  bool delivered = false;
  bool comes_again = false;   // delivered, and written once more before its flush returns
  version_number access = 0;  // its number among those of the word, once delivered
  std::uint64_t old = 0;
  std::uint64_t written = 0;
  std::uint64_t writer = 0;  // of a word of an object: the writer of what is written or was read
  view seen;                 // the origin's at issue; includes what was read once delivered
  event_set past;            // the origin's at issue; includes the delivery once delivered
  int issued_after = -1;
  std::source_location site;
};

/// The content of a result's buffer until the operation is complete. A program that uses it so early may
/// decide the same by poison as by a right result, or the same by the right result as by a wrong one.
enum class fill_with : std::uint8_t {
  poison,   ///< a value that consecutive runs change
  results,  ///< the result that the same operation had in the run before
};

enum class where : std::uint8_t { at_step, in_flush, at_barrier, ended, crashed };

struct rank_state : knowledge {
  where at = where::ended;
  request* next = nullptr;
  int flush_target = 0;
  std::uint64_t returned = 0;
  /// Frame of the function of `execution` that the rank is in. The program has no live object below this
  /// address.
  const void* frame = nullptr;
  int issued = 0;
  int early_wakes = 0;
  std::chrono::nanoseconds clock{};  // of this rank alone
  int looks_in_a_row = 0;            // at the clock, since it last passed every deadline
  // The last sleep ended early, to show what the rank does before it sleeps again.
  bool is_on_trial = false;
  bool was_in_library = false;  // since that sleep
  std::vector<rma> outstanding;
  event_set past;
  std::uint64_t observed = 0;
  std::optional<std::uint64_t> called{};  // the object of an operation that has not returned
  std::uint64_t asked = 0;                // hash of all requests of the rank so far
  std::source_location site;              // of the next step
  // Of the next step, if it waits: the events before which `note_waits` has asked whether it could be taken,
  // and a hash of the answers.
  std::size_t asked_events = 0;
  std::uint64_t could_go_on = 0;
};

class execution final : public engine::substrate, public monitor, public shared_memory::users {
 public:
  execution(const program& what, const options& how, engine::stack_pool& stacks);
  ~execution() { abandon(); }

  /// The ranks that crash in every run from now on.
  void let_crash(const std::vector<int>& victims);
  [[nodiscard]] const std::vector<int>& victims() const noexcept { return victims_; }

  /// Starts the program anew and runs it up to each rank's first step. While the steps equal those of the run
  /// before, each rank has to ask for the same as in that run. A difference is a fault.
  void restart(fill_with what = fill_with::poison);
  /// Takes all steps of this run again. A violation that this finds has the schedule of the whole run: with
  /// fewer steps, an operation may have another result.
  void repeat(fill_with what);
  /// The next run is as the first one: it is compared with none, and has the first poison.
  void forget_runs();
  /// From now on consecutive runs compare which ranks can go on after the same steps, since what a rank waits
  /// for may be a result, too.
  void note_waits(bool does) { notes_waits_ = does; }
  /// After the same steps ranks ask for something else than in another run.
  void report_difference();
  /// Whether the result of some operation has been poison.
  [[nodiscard]] bool has_poison() const noexcept { return has_poison_; }
  /// Whether some operation has a result that it did not have in any repeat with `fill_with::results`.
  [[nodiscard]] bool has_new_results() const;
  /// The same, of the repeats in which its rank had observed the same up to the flush.
  [[nodiscard]] bool has_new_situations() const;
  [[nodiscard]] bool fills_with_results() const noexcept { return filling_ == fill_with::results; }
  /// This number of consecutive runs have different poison.
  static constexpr std::size_t different_runs = 4;

  /// Processes that can take a step, ranks first.
  [[nodiscard]] const std::vector<process>& enabled() const {
    if (!is_collected_) collect_enabled();
    return enabled_;
  }
  [[nodiscard]] bool is_enabled(const process& one) const;
  /// Processes whose next step waits for a step of another process.
  [[nodiscard]] std::vector<process> blocked() const;
  /// The words that the next step of a process touches. The process is enabled or blocked.
  [[nodiscard]] footprint next_footprint(const process& one) const;
  /// Whether the next step of a process gives up the critical section.
  [[nodiscard]] bool leaves(const process& one) const {
    return one.is_rank() && state(one.rank).next != nullptr && state(one.rank).next->leaves();
  }
  /// Takes the step. `choice` must be below `choices(one)`; the event records that number.
  void take(const process& one, int choice);
  /// How many values the next step of an enabled process may return.
  [[nodiscard]] int choices(const process& one) const;
  /// Whether the step with this choice overlooks a write that could also come after the step. The step would
  /// then read the same value as the newest. A search that tries every order of steps need not try this
  /// choice.
  [[nodiscard]] bool is_newest_elsewhere(const process& one, int choice) const;

  /// For a process that is enabled or blocked: whether its next step's condition held before an event that
  /// conflicts with the step. Nothing if the step waits for none of the words of the event.
  [[nodiscard]] std::optional<bool> could_go_before(const process& one, std::size_t event) const {
    return could_go_before(one, next_footprint(one), event);
  }
  /// Events that happen before the next step of a process, whichever it is.
  [[nodiscard]] const event_set& past_of(const process& one) const;

  [[nodiscard]] const std::vector<event>& events() const noexcept { return events_; }
  /// Whether the steps so far are the same, in the same partial order, if two ranks change names.
  [[nodiscard]] bool may_be_exchanged(int a, int b) const;
  /// Whether an enabled process waits for a value and only an overwritten value could end the wait. C++ lets
  /// a rank see such a value, but promises only that the rank sees the last one.
  [[nodiscard]] bool waits_for_past(const process& one) const;
  /// Whether `waits_for_past` holds and a step that touches none of the process's words may take the value
  /// away: the total order may not admit both.
  [[nodiscard]] bool may_be_prevented(const process& one) const;
  /// Whether other processes should go on first: `waits_for_past` holds, or the time of the process's wait is
  /// over.
  [[nodiscard]] bool is_last_resort(const process& one) const;
  [[nodiscard]] const std::optional<violation>& found() const noexcept { return found_; }
  [[nodiscard]] const std::vector<step>& schedule() const noexcept { return schedule_; }
  /// Of a run that is over, if the judge could not decide its history.
  [[nodiscard]] const std::optional<std::string>& why_undecided() const noexcept { return why_undecided_; }
  /// Whether a run that is over has left somebody waiting for a rank that has crashed.
  [[nodiscard]] bool is_blocked_by_crash() const noexcept { return is_blocked_by_crash_; }
  /// Whether a run that is over has left ranks waiting that may wait for ever (`program::judge_of_waits`).
  [[nodiscard]] bool ends_in_waits() const noexcept { return ends_in_waits_; }
  /// Reports the exception that is being handled as a violation, or throws `std::bad_alloc` on.
  void report_thrown(const std::string& by);
  /// Whether no step is left to take, or a fault was found; a deadlock and too many steps are recorded here.
  [[nodiscard]] bool is_over();
  /// Steps in readable form; collected only while `into` is set.
  void show_steps(std::vector<shown_step>* into) { shown_ = into; }
  /// The names that the program has marked as reached, in all runs.
  [[nodiscard]] const std::set<std::string>& reached() const noexcept { return reached_; }
  /// Collects the changes that are possible at each site; only while `into` is set.
  void note_sites(std::set<mutation>* into) { mutator_.note_sites(into); }

  /// Hash of what each rank has observed and of everything shared. Equal states have equal futures.
  [[nodiscard]] std::uint64_t state_hash() const;
  /// Hash of the trace: the order of dependent steps, whatever the order of the others.
  [[nodiscard]] std::uint64_t trace_hash() const;

  // engine::substrate
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
  void delay(std::chrono::nanoseconds) override { note_in_library(); }
  void compute(std::chrono::nanoseconds) override {}
  void barrier() override;
  [[nodiscard]] std::chrono::nanoseconds now() override;
  [[nodiscard]] std::chrono::nanoseconds now_for_waiting() override;
  [[nodiscard]] int choose(int possibilities) override;
  [[nodiscard]] bool wakes_for_no_reason() override;
  [[nodiscard]] engine::sleep_place begins_sleep() override;
  [[nodiscard]] bool looks_before_sleep() override { return is_unwound() || mutator_.looks_before_sleep(); }
  [[nodiscard]] int to_wake(int most) override { return is_unwound() ? most : mutator_.to_wake(most); }
  void note_woken(const std::uint64_t* word, std::uint64_t ranks) override;
  void cleared(const std::byte* from, std::size_t bytes) override { words_.forget(from, bytes); }
  void access(const engine::plain_access& what) override;
  void taken(const std::byte* from, std::size_t bytes) override;
  void given_back(const std::byte* from, std::size_t bytes) override;
  void confirmed(const std::uint64_t* writers, std::size_t words) override;

  // monitor
  void ask() override { section_.ask(running(), holding::exclusive); }
  void enter() override;
  void leave() override;
  void ask_shared() override { section_.ask(running(), holding::shared); }
  void enter_shared() override;
  void leave_shared() override;
  void leave_to_share() override;
  void call(std::uint64_t object, int method, value_list arguments) override;
  void returned(value_list result) override;
  void reach(std::string_view what) override;
  void expect_complete(const char* function) override;

  // shared_memory::users
  void report(fault what, std::string text) override;
  [[nodiscard]] std::string word_text(const std::uint64_t* cell) const override;
  void for_each_view(const std::function<void(view&)>& action) override;
  [[nodiscard]] view all_shown() const override;

  // For requests.
  [[nodiscard]] const options& how() const noexcept { return *options_; }
  [[nodiscard]] shared_memory& words() noexcept { return words_; }
  [[nodiscard]] critical_section& section() noexcept { return section_; }
  void note_reached(std::string_view what) { reached_.emplace(what); }
  [[nodiscard]] history& past_operations() noexcept { return history_; }
  /// The rank that last woke the sleepers of a word, as text for reports.
  [[nodiscard]] std::string last_waker_text(const std::uint64_t* word) const;
  [[nodiscard]] const std::optional<operation_names>& names() const noexcept { return program_->names; }
  /// An operation has been called, or has returned.
  void note_call() {
    if (open_operations_++ == 0) last_return_ = events_.size();
  }
  void note_return_of_operation() {
    --open_operations_;
    last_return_ = events_.size();
  }
  [[nodiscard]] rank_state& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const rank_state& state(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  touched deliver(int origin, rma& one);
  [[nodiscard]] bool is_outside_library(int rank) const;
  /// The rank that has to be in the library for a step, under the mode of delivery; -1: none.
  [[nodiscard]] int server_of(const request& next) const { return server_of(next.rank(), next.server()); }

 private:
  friend class requests;

  [[nodiscard]] rank_state& self() { return state(running()); }
  /// Whether the running rank has been dropped from the run, and its destructors still ask for something.
  [[nodiscard]] bool is_unwound() const { return fibre_of(running()).is_cancelled(); }
  /// Does at once what such a rank asks for.
  static std::uint64_t do_at_once(const engine::operation& what);
  /// Returns the value of the first wait that is satisfied. Does not return if none is.
  engine::waited wait_at_once(std::span<const engine::wait> any);
  [[nodiscard]] std::optional<bool> held_before(const process& one, const word_access& mine,
                                                std::size_t event, std::uint64_t value) const;

  /// The running rank's result once a step that it asks for has been taken.
  std::uint64_t stop_before(request& next);
  void note_asked(std::uint64_t what);
  /// Compares with the run before what all ranks have asked for after the steps so far.
  void compare_with_run_before();
  void compare_waits();
  /// The same, of a step that touches `mine`.
  [[nodiscard]] std::optional<bool> could_go_before(const process& one, const footprint& mine,
                                                    std::size_t event) const;
  void check_operands(const engine::operation& what);
  /// Reports a result whose buffer belongs to an operation that is not complete.
  void expect_own_buffer(const engine::operation& what);
  void check_buffers(const rank_state& of, const rma& one);
  /// The running rank has read a word that this one has written.
  void note_read(const engine::operation& what, std::uint64_t writer);
  /// A name for one write of a whole object by the running rank.
  [[nodiscard]] std::uint64_t next_writer();
  [[nodiscard]] static int rank_of_writer(std::uint64_t writer);
  static constexpr unsigned bits_of_operation = 32;
  /// Stands for the writer of data that an undelivered get will bring.
  static constexpr std::uint64_t writer_to_come = ~std::uint64_t{0};
  void give_up_section(holding how);
  void complete(rank_state& of, const rma& one);
  void complete_at(int target);
  /// The poison of this run.
  [[nodiscard]] std::uint64_t poison() const;
  /// The content of the result's buffer until the running rank's operation with this number is complete.
  [[nodiscard]] std::uint64_t filling(int number) const;

  /// The running rank drives progress.
  void note_in_library() {
    if (!is_unwound()) self().was_in_library = true;
  }
  /// A wait of the running rank has ended because its time was over.
  void note_time_over(std::chrono::nanoseconds deadline);

  void run_on(int rank);
  void open_barrier();
  void collect_enabled() const;
  void note_blocked();
  [[nodiscard]] bool can_go_on(int rank) const;
  [[nodiscard]] int server_of(int rank, int target) const {
    return options_->mode == delivery_mode::progress && target != rank ? target : -1;
  }
  [[nodiscard]] int server_of(const process& one) const;
  [[nodiscard]] bool can_deliver(int origin, const rma& one) const;
  [[nodiscard]] const rma* find_rma(const process& one) const;
  /// Whether a flush of `target` has to wait.
  [[nodiscard]] bool has_undelivered(const rank_state& of, int target) const;

  touched deliver_again(rma& one);
  void take_rank_step(int rank, int choice);
  void take_crash(int rank);
  [[nodiscard]] bool may_crash(int rank) const { return is_victim_[static_cast<std::size_t>(rank)] != 0; }
  [[nodiscard]] bool has_crashed(int rank) const { return has_crashed_[static_cast<std::size_t>(rank)] != 0; }
  /// Whether the rank has nothing left to do.
  [[nodiscard]] bool is_done(int rank) const;
  [[nodiscard]] bool is_all_done() const;
  /// The content of a word; its number, if it is no cell.
  [[nodiscard]] std::uint64_t value_of(std::uint64_t name);
  /// Called after a step: a rank that waited outside the library is back.
  void note_return(const footprint& of);
  /// Notes the writer of an object's word at the delivery of the operation.
  void note_writer(rma& one);
  void take_delivery(const process& by);
  void record(const process& by, const footprint& of, const touched& values, event_set& past);
  void show(std::string operation, const std::uint64_t* cell, int acts_on, touched values, bool writes,
            int issued_after, const std::source_location& at);

  // Some rank has not ended, and no rank can go on except those whose wait only an old value can end.

  /// Reports a wrong history, and else a deadlock unless the program's judge permits all waits.
  void judge_waits();
  /// Whether ranks wait in operations, and all others at a barrier to which these would come.
  [[nodiscard]] bool waits_in_operations() const;
  /// `why`: a judge's reason.
  void report_deadlock(const std::string& why = "");

  void report_livelock();
  [[nodiscard]] bool is_livelock() const;
  /// Called at the end of a run.
  void judge_history();
  [[nodiscard]] std::string waiting_text(int rank) const;
  /// Hash of what ranks know of one another, as far as that decides about faults.
  [[nodiscard]] std::uint64_t hash_of_knowledge() const;

  const program* program_;
  const options* options_;
  std::vector<rank_state> ranks_;
  shared_memory words_;
  critical_section section_;
  requests requests_;
  mutator mutator_;
  // Collected on demand: a search asks while it decides, and does not ask while it takes steps again.
  mutable std::vector<process> enabled_;
  mutable bool is_collected_ = false;
  std::vector<event> events_;
  std::vector<step> schedule_;
  std::vector<shown_step>* shown_ = nullptr;
  std::optional<violation> found_;
  std::optional<std::string> why_undecided_;
  std::uint64_t runs_with_poison_ = 0;
  bool has_poison_ = false;
  fill_with filling_ = fill_with::poison;
  struct result {
    int rank = 0;
    int number = 0;
    std::uint64_t place = 0;  // in the source, hashed
    std::uint64_t value = 0;
    std::uint64_t observed = 0;  // by the rank up to the flush, hashed
  };
  [[nodiscard]] static std::uint64_t hash_of(const result& one);
  std::vector<result> results_;  // of the operations that were delivered in this run
  std::map<std::pair<int, int>, std::uint64_t> results_before_;  // of a rank's operation with this number
  std::unordered_set<std::uint64_t> repeated_results_;           // hashed
  bool is_as_before_ = false;
  std::vector<step> schedule_before_;
  std::uint64_t asked_so_far_ = 0;    // hash of all requests of all ranks
  std::vector<std::uint64_t> asked_;  // the same hash after each step
  std::vector<std::uint64_t> asked_before_;
  // Hashes of which ranks could go on after each step, and with how many values.
  bool notes_waits_ = false;
  std::vector<std::uint64_t> could_go_on_;
  std::vector<std::uint64_t> could_go_on_before_;
  std::set<std::string> reached_;
  struct wake_up {
    int by = 0;
    std::size_t step = 0;
    std::uint64_t woken = 0;  // a bit for each rank
  };
  std::map<const std::uint64_t*, wake_up> last_wake_up_;  // by the word that is slept on
  history history_;
  int open_operations_ = 0;      // of the ranks that have not crashed
  std::size_t last_return_ = 0;  // steps taken up to the last return, or up to the first call that is open
  std::vector<int> victims_;
  std::vector<char> is_victim_;
  std::vector<char> has_crashed_;
  bool has_crash_ = false;
  bool is_blocked_by_crash_ = false;
  bool ends_in_waits_ = false;
  event_set nothing_;  // happens before a crash
  int ended_ = 0;
  int at_barrier_ = 0;
};

}  // namespace nearfar::checker
