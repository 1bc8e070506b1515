/// \file
/// The simulated cluster as a substrate of the engine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cache_lines.hpp"
#include "costs.hpp"
#include "event_queue.hpp"
#include "nearfar/engine/substrate.hpp"
#include "nearfar/simulation/cluster.hpp"
#include "random_stream.hpp"
#include "ranks.hpp"
#include "sparse_array.hpp"
#include "watch_lists.hpp"

namespace nearfar::simulation {

/// Each rank has its own clock. Operations take effect in the order of virtual time. A rank whose clock is
/// beyond the next event queues itself and is suspended. Any other rank goes on at once without a switch,
/// which makes the simulation fast.
class cluster final : public engine::substrate {
 public:
  cluster(const machine& on, const nearfar::locality& where, const options& chosen,
          engine::stack_pool& stacks);

  run_statistics run(const rank_body& body);

  std::uint64_t perform(const engine::operation& what) override;
  void issue(const engine::operation& what) override;
  void flush(int target) override;
  std::uint64_t await(const engine::wait& what) override;
  [[nodiscard]] engine::waited await_any(std::span<const engine::wait> any, engine::deadline until) override;
  void signal(int channel, int to) override;
  void await_signal(int channel, int from) override;
  [[nodiscard]] bool await_signal_until(int channel, int from, std::chrono::nanoseconds until) override;
  void begin_epoch(int epoch, int home, engine::epoch_kind how) override;
  void end_epoch(int epoch, int home, engine::epoch_kind how) override;
  void fence(std::memory_order order) override;
  void light_fence() override;
  void heavy_fence() override;
  void delay(std::chrono::nanoseconds span) override;
  void compute(std::chrono::nanoseconds span) override;
  void barrier() override;
  [[nodiscard]] std::chrono::nanoseconds now() override;
  [[nodiscard]] std::chrono::nanoseconds after_turn(std::chrono::nanoseconds at) override;
  void access(const engine::plain_access& what) override;

 private:
  /// The lines that an object covers.
  struct line_range {
    std::size_t first;
    std::size_t last;

    [[nodiscard]] std::size_t count() const noexcept { return last - first + 1; }
  };

  [[nodiscard]] static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] rank_state& state_of(int rank) noexcept { return ranks_[index(rank)]; }
  [[nodiscard]] static std::size_t line_of(std::size_t word) noexcept {
    return word / (cache_line / sizeof(std::uint64_t));
  }
  [[nodiscard]] std::size_t checked_word(const void* word) const;
  [[nodiscard]] line_range checked_lines(const std::uint64_t* first, std::size_t bytes) const;
  [[nodiscard]] distance distance_between(int origin, int target) const noexcept;

  // Scheduling.

  void dispatch(const event& next);
  void go_on(int rank, picoseconds at);
  /// Lets every event happen that comes before the running rank's next operation.
  void turn(rank_state& me) {
    if (queue_.empty() || queue_.first() > me.clock) return;
    give_way(me);
  }
  void give_way(rank_state& me);
  /// Suspends the running rank until an event resumes it or its deadline comes.
  void block(rank_state& me, activity doing, picoseconds until = never);
  void queue_deadline(int rank);
  void reach_deadline(int rank, picoseconds at);
  void wake(int rank, picoseconds at) {
    queue_.push(at, event_kind::resume, static_cast<std::uint32_t>(rank), state_of(rank).polls_far);
  }
  /// Begins every call of the library: carries out the requests of other ranks that have arrived. Requests
  /// that arrive while the rank is suspended inside are carried out on arrival, so a call that only waits
  /// needs no turn of its own.
  void serve(rank_state& me);
  void enter(rank_state& me) {
    turn(me);
    serve(me);
  }
  /// Lets time pass inside the library, at least to the time `until`.
  void stay_inside(rank_state& me, activity doing, picoseconds until);
  void pause(rank_state& me, picoseconds until) {
    serve(me);
    stay_inside(me, activity::delaying, until);
  }
  /// Ends the run, because the ranks would go on for ever. The exception says why.
  void give_up(rank_state& me, const std::string& why);
  [[nodiscard]] std::string stuck_text() const;
  [[nodiscard]] std::string waits_text(int rank) const;

  // Near memory.

  // Return when the running rank, or `rank`, which begins at `at`, has read the line or may write it. Polling
  // ranks whose next poll comes earlier read the line first.
  picoseconds read_line(std::size_t line, int rank, picoseconds at) {
    if (watching_.is_watched(line)) let_poll(line, at);
    return lines_.read(line, rank, at);
  }
  picoseconds own_line(std::size_t line, int rank, picoseconds at) {
    if (watching_.is_watched(line)) let_poll(line, at);
    return lines_.own(line, rank, at);
  }
  void let_poll(std::size_t line, picoseconds before);
  /// An atomic operation asks for its line only when the stores before it are visible. Other ranks may ask
  /// for the line before.
  void drain_stores(rank_state& me) {
    if (me.stores.all_done <= me.clock) return;
    me.clock = me.stores.all_done;
    turn(me);
  }
  /// A store of the running rank, which does not wait for the line. Returns when other ranks can see the
  /// store.
  picoseconds store(rank_state& me, int rank, std::size_t line);
  void write(std::uint64_t* word, std::size_t line, std::uint64_t value, picoseconds visible) {
    if (*word != value) unchanged_ = 0;
    *word = value;
    if (watching_.is_watched(line)) notify({word, 1}, line, visible);
  }
  /// Tells the ranks that watch the line that these words have been written.
  void notify(std::span<const std::uint64_t> written, std::size_t line, picoseconds visible);

  // Objects and plain cells.

  // Objects in place. Return what `perform` returns.
  std::uint64_t read_object(rank_state& me, const engine::operation& what);
  std::uint64_t write_object(rank_state& me, const engine::operation& what);
  void carry_value(std::uint32_t which);
  void hand_over_value(std::uint32_t which);
  void move_object(std::uint32_t which, picoseconds at);
  picoseconds move_object_in_place(rank_state& me, std::uint32_t which);
  [[nodiscard]] picoseconds copying(const engine::operation& what) const;
  [[nodiscard]] picoseconds sent_back(const flight& it, picoseconds at);
  /// Returns when the running rank, which begins now, has read all these lines.
  [[nodiscard]] picoseconds read_lines(const rank_state& me, const line_range& of);
  /// As `store` for each line.
  picoseconds store_lines(rank_state& me, const line_range& of);
  void set_object(const engine::operation& what, const void* value, picoseconds visible);
  void notify_all(std::span<const std::uint64_t> written, picoseconds visible);

  // Waits.

  /// As `engine::waited`, but returned in two registers, because most waits are short.
  struct outcome {
    std::size_t which = none;
    std::uint64_t value = 0;

    static constexpr std::size_t none = ~std::size_t{0};
    [[nodiscard]] bool is_satisfied() const noexcept { return which != none; }
  };
  outcome await_one(rank_state& me, const engine::wait& what, picoseconds until);
  // `count` is 1, for which the compiler makes no loops, or `std::dynamic_extent`.
  template <std::size_t count>
  outcome await_in_place(rank_state& me, std::span<const engine::wait, count> any, picoseconds until);
  template <std::size_t count>
  outcome await_after_pauses(rank_state& me, std::span<const engine::wait, count> any, picoseconds until,
                             std::size_t begins_with);
  outcome await_far(rank_state& me, const engine::wait& what, picoseconds until);
  outcome await_by_writing(rank_state& me, const engine::wait& what, picoseconds until);
  template <std::size_t count>
  outcome poll(rank_state& me, std::span<const engine::wait, count> any, std::size_t begins_with);
  std::uint64_t poll_far(const engine::wait& what);
  template <std::size_t count>
  void watch(rank_state& me, std::span<const engine::wait, count> any, picoseconds period, activity doing,
             picoseconds until);
  /// Ends a suspended rank's wait: neither its words nor its deadline wake it any more.
  void end_wait(int rank) {
    rank_state& it = state_of(rank);
    if (std::exchange(it.watches, false)) watching_.remove(rank);
    it.until = never;
  }
  [[nodiscard]] bool receive(int channel, int from, picoseconds until);
  void count_wait(rank_state& me, picoseconds until) {
    // A wait with a deadline ends, but a loop of such waits may wait for ever, so each counts as an
    // operation.
    if (until == never)
      ++statistics_.operations;
    else
      count_operation(me);
  }
  void count_fruitless(rank_state& me);
  void count_operation(rank_state& me) {
    ++statistics_.operations;
    if (++unchanged_ > most_fruitless_) give_up(me, "and other ranks keep reading, but no value changes");
  }

  // Transfers.

  [[nodiscard]] std::uint32_t new_flight(const flight& of);
  void free_flight(std::uint32_t which) {
    if (flights_[which].what.is_of_object()) values_[which] = {};
    free_flights_.push_back(which);
  }
  void append(flight_queue& to, std::uint32_t which);
  std::uint32_t take_first(flight_queue& from);
  void keep_order(const rank_state& me, std::uint32_t which);
  void do_in_place(rank_state& me, std::uint32_t which);
  /// Whether an operation of that rank takes its node's lock of atomics in place, on a machine that has one.
  /// A rank reads a word of its own without the lock.
  [[nodiscard]] bool is_locked(const engine::operation& what, int origin) const noexcept {
    const bool reads_own = what.what == engine::action::fetch && what.target == origin;
    return costs_.lock_handover > 0 && transfer_of(what.what) >= transfer::atomic && !reads_own;
  }
  /// Returns when a rank that asks at `at` for its node's lock of atomics has it.
  [[nodiscard]] picoseconds locked(int rank, picoseconds at) const noexcept {
    const picoseconds free = locks_[index(node_of_[index(rank)])];
    return free > at ? free + costs_.lock_handover : at;
  }
  void unlock(int rank, picoseconds at) noexcept {
    picoseconds& free = locks_[index(node_of_[index(rank)])];
    free = std::max(free, at);
  }
  void launch(const rank_state& me, std::uint32_t which);
  void arrive(std::uint32_t which, picoseconds at);
  void take_effect(std::uint32_t which, picoseconds at);
  void finish_flight(std::uint32_t which, picoseconds at);
  void deliver(std::uint32_t which, picoseconds at);
  /// Carries out at most `most` requests of other ranks at a rank.
  void drain(int rank, picoseconds at, unsigned most = std::numeric_limits<unsigned>::max());
  void schedule_progress(int rank, picoseconds at);
  void change_epoch(int epoch, int home, flight::role is, engine::epoch_kind how);
  [[nodiscard]] epoch_state& epoch(int id);
  [[nodiscard]] picoseconds jittered(picoseconds latency);

  costs costs_;
  random_stream random_;
  /// Of the processors, so that the draws of the network do not depend on it.
  random_stream near_random_;
  std::vector<rank_state> ranks_;
  std::vector<int> node_of_;
  std::vector<int> island_of_;
  event_queue queue_;
  /// An event that `give_way` has already taken out of the queue.
  event handed_;
  bool is_handed_ = false;
  cache_lines lines_;
  watch_lists watching_;
  std::vector<std::pair<picoseconds, int>> polls_;  // scratch: the ranks that poll a line, and when
  std::vector<picoseconds> fills_;                  // scratch: when the lines on their way to one core arrive
  sparse_array<picoseconds> units_;      // by word: until when the network interface is busy with it
  std::vector<picoseconds> interfaces_;  // by node: when the next message may leave
  std::vector<picoseconds> locks_;       // by node: when the lock of atomics in place is free
  std::vector<flight> flights_;
  std::vector<std::vector<std::byte>> values_;  // by flight: the value of the object that it puts or has got
  std::vector<std::uint32_t> free_flights_;
  std::vector<epoch_state> epochs_;
  std::size_t words_;
  int in_barrier_ = 0;
  picoseconds barrier_latest_ = 0;
  picoseconds barrier_span_ = 0;
  int unfinished_ = 0;
  picoseconds stop_after_;
  std::uint64_t fruitless_ = 0;  // far polls since anything else happened
  std::uint64_t unchanged_ = 0;  // operations since a word changed
  std::uint64_t most_fruitless_;
  std::string gave_up_;
  bool abandoning_ = false;
  run_statistics statistics_;
};

}  // namespace nearfar::simulation
