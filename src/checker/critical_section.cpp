#include "critical_section.hpp"

#include <algorithm>
#include <cstdint>

#include "words.hpp"

namespace nearfar::checker {

critical_section::critical_section(shared_memory::users& of, const program& what)
    : users_(&of),
      program_(&what),
      asking_(static_cast<std::size_t>(what.where.size())),
      wanted_by_node_(static_cast<std::size_t>(what.where.groups(level::node))),
      passes_over_node_(wanted_by_node_.size()) {}

void critical_section::clear() {
  asking_.assign(asking_.size(), {});
  std::fill(wanted_by_node_.begin(), wanted_by_node_.end(), 0);
  std::fill(passes_over_node_.begin(), passes_over_node_.end(), 0);
  last_inside_ = -1;
}

void critical_section::ask(int rank, holding how) {
  const std::optional<std::size_t> shared_until = asking(rank).shared_until;
  asking(rank) = {.how = how, .is_asking = true, .shared_until = shared_until};
}

void critical_section::note_step(int rank, std::size_t steps) {
  request_for_it& of = asking(rank);
  if (of.is_asking && !of.asked_at) of.asked_at = steps;
}

void critical_section::leave(int rank) { asking(rank).is_inside = false; }

bool critical_section::shares_with_another(int rank, const event_set& past) const {
  for (int other = 0; other < size(); ++other) {
    const request_for_it& one = asking(other);
    if (other == rank) continue;
    // A rank whose leaving does not happen before this entry could have stayed until then.
    const bool could_have_stayed = one.shared_until && !past.contains(*one.shared_until);
    if (could_have_stayed || (one.is_inside && one.how == holding::shared)) return true;
  }
  return false;
}

std::uint64_t critical_section::identity() const {
  std::uint64_t hash = 0;
  for (const request_for_it& one : asking_)
    hash = mixed(hash, one.is_inside ? 1 + static_cast<std::uint64_t>(one.how) : 0);
  return hash;
}

void critical_section::note(int rank, bool is_blocked, std::size_t steps) {
  request_for_it& of = asking(rank);
  of.is_blocked = is_blocked;
  if (is_blocked && of.blocked_at == 0) of.blocked_at = steps;
}

void critical_section::enter(int rank, holding how, std::optional<int> unknown) {
  const auto text_of = [](int one) { return "rank " + std::to_string(one); };
  asking(rank).how = how;
  for (int other = 0; other < size(); ++other) {
    const request_for_it& one = asking(other);
    if (other == rank || !one.is_inside || (how == holding::shared && one.how == holding::shared)) continue;
    users_->report(fault::exclusion, text_of(rank) + " is inside together with " + text_of(other));
  }
  if (unknown)
    users_->report(fault::order, text_of(rank) + " is inside but need not see what " + text_of(*unknown) +
                                     " did before: a release or an acquire is missing");
  if (!asking(rank).is_inside) {
    check_overtaking(rank);
    if (program_->bypass == bypass_bound::local_passes) check_local_passes(rank);
    last_inside_ = rank;
  }
  asking(rank).is_asking = false;
  asking(rank).is_inside = true;
}

void critical_section::note_left(int rank, const std::function<bool(int)>& has_ended) {
  // A waiting node is owed its turn once every rank outside the running rank's node rests. A rank that does
  // not rest may still release in the waiting node, or has yet to register for an earlier node of the queue.
  const locality& where = program_->where;
  const int own = where.group(level::node, rank);
  bool others_rest = true;
  for (int other = 0; other < size(); ++other) {
    const bool rests = has_ended(other) || (asking(other).is_asking && asking(other).is_blocked);
    others_rest = others_rest && (rests || where.group(level::node, other) == own);
  }
  for (int node = 0; node < where.groups(level::node); ++node) {
    const auto members = where.members(level::node, node);
    const bool someone_asks =
        std::any_of(members.begin(), members.end(), [this](int one) { return asking(one).is_asking; });
    wanted_by_node_[static_cast<std::size_t>(node)] = node != own && someone_asks && others_rest;
  }
}

std::optional<int> critical_section::limit_of(holding waiting, holding entering) const {
  const overtaking_limits& limits = program_->overtaking;
  if (waiting == holding::shared)
    return entering == holding::shared ? limits.readers_past_reader : limits.writers_past_reader;
  if (entering == holding::shared) return limits.readers_past_writer;
  return program_->bypass == bypass_bound::fifo ? 0 : limits.writers_past_writer;
}

void critical_section::check_overtaking(int rank) {
  const holding how = asking(rank).how;
  const std::size_t asked_at = asking(rank).asked_at.value_or(SIZE_MAX);  // or entering is its first step
  for (int other = 0; other < size(); ++other) {
    request_for_it& one = asking(other);
    if (other == rank || !one.is_asking || one.blocked_at == 0 || one.blocked_at >= asked_at) continue;
    int& count = how == holding::shared ? one.overtaken_by_readers : one.overtaken_by_writers;
    const std::optional<int> limit = limit_of(one.how, how);
    if (++count <= limit.value_or(count)) continue;
    std::string text = "rank " + std::to_string(rank) + " asked when rank " + std::to_string(other) +
                       " was waiting already, and enters before it";
    if (*limit > 0) text += ", as " + std::to_string(*limit) + " did before";
    users_->report(fault::bypass, std::move(text));
  }
}

void critical_section::check_local_passes(int rank) {
  const locality& where = program_->where;
  const int own = where.group(level::node, rank);
  passes_over_node_[static_cast<std::size_t>(own)] = 0;
  if (last_inside_ < 0 || where.group(level::node, last_inside_) != own) {
    // A node's turn begins. The passes in turns of other nodes do not count for it.
    std::fill(passes_over_node_.begin(), passes_over_node_.end(), 0);
    return;
  }
  for (int node = 0; node < where.groups(level::node); ++node) {
    const auto index = static_cast<std::size_t>(node);
    if (node == own || wanted_by_node_[index] == 0) continue;
    if (++passes_over_node_[index] > program_->max_local_passes)
      users_->report(fault::bypass, "node " + std::to_string(node) +
                                        " waits while the critical section is passed on " +
                                        std::to_string(passes_over_node_[index]) +
                                        " times in a row within node " + std::to_string(own) +
                                        "; the limit is " + std::to_string(program_->max_local_passes));
  }
}

}  // namespace nearfar::checker
