#include <fmt/format.h>

#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::bench {

namespace {

/// A ring with this lock at each end, the same for one receiver, and a single place under one lock.
template <template <typename> typename Lock>
void add_rings(channel_catalogue& to, const char* name, const char* lock, const char* paper,
               const char* fairness) {
  using rings = ring_of<Lock>;
  add_channel<rings::template mpmc, rings::template mailbox>(
      to, {.name = name,
           .summary = fmt::format("a ring with {} for each end", lock),
           .paper = paper,
           .fairness = fairness,
           .bypass = {},
           .cost = "3 to 5",
           .parameters = {}});
  add_channel<rings::template mpsc, rings::template mailbox>(
      to, {.name = fmt::format("{}.mpsc", name),
           .summary = "the same for one receiver, which takes no lock",
           .paper = paper,
           .fairness = fairness,
           .bypass = {},
           .cost = "2 to 4",
           .parameters = {}});
}

}  // namespace

void add_locked_channels(channel_catalogue& to) {
  add_rings<channel_lock::pthread_mutex>(to, "mutex", "a pthread mutex", "Laubert 2021, 3.1: PT ML", "none");
  add_rings<channel_lock::pthread_spin>(to, "pthread_spin", "a pthread spin lock", "Laubert 2021, 3.2: PT SL",
                                        "none");
  add_rings<channel_lock::spin>(to, "spin", "a test-and-set lock", "Laubert 2021, 3.3: SL", "none");
  add_rings<channel_lock::published_spin>(to, "spin.published", "a lock that swaps in each turn",
                                          "Laubert 2021, 3.3: SL", "none");
  add_rings<channel_lock::ticket>(to, "ticket", "a ticket lock", "Laubert 2021, 3.4: TL",
                                  "first come, first served");
  add_rings<channel_lock::published_ticket>(to, "ticket.published", "a ticket lock whose waiters yield",
                                            "Laubert 2021, 3.4: TL", "first come, first served");
  add_rings<channel_lock::partitioned_ticket>(to, "partitioned_ticket", "a ticket lock of several lines",
                                              "Laubert 2021, 6; Dice 2011", "first come, first served");
  add_rings<channel_lock::parking>(to, "parking", "a mutex of one word", "Drepper 2011", "none");
}

}  // namespace nearfar::bench
