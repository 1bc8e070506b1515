/// \file
/// All that a small program may do, by axioms: what the checker's searches are compared with. Nothing here
/// takes steps one after the other. An execution is a graph that either satisfies the axioms or does not.
///
/// **Events.** Each rank has its steps, in the order of the program: an access of a near cell, an access of a
/// far word in place, a fence, a signal sent or taken, the issue of an RMA operation, a flush (if an
/// operation is incomplete; each rank ends with one), a poll of a far wait (a flush, then one access), and
/// the arrival at a wait in place outside the library, before that wait's own step. Each RMA operation has a
/// delivery as well, which is no step of any rank: the event at which it accesses the word.
///
/// **Choices.** An execution has events that happened; for each word its history: the writes in one order,
/// the first behind the initial 0, and each read behind the write that it reads (a failed compare is a read,
/// a read-modify-write reads the write just before it); for each signal taken the one sent, the oldest of its
/// sender that is not taken. A wait reads what it waits for.
///
/// **Before**, the order in time, must have no cycle. In it are
/// - a rank's steps in the order of the program; what is read before its reader, a signal sent before it is
///   taken; that a near load sees a store of its own future (load buffering) is excluded by this;
/// - for each word but near cells in release_acquire: its history;
/// - an issue before its delivery before the flush. `eager`: the delivery before the next step of its origin.
///   `lazy`: after all steps before the flush. Accumulates of one origin to one word: in the order of issue;
/// - `progress`: a delivery or poll of another rank before the target arrives at a wait outside the library,
///   or after that wait.
///
/// **Known**, which is happens-before. In it are
/// - a rank's steps in the order of the program; a signal sent before it is taken;
/// - what C++20 says synchronises: a release, or a fence before a store, with an acquire, or a fence behind a
///   load, that reads the store or a read-modify-write in its release sequence, which stores never continue;
/// - an issue before its delivery: the delivery of a write has what its origin knew at the issue, no more;
/// - for far words: a write before what reads it and before an accumulate that follows it, which adds to what
///   the word carries while a put or a write in place replaces that;
/// - the delivery of what reads before the flush. What reads nothing tells its origin nothing.
///
/// **Coherence**, of near cells in release_acquire: no access of a cell that is known to another comes behind
/// it in the history, but that two reads of one write have no order. **Sequential consistency**, there too:
/// the order S of [atomics.order] in C++20 exists. S agrees with "strongly happens before" and with
/// coherence; it need not agree with the order in time.
///
/// **Deadlock**: some rank has not ended and no event can be added. A wait cannot go on if the last value of
/// the word's history is not what it waits for: a load that is repeated reads that in the end. A flush or
/// poll cannot if the target stays in a wait outside the library (`progress`). An operation that was issued
/// is delivered if it can be: in `progress` without the flush.
///
/// **Conflict**: a write of a far word behind another (of accumulates: behind what is none) whose end, which
/// is the flush of RMA, is not known to its beginning, which is the issue.
#pragma once

#include "tests/checker/random_programs.hpp"

namespace nearfar::checker::testing {

/// What a program may do.
struct permitted {
  outcomes seen;  ///< as `searched` notes them; of executions with a conflict too
  bool deadlock = false;
  bool conflict = false;
};

/// Throws `error` if the program is too large to be represented.
[[nodiscard]] permitted outcomes_by_axioms(const random_program& of, delivery_mode mode, near_model near);

}  // namespace nearfar::checker::testing
