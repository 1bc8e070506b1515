#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::bench {

void add_ring_channels(channel_catalogue& to) {
  add_channel<ring_buffer, mailbox>(to, {.name = "ring",
                                         .summary = "a ring whose places say whose turn it is",
                                         .paper = "Vyukov; crossbeam-channel",
                                         .fairness = "none",
                                         .bypass = {},
                                         .cost = "2",
                                         .parameters = {}});
  add_channel<spsc_ring, mailbox>(to, {.name = "spsc_ring",
                                       .summary = "from one to one, each keeps what it has seen of the other",
                                       .paper = "Lamport 1983; Lee, Bu, Chandranmenon 2010",
                                       .fairness = "one sender, one receiver",
                                       .bypass = {},
                                       .cost = "1 to 3",
                                       .parameters = {}});
}

}  // namespace nearfar::bench
