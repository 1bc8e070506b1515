#include "critical_section.hpp"

#include <algorithm>
#include <cstdint>

#include "words.hpp"

namespace nearfar::checker {

critical_section::critical_section(shared_memory::users& of, const program& what)
    : users_(&of), program_(&what), asking_(static_cast<std::size_t>(what.where.size())) {
  if (what.bypass == bypass_bound::local_passes || what.bypass == bypass_bound::level_passes)
    waiting_.emplace_back(level::node, what.where);
  if (what.bypass == bypass_bound::level_passes) waiting_.emplace_back(level::island, what.where);
}

void critical_section::waiting_elements::clear() {
  std::fill(wanted.begin(), wanted.end(), 0);
  std::fill(passes.begin(), passes.end(), 0);
}

void critical_section::clear() {
  asking_.assign(asking_.size(), {});
  for (waiting_elements& each : waiting_) each.clear();
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
    for (waiting_elements& each : waiting_) check_passes(each, rank);
    last_inside_ = rank;
  }
  asking(rank).is_asking = false;
  asking(rank).is_inside = true;
}

void critical_section::note_left(int rank, const std::function<bool(int)>& has_ended) {
  for (waiting_elements& each : waiting_) note_wanted(each, rank, has_ended);
}

void critical_section::note_wanted(waiting_elements& of, int rank,
                                   const std::function<bool(int)>& has_ended) {
  // A waiting element is owed its turn once every rank outside the running rank's element rests. A rank that
  // does not rest may still release in the waiting element, or has yet to register for an earlier element of
  // the queue.
  const locality& where = program_->where;
  const int own = where.group(of.at, rank);
  bool others_rest = true;
  for (int other = 0; other < size(); ++other) {
    const bool rests = has_ended(other) || (asking(other).is_asking && asking(other).is_blocked);
    others_rest = others_rest && (rests || where.group(of.at, other) == own);
  }
  for (int element = 0; element < where.groups(of.at); ++element) {
    const auto members = where.members(of.at, element);
    const bool someone_asks =
        std::any_of(members.begin(), members.end(), [this](int one) { return asking(one).is_asking; });
    of.wanted[static_cast<std::size_t>(element)] = element != own && someone_asks && others_rest;
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

void critical_section::check_passes(waiting_elements& of, int rank) {
  const locality& where = program_->where;
  const int own = where.group(of.at, rank);
  of.passes[static_cast<std::size_t>(own)] = 0;
  if (last_inside_ < 0 || where.group(of.at, last_inside_) != own) {
    // An element's turn begins. The passes in turns of other elements do not count for it.
    std::fill(of.passes.begin(), of.passes.end(), 0);
    return;
  }
  // An island has hand-overs from node to node.
  if (of.at == level::island && where.same(level::node, rank, last_inside_)) return;
  for (int element = 0; element < where.groups(of.at); ++element) {
    const auto index = static_cast<std::size_t>(element);
    if (element == own || of.wanted[index] == 0) continue;
    if (++of.passes[index] > program_->max_local_passes) {
      const std::string kind(name(of.at));
      std::string text =
          kind + " " + std::to_string(element) + " waits while the critical section is passed on ";
      text.append(std::to_string(of.passes[index])).append(" times in a row within ").append(kind);
      text.append(" ").append(std::to_string(own)).append("; the limit is ");
      text.append(std::to_string(program_->max_local_passes));
      users_->report(fault::bypass, std::move(text));
    }
  }
}

}  // namespace nearfar::checker
