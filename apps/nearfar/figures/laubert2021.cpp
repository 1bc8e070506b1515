// nearfar figures laubert2021: the measurements of a thesis on channels between threads, on this machine.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/papers.hpp"
#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

// Of its own, as all sources of the command may be compiled as one.
namespace laubert {
namespace {

// Names of analyses: the figures of the thesis that each draws.
constexpr const char* mpsc = "fig-5.1-5.2-mpsc";
constexpr const char* mpmc = "fig-5.3-mpmc";
constexpr const char* unbuffered = "fig-5.6-unbuffered";
constexpr const char* sizes = "fig-5.7-sizes";
constexpr const char* capacities = "fig-5.8-capacities";
constexpr const char* lists = "fig-5.10-messages";

constexpr int ten_senders = 11;  // with the one who receives
constexpr int most = 65;
constexpr double messages = 100'000;
/// Medians that differ by less say nothing, here as there.
constexpr double alike = 1.1;

/// One receives; 1, 2, 4 ... 64 send, 10 among them, as there.
std::vector<shape> by_senders(int most_ranks, int /*ranks_per_node*/) {
  if (most_ranks < 2) throw usage_error(fmt::format("--most-ranks must be 2 or more, not {}", most_ranks));
  std::vector<shape> all;
  for (const int senders : {1, 2, 4, 8, 10, 16, 32, 64})
    if (senders < most_ranks) all.push_back({.ranks = senders + 1});
  return all;
}

/// ns from one message to the next.
std::optional<double> time(const found_medians& found, const char* analysis, const std::string& object,
                           int ranks, std::map<std::string, std::int64_t> at = {}) {
  return found({.analysis = analysis, .object = object, .ranks = ranks, .at = std::move(at)}, "time");
}

/// The largest number of ranks, of those measured, at which there is that object.
int most_found(const found_medians& found, const char* analysis, const std::string& object) {
  int result = 0;
  for (const shape& each : by_senders(most, 0))
    if (time(found, analysis, object, each.ranks)) result = each.ranks;
  return result;
}

verdict_on_claim ticket_is_worst(const found_medians& found) {
  constexpr const char* claim = "5.1, 5.6: the ticket lock is by far the worst, with most senders";
  const int ranks = most_found(found, mpsc, "ticket.mpsc");
  const auto ticket = time(found, mpsc, "ticket.mpsc", ranks);
  if (!ticket) return {claim, std::nullopt, ""};
  bool holds = true;
  std::vector<std::string> others;
  for (const char* each : {"mutex.mpsc", "pthread_spin.mpsc", "spin.mpsc", "flagged.mpsc", "lock_free_list"})
    if (const auto other = time(found, mpsc, each, ranks)) {
      holds = holds && *ticket > alike * *other;
      others.push_back(fmt::format("{} {:.0f}", each, *other));
    }
  return {claim, holds,
          fmt::format("{} senders: {:.0f} ns; {}", ranks - 1, *ticket, fmt::join(others, ", "))};
}

/// One is faster than another, and not as fast, at the most senders that there are, or at all of some.
verdict_on_claim faster(const found_medians& found, const char* claim, const char* one, const char* other,
                        const std::vector<int>& senders = {}) {
  std::vector<int> ranks;
  for (const int each : senders) ranks.push_back(each + 1);
  if (ranks.empty()) ranks.push_back(std::min(most_found(found, mpsc, one), most_found(found, mpsc, other)));
  bool holds = true;
  std::vector<std::string> figures;
  for (const int each : ranks) {
    const auto first = time(found, mpsc, one, each);
    const auto second = time(found, mpsc, other, each);
    if (!first || !second) continue;
    holds = holds && *first * alike < *second;
    figures.push_back(fmt::format("{:.0f} to {:.0f} ns with {}", *first, *second, each - 1));
  }
  if (figures.empty()) return {claim, std::nullopt, ""};
  return {claim, holds, fmt::format("{}", fmt::join(figures, ", "))};
}

verdict_on_claim one_receiver_gains_little(const found_medians& found) {
  constexpr const char* claim = "5.2: a channel for one receiver gains less than 0.04 s of 100,000 messages";
  constexpr double most_gain = 0.04;
  constexpr double second = 1e9;
  double largest = -most_gain;
  std::string where;
  for (const char* each : {"mutex", "pthread_spin", "spin", "ticket", "flagged"})
    for (const shape& with : by_senders(most, 0)) {
      const auto many = time(found, mpmc, each, with.ranks);
      const auto one = time(found, mpsc, fmt::format("{}.mpsc", each), with.ranks);
      if (!many || !one) continue;
      const double gain = (*many - *one) * messages / second;
      if (gain <= largest) continue;
      largest = gain;
      where = fmt::format("at most {:.4f} s ({}, {} senders)", gain, each, with.ranks - 1);
    }
  if (where.empty()) return {claim, std::nullopt, ""};
  return {claim, largest < most_gain, where};
}

verdict_on_claim buffers_pay(const found_medians& found) {
  constexpr const char* claim = "5.5: a buffer of 10 is much better than none, with any number of senders";
  bool holds = true;
  std::vector<std::string> figures;
  for (const shape& with : by_senders(most, 0)) {
    const auto none = time(found, unbuffered, "flagged.mpsc", with.ranks, {{"capacity", 0}});
    const auto ten = time(found, unbuffered, "flagged.mpsc", with.ranks, {{"capacity", 10}});
    if (!none || !ten) continue;
    holds = holds && *none > alike * *ten;
    figures.push_back(fmt::format("{:.2f} with {}", *none / *ten, with.ranks - 1));
  }
  if (figures.empty()) return {claim, std::nullopt, ""};
  return {claim, holds, fmt::format("times the time: {}", fmt::join(figures, ", "))};
}

verdict_on_claim ten_is_enough(const found_medians& found) {
  constexpr const char* claim = "5.5: more than 10 brings nothing until the buffer has room for all messages";
  const auto at = [&](std::int64_t capacity) {
    return time(found, capacities, "flagged.mpsc", ten_senders, {{"capacity", capacity}});
  };
  const auto ten = at(10);
  const auto hundred = at(100);
  const auto thousand = at(1000);
  const auto all = at(200'000);
  if (!ten || !hundred || !thousand || !all) return {claim, std::nullopt, ""};
  return {claim, *ten < alike * *hundred && *ten < alike * *thousand && *all * alike < *ten,
          fmt::format("10: {:.0f} ns, 100: {:.0f}, 1,000: {:.0f}, 200,000: {:.0f}", *ten, *hundred, *thousand,
                      *all)};
}

verdict_on_claim lists_are_as_arrays(const found_medians& found) {
  constexpr const char* claim = "5.7: with a ticket lock a list is as fast as an array";
  const int ranks = most_found(found, mpsc, "ticket_list.mpsc");
  const auto list = time(found, mpsc, "ticket_list.heap.mpsc", ranks);
  const auto array = time(found, mpsc, "ticket.mpsc", ranks);
  if (!list || !array) return {claim, std::nullopt, ""};
  return {claim, *list < alike * *array && *array < alike * *list,
          fmt::format("{:.0f} to {:.0f} ns with {}", *list, *array, ranks - 1)};
}

verdict_on_claim free_lists_do_not_pay(const found_medians& found) {
  constexpr const char* claim = "5.8: with a ticket lock recycled nodes are as fast as those of the heap";
  bool holds = true;
  std::vector<std::string> figures;
  for (const std::int64_t count : {10'000, 100'000, 400'000, 800'000, 1'000'000}) {
    const std::map<std::string, std::int64_t> at{{"messages", count}};
    const auto recycled = time(found, lists, "ticket_list.mpsc", ten_senders, at);
    const auto heap = time(found, lists, "ticket_list.heap.mpsc", ten_senders, at);
    if (!recycled || !heap) continue;
    holds = holds && *recycled < alike * *heap && *heap < alike * *recycled;
    figures.push_back(fmt::format("{:.2f} for {}", *recycled / *heap, count));
  }
  if (figures.empty()) return {claim, std::nullopt, ""};
  return {claim, holds, fmt::format("times the time: {}", fmt::join(figures, ", "))};
}

std::vector<verdict_on_claim> judge_claims(const found_medians& found) {
  return {
      ticket_is_worst(found),
      faster(found, "5.1, 5.4: test-and-set is faster than the mutex", "spin.mpsc", "mutex.mpsc"),
      faster(found, "5.1: parallel access is faster than the mutex", "flagged.mpsc", "mutex.mpsc"),
      faster(found, "5.1: the list without locks is faster than the mutex", "lock_free_list", "mutex.mpsc"),
      one_receiver_gains_little(found),
      faster(found, "5.3: the mutex is faster than the pthread spin lock, above eleven senders", "mutex.mpsc",
             "pthread_spin.mpsc", {16, 32, 64}),
      faster(found, "5.4: test-and-set is faster than the pthread spin lock, from five senders", "spin.mpsc",
             "pthread_spin.mpsc", {8, 10, 16, 32, 64}),
      buffers_pay(found),
      ten_is_enough(found),
      lists_are_as_arrays(found),
      free_lists_do_not_pay(found)};
}

}  // namespace
}  // namespace laubert

paper laubert2021() {
  using namespace laubert;
  const std::vector<shape> ten{{.ranks = ten_senders}};
  return {.name = "laubert2021",
          .title = "H. Laubert, 2021: channels between threads, its measurements on this machine",
          .analyses = {{mpsc,
                        "Figures 5.1, 5.2, 5.4, 5.5, 5.9, 5.11: one receives",
                        "channel",
                        {"mutex.mpsc", "pthread_spin.mpsc", "spin.mpsc", "ticket.mpsc", "ticket_list.mpsc",
                         "ticket_list.heap.mpsc", "flagged.mpsc", "lock_free_list", "ring"},
                        {}},
                       {mpmc,
                        "Figure 5.3: the same with channels for several that receive",
                        "channel",
                        {"mutex", "pthread_spin", "spin", "ticket", "flagged"},
                        {}},
                       {unbuffered,
                        "Figure 5.6: with and without a buffer",
                        "channel",
                        {"flagged.mpsc"},
                        {{"capacity", {"0", "10"}}}},
                       {sizes,
                        "Figure 5.7: the size of messages, with and without a buffer",
                        "channel",
                        {"ticket.mpsc"},
                        {{"capacity", {"0", "10"}}, {"size", {"4", "16", "64", "256", "1024", "4096"}}},
                        ten},
                       {capacities,
                        "Figure 5.8: the size of the buffer",
                        "channel",
                        {"flagged.mpsc"},
                        {{"capacity", {"10", "100", "1000", "10000", "100000", "200000"}}},
                        ten},
                       {lists,
                        "Figure 5.10: nodes of a list, recycled and of the heap",
                        "channel",
                        {"ticket_list.mpsc", "ticket_list.heap.mpsc", "lock_free_list"},
                        {{"messages", {"10000", "100000", "400000", "800000", "1000000"}}},
                        ten}},
          .machine = "",
          .most_ranks = most,
          .most_ranks_quick = 3,
          .ranks_text = "one receiver and 1, 2, 4 or more senders",
          .document = "docs/channels.md",
          .repetitions = 5,
          .values = {{"wait", {"retry"}}},
          .quick_values = {{"messages", {"2000"}}},
          .shapes = by_senders,
          .judge = judge_claims};
}

}  // namespace nearfar::command
