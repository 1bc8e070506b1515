#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::bench {

void add_rendezvous_channel(channel_catalogue& to) {
  add_channel<rendezvous, rendezvous>(to, {.name = "rendezvous",
                                           .summary = "no buffer: sender and receiver meet",
                                           .paper = "Hoare 1978; Scherer, Lea, Scott 2006",
                                           .fairness = "first come, first served",
                                           .bypass = {},
                                           .cost = "4",
                                           .parameters = {}});
}

}  // namespace nearfar::bench
