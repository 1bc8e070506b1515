// Who is in the critical section and who waits for it, and what must not be: two at once, one that does not
// know what was done before, one that overtakes others more often than promised.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "shared_memory.hpp"

namespace nearfar::checker {

class critical_section {
 public:
  critical_section(shared_memory::users& of, const program& what);

  void clear();
  /// A rank is about to ask for it, after so many steps.
  void ask(int rank, std::size_t steps);
  [[nodiscard]] bool is_asked_for_by(int rank) const { return asking(rank).is_asking; }
  /// Whether a rank that asks waits for a step of another, after so many steps.
  void note(int rank, bool is_blocked, std::size_t steps);
  void enter(int rank, bool knows_what_was_done);
  void leave() { inside_ = -1; }
  /// The rank has no more to say of its leaving. `has_ended` tells of each rank whether it has.
  void note_left(int rank, const std::function<bool(int)>& has_ended);
  /// The rank inside, or -1.
  [[nodiscard]] int inside() const noexcept { return inside_; }

 private:
  struct request_for_it {
    bool is_asking = false;
    bool is_blocked = false;
    std::size_t asked_at = 0;
    std::size_t blocked_at = 0;
  };

  [[nodiscard]] request_for_it& asking(int rank) { return asking_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const request_for_it& asking(int rank) const {
    return asking_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int size() const noexcept { return program_->where.size(); }
  void check_order_of_arrival(int rank);
  void check_local_passes(int rank);

  shared_memory::users* users_;
  const program* program_;
  std::vector<request_for_it> asking_;
  int inside_ = -1;
  int last_inside_ = -1;
  std::vector<char> wanted_by_node_;
  std::vector<int> passes_over_node_;
};

}  // namespace nearfar::checker
