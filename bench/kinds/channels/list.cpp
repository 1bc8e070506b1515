#include <fmt/format.h>

#include <string>

#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::bench {

namespace {

channel_entry list_entry(std::string name, std::string summary, const char* paper, const char* fairness,
                         const char* cost) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .paper = paper,
          .fairness = fairness,
          .bypass = {},
          .cost = cost,
          .parameters = {}};
}

/// Lists with nodes of the three kinds, for several receivers and for one.
template <template <typename> typename Lock>
void add_lists(channel_catalogue& to, const char* name, const char* lock, const char* paper,
               const char* fairness) {
  using channel_lock::none;
  using recycled = list_of<Lock, list_nodes::recycled>;
  using heap = list_of<Lock, list_nodes::heap>;
  using fixed = list_of<Lock, list_nodes::fixed>;
  constexpr auto process = channel_reach::process;
  constexpr const char* cost = "4 to 6";
  const auto in_words = [&](const char* nodes) {
    return fmt::format("a list of {} nodes, {} for each end", nodes, lock);
  };
  add_channel<recycled::template mpmc, ring_of<Lock>::template mailbox, process>(
      to, list_entry(name, in_words("recycled"), paper, fairness, cost));
  add_channel<recycled::template mpsc, ring_of<Lock>::template mailbox, process>(
      to, list_entry(fmt::format("{}.mpsc", name), "the same for one receiver", paper, fairness, cost));
  add_channel<heap::template mpmc, ring_of<Lock>::template mailbox, process>(
      to,
      list_entry(fmt::format("{}.heap", name), "the same, of nodes from the heap", paper, fairness, cost));
  add_channel<heap::template mpsc, ring_of<Lock>::template mailbox, process>(
      to, list_entry(fmt::format("{}.heap.mpsc", name), "the same for one receiver", paper, fairness, cost));
  add_channel<fixed::template mpmc, ring_of<Lock>::template mailbox>(
      to, list_entry(fmt::format("{}.fixed", name), "the same, of as many nodes as the capacity", paper,
                     fairness, cost));
}

/// The lists that the figures of the thesis show.
void add_published_lists(channel_catalogue& to) {
  using recycled = list_of<channel_lock::published_ticket, list_nodes::recycled>;
  using heap = list_of<channel_lock::published_ticket, list_nodes::heap>;
  using box = ring_of<channel_lock::published_ticket>;
  constexpr auto process = channel_reach::process;
  const auto listed = [](const char* name, const char* summary) {
    return list_entry(name, summary, "Laubert 2021, 3.4.1: TL LL", "first come, first served", "4 to 6");
  };
  add_channel<recycled::mpsc, box::mailbox, process>(
      to, listed("ticket_list.published.mpsc", "for one receiver, with a lock whose waiters yield"));
  add_channel<heap::mpsc, box::mailbox, process>(
      to, listed("ticket_list.published.heap.mpsc", "the same, of nodes from the heap"));
}

}  // namespace

void add_list_channels(channel_catalogue& to) {
  add_lists<channel_lock::ticket>(to, "ticket_list", "a ticket lock", "Laubert 2021, 3.4.1: TL LL",
                                  "first come, first served");
  add_published_lists(to);
  add_lists<channel_lock::spin>(to, "spin_list", "a test-and-set lock", "Laubert 2021, 6", "none");
  constexpr const char* lock_free = "Laubert 2021, 3.6: LF LL; Michael, Scott 1996";
  constexpr const char* cost = "5";
  add_channel<lock_free_list_of<list_nodes::recycled>::mpmc, mailbox, channel_reach::process>(
      to, list_entry("lock_free_list", "a list of recycled nodes without locks", lock_free, "none", cost));
  add_channel<lock_free_list_of<list_nodes::recycled>::mpsc, mailbox, channel_reach::process>(
      to, list_entry("lock_free_list.mpsc", "the same for one receiver, which stores the head", lock_free,
                     "one receiver", cost));
  add_channel<lock_free_list_of<list_nodes::hazard>::mpmc, mailbox, channel_reach::process>(
      to, list_entry("lock_free_list.heap", "the same, of nodes from the heap and hazard pointers", lock_free,
                     "none", cost));
  add_channel<lock_free_list_of<list_nodes::hazard>::mpsc, mailbox, channel_reach::process>(
      to,
      list_entry("lock_free_list.heap.mpsc", "the same for one receiver", lock_free, "one receiver", cost));
  add_channel<lock_free_list_of<list_nodes::fixed>::mpmc, mailbox>(
      to, list_entry("lock_free_list.fixed", "the same, of as many nodes as the capacity", lock_free, "none",
                     cost));
  add_channel<lock_free_list_of<list_nodes::fixed>::mpsc, mailbox>(
      to,
      list_entry("lock_free_list.fixed.mpsc", "the same for one receiver", lock_free, "one receiver", cost));
  constexpr const char* segments = "crossbeam-channel";
  add_channel<segments_of<list_nodes::recycled>::mpmc, mailbox, channel_reach::process>(
      to, list_entry("segments", "a list of recycled segments, each of 31 messages", segments, "none",
                     "2 and less"));
  add_channel<segments_of<list_nodes::recycled>::mpsc, mailbox, channel_reach::process>(
      to, list_entry("segments.mpsc", "the same for one receiver", segments, "one receiver", "2 and less"));
  add_channel<segments_of<list_nodes::heap>::mpmc, mailbox, channel_reach::process>(
      to, list_entry("segments.heap", "the same, of segments from the heap", segments, "none", "2 and less"));
  add_channel<segments_of<list_nodes::fixed>::mpmc, mailbox>(
      to, list_entry("segments.fixed", "the same, of as many segments as the capacity needs", segments,
                     "none", "2 and less"));
}

}  // namespace nearfar::bench
