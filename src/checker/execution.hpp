// One run of a program under a schedule that is decided step by step from outside.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <vector>

#include "event_sets.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/engine/team.hpp"
#include "view.hpp"
#include "words.hpp"

namespace nearfar::checker {

/// Who takes a step: a rank, or one of its RMA operations, which is delivered as if by a process of its own.
/// Named by origin and number at the origin, since a name that depends on the order of other steps would make
/// equal traces look different.
struct process {
  int rank = 0;
  int delivery = 0;

  [[nodiscard]] friend bool operator==(const process&, const process&) = default;
  [[nodiscard]] friend auto operator<=>(const process&, const process&) = default;
};

/// A word that a step touches.
struct access {
  std::uint64_t word = 0;
  bool writes = false;
  std::uint64_t before = 0;  ///< its value before the step, once that is taken

  [[nodiscard]] bool conflicts_with(const access& other) const noexcept {
    return word == other.word && (writes || other.writes);
  }
};

/// All that a step touches, by which dependence between steps is decided: the word of its operation first,
/// and in mode `progress` perhaps the one that says whether a rank is in the library.
class footprint {
 public:
  footprint() = default;
  explicit footprint(const access& one) { add(one); }

  void add(const access& one) { accesses_.at(count_++) = one; }
  [[nodiscard]] access* begin() noexcept { return accesses_.data(); }
  [[nodiscard]] access* end() noexcept { return accesses_.data() + count_; }
  [[nodiscard]] const access* begin() const noexcept { return accesses_.data(); }
  [[nodiscard]] const access* end() const noexcept { return accesses_.data() + count_; }
  [[nodiscard]] access& word() noexcept { return accesses_.front(); }
  [[nodiscard]] const access& word() const noexcept { return accesses_.front(); }

  [[nodiscard]] bool conflicts_with(const footprint& other) const noexcept {
    return std::any_of(begin(), end(), [&](const access& mine) {
      return std::any_of(other.begin(), other.end(),
                         [&](const access& theirs) { return mine.conflicts_with(theirs); });
    });
  }

 private:
  std::array<access, 2> accesses_{};
  std::size_t count_ = 0;
};

/// A step that was taken.
struct event {
  process by;
  footprint touched;
  std::uint64_t read = 0;    ///< value that the step read, stale perhaps
  event_set happens_before;  ///< earlier events only
};

class execution final : public engine::team, public monitor {
 public:
  execution(const program& what, const options& how, engine::stack_pool& stacks);
  ~execution() { abandon(); }

  /// Starts the program anew and runs it up to each rank's first step. As long as the steps that are taken
  /// are those of the run before, ranks have to ask for the same: otherwise that is a fault.
  void restart();
  /// Takes all steps of this run again.
  void repeat();
  /// Whether some result has been poison.
  [[nodiscard]] bool has_poison() const noexcept { return has_poison_; }
  /// So many runs in a row differ in their poison.
  static constexpr std::size_t different_runs = 4;

  /// Processes that can take a step, ranks first.
  [[nodiscard]] const std::vector<process>& enabled() const noexcept { return enabled_; }
  [[nodiscard]] bool is_enabled(const process& one) const;
  /// Processes whose next step waits for a step of another process.
  [[nodiscard]] std::vector<process> blocked() const;
  /// What the next step of a process that is enabled or blocked touches.
  [[nodiscard]] footprint next_footprint(const process& one) const;
  /// Whether the next step of a process gives up the critical section.
  [[nodiscard]] bool leaves(const process& one) const {
    return one.delivery == 0 && state(one.rank).at == where::at_step && state(one.rank).next == kind::leave;
  }
  /// Takes it. `choice` must be below the number of choices, which the event tells.
  void take(const process& one, int choice);
  /// How many values the next step of an enabled process may return.
  [[nodiscard]] int choices(const process& one) const;

  /// Of a process that is enabled or blocked: whether what its next step waits for held before an event that
  /// it conflicts with. Nothing if the words of the event are none that it waits for.
  [[nodiscard]] std::optional<bool> could_go_before(const process& one, std::size_t event) const;
  /// Events that happen before whatever a process does next.
  [[nodiscard]] const event_set& past_of(const process& one) const;

  [[nodiscard]] const std::vector<event>& events() const noexcept { return events_; }
  [[nodiscard]] bool all_ended() const noexcept { return ended_ == size(); }
  /// Some rank has not ended and none can go on, but for those that wait for the past.
  [[nodiscard]] bool is_deadlocked() const;
  /// Whether an enabled process waits for a value and only one that was overwritten by now could end that:
  /// C++ lets a rank see such a value, but promises only that it sees the last one.
  [[nodiscard]] bool waits_for_past(const process& one) const;
  [[nodiscard]] const std::optional<violation>& found() const noexcept { return found_; }
  [[nodiscard]] const std::vector<step>& schedule() const noexcept { return schedule_; }
  /// Record the fault.
  void report_deadlock();
  void report_livelock();
  /// Steps as people read them; collected only while asked for.
  void show_steps(std::vector<shown_step>* into) { shown_ = into; }
  /// Collects what could be changed at which site; only while asked for.
  void note_sites(std::set<mutation>* into) { noted_ = into; }

  /// Hash of what each rank has observed and of all that is shared: equal states have equal futures.
  [[nodiscard]] std::uint64_t state_hash() const;
  /// Hash of the trace: the order of dependent steps, whatever the order of the others.
  [[nodiscard]] std::uint64_t trace_hash() const;

  // engine::team
  std::uint64_t perform(const engine::operation& what) override;
  void issue(const engine::operation& what) override;
  void flush(int target) override;
  std::uint64_t await(const engine::wait& what) override;
  void signal(int channel, int to) override;
  void await_signal(int channel, int from) override;
  void begin_exclusive(int epoch, int home) override;
  void end_exclusive(int epoch, int home) override;
  void delay(std::chrono::nanoseconds) override {}
  void barrier() override;
  [[nodiscard]] std::chrono::nanoseconds now() override {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(events_.size()));
  }

  void cleared(const std::byte* from, std::size_t bytes) override;

  // monitor
  void ask() override;
  void enter() override;
  void leave() override;
  void expect_complete(const char* function) override;

 private:
  enum class kind : std::uint8_t {
    none,
    access,  // of a near cell, a direct access, or an RMA operation that is delivered at once
    await,
    leave_library,  // before a wait without progress, in mode `progress`
    signal,
    await_signal,
    begin_exclusive,
    end_exclusive,
    enter,
    leave,
  };
  enum class where : std::uint8_t { at_step, in_flush, at_barrier, ended };

  struct rma {
    engine::operation what;
    int number = 0;
    bool delivered = false;
    bool comes_again = false;   // delivered, and to be written once more before its flush returns
    version_number access = 0;  // its number among those of the word, once delivered
    std::uint64_t old = 0;
    std::uint64_t written = 0;
    view seen;       // at issue; with what it read, once delivered
    event_set past;  // at issue; with its delivery, once delivered
    int issued_after = -1;
    std::source_location site;
  };

  struct rank_state {
    where at = where::ended;
    kind next = kind::none;
    engine::operation operation;
    const engine::wait* waiting = nullptr;
    int failed_tries = 0;  // of the wait, each of which wrote the word
    int channel = 0;
    int peer = 0;
    int flush_target = 0;
    std::uint64_t returned = 0;
    const void* frame =
        nullptr;  // of the function of this class that it is in: what is below belongs to none
    int issued = 0;
    std::vector<rma> outstanding;
    view seen;
    event_set past;
    std::uint64_t observed = 0;
    std::uint64_t asked = 0;  // hash of all that the rank has asked for
    bool is_asking = false;
    bool is_blocked = false;
    std::optional<engine::operation> postponed;
    std::optional<std::pair<int, int>> postponed_signal;  // channel, receiver
    std::source_location site;                            // of the next step
    std::size_t asked_at = 0;
    std::size_t blocked_at = 0;
  };

  /// The numbers of the last accesses that one rank has made to a far word, by what MPI says of their races.
  struct accesses_of_origin {
    version_number plain = 0;  // puts and writes in place
    version_number get = 0;
    version_number fetch = 0;
    version_number load = 0;                     // in place; noted only where it matters
    std::array<version_number, 3> accumulate{};  // that may write: replace, sum, compare-and-swap

    /// Those with which another access may be a conflict; 0 for the others.
    [[nodiscard]] std::array<version_number, 7> that_may_race(const promises& promised) const {
      const version_number read = promised.racing_gets ? 0 : 1;
      return {plain,         get * read,    fetch * read, promised.racing_loads ? 0 : load,
              accumulate[0], accumulate[1], accumulate[2]};
    }
  };

  /// A word, a mailbox, an epoch or the guard.
  struct shared {
    std::uint64_t name = 0;
    std::uint64_t* cell = nullptr;
    bool near = false;
    bool far = false;
    version_number version = 0;  // of the newest write; of a far word, the number of its accesses
    std::size_t in_view = 0;     // where views keep what is known of it; of a far word, that and one for
                                 // each origin: the last of its accesses that is known to be complete
    view message;                // what reading the last write makes known
    std::vector<accesses_of_origin> by_origin;  // of a far word
    version_number last_accumulate = 0;
    struct stored {
      std::uint64_t value = 0;
      view message{};
      std::size_t by_event = 0;  // of all but the initial value
      version_number version = 0;
      bool is_atomic = false;  // nothing may come between it and what it read
    };
    std::vector<stored> history;  // of a near cell, by version: C++'s modification order
    int last_write = -1;
    std::vector<int> reads;   // since then
    std::uint64_t value = 0;  // of what is no cell
    std::vector<std::pair<int, view>> mail;
  };

  struct touched {
    std::uint64_t before = 0;
    std::uint64_t read = 0;
    std::uint64_t after = 0;
  };

  [[nodiscard]] rank_state& self() { return ranks_[static_cast<std::size_t>(running())]; }
  [[nodiscard]] rank_state& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const rank_state& state(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  [[nodiscard]] std::uint64_t name_of_cell(const std::uint64_t* cell) const;
  [[nodiscard]] std::uint64_t name_of_next(const rank_state& of) const;
  [[nodiscard]] std::optional<bool> held_before(const process& one, const access& mine, std::size_t event,
                                                std::uint64_t value) const;
  shared& at(std::uint64_t name, std::uint64_t* cell = nullptr);
  [[nodiscard]] const shared* find(std::uint64_t name) const;
  [[nodiscard]] std::size_t slot_of(const shared& word) const {
    return static_cast<std::size_t>(&word - shared_.data());
  }

  void stop_at(kind next);
  void note_asked(const engine::operation& what);
  void note_asked(std::uint64_t what);
  /// Compares with the run before what all ranks have asked for after the steps so far.
  void compare_with_run_before();
  void report_difference();
  void check_buffers(const rank_state& of, const rma& one);
  /// What poison this run has.
  [[nodiscard]] std::uint64_t poison() const;
  void run_on(int rank);
  void open_barrier();
  void collect_enabled();
  void note_blocked();
  [[nodiscard]] bool can_go_on(int rank) const;
  /// The rank that has to be in the library for a step; -1: none.
  [[nodiscard]] int server_of(const process& one) const;
  [[nodiscard]] bool is_outside_library(int rank) const;
  [[nodiscard]] bool can_deliver(int origin, const rma& one) const;
  [[nodiscard]] const rma* find_rma(const process& one) const;
  /// Whether a flush of `target` has to wait.
  [[nodiscard]] bool has_undelivered(const rank_state& of, int target) const;
  /// Whether a wait that repeats a swap has one more try that fails but changes the word.
  [[nodiscard]] bool can_try_in_vain(const rank_state& of, std::uint64_t value) const;
  /// The senders whose messages a rank that waits for one may receive now; the longest waiting first.
  [[nodiscard]] std::vector<int> senders_to(const rank_state& of) const;

  touched apply_near(rank_state& of, const engine::operation& what, const engine::wait* waiting, int choice);
  touched store_near(rank_state& of, const engine::operation& what, shared& word, std::size_t place);
  struct far_access {
    touched values;
    version_number number = 0;
    bool wrote = false;
  };
  /// `seen` is what the origin knew when it issued the operation.
  far_access apply_far(int origin, const engine::operation& what, view& seen);
  touched apply_direct(int rank, const engine::operation& what);
  touched deliver(int origin, rma& one);
  touched deliver_again(rma& one);
  /// Reports a conflict unless `seen` holds that all accesses of the word are complete with which MPI lets
  /// none like this one race.
  void check_race(int rank, const shared& word, const engine::operation& what, const view& seen);
  touched apply_access(rank_state& of, int rank, int choice);
  touched apply_other(rank_state& of, int rank, shared& word, int choice);
  void complete(rank_state& of, const rma& one);
  /// Places in the history of a near cell that a load may read, or before which a write may go (one past the
  /// end for the newest), reading what is before it; the newest first.
  [[nodiscard]] std::vector<std::size_t> places(const rank_state& of, const engine::operation& what,
                                                const engine::wait* waiting) const;
  void take_rank_step(int rank, int choice);
  /// Notes what the words of a step held, and that a rank that waited outside the library is back.
  void note_values(footprint& of, std::uint64_t before);
  void take_delivery(const process& by);
  void record(const process& by, const footprint& of, std::uint64_t read, event_set& past);
  void show(const std::string& operation, const shared& word, touched values, bool writes, int issued_after,
            const std::source_location& at);

  /// Whether the operation that is being asked for is to be changed in this way.
  [[nodiscard]] bool changes(change how, std::string_view operation);
  std::uint64_t perform_step(const engine::operation& what);
  void issue_step(const engine::operation& what);
  void complete_at(int target);
  std::uint64_t split_near(const engine::operation& what);
  void split_rma(const engine::operation& what);
  void do_postponed(const std::optional<engine::operation>& what);

  void check_operands(const engine::operation& what);
  shared& used_as(const engine::operation& what, bool near);
  void check_bypass(int rank);
  void report(fault what, std::string text);
  /// Calls `action` with a name and with the view that is held there, for all that somebody may come to know.
  template <typename Execution, typename Action>
  static void for_each_view(Execution& of, Action action) {
    std::uint64_t holder = 0;
    for (auto& one : of.ranks_) {
      action(++holder, one.seen);
      for (auto& operation : one.outstanding) action(++holder, operation.seen);
    }
    for (auto& word : of.shared_) {
      action(mixed(word.name, 0), word.message);
      if (!word.history.empty()) action(mixed(word.name, 1), word.history.back().message);
      for (std::size_t i = 0; i < word.mail.size(); ++i) action(mixed(word.name, i + 2), word.mail[i].second);
    }
  }
  /// Hash of what ranks know of one another, as far as it matters for faults.
  [[nodiscard]] std::uint64_t hash_of_knowledge() const;
  /// Makes room between the versions of a near cell.
  void spread_versions(shared& word);
  [[nodiscard]] std::string word_text(const shared& word) const;
  [[nodiscard]] std::string word_text(const engine::operation& of) const;
  [[nodiscard]] std::string waiting_text(int rank) const;

  const program* program_;
  const options* options_;
  std::vector<rank_state> ranks_;
  std::vector<shared> shared_;
  std::size_t places_in_views_ = 0;
  std::vector<std::int32_t> slot_of_cell_;
  std::map<std::uint64_t, std::size_t> slot_of_other_;
  std::vector<process> enabled_;
  std::vector<event> events_;
  std::vector<step> schedule_;
  std::vector<shown_step>* shown_ = nullptr;
  std::set<mutation>* noted_ = nullptr;
  std::optional<violation> found_;
  std::uint64_t runs_ = 0;
  bool has_poison_ = false;
  bool is_as_before_ = false;
  std::vector<step> schedule_before_;
  std::uint64_t asked_so_far_ = 0;    // hash of what all ranks have asked for
  std::vector<std::uint64_t> asked_;  // the same after each step
  std::vector<std::uint64_t> asked_before_;
  int ended_ = 0;
  int at_barrier_ = 0;
  int inside_ = -1;
  int last_inside_ = -1;
  std::vector<char> wanted_by_node_;
  std::vector<int> passes_over_node_;
};

}  // namespace nearfar::checker
