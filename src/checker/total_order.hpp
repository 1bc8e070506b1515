// C++'s total order S of all sequentially consistent accesses and fences ([atomics.order]). No step chooses
// S: the memory keeps which of them have to come before which, and admits a step that makes no cycle.
//
// A comes before B in S if one of these holds:
// - A strongly happens before B;
// - an access `a` is coherence-ordered before an access `b` of the same word, A is `a` or a fence that
//   happens before `a`, and B is `b` or a fence that `b` happens before;
// - A happens before an operation returns, that operation returns before another is called, and B is behind
//   that call. C++ has no real time, but the histories of operations are judged in real time.
//
// A cycle never goes away, since an execution only grows. An access at the newest place of a word makes no
// cycle, since everything new then comes last. The result does not depend on the order of steps that can be
// exchanged: sequentially consistent accesses of different words and fences are all independent of each
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "event_sets.hpp"
#include "view.hpp"

namespace nearfar::checker {

/// A place in the modification order of a near cell. An access there reads a write or comes right behind it.
struct place_of_access {
  std::size_t word = 0;       ///< where views keep the known version of the cell
  version_number behind = 0;  ///< the write's version
  bool writes = false;
  bool is_ordered = false;  ///< whether the access itself is sequentially consistent
};

class total_order {
 public:
  explicit total_order(std::size_t ranks) : ranks_(ranks), fences_(ranks), steps_(ranks) {}

  void clear();
  /// Whether any access or fence is in the order.
  [[nodiscard]] bool is_used() const noexcept { return is_used_; }
  /// Views keep three numbers for each rank from this place on. The numbers say how many of the rank's
  /// fences, and how many of all its steps in the order, happen before the point of the view, and how many of
  /// these steps strongly happen before it. Returns the place behind the numbers.
  std::size_t begin(std::size_t place_in_views);

  /// Whether an access of a near cell may be at this place. `seen` is what the rank knows, `acquired` what
  /// the access acquires.
  [[nodiscard]] bool admits(const place_of_access& at, const view& seen, const view* acquired) const;

  /// The steps that come before the next step of a rank because they strongly happen before it. To be called
  /// before the step acquires anything.
  [[nodiscard]] event_set before_next(const view& seen) const;
  /// A sequentially consistent access is about to take place. A rank that acquires from it learns of it.
  void note_beginning(int rank, view& seen) const;
  /// The access has its place. For a write, the rank knows the version by now.
  void note_access(int rank, const place_of_access& at, event_set before, view& seen);
  void note_fence(int rank, event_set before, view& seen);
  /// To be called after a fence has made known what it does.
  void note_end_of_step(int rank, view& seen) const;

  /// The message of a return carries what happens before the return. A later call comes behind that, and
  /// learns nothing else.
  void note_return(view& message, const view& seen) const;
  void note_call(view& seen, const view& message) const;

  /// Follows a change of the numbers of a word's versions.
  void renumber(std::size_t word, const std::function<version_number(version_number)>& renumbered);

 private:
  /// A sequentially consistent access or fence.
  struct member {
    view seen;         // of a fence
    event_set before;  // in S
  };
  /// The write of one version of a word, or all accesses that read it.
  struct accesses {
    version_number place = 0;
    std::vector<std::size_t> ordered{};  // accesses that are steps of the order themselves
    event_set sources{};                 // these accesses, and the fences that happen before some of them
  };
  using numbers = std::vector<std::size_t>;

  [[nodiscard]] static version_number place_of_write(version_number version) { return 2 * version; }
  [[nodiscard]] static version_number place_of_reads(version_number version) { return 2 * version + 1; }

  [[nodiscard]] std::size_t fences_in_view(std::size_t rank) const { return first_in_view_ + rank; }
  [[nodiscard]] std::size_t steps_in_view(std::size_t rank) const { return first_in_view_ + ranks_ + rank; }
  /// Place in views of the count of the rank's steps that strongly happen before.
  [[nodiscard]] std::size_t strong_in_view(std::size_t rank) const {
    return first_in_view_ + 2 * ranks_ + rank;
  }
  std::size_t add(int rank, member one);
  [[nodiscard]] accesses& at_place(std::size_t word, version_number place);
  /// Adds a step and all steps before it.
  void join(event_set& to, std::size_t number) const;
  /// The last fence of each rank that the view includes.
  [[nodiscard]] numbers fences_before(const view& seen, const view* acquired) const;
  /// Adds the steps that precede an access or fence which is behind these places in a word.
  void join_before(event_set& to, std::size_t word, version_number last) const;
  /// The steps that come behind an access that reads this version of a word, or writes right behind it. Of
  /// each rank's fences the result has only the first.
  [[nodiscard]] numbers steps_behind(std::size_t word, version_number version) const;
  void put_before(const event_set& earlier, const numbers& later);

  std::size_t ranks_;
  bool is_used_ = false;
  std::size_t first_in_view_ = 0;
  std::vector<member> all_;
  std::vector<numbers> fences_;               // of each rank, in the order of its program
  std::vector<numbers> steps_;                // fences and accesses
  std::vector<std::vector<accesses>> words_;  // by place
};

}  // namespace nearfar::checker
