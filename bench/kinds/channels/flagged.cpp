#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::bench {

namespace {

channel_entry flagged_entry(const char* name, const char* summary, const char* paper,
                            const char* unsound = "") {
  return {.name = name,
          .summary = summary,
          .paper = paper,
          .fairness = "none",
          .bypass = {},
          .cost = "4 to 5",
          .parameters = {},
          .unsound = unsound};
}

}  // namespace

void add_flagged_channels(channel_catalogue& to) {
  using two = flagged_by<flags::twofold>;
  using one = flagged_by<flags::single>;
  using published = flagged_by<flags::binary>;
  constexpr const char* paper = "Laubert 2021, 3.5: PA";
  add_channel<two::mpmc, mailbox>(
      to, flagged_entry("flagged", "a ring, two flags for each place, each with whose turn it is", paper));
  add_channel<two::mpsc, mailbox>(to, flagged_entry("flagged.mpsc", "the same for one receiver", paper));
  add_channel<one::mpmc, mailbox>(
      to, flagged_entry("flagged.single", "one flag of several states", "Laubert 2021, 6"));
  add_channel<published::mpmc, two_flag_mailbox>(
      to, flagged_entry("flagged.published", "the flags clear or set", paper,
                        "of two threads that wait for a place the later may enter first: not FIFO"));
  add_channel<published::mpsc, two_flag_mailbox>(
      to, flagged_entry("flagged.published.mpsc", "the same for one receiver", paper));
  add_channel<headless_ring, mailbox>(to, {.name = "headless",
                                           .summary = "a ring of places with states, without head and tail",
                                           .paper = "Laubert 2021, 6",
                                           .fairness = "none",
                                           .bypass = {},
                                           .cost = "2 and more",
                                           .parameters = {}});
}

}  // namespace nearfar::bench
