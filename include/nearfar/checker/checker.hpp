/// \file
/// The model checker: runs a program of a few ranks under every schedule that MPI and C++ allow, or under
/// many random ones, and says what can go wrong.
///
/// A program is a function that each rank runs in an engine's world; it tells a `monitor` when it asks for,
/// holds and has given up what is to be exclusive. A schedule is a sequence of steps: a rank's next memory
/// operation, or the delivery of an RMA operation. Waits are disabled steps, so that spinning locks
/// terminate; when no step is enabled and a rank has not ended, that is a deadlock.
///
/// Reduction: source sets and sleep sets (P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic
/// partial order reduction", POPL 2014, doi 10.1145/2535838.2535845), extended by races with waits that a
/// later write disabled. Random schedules: uniform, or by changing priorities (S. Burckhardt, P. Kothari, M.
/// Musuvathi, S. Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS
/// 2010, doi 10.1145/1736020.1736040).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/checker/bypass_bound.hpp"
#include "nearfar/checker/history.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::checker {

/// When an RMA operation takes effect at its target.
enum class delivery_mode : std::uint8_t {
  eager,     ///< when it is issued
  lazy,      ///< only inside its origin's matching flush
  progress,  ///< any time from its issue to its flush, but not while the target waits outside the library
};

/// The values that a load of a near cell may return.
enum class near_model : std::uint8_t {
  sequential,       ///< the last value stored
  release_acquire,  ///< any value not older than what the rank must have seen by C++'s happens-before
};

enum class search : std::uint8_t {
  exhaustive,  ///< every trace once, up to the order of independent steps
  hash,        ///< every state once, known by what each rank has observed; sequential near cells only
  random,      ///< many schedules by seed
};

/// How the checker treats an access that races with another if MPI leaves the outcome undefined.
enum class conflicts : std::uint8_t {
  reported,  ///< it is a fault
  enacted,  ///< its consequences are shown: each RMA write is written twice, at its delivery and at any later
            ///< step until its flush returns (an accumulate not once another accumulate came in between), as
            ///< libraries do that copy a word by two stores
};

/// The behaviour that MPI libraries are trusted to have beyond the standard, which calls it undefined or
/// leaves it open.
struct promises {
  /// A get (a fetch, if the write is no accumulate) that races with a write returns the old or the new value.
  bool racing_gets = true;
  /// A word that is read in place while it is written by RMA is seen whole, the old or the new value.
  bool racing_loads = true;
  /// Accumulates of different operations on one word are atomic among themselves. MPI promises that for one
  /// operation and no-op (`accumulate_ops` is `same_op_no_op` by default).
  bool mixed_accumulates = true;
  /// Messages that a rank takes from any source come in the order in which they were sent, if one was sent
  /// because of the other. MPI orders those of one sender only.
  bool causal_messages = false;

  [[nodiscard]] friend bool operator==(const promises&, const promises&) = default;
};

/// How the exhaustive search decides which steps to reverse.
enum class reduction : std::uint8_t {
  source_sets,      ///< those that race
  sleep_sets_only,  ///< all: slower, to test the other against
};

/// The eyes of the checker in a program, in this order for each acquisition: `ask`, then lock, `enter`,
/// `leave`, unlock. A rank may call `ask` again before `enter`; the last call counts. Called by the rank it
/// concerns.
class monitor {
 public:
  /// The rank's next step asks for the critical section.
  virtual void ask() = 0;
  /// The rank is inside. A step. It is a violation if another rank is inside, or has left and this rank need
  /// not see what it did. A rank that is inside and shares calls this once it has upgraded its lock.
  virtual void enter() = 0;
  /// The rank is about to give up what it holds. A step.
  virtual void leave() = 0;
  /// The same for ranks that share the critical section among themselves, as readers do.
  virtual void ask_shared() = 0;
  virtual void enter_shared() = 0;
  virtual void leave_shared() = 0;
  /// The rank is about to downgrade its lock: it stays inside, and shares from now on. A step.
  virtual void leave_to_share() = 0;
  /// The rank calls an operation of an object, and the operation returns. `program::judge` judges these calls
  /// and returns. Both are steps: an operation that returns before another is called comes before it.
  virtual void call(std::uint64_t object, int method, value_list arguments) = 0;
  virtual void returned(value_list result) = 0;
  /// The program has come to where it may be demanded to come (`program::demands`).
  virtual void reach(std::string_view what) = 0;
  /// An interface function has returned: nothing it started may be incomplete.
  virtual void expect_complete(const char* function) = 0;

 protected:
  monitor() = default;
  ~monitor() = default;
};

/// Reached when two ranks share the critical section.
inline constexpr std::string_view shared_by_two = "two ranks share the critical section";

/// A judge's verdict on a history: it is right, it is wrong, or the judge cannot say.
struct judgement {
  std::optional<std::string> text{};  ///< why it is wrong, or why the judge cannot say
  bool is_decided = true;

  judgement(std::nullopt_t /*right*/ = std::nullopt) {}
  judgement(std::optional<std::string> wrong) : text(std::move(wrong)) {}
  [[nodiscard]] static judgement undecided(std::string why) {
    judgement result(std::move(why));
    result.is_decided = false;
    return result;
  }
  [[nodiscard]] bool is_wrong() const noexcept { return is_decided && text.has_value(); }
};

/// The program to check.
struct program {
  locality where;
  /// Runs on every rank; steps are explored from the first memory operation on.
  std::function<void(engine::world&, monitor&)> body;
  bypass_bound bypass = bypass_bound::none;
  int max_local_passes = 0;
  /// Memory of each rank in bytes.
  std::size_t bytes = std::size_t{8} << 10U;
  /// Of ranks that hold exclusively and that share.
  overtaking_limits overtaking{};
  /// Sets of ranks that the program treats alike except for their names: if any two of them change places,
  /// with their memory, nothing else changes. Of schedules that differ only so, the exhaustive search
  /// explores one. A program that lists ranks that are not alike hides faults.
  std::vector<std::vector<int>> alike{};
  /// Events that some schedule has to reach: a program proves nothing if nothing happens in it. If a complete
  /// search reaches one of them in no schedule, this is a fault. Other searches say so (`report::unmet`).
  std::vector<std::string> demands{};
  /// Whether the living have to go on when others have crashed; if not, those that wait for one are blocked,
  /// which is counted and no fault.
  bool is_nonblocking = false;
  /// Judges the history of a run; `linearizable_by` (linearizability.hpp) makes one. A history that the judge
  /// cannot decide is no fault. The search counts it and goes on, and is then not complete.
  std::function<judgement(const history&)> judge{};
  /// Judges the history of a run at whose end ranks wait for ever inside operations, and all others at a
  /// barrier to which these would come: right if each of these operations has to wait (`may_wait_by`,
  /// linearizability.hpp, makes one). Without it, or where it is not right, such an end is a deadlock. Not
  /// asked after a crash.
  std::function<judgement(const history&)> judge_of_waits{};
  /// How schedules show its operations; without, as numbers.
  std::optional<operation_names> names{};
  /// The number of steps of all ranks, while operations are called and none returns, after which the run
  /// counts as a livelock. Lock-free operations promise that there is such a number. 0: no limit.
  std::size_t most_steps_between_returns = 0;
};

/// One step of a schedule.
struct step {
  int rank = 0;
  /// 0 for the rank's own next step; k for the delivery of its k-th RMA operation; `crash`.
  int delivery = 0;
  /// Which of the values that a load may return: 0 the newest, 1 the one before ... Of a choice, which.
  int choice = 0;

  /// In place of a delivery: the rank stops for good.
  static constexpr int crash = -1;

  [[nodiscard]] bool is_delivery() const noexcept { return delivery > 0; }
  [[nodiscard]] friend bool operator==(const step&, const step&) = default;
};

enum class fault : std::uint8_t {
  exclusion,   ///< two ranks inside at once
  order,       ///< a rank inside that need not see what the one before it did
  deadlock,    ///< nobody can go on, somebody has not ended
  livelock,    ///< more steps than any correct run takes: something waits outside the world
  bypass,      ///< overtaken more often than promised
  incomplete,  ///< an RMA operation was not complete when the function that started it returned
  origin,      ///< an origin buffer changed or went out of scope before its operation was complete
  poison,      ///< a result was used before its operation was complete
  conflict,    ///< an access that races with another as MPI forbids: a write, in place or by put, before an
               ///< earlier write is known to be complete; with fewer promises others too
  race,        ///< two accesses of what is not atomic, one of them a write, none known to the other
  torn,        ///< a value was taken for whole that consists of words of several
  gone,        ///< memory was used that its pool had back, or had lent anew, for all that the rank knows
  history,     ///< operations return what no order of them explains
  unreached,   ///< no schedule reaches what the program demands
  mixed,       ///< a word used by host atomics and by RMA, or without atomicity
  exception,   ///< the program threw
};
inline constexpr std::array all_faults{
    fault::exclusion, fault::order,     fault::deadlock, fault::livelock, fault::bypass, fault::incomplete,
    fault::origin,    fault::poison,    fault::conflict, fault::race,     fault::torn,   fault::gone,
    fault::history,   fault::unreached, fault::mixed,    fault::exception};
[[nodiscard]] std::string_view name(fault what) noexcept;

struct violation {
  fault what = fault::exclusion;
  std::string text;
  std::vector<step> schedule;
};

/// Looks like no rank, count or flag, and is noticed at once when it is used as an operand.
inline constexpr std::uint64_t default_poison = 0xBADC0DE5'BADC0DE5U;

struct options {
  delivery_mode mode = delivery_mode::lazy;
  near_model near = near_model::release_acquire;
  conflicts conflict = conflicts::reported;
  promises promised{};
  search by = search::exhaustive;
  reduction reduce = reduction::source_sets;
  /// Swaps in vain that change the word, of each wait that repeats one: two ranks would overwrite each
  /// other's for ever.
  int most_failed_swaps = 1;
  /// How often in a row a rank that looks at its clock finds no time passed. The next look finds every
  /// deadline over, so that a loop up to a deadline ends.
  int most_looks_in_a_row = 4;
  /// The number of ranks that may stop for good, each at any step, its last one included. Operations that
  /// such a rank has issued and not flushed arrive later or never. Its memory stays, but the rank carries out
  /// nothing for others any more. No other rank is told: as on MPI, only a deadline helps. After a rank has
  /// stopped, a rank that waits in a barrier counts as ended.
  int crashes = 0;
  /// How many times each rank may wake without being told, as futex(2) permits; 0: never.
  int most_early_wakes = 0;
  /// Steps of one schedule after which it is a livelock.
  std::size_t most_steps = 20000;
  /// Schedules after which the search gives up (exhaustive, hash) or ends (random); 0: no limit.
  std::uint64_t most_executions = 0;
  std::chrono::nanoseconds most_time = std::chrono::nanoseconds::max();
  // Random search.
  std::uint64_t seed = 1;
  int priority_changes = 3;  ///< of every second schedule; the others are uniform
  /// The content of result buffers until their operation is complete; none: one value after another, from run
  /// to run. Runs with equal schedules must be equal for every value. Otherwise the program used a result
  /// before it was there.
  std::optional<std::uint64_t> poison{};
  /// The change that breaks the program on purpose.
  std::optional<mutation> broken{};
  // For tests of the checker itself.
  bool keep_traces = false;
  bool keep_end_states = false;
  /// Whether `program::alike` is used; no other search does, so that tests compare.
  bool use_symmetry = true;
  /// Processors that search exhaustively by source sets. The answer is the same, except that another
  /// violation may be found first. `program::body` and what it refers to must be safe to run in `jobs`
  /// threads.
  int jobs = 1;
  /// Called now and then with the number of executions so far.
  std::function<void(std::uint64_t)> on_progress{};
};

struct report {
  std::uint64_t executions = 0;  ///< run to their end
  std::uint64_t pruned = 0;      ///< found to lead to nothing new
  std::uint64_t steps = 0;
  std::uint64_t blocked = 0;    ///< of these, in the end somebody waits for a rank that has crashed
  std::uint64_t waiting = 0;    ///< of these, in the end ranks wait and `program::judge_of_waits` permits it
  std::uint64_t undecided = 0;  ///< executions whose history the judge could not decide
  std::string why_undecided;    ///< of one of these, in lines for people
  bool complete = false;        ///< the search was exhaustive, reached its end and judged every history
  std::chrono::nanoseconds time{};
  std::optional<violation> found;
  std::set<std::string> reached;       ///< of what programs say that they reach
  std::vector<std::string> unmet{};    ///< of `program::demands`, if no other fault was found
  std::set<std::uint64_t> traces;      ///< by hash, if kept
  std::set<std::uint64_t> end_states;  ///< by hash, if kept
};

/// Searches until it finds a violation or nothing is left. The same arguments give the same report, but for
/// its time, and with several jobs for how much was pruned and which violation was found. Throws `error` for
/// what cannot be asked, and `std::bad_alloc` if memory runs out; the latter also if it escapes from the
/// program's body.
[[nodiscard]] report check(const program& what, const options& how);

/// One line of a schedule as people read it.
struct shown_step {
  step taken;
  std::string operation;  ///< "swap", "await load", "deliver put", ...
  std::string word;       ///< "far_queue.tail of rank 0"
  std::string detail;     ///< values: "0 -> 2"
  std::string site;       ///< where the program asks for it: "lock/mcs_lock.hpp:72"
  int acts_on = 0;        ///< the rank whose memory is accessed, or to which a message goes
  int issued_after = -1;  ///< index of the step after which a delivered operation was issued; -1: none or own
};

struct replayed {
  std::vector<shown_step> steps;
  std::optional<violation> found;
  /// Steps of the schedule that could not be taken, because the program has changed; 0 for a good one.
  std::size_t refused = 0;
  std::optional<std::string> why_undecided{};  ///< if the judge could not decide its history
};

/// Runs one schedule, then each rank in turn if the schedule ends before the program.
[[nodiscard]] replayed replay(const program& what, const options& how, const std::vector<step>& schedule);

/// The steps in columns: number, rank, operation, word, values and, where there is room, the place in the
/// program. The step at which a fault was found is marked. Each line ends with a newline.
[[nodiscard]] std::string steps_text(const replayed& shown);

/// A schedule that shows a violation of the same kind with as few steps and changes between ranks as a greedy
/// search finds within `options::most_time`.
[[nodiscard]] violation minimised(const program& what, const options& how, const violation& found);

}  // namespace nearfar::checker
