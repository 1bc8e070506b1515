#include "apps/nearfar/check/fifo_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace nearfar::command {

namespace {

using checker::closable_queue;
using checker::object_plan;
using checker::planned_operation;
using operations = std::vector<planned_operation>;

bool pushes(const planned_operation& one) {
  return one.method == closable_queue::push || one.method == closable_queue::try_push;
}
bool pops(const planned_operation& one) {
  return one.method == closable_queue::pop || one.method == closable_queue::try_pop;
}
bool closes(const planned_operation& one) { return one.method == closable_queue::close; }

template <typename Which>
std::size_t count(const operations& of, const Which& which) {
  return static_cast<std::size_t>(std::count_if(of.begin(), of.end(), which));
}
template <typename Which>
std::size_t count(const object_plan& plan, const Which& which) {
  std::size_t result = count(plan.before, which);
  for (const operations& part : plan.of_ranks) result += count(part, which);
  return result;
}

/// The ranks whose parts have such an operation. What comes before all others is a part of its own.
template <typename Which>
std::vector<int> ranks_that(const object_plan& plan, const Which& which) {
  std::vector<int> result;
  for (int rank = 0; rank < plan.ranks(); ++rank)
    if (count(plan.of_ranks[static_cast<std::size_t>(rank)], which) != 0) result.push_back(rank);
  return result;
}

template <typename Which>
std::string refused_role(const object_plan& plan, const Which& which, std::optional<int> only, bool has_one,
                         std::string_view verb) {
  std::vector<int> ranks = ranks_that(plan, which);
  if (only && count(plan.before, which) != 0) ranks.insert(ranks.begin(), 0);
  for (const int rank : ranks)
    if (only && rank != *only)
      return fmt::format("only rank {} {}, and in this plan rank {}", *only, verb, rank);
  if (has_one && ranks.size() > 1)
    return fmt::format("only one rank {}, and in this plan ranks {}", verb, fmt::join(ranks, " and "));
  return "";
}

std::string doubled_value(const object_plan& plan, const fifo_words& words) {
  std::set<std::uint64_t> known;
  std::string result;
  const auto note = [&](const operations& part) {
    for (const planned_operation& one : part)
      if (pushes(one) && !known.insert(one.arguments[0]).second)
        result = fmt::format("{} {} comes twice in this plan, so that a doubled one would not show",
                             words.value, one.arguments[0]);
  };
  note(plan.before);
  std::for_each(plan.of_ranks.begin(), plan.of_ranks.end(), note);
  return result;
}

}  // namespace

std::string obstacle(const object_plan& plan, const fifo_roles& roles, const fifo_words& words) {
  for (const std::string& why :
       {refused_role(plan, pushes, roles.pusher, roles.has_one_pusher, words.pushes),
        refused_role(plan, pops, roles.popper, roles.has_one_popper, words.pops),
        refused_role(plan, closes, roles.pusher, false, "closes"), doubled_value(plan, words)})
    if (!why.empty()) return why;
  const std::size_t waiting =
      count(plan, [](const planned_operation& one) { return one.method == closable_queue::pop; });
  if (waiting > count_pushes(plan) && count(plan, closes) == 0)
    return fmt::format("{} operations wait for a {} and {} bring one, so that a rank would wait for ever",
                       waiting, words.value, count_pushes(plan));
  return "";
}

std::size_t count_pushes(const object_plan& plan) { return count(plan, pushes); }

std::size_t most_pushes_of_a_rank(const object_plan& plan) {
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < plan.of_ranks.size(); ++rank)
    most = std::max(most, count(plan.of_ranks[rank], pushes) + (rank == 0 ? count(plan.before, pushes) : 0));
  return most;
}

int last_popper(const object_plan& plan, const fifo_roles& roles) {
  const std::vector<int> ranks = ranks_that(plan, pops);
  return roles.popper ? *roles.popper : ranks.empty() ? 0 : ranks.front();
}

object_plan usual_fifo_plan(int ranks, const fifo_roles& roles) {
  constexpr std::uint64_t hundred = 100;
  const bool has_one_pusher = roles.pusher || roles.has_one_pusher;
  const bool has_one_popper = roles.popper || roles.has_one_popper;
  const int pusher = roles.pusher.value_or(0);
  const int popper = roles.popper.value_or(ranks - 1);
  object_plan plan;
  for (int rank = 0; rank < ranks; ++rank) {
    const bool can_push = !has_one_pusher || rank == pusher;
    const bool can_pop = !has_one_popper || rank == popper;
    const auto value = static_cast<std::uint64_t>(rank) + 1;
    operations& part = plan.of_ranks.emplace_back();
    if (can_push) part.push_back({closable_queue::try_push, {value}});
    if (can_push && !can_pop) part.push_back({closable_queue::try_push, {value + hundred}});
    if (can_pop) part.push_back({closable_queue::try_pop});
    if (can_pop && !can_push) part.push_back({closable_queue::try_pop});
  }
  return plan;
}

}  // namespace nearfar::command
