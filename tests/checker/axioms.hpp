/// \file All executions of a small program, derived from axioms. Tests compare the checker's searches with
/// them. Nothing here takes steps one after the other. An execution is a graph that either satisfies the
/// axioms or does not.
///
/// **Events.** Each rank has its steps, in the order of the program:
/// - an access of a near cell, an access of a far word in place, a fence, a signal sent or taken;
/// - the issue of an RMA operation;
/// - a flush, if an operation is incomplete; each rank ends with one;
/// - a poll of a far wait: a flush, then one access;
/// - the arrival at a wait in place outside the library, before that wait's own step.
///
/// Each RMA operation also has a delivery, the event at which it accesses the word. A delivery is no step of
/// any rank.
///
/// **Choices.** An execution chooses three things. First, the events that happened. Second, a history for
/// each word: the writes in one order, the first behind the initial 0, and each read behind the write that it
/// reads. A failed compare is a read; a read-modify-write reads the write just before it. Third, a sent
/// signal for each signal taken: the oldest of its sender that is not taken. A wait reads a value that
/// satisfies it.
///
/// **Before**, the order in time, must have no cycle. It contains
/// - a rank's steps in the order of the program; a write before its reader, a signal sent before it is taken.
///   This excludes load buffering, in which a near load sees a store of its own future;
/// - for each word except near cells in release_acquire: its history;
/// - an issue before its delivery before the flush. `eager`: the delivery before the next step of its origin.
///   `lazy`: after all steps before the flush. Accumulates of one origin to one word: in the order of issue;
/// - `progress`: a delivery or poll of another rank before the target arrives at a wait outside the library,
///   or after that wait.
///
/// **Known**, which is happens-before, contains
/// - a rank's steps in the order of the program; a signal sent before it is taken;
/// - the synchronisation of C++20: a release, or a fence before a store, with an acquire, or a fence behind a
///   load, that reads the store or a read-modify-write in its release sequence, which stores never continue;
/// - an issue before its delivery: the delivery of a write carries exactly what its origin knew at the issue;
/// - for far words: a write before its reader and before an accumulate that follows it. An accumulate adds to
///   what the word carries; a put or a write in place replaces that;
/// - the delivery of a reading operation before the flush. An operation that reads nothing tells its origin
///   nothing.
///
/// **Coherence**, of near cells in release_acquire: no access of a cell that is known to another comes behind
/// it in the history. Two reads of one write have no order. **Sequential consistency**, also there: the order
/// S of [atomics.order] in C++20 exists. S agrees with "strongly happens before" and with coherence; it need
/// not agree with the order in time.
///
/// **Deadlock**: some rank has not ended, and no event can be added. A wait cannot go on if the last value of
/// the word's history does not satisfy it, since a repeated load reads that value in the end. A flush or poll
/// cannot go on if the target stays in a wait outside the library (`progress`). An issued operation is
/// delivered if it can be: in `progress` without the flush.
///
/// **Conflict**: a write of a far word follows another write (an accumulate: one that is no accumulate). The
/// end of the earlier write, which is the flush of RMA, is not known to the beginning of the later, which is
/// the issue.
#pragma once

#include "tests/checker/random_programs.hpp"

namespace nearfar::checker::testing {

/// All results that a program may have.
struct permitted {
  outcomes seen;  ///< in the form that `searched` uses; includes executions with a conflict
  bool deadlock = false;
  bool conflict = false;
};

/// Throws `error` if the program is too large to be represented.
[[nodiscard]] permitted outcomes_by_axioms(const random_program& of, delivery_mode mode, near_model near);

}  // namespace nearfar::checker::testing
