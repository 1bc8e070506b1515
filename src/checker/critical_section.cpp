#include "critical_section.hpp"

#include <algorithm>

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
  inside_ = last_inside_ = -1;
}

void critical_section::ask(int rank, std::size_t steps) {
  asking(rank) = {.is_asking = true, .asked_at = steps};
}

void critical_section::note(int rank, bool is_blocked, std::size_t steps) {
  request_for_it& of = asking(rank);
  of.is_blocked = is_blocked;
  if (is_blocked && of.blocked_at == 0) of.blocked_at = steps;
}

void critical_section::enter(int rank, bool knows_what_was_done) {
  if (inside_ >= 0)
    users_->report(fault::exclusion, "rank " + std::to_string(rank) + " is inside together with rank " +
                                         std::to_string(inside_));
  else if (!knows_what_was_done)
    users_->report(fault::order, "rank " + std::to_string(rank) + " is inside but need not see what rank " +
                                     std::to_string(last_inside_) +
                                     " did before: a release or an acquire is missing");
  if (program_->bypass == bypass_bound::fifo) check_order_of_arrival(rank);
  if (program_->bypass == bypass_bound::local_passes) check_local_passes(rank);
  inside_ = last_inside_ = rank;
  asking(rank).is_asking = false;
}

void critical_section::note_left(int rank, const std::function<bool(int)>& has_ended) {
  // A node is owed its turn once it waits and no other rank outside this node has steps to take: neither one
  // of its own that is still releasing, nor one of a node before it in the queue that is yet to register.
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

void critical_section::check_order_of_arrival(int rank) {
  for (int other = 0; other < size(); ++other) {
    const request_for_it& one = asking(other);
    if (other == rank || !one.is_asking || one.blocked_at == 0 || one.blocked_at >= asking(rank).asked_at)
      continue;
    users_->report(fault::bypass, "rank " + std::to_string(rank) + " asked when rank " +
                                      std::to_string(other) + " was waiting already, and enters before it");
  }
}

void critical_section::check_local_passes(int rank) {
  const locality& where = program_->where;
  const int own = where.group(level::node, rank);
  passes_over_node_[static_cast<std::size_t>(own)] = 0;
  if (last_inside_ < 0 || where.group(level::node, last_inside_) != own) {
    // A node's turn begins: what others did in theirs does not count for it.
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
