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

/// The ranks whose parts have such an operation. Operations that come before all others are a part of their
/// own.
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

bool reopens(const planned_operation& one) { return one.method == closable_queue::reopen; }
bool waits_to_pop(const planned_operation& one) { return one.method == closable_queue::pop; }
bool waits_to_push(const planned_operation& one) { return one.method == closable_queue::push; }

/// The object after what rank 0 does before all others.
struct beginning {
  std::size_t inside = 0;
  bool is_closed = false;
  bool brought_one = false;
  std::optional<planned_operation> waits_for_ever{};

  void take(const planned_operation& one, std::size_t room) {
    if (closes(one) || reopens(one)) {
      is_closed = closes(one);
    } else if (pushes(one)) {
      if (is_closed) return;
      if (inside < room)
        ++inside;
      else if (waits_to_push(one))
        waits_for_ever = one;
    } else if (inside > 0) {
      --inside;
      brought_one = true;
    } else if (waits_to_pop(one) && !is_closed) {
      waits_for_ever = one;
    }
  }
};

beginning beginning_of(const object_plan& plan, std::size_t room) {
  beginning result;
  for (const planned_operation& one : plan.before)
    if (!result.waits_for_ever) result.take(one, room);
  return result;
}

/// A plan that these roles permit.
std::string example(const fifo_roles& roles, const fifo_words& words, bool with_close) {
  const std::string brings = fmt::format("{} 1{}", words.push, with_close ? ", close" : "");
  return roles.popper == 0 && roles.pusher != 0 ? fmt::format("'{} | {}'", words.pop, brings)
                                                : fmt::format("'{} | {}'", brings, words.pop);
}

std::string blocked_beginning(const object_plan& plan, const fifo_words& words, std::size_t room) {
  const std::optional<planned_operation> waiting = beginning_of(plan, room).waits_for_ever;
  if (!waiting) return "";
  if (waits_to_pop(*waiting))
    return fmt::format(
        "'{}' before ';' waits for a {}, which only later operations could bring: write it behind ';'",
        words.pop, words.value);
  return room == 0
             ? fmt::format("'{} {}' before ';' waits for a receiver, which comes later: write it behind ';'",
                           words.push, waiting->arguments[0])
             : fmt::format(
                   "'{} {}' before ';' waits for room, which only later operations could make: write "
                   "it behind ';', or give a larger --capacity",
                   words.push, waiting->arguments[0]);
}

/// Every rank waits to pop before any has changed anything.
std::string blocked_ranks(const object_plan& plan, const fifo_words& words, std::size_t room) {
  const beginning begun = beginning_of(plan, room);
  if (begun.inside > 0 || begun.is_closed) return "";
  bool some_wait = false;
  for (const operations& part : plan.of_ranks) {
    const auto first = std::find_if(part.begin(), part.end(), [](const planned_operation& one) {
      return one.method != closable_queue::try_pop;
    });
    if (first != part.end() && !waits_to_pop(*first)) return "";
    some_wait = some_wait || first != part.end();
  }
  if (!some_wait) return "";
  return fmt::format(
      "every rank waits for a {} before it brings one, so that none ever comes: let one rank "
      "begin with '{} 1', or write '{} 1;' before all",
      words.value, words.push, words.push);
}

/// Whether a push of some rank may find the object open.
bool lets_in(const object_plan& plan, const beginning& begun) {
  if (std::any_of(plan.of_ranks.begin(), plan.of_ranks.end(),
                  [](const operations& part) { return count(part, reopens) != 0; }))
    return count_pushes(plan) != 0;
  if (begun.is_closed) return false;
  return std::any_of(plan.of_ranks.begin(), plan.of_ranks.end(), [](const operations& part) {
    return std::any_of(part.begin(), std::find_if(part.begin(), part.end(), closes), pushes);
  });
}

/// Whether two ranks may be at a rendezvous at once, one of which waits there.
bool may_meet(const object_plan& plan) {
  const auto has = [&](int rank, const auto& which) {
    return count(plan.of_ranks[static_cast<std::size_t>(rank)], which) != 0;
  };
  for (int sender = 0; sender < plan.ranks(); ++sender)
    for (int receiver = 0; receiver < plan.ranks(); ++receiver)
      if (sender != receiver && ((has(sender, waits_to_push) && has(receiver, pops)) ||
                                 (has(sender, pushes) && has(receiver, waits_to_pop))))
        return true;
  return false;
}

/// Nothing can ever come out.
std::string empty_plan(const object_plan& plan, const fifo_roles& roles, const fifo_words& words,
                       std::size_t room) {
  const beginning begun = beginning_of(plan, room);
  if (begun.inside > 0 || begun.brought_one) return "";
  if (room == 0 && plan.ranks() == 1)
    return fmt::format(
        "it takes two ranks, one that {} and one that {}: give --ranks 2, or a plan such as {}", words.pushes,
        words.pops, example(roles, words, false));
  if (count_pushes(plan) == 0)
    return fmt::format("nobody {}, so that no {} can come out: add '{} 1', as in {}", words.pushes,
                       words.value, words.push, example(roles, words, false));
  if (!lets_in(plan, begun))
    return fmt::format(
        "the {} is closed before anybody {}, so that no {} can come out: close it later, as in {}",
        words.kind, words.pushes, words.value, example(roles, words, true));
  if (room == 0 && !may_meet(plan))
    return fmt::format(
        "nobody {} while another rank {}: a rank cannot meet itself, and two attempts never meet; write a "
        "plan such as {}",
        words.pushes, words.pops, example(roles, words, false));
  return "";
}

}  // namespace

std::string obstacle(const object_plan& plan, const fifo_roles& roles, const fifo_words& words,
                     std::size_t room) {
  for (const std::string& why :
       {refused_role(plan, pushes, roles.pusher, roles.has_one_pusher, words.pushes),
        refused_role(plan, pops, roles.popper, roles.has_one_popper, words.pops),
        refused_role(plan, closes, roles.pusher, false, "closes"), doubled_value(plan, words),
        blocked_beginning(plan, words, room), empty_plan(plan, roles, words, room)})
    if (!why.empty()) return why;
  const std::size_t waiting = count(plan, waits_to_pop);
  if (waiting > count_pushes(plan) && count(plan, closes) == 0)
    return fmt::format("{} operations wait for a {} and {} bring one, so that a rank would wait for ever",
                       waiting, words.value, count_pushes(plan));
  return blocked_ranks(plan, words, room);
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
