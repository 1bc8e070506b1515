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

/// Between the versions of writes that come one after the other: room for as many in between as halving
/// leaves.
constexpr version_number stride = version_number{1} << 24U;

/// What MPI calls one operation: atomicity is promised among accumulates of the same.
std::size_t kind_of_accumulate(action what) {
  switch (what) {
    case action::swap:
    case action::replace:
      return 0;
    case action::fetch_add:
    case action::sum:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

execution::touched execution::apply_near(rank_state& of, const engine::operation& what,
                                         const engine::wait* waiting, int choice) {
  shared& word = used_as(what, true);
  const std::uint64_t last = word.history.back().value;
  const std::size_t place = places(of, what, waiting)[static_cast<std::size_t>(choice)];
  if (what.what == action::store) return store_near(of, what, word, place);
  // A read-modify-write reads what it comes after.
  const shared::stored& from = word.history[what.what == action::load ? place : place - 1];
  const bool fails = what.what == action::compare_exchange && from.value != what.expected;
  of.seen.raise(word.in_view, from.version);
  if (acquires(fails ? what.failure : what.order)) of.seen.join(from.message);
  if (what.what == action::load || fails) return {.before = last, .read = from.value, .after = last};
  return store_near(of, what, word, place);
}

execution::touched execution::store_near(rank_state& of, const engine::operation& what, shared& word,
                                         std::size_t place) {
  const std::uint64_t last = word.history.back().value;
  const std::uint64_t earlier = word.history[place - 1].value;
  const bool is_newest = place == word.history.size();
  shared::stored stored{.value = result_of(what, earlier), .by_event = events_.size()};
  const version_number before = word.history[place - 1].version;
  if (!is_newest && word.history[place].version - before < 2) {
    spread_versions(word);
    return store_near(of, what, word, place);
  }
  stored.version = is_newest ? before + stride : before + (word.history[place].version - before) / 2;
  // A read-modify-write continues the release sequence of what it read.
  stored.is_atomic = what.what != action::store;
  if (stored.is_atomic) stored.message = word.history[place - 1].message;
  of.seen.raise(word.in_view, stored.version);
  if (releases(what.order)) stored.message.join(of.seen);
  stored.message.raise(word.in_view, stored.version);
  if (is_newest) {
    word.version = stored.version;
    *word.cell = stored.value;
  }
  const bool is_atomic = stored.is_atomic;
  word.history.insert(word.history.begin() + static_cast<std::ptrdiff_t>(place), std::move(stored));
  return {.before = last, .read = is_atomic ? earlier : last, .after = word.history.back().value};
}

void execution::spread_versions(shared& word) {
  std::vector<version_number> old;
  for (shared::stored& one : word.history) {
    old.push_back(one.version);
    one.version = stride * (old.size() - 1);
  }
  word.version = word.history.back().version;
  // A view holds the version of a write, or that of the initial value.
  const auto adapt = [&](view& known) {
    const auto place = std::lower_bound(old.begin(), old.end(), known.at(word.in_view)) - old.begin();
    known.replace(word.in_view, stride * static_cast<version_number>(place));
  };
  for (shared& other : shared_)
    for (std::size_t i = 0; i + 1 < other.history.size(); ++i) adapt(other.history[i].message);
  for_each_view(*this, [&](std::uint64_t, view& known) { adapt(known); });
}

void execution::check_race(int rank, const shared& word, const engine::operation& what, const view& seen) {
  const bool is_plain = what.what == action::put || what.what == action::write_direct;
  const bool is_get = what.what == action::get;
  const promises& promised = options_->promised;
  if (what.what == action::read_direct && promised.racing_loads) return;
  for (std::size_t origin = 0; origin < word.by_origin.size(); ++origin) {
    const accesses_of_origin& past = word.by_origin[origin];
    const version_number complete = seen.at(word.in_view + origin);
    const auto races = [&](bool matters, version_number access, std::string_view with) {
      if (!matters || access <= complete) return false;
      report(fault::conflict, std::string(name(what.what)) + " of " + word_text(word) +
                                  " is not ordered with " + std::string(with) + " rank " +
                                  std::to_string(origin) + ", which is not known to be complete");
      return true;
    };
    const bool reads_only = is_get || what.what == action::fetch;
    if (races(!reads_only || !promised.racing_gets, past.plain, "the write by")) return;
    if (races(is_write(what.what) && !promised.racing_gets, past.get, "the get by")) return;
    if (races(is_plain && !promised.racing_gets, past.fetch, "the fetch by")) return;
    if (races(is_rma(what.what) && is_write(what.what), past.load, "the load by")) return;
    for (std::size_t other = 0; other < past.accumulate.size(); ++other) {
      // MPI orders those of one origin.
      const bool is_mixed = is_write(what.what) && other != kind_of_accumulate(what.what) &&
                            origin != static_cast<std::size_t>(rank);
      const bool matters = is_accumulate(what.what) ? is_mixed && !promised.mixed_accumulates
                                                    : !is_get || !promised.racing_gets;
      if (races(matters, past.accumulate[other], "the accumulate by")) return;
    }
  }
}

execution::far_access execution::apply_far(int origin, const engine::operation& what, view& seen) {
  shared& word = used_as(what, false);
  const std::uint64_t before = *word.cell;
  const std::uint64_t after = result_of(what, before);
  const bool fails = what.what == action::compare_and_swap && before != what.expected;
  const bool writes = is_write(what.what) && !fails;
  if (options_->conflict != conflicts::enacted) check_race(origin, word, what, seen);
  const version_number number = ++word.version;
  accesses_of_origin& mine = word.by_origin[static_cast<std::size_t>(origin)];
  if (what.what == action::put)
    mine.plain = number;
  else if (what.what == action::get)
    mine.get = number;
  else if (what.what == action::fetch)
    mine.fetch = number;
  else
    mine.accumulate[kind_of_accumulate(what.what)] = number;
  const view at_issue = what.what == action::put ? seen : view();
  if (is_read(what.what)) seen.join(word.message);
  if (writes) {
    // Who reads it learns what the origin knew, but not that this write is over.
    if (what.what == action::put)
      word.message = at_issue;
    else
      word.message.join(seen);
    if (is_accumulate(what.what)) word.last_accumulate = number;
    *word.cell = after;
  }
  return {.values = {before, before, *word.cell}, .number = number, .wrote = writes};
}

execution::touched execution::deliver(int origin, rma& one) {
  const far_access done = apply_far(origin, one.what, one.seen);
  one.old = done.values.before;
  one.written = done.values.after;
  one.access = done.number;
  one.delivered = true;
  one.comes_again = done.wrote && options_->conflict == conflicts::enacted;
  return done.values;
}

execution::touched execution::deliver_again(rma& one) {
  const shared& word = *find(name_of_cell(one.what.word));
  const std::uint64_t before = *word.cell;
  one.comes_again = false;
  // Accumulates exclude each other.
  if (!is_accumulate(one.what.what) || word.last_accumulate == one.access) *word.cell = one.written;
  return {before, before, *word.cell};
}

execution::touched execution::apply_direct(int rank, const engine::operation& what) {
  shared& word = used_as(what, false);
  rank_state& of = state(rank);
  const std::uint64_t before = *word.cell;
  if (options_->conflict != conflicts::enacted) check_race(rank, word, what, of.seen);
  if (what.what == action::read_direct) {
    if (!options_->promised.racing_loads) {
      word.by_origin[static_cast<std::size_t>(rank)].load = ++word.version;
      of.seen.raise(word.in_view + static_cast<std::size_t>(rank), word.version);
    }
    of.seen.join(word.message);
    return {before, before, before};
  }
  ++word.version;
  word.by_origin[static_cast<std::size_t>(rank)].plain = word.version;
  // Complete at once.
  of.seen.raise(word.in_view + static_cast<std::size_t>(rank), word.version);
  word.message = of.seen;
  *word.cell = what.operand;
  return {before, before, what.operand};
}

execution::touched execution::apply_access(rank_state& of, int rank, int choice) {
  const engine::operation& what = of.operation;
  if (is_near(what.what)) return apply_near(of, what, of.waiting, choice);
  if (is_direct(what.what)) return apply_direct(rank, what);
  if (of.waiting != nullptr) {  // each far poll is complete when the next begins
    const far_access done = apply_far(rank, what, of.seen);
    of.seen.raise(find(name_of_cell(what.word))->in_view + static_cast<std::size_t>(rank), done.number);
    return done.values;
  }
  return deliver(rank, of.outstanding.back());
}

execution::touched execution::apply_other(rank_state& of, int rank, shared& word, int choice) {
  const std::uint64_t before = word.value;
  switch (of.next) {
    case kind::signal:
      word.mail.emplace_back(rank, of.seen);
      ++word.value;
      break;
    case kind::await_signal: {
      const int sender = senders_to(of)[static_cast<std::size_t>(choice)];
      const auto mail = std::find_if(word.mail.begin(), word.mail.end(),
                                     [&](const auto& one) { return one.first == sender; });
      of.seen.join(mail->second);
      word.mail.erase(mail);
      --word.value;
      break;
    }
    case kind::leave_library:
      word.value = 1;
      break;
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
      else if (of.seen.at(word.in_view) < word.version)
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
      of.seen.raise(word.in_view, word.version);
      word.value = 0;
      break;
    default:
      break;
  }
  return {before, before, word.value};
}

void execution::record(const process& by, const footprint& of, std::uint64_t read, event_set& past) {
  event taken{.by = by, .touched = of, .read = read, .happens_before = past};
  const auto follow = [&](int earlier) {
    taken.happens_before.join(events_[static_cast<std::size_t>(earlier)].happens_before);
    taken.happens_before.insert(static_cast<std::size_t>(earlier));
  };
  const int number = static_cast<int>(events_.size());
  for (const access& each : of) {
    shared& word = at(each.word);
    if (word.last_write >= 0) follow(word.last_write);
    if (!each.writes) {
      word.reads.push_back(number);
      continue;
    }
    for (const int earlier : word.reads) follow(earlier);
    word.last_write = number;
    word.reads.clear();
  }
  past = taken.happens_before;
  past.insert(events_.size());
  events_.push_back(std::move(taken));
}

}  // namespace nearfar::checker
