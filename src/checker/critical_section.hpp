// The critical section: the ranks inside it and the ranks that wait for it. The class reports three faults:
// two ranks are inside at once, a rank enters without knowing what the ranks before it did, or a rank
// overtakes others more often than the program promises.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "event_sets.hpp"
#include "nearfar/checker/checker.hpp"
#include "shared_memory.hpp"

namespace nearfar::checker {

enum class holding : std::uint8_t { exclusive, shared };

class critical_section {
 public:
  critical_section(shared_memory::users& of, const program& what);

  void clear();
  /// The rank is about to ask for the critical section: it does so by its next step, or that of an operation.
  void ask(int rank, holding how);
  /// The rank, or an operation of the rank, has taken a step, with which there are `steps`.
  void note_step(int rank, std::size_t steps);
  [[nodiscard]] bool is_asked_for_by(int rank) const { return asking(rank).is_asking; }
  /// Whether a rank that asks waits for a step of another rank, after `steps` steps.
  void note(int rank, bool is_blocked, std::size_t steps);
  /// `unknown` is a rank whose leaving the entering rank should know of, but does not. A rank that is inside
  /// already overtakes nobody.
  void enter(int rank, holding how, std::optional<int> unknown);
  void leave(int rank);
  /// The rank stays inside, and shares the section from now on.
  void share(int rank) { asking(rank).how = holding::shared; }
  /// The rank has crashed.
  void crash(int rank) { asking(rank) = {}; }
  /// The event by which a rank has left.
  void note_leaving(int rank, std::size_t event) {
    if (asking(rank).how == holding::shared) asking(rank).shared_until = event;
  }
  /// Whether a rank that has just entered, after the events `past`, shares the section with another rank in
  /// this order of steps or in an equivalent one.
  [[nodiscard]] bool shares_with_another(int rank, const event_set& past) const;
  /// The rank takes no more steps to leave. `has_ended` tells for each rank whether the rank has ended.
  void note_left(int rank, const std::function<bool(int)>& has_ended);
  /// Hash of the ranks that are inside.
  [[nodiscard]] std::uint64_t identity() const;

 private:
  struct request_for_it {
    holding how = holding::exclusive;
    bool is_asking = false;
    bool is_blocked = false;
    bool is_inside = false;
    std::optional<std::size_t> shared_until{};  ///< the event by which the rank left its last shared hold
    int overtaken_by_writers = 0;
    int overtaken_by_readers = 0;
    std::optional<std::size_t> asked_at{};  ///< number of steps, with the first one after `ask`
    std::size_t blocked_at = 0;
  };

  [[nodiscard]] request_for_it& asking(int rank) { return asking_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const request_for_it& asking(int rank) const {
    return asking_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int size() const noexcept { return program_->where.size(); }
  [[nodiscard]] std::optional<int> limit_of(holding waiting, holding entering) const;
  void check_overtaking(int rank);
  /// Elements of a level that wait for their turn while another one has it.
  struct waiting_elements {
    waiting_elements(level of, const locality& where)
        : at(of), wanted(static_cast<std::size_t>(where.groups(of))), passes(wanted.size()) {}
    void clear();

    level at;
    std::vector<char> wanted;  ///< by element: whether it is owed its turn
    std::vector<int> passes;   ///< by element: hand-overs inside another one meanwhile
  };

  void note_wanted(waiting_elements& of, int rank, const std::function<bool(int)>& has_ended);
  void check_passes(waiting_elements& of, int rank);

  shared_memory::users* users_;
  const program* program_;
  std::vector<request_for_it> asking_;
  int last_inside_ = -1;
  std::vector<waiting_elements> waiting_;  ///< on the levels whose passes the program limits
};

}  // namespace nearfar::checker
