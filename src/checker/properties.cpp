// What an execution must not do, and how it says that it did.

#include <algorithm>

#include "execution.hpp"

namespace nearfar::checker {

std::string_view name(fault what) noexcept {
  switch (what) {
    case fault::exclusion:
      return "exclusion";
    case fault::order:
      return "order";
    case fault::deadlock:
      return "deadlock";
    case fault::livelock:
      return "livelock";
    case fault::bypass:
      return "bypass";
    case fault::incomplete:
      return "incomplete";
    case fault::origin:
      return "origin";
    case fault::poison:
      return "poison";
    case fault::conflict:
      return "conflict";
    case fault::mixed:
      return "mixed";
    case fault::exception:
      return "exception";
  }
  return "?";
}

void execution::report(fault what, std::string text) {
  if (!found_) found_ = violation{what, std::move(text), schedule_};
}

void execution::ask() {
  rank_state& me = self();
  me.is_asking = true;
  me.is_blocked = false;
  me.asked_at = events_.size();
  me.blocked_at = 0;
}

void execution::enter() { stop_at(kind::enter); }

void execution::leave() {
  stop_at(kind::leave);
  // A node is owed its turn once it waits and no other rank outside this node has steps to take: neither one
  // of its own that is still releasing, nor one of a node before it in the queue that is yet to register.
  const int own = locality().group(level::node, running());
  bool others_rest = true;
  for (int rank = 0; rank < size(); ++rank) {
    const rank_state& other = state(rank);
    const bool rests = other.at == where::ended || (other.is_asking && other.is_blocked);
    others_rest = others_rest && (rests || locality().group(level::node, rank) == own);
  }
  for (int node = 0; node < locality().groups(level::node); ++node) {
    const auto members = locality().members(level::node, node);
    const bool someone_asks =
        std::any_of(members.begin(), members.end(), [this](int rank) { return state(rank).is_asking; });
    wanted_by_node_[static_cast<std::size_t>(node)] = node != own && someone_asks && others_rest;
  }
}

void execution::expect_complete(const char* function) {
  for (const rma& one : self().outstanding)
    report(fault::incomplete, "rank " + std::to_string(running()) + ": " + std::string(name(one.what.what)) +
                                  " to " + word_text(one.what) + " was not flushed when " + function +
                                  " returned");
}

void execution::note_blocked() {
  for (int rank = 0; rank < size(); ++rank) {
    rank_state& of = state(rank);
    if (!of.is_asking) continue;
    const bool waits = of.at == where::at_step && (of.next == kind::await || of.next == kind::await_signal ||
                                                   of.next == kind::begin_exclusive);
    of.is_blocked = waits && !can_go_on(rank);
    if (of.is_blocked && of.blocked_at == 0) of.blocked_at = events_.size();
  }
}

void execution::check_bypass(int rank) {
  const rank_state& of = state(rank);
  if (program_->bypass == bypass_bound::fifo) {
    for (int other = 0; other < size(); ++other) {
      const rank_state& one = state(other);
      if (other == rank || !one.is_asking || one.blocked_at == 0 || one.blocked_at >= of.asked_at) continue;
      report(fault::bypass, "rank " + std::to_string(rank) + " asked when rank " + std::to_string(other) +
                                " was waiting already, and enters before it");
    }
  }
  if (program_->bypass != bypass_bound::local_passes) return;
  const int own = locality().group(level::node, rank);
  passes_over_node_[static_cast<std::size_t>(own)] = 0;
  if (last_inside_ < 0 || locality().group(level::node, last_inside_) != own) {
    // A node's turn begins: what others did in theirs does not count for it.
    std::fill(passes_over_node_.begin(), passes_over_node_.end(), 0);
    return;
  }
  for (int node = 0; node < locality().groups(level::node); ++node) {
    const auto index = static_cast<std::size_t>(node);
    if (node == own || wanted_by_node_[index] == 0) continue;
    if (++passes_over_node_[index] > program_->max_local_passes)
      report(fault::bypass,
             "node " + std::to_string(node) + " waits while the critical section is passed on " +
                 std::to_string(passes_over_node_[index]) + " times in a row within node " +
                 std::to_string(own) + "; the limit is " + std::to_string(program_->max_local_passes));
  }
}

void execution::report_deadlock() {
  std::string text = "no rank can go on:";
  for (int rank = 0; rank < size(); ++rank)
    if (state(rank).at != where::ended)
      text += " rank " + std::to_string(rank) + " " + waiting_text(rank) + ";";
  text.pop_back();
  report(fault::deadlock, std::move(text));
}

void execution::report_livelock() {
  report(fault::livelock, "more than " + std::to_string(options_->most_steps) +
                              " steps: something repeats without waiting through its world");
}

std::string execution::word_text(const shared& word) const {
  if (word.cell == nullptr) return "";
  const engine::word_name known = name_of(word.cell);
  return known.text + " of rank " + std::to_string(known.rank);
}

std::string execution::word_text(const engine::operation& of) const {
  const engine::word_name known = name_of(of.word);
  return known.text + " of rank " + std::to_string(known.rank);
}

std::string execution::waiting_text(int rank) const {
  const rank_state& of = state(rank);
  if (of.at == where::at_barrier) return "waits in a barrier";
  if (of.at == where::in_flush)
    return "waits in a flush of rank " + std::to_string(of.flush_target) +
           ", which does not enter the library";
  switch (of.next) {
    case kind::await:
      return "waits for " + word_text(of.operation) + ", which is " + std::to_string(*of.operation.word);
    case kind::await_signal:
      return of.peer == any_rank ? "waits for a signal"
                                 : "waits for a signal of rank " + std::to_string(of.peer);
    case kind::begin_exclusive:
      return "waits for the exclusive epoch of rank " + std::to_string(of.peer);
    default:
      return "is stopped";
  }
}

namespace {

/// "lock/mcs_lock.hpp:72"; nothing for what no line asks for.
std::string site_text(const std::source_location& at) {
  const site place = site::of(at);
  constexpr std::string_view own = "nearfar/";
  const std::string file = place.file.starts_with(own) ? place.file.substr(own.size()) : place.file;
  return place.line == 0 ? "" : file + ":" + std::to_string(place.line);
}

}  // namespace

void execution::show(const std::string& operation, const shared& word, touched values, bool writes,
                     int issued_after, const std::source_location& at) {
  shown_step shown;
  shown.taken = schedule_.back();
  shown.operation = operation;
  shown.word = word_text(word);
  shown.issued_after = issued_after;
  shown.site = site_text(at);
  shown.acts_on = word.cell != nullptr ? name_of(word.cell).rank : shown.taken.rank;
  if (word.cell != nullptr) {
    shown.detail = std::to_string(values.read);
    if (values.read != values.before)
      shown.detail += " (stale, " + std::to_string(values.before) + " by now)";
    else if (writes)
      shown.detail = std::to_string(values.before) + " -> " + std::to_string(values.after);
  } else if (operation.starts_with("signal to")) {
    shown.acts_on = std::stoi(operation.substr(operation.rfind(' ') + 1));
  }
  shown_->push_back(std::move(shown));
}

}  // namespace nearfar::checker
