// nearfar figures laubert2021: the measurements of a thesis on channels between threads, on this machine.

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/claims.hpp"
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
constexpr const char* free_lists = "fig-5.11-senders";
constexpr const char* sizes = "fig-5.7-sizes";
constexpr const char* capacities = "fig-5.8-capacities";
constexpr const char* lists = "fig-5.10-messages";

constexpr int ten_senders = 11;  // with the receiver
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

/// One receives; each number of senders from 1 on sends, as there.
std::vector<shape> by_all_senders(int most_ranks, int /*ranks_per_node*/) {
  if (most_ranks < 2) throw usage_error(fmt::format("--most-ranks must be 2 or more, not {}", most_ranks));
  std::vector<shape> all;
  for (int ranks = 2; ranks <= most_ranks; ++ranks) all.push_back({.ranks = ranks});
  return all;
}

/// ns from one message to the next.
quantity time(const std::string& object, int ranks, std::map<std::string, std::int64_t> at = {}) {
  return {{.object = object, .ranks = ranks, .at = std::move(at)}, "time"};
}

/// The same evidence for each number of ranks.
template <typename Evidence>
std::vector<evidence> for_each_shape(Evidence of) {
  std::vector<evidence> all;
  for (const shape& each : by_senders(most, 0)) all.push_back(of(each.ranks));
  return all;
}

evidence is_faster(const char* one, const char* other, int ranks) {
  return {{time(one, ranks) * alike < time(other, ranks)},
          fmt::format("{{:.0f}} to {{:.0f}} ns with {}", ranks - 1),
          {time(one, ranks), time(other, ranks)}};
}

/// One is faster than another, and not as fast, at the most senders that there are.
claim faster(const char* text, const char* one, const char* other) {
  return {.analysis = mpsc,
          .text = text,
          .of = for_each_shape([=](int ranks) { return is_faster(one, other, ranks); }),
          .counts = counting::last};
}
/// The same at all of these.
claim faster(const char* text, const char* one, const char* other, const std::vector<int>& senders) {
  claim result{.analysis = mpsc, .text = text, .of = {}};
  for (const int each : senders) result.of.push_back(is_faster(one, other, each + 1));
  return result;
}

evidence ticket_is_slower(int ranks) {
  const quantity ticket = time("ticket.published.mpsc", ranks);
  evidence result{
      .bounds = {}, .text = fmt::format("{} senders: {{:.0f}} ns; ", ranks - 1), .figures = {ticket}};
  for (const char* each : {"mutex.mpsc", "pthread_spin.mpsc", "spin.published.mpsc", "flagged.published.mpsc",
                           "lock_free_list.mpsc"})
    result.beside.push_back(
        {{ticket > alike * time(each, ranks)}, fmt::format("{} {{:.0f}}", each), {time(each, ranks)}});
  return result;
}

/// A list with a free list and without one, at some numbers of messages. "Alike" and "faster" are told by
/// `bounds`.
template <typename Bounds>
std::vector<evidence> lists_of(const char* recycled, const char* heap,
                               std::initializer_list<std::int64_t> counts, Bounds bounds) {
  std::vector<evidence> all;
  for (const std::int64_t count : counts) {
    const quantity with = time(recycled, ten_senders, {{"messages", count}});
    const quantity without = time(heap, ten_senders, {{"messages", count}});
    all.push_back({bounds(with, without), fmt::format("{{:.2f}} for {}", count), {with / without}});
  }
  return all;
}

/// Seconds of all messages.
std::vector<evidence> gains_of_one_receiver(double most_gain) {
  constexpr double second = 1e9;
  std::vector<evidence> all;
  for (const char* each :
       {"mutex", "pthread_spin", "spin.published", "ticket.published", "flagged", "lock_free_list"})
    for (const shape& with : by_senders(most, 0)) {
      const quantity several = time(each, with.ranks).in(mpmc);
      const quantity gain = (several - time(fmt::format("{}.mpsc", each), with.ranks)) * messages / second;
      all.push_back(within(gain, any_low, most_gain,
                           fmt::format("at most {{:.4f}} s ({}, {} senders)", each, with.ranks - 1)));
    }
  return all;
}

evidence buffer_pays(int ranks) {
  const quantity none = time("flagged.published.mpsc", ranks, {{"capacity", 0}});
  const quantity ten = time("flagged.published.mpsc", ranks, {{"capacity", 10}});
  return {{none > alike * ten}, fmt::format("{{:.2f}} with {}", ranks - 1), {none / ten}};
}

evidence ten_is_enough() {
  const auto at = [](std::int64_t capacity) {
    return time("flagged.published.mpsc", ten_senders, {{"capacity", capacity}});
  };
  return {{at(10) < alike * at(100), at(10) < alike * at(1000), at(200'000) * alike < at(10)},
          "10: {:.0f} ns, 100: {:.0f}, 1,000: {:.0f}, 200,000: {:.0f}",
          {at(10), at(100), at(1000), at(200'000)}};
}

evidence list_is_as_array(int ranks) {
  const quantity list = time("ticket_list.published.heap.mpsc", ranks);
  const quantity array = time("ticket.published.mpsc", ranks);
  return {are_alike(list, array, alike),
          fmt::format("{{:.0f}} to {{:.0f}} ns with {}", ranks - 1),
          {list, array}};
}

/// With a ticket lock, a list with a free list and without one, at any number of senders.
evidence recycled_is_as_heap(int ranks) {
  const quantity recycled = time("ticket_list.published.mpsc", ranks);
  const quantity heap = time("ticket_list.published.heap.mpsc", ranks);
  return {are_alike(recycled, heap, alike), fmt::format("{{:.2f}} with {}", ranks - 1), {recycled / heap}};
}

std::vector<claim> claims() {
  constexpr const char* times_the_time = "times the time: ";
  const auto are_alike_here = [](const quantity& one, const quantity& other) {
    return are_alike(one, other, alike);
  };
  return {
      {.analysis = mpsc,
       .text = "5.1, 5.6: the ticket lock is by far the worst, with most senders",
       .of = for_each_shape(ticket_is_slower),
       .counts = counting::last},
      faster("5.1, 5.4: test-and-set is faster than the mutex", "spin.published.mpsc", "mutex.mpsc"),
      faster("5.1: parallel access is faster than the mutex", "flagged.published.mpsc", "mutex.mpsc"),
      faster("5.1: the list without locks is faster than the mutex", "lock_free_list.mpsc", "mutex.mpsc"),
      {.analysis = mpsc,
       .text = "5.2: a channel for one receiver gains less than 0.04 s of 100,000 messages",
       .of = gains_of_one_receiver(0.04),
       .counts = counting::greatest},
      faster("5.3: the mutex is faster than the pthread spin lock, above eleven senders", "mutex.mpsc",
             "pthread_spin.mpsc", {16, 32, 64}),
      faster("5.4: test-and-set is faster than the pthread spin lock, from five senders",
             "spin.published.mpsc", "pthread_spin.mpsc", {8, 10, 16, 32, 64}),
      {.analysis = unbuffered,
       .text = "5.5: a buffer of 10 is much better than none, with any number of senders",
       .of = for_each_shape(buffer_pays),
       .before = times_the_time},
      {.analysis = capacities,
       .text = "5.5: more than 10 brings nothing until the buffer has room for all messages",
       .of = {ten_is_enough()}},
      {.analysis = mpsc,
       .text = "5.7: with a ticket lock a list is as fast as an array",
       .of = for_each_shape(list_is_as_array),
       .counts = counting::last},
      {.analysis = lists,
       .text = "5.8: with a ticket lock recycled nodes are as fast as those of the heap",
       .of = lists_of("ticket_list.published.mpsc", "ticket_list.published.heap.mpsc",
                      {10'000, 100'000, 400'000, 800'000, 1'000'000}, are_alike_here),
       .before = times_the_time},
      {.analysis = lists,
       .text = "5.8: without locks recycled nodes are as fast as those of the heap, up to 400,000 messages",
       .of = lists_of("lock_free_list.mpsc", "lock_free_list.heap.mpsc", {10'000, 100'000, 400'000},
                      are_alike_here),
       .before = times_the_time},
      {.analysis = lists,
       .text = "5.8: without locks recycled nodes are faster from 800,000 messages on",
       .of = lists_of("lock_free_list.mpsc", "lock_free_list.heap.mpsc", {800'000, 1'000'000},
                      [](const quantity& with, const quantity& without) {
                        return std::vector<bound>{with * alike < without};
                      }),
       .before = times_the_time},
      {.analysis = free_lists,
       .text = "5.8: with a ticket lock recycled nodes are as fast as those of the heap, with any senders",
       .of = for_each_shape(recycled_is_as_heap),
       .before = times_the_time},
  };
}

}  // namespace
}  // namespace laubert

paper laubert2021() {
  using namespace laubert;
  const std::vector<shape> ten{{.ranks = ten_senders}};
  return {.name = "laubert2021",
          .title = "H. Laubert, 2021: channels between threads, its measurements on this machine",
          .analyses = {{mpsc,
                        "Figures 5.1, 5.2, 5.4, 5.5, 5.9: one receives",
                        "channel",
                        {"mutex.mpsc", "pthread_spin.mpsc", "spin.published.mpsc", "ticket.published.mpsc",
                         "ticket_list.published.mpsc", "ticket_list.published.heap.mpsc",
                         "flagged.published.mpsc", "flagged.mpsc", "lock_free_list.mpsc", "ring"},
                        {}},
                       {mpmc,
                        "Figure 5.3: the same with channels for several that receive",
                        "channel",
                        {"mutex", "pthread_spin", "spin.published", "ticket.published", "flagged",
                         "lock_free_list"},
                        {}},
                       {unbuffered,
                        "Figure 5.6: with and without a buffer",
                        "channel",
                        {"flagged.published.mpsc"},
                        {{"capacity", {"0", "10"}}}},
                       {sizes,
                        "Figure 5.7: the size of messages, with and without a buffer",
                        "channel",
                        {"ticket.published.mpsc"},
                        {{"capacity", {"0", "10"}}, {"size", {"4", "16", "64", "256", "1024", "4096"}}},
                        ten},
                       {capacities,
                        "Figure 5.8: the size of the buffer",
                        "channel",
                        {"flagged.published.mpsc"},
                        {{"capacity", {"10", "100", "1000", "10000", "100000", "200000"}}},
                        ten},
                       {lists,
                        "Figure 5.10: nodes of a list, recycled and of the heap",
                        "channel",
                        {"ticket_list.published.mpsc", "ticket_list.published.heap.mpsc",
                         "lock_free_list.mpsc", "lock_free_list.heap.mpsc"},
                        {{"messages", {"10000", "100000", "400000", "800000", "1000000"}}},
                        ten},
                       {free_lists,
                        "Figure 5.11: nodes of a list, recycled and of the heap, by senders",
                        "channel",
                        {"ticket_list.published.mpsc", "ticket_list.published.heap.mpsc",
                         "lock_free_list.mpsc", "lock_free_list.heap.mpsc"},
                        {}}},
          .machine = "",
          .most_ranks = most,
          .most_ranks_quick = 3,
          .ranks_text = "one receiver and 1, 2, 4 or more senders",
          .document = "docs/channels.md",
          .repetitions = 5,
          .values = {{"wait", {"retry"}}},
          .quick_values = {{"messages", {"2000"}}},
          .procedure = "1 to 64 senders, one by one",
          .shapes = by_senders,
          .full_shapes = by_all_senders,
          .claims = claims};
}

}  // namespace nearfar::command
