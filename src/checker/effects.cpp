// What steps do to words, and what ranks learn by them.

#include <algorithm>

#include "execution.hpp"

namespace nearfar::checker {

using engine::action;

namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

execution::touched execution::apply_near(rank_state& of, const engine::operation& what,
                                         const engine::wait* waiting, int choice) {
  shared& word = used_as(what, true);
  const std::size_t slot = slot_of(word);
  const std::uint64_t last = word.history.back().value;
  const std::size_t place = places(of, what, waiting)[static_cast<std::size_t>(choice)];
  if (what.what == action::store) return store_near(of, what, word, place);
  // A read-modify-write reads what it comes after.
  const shared::stored& from = word.history[what.what == action::load ? place : place - 1];
  const bool fails = what.what == action::compare_exchange && from.value != what.expected;
  of.seen.raise(slot, from.version);
  if (acquires(fails ? what.failure : what.order)) of.seen.join(from.message);
  if (what.what == action::load || fails) return {.before = last, .read = from.value, .after = last};
  return store_near(of, what, word, place);
}

execution::touched execution::store_near(rank_state& of, const engine::operation& what, shared& word,
                                         std::size_t place) {
  // Room for as many writes in between as halving leaves.
  constexpr version_number stride = version_number{1} << 24U;
  const std::size_t slot = slot_of(word);
  const std::uint64_t last = word.history.back().value;
  const std::uint64_t earlier = word.history[place - 1].value;
  const bool is_newest = place == word.history.size();
  shared::stored stored{.value = result_of(what, earlier), .by_event = events_.size()};
  const version_number before = word.history[place - 1].version;
  stored.version = is_newest ? before + stride : before + (word.history[place].version - before) / 2;
  // A read-modify-write continues the release sequence of what it read.
  stored.is_atomic = what.what != action::store;
  if (stored.is_atomic) stored.message = word.history[place - 1].message;
  of.seen.raise(slot, stored.version);
  if (releases(what.order)) stored.message.join(of.seen);
  stored.message.raise(slot, stored.version);
  if (is_newest) {
    word.version = stored.version;
    *word.cell = stored.value;
  }
  const bool is_atomic = stored.is_atomic;
  word.history.insert(word.history.begin() + static_cast<std::ptrdiff_t>(place), std::move(stored));
  return {.before = last, .read = is_atomic ? earlier : last, .after = word.history.back().value};
}

execution::touched execution::apply_far(const engine::operation& what, view& seen) {
  shared& word = used_as(what, false);
  const std::size_t slot = slot_of(word);
  const std::uint64_t before = *word.cell;
  const std::uint64_t after = result_of(what, before);
  const bool fails = what.what == action::compare_and_swap && before != what.expected;
  const bool writes = is_write(what.what) && !fails;
  const bool plain = what.what == action::put;
  if (writes && seen.at(slot) < (plain ? word.version : word.plain_version))
    report(fault::conflict, std::string(name(what.what)) + " to " + word_text(word) +
                                " is not ordered with the write before it");
  const view at_issue = plain ? seen : view();
  if (is_read(what.what)) seen.join(word.message);
  if (!writes) return {before, before, after};
  ++word.version;
  if (plain) {
    word.plain_version = word.version;
    word.message = at_issue;
  } else {
    word.message.join(seen);
  }
  word.message.raise(slot, word.version);
  seen.raise(slot, word.version);
  *word.cell = after;
  return {before, before, after};
}

execution::touched execution::apply_direct(rank_state& of, const engine::operation& what) {
  shared& word = used_as(what, false);
  const std::size_t slot = slot_of(word);
  const std::uint64_t before = *word.cell;
  if (what.what == action::read_direct) {
    of.seen.join(word.message);
    return {before, before, before};
  }
  if (of.seen.at(slot) < word.version)
    report(fault::conflict,
           "write_direct to " + word_text(word) + " is not ordered with the write before it");
  ++word.version;
  word.plain_version = word.version;
  of.seen.raise(slot, word.version);
  word.message = of.seen;
  *word.cell = what.operand;
  return {before, before, what.operand};
}

execution::touched execution::apply_access(rank_state& of, int choice) {
  const engine::operation& what = of.operation;
  if (is_near(what.what)) return apply_near(of, what, of.waiting, choice);
  if (is_direct(what.what)) return apply_direct(of, what);
  if (of.waiting != nullptr) {  // a far poll is complete when the wait ends
    const touched values = apply_far(what, of.seen);
    return values;
  }
  rma& one = of.outstanding.back();
  const touched values = apply_far(what, one.seen);
  one.old = values.before;
  one.delivered = true;
  return values;
}

execution::touched execution::apply_other(rank_state& of, int rank, shared& word) {
  const std::uint64_t before = word.value;
  const std::size_t slot = slot_of(word);
  switch (of.next) {
    case kind::signal:
      word.mail.emplace_back(rank, of.seen);
      ++word.value;
      break;
    case kind::await_signal: {
      const auto mail = std::find_if(word.mail.begin(), word.mail.end(), [&](const auto& one) {
        return of.peer == any_rank || one.first == of.peer;
      });
      of.seen.join(mail->second);
      word.mail.erase(mail);
      --word.value;
      break;
    }
    case kind::begin_exclusive:
      of.seen.join(word.message);
      word.value = 1;
      break;
    case kind::end_exclusive:
      word.message = of.seen;
      word.value = 0;
      break;
    case kind::enter:
      if (inside_ >= 0)
        report(fault::exclusion,
               "rank " + std::to_string(rank) + " is inside together with rank " + std::to_string(inside_));
      else if (of.seen.at(slot) < word.version)
        report(fault::order, "rank " + std::to_string(rank) + " is inside but need not see what rank " +
                                 std::to_string(last_inside_) +
                                 " did before: a release or an acquire is missing");
      check_bypass(rank);
      inside_ = last_inside_ = rank;
      of.is_asking = false;
      word.value = static_cast<std::uint64_t>(rank) + 1;
      break;
    case kind::leave:
      inside_ = -1;
      ++word.version;
      of.seen.raise(slot, word.version);
      word.value = 0;
      break;
    default:
      break;
  }
  return {before, before, word.value};
}

void execution::record(const process& by, const access& of, shared& word, touched values, event_set& past) {
  event taken{.by = by, .touched = of, .before = values.before, .read = values.read, .happens_before = past};
  if (word.last_write >= 0) {
    taken.happens_before.join(events_[static_cast<std::size_t>(word.last_write)].happens_before);
    taken.happens_before.insert(static_cast<std::size_t>(word.last_write));
  }
  if (of.writes)
    for (const int read : word.reads) {
      taken.happens_before.join(events_[static_cast<std::size_t>(read)].happens_before);
      taken.happens_before.insert(static_cast<std::size_t>(read));
    }
  past = taken.happens_before;
  past.insert(events_.size());
  if (of.writes) {
    word.last_write = static_cast<int>(events_.size());
    word.reads.clear();
  } else {
    word.reads.push_back(static_cast<int>(events_.size()));
  }
  events_.push_back(std::move(taken));
}

}  // namespace nearfar::checker
