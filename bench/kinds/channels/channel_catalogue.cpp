// Strategies of channels, and as a kind of objects.

#include "bench/kinds/channels/channel_catalogue.hpp"

#include "bench/object.hpp"

namespace nearfar::bench {

const channel_catalogue& channel_catalogue::instance() {
  static const channel_catalogue all;
  return all;
}

channel_catalogue::channel_catalogue() {
  add_ring_channels(*this);
  add_locked_channels(*this);
  add_flagged_channels(*this);
  add_list_channels(*this);
  add_rendezvous_channel(*this);
}

namespace {

object_kind make_channels() {
  object_kind result{.name = "channel",
                     .plural = "channels",
                     .title = "channel",
                     .introduction = "Channels between the threads of a process or the ranks of a node.",
                     .remarks =
                         "'Lines' counts the cache lines that move for a message from one sender to one "
                         "receiver; of the message itself\nonly the first line counts.",
                     .parameters = {},
                     .refuse = [](const point&) { return std::string(); },
                     .objects = {}};
  for (const channel_entry& each : channel_catalogue::instance().entries()) {
    object listed = each.listed();
    for (auto& [name, value] : listed.facts)
      if (name == "far ops") name = "lines";
    result.objects.push_back(std::move(listed));
  }
  return result;
}

}  // namespace

const object_kind& channels() {
  static const object_kind all = make_channels();
  return all;
}

}  // namespace nearfar::bench
