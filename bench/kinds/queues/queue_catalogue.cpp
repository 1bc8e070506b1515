// Distributed queues, and as a kind of objects.

#include "bench/kinds/queues/queue_catalogue.hpp"

#include "bench/object.hpp"

namespace nearfar::bench {

const queue_catalogue& queue_catalogue::instance() {
  static const queue_catalogue all;
  return all;
}

queue_catalogue::queue_catalogue() {
  add_ticket_queue(*this);
  add_spsc_queue(*this);
  add_linked_queues(*this);
  add_central_queue(*this);
}

namespace {

object_kind make_queues() {
  object_kind result{
      .name = "queue",
      .plural = "queues",
      .title = "queue",
      .introduction = "Bounded FIFO queues, distributed over all ranks.",
      .remarks =
          "Far operations: those of a push; those of a pop that finds an element. The lock's own are extra.",
      .parameters = {},
      .refuse = [](const point&) { return std::string(); },
      .objects = {}};
  for (const queue_entry& each : queue_catalogue::instance().entries())
    result.objects.push_back(each.listed());
  return result;
}

}  // namespace

const object_kind& queues() {
  static const object_kind all = make_queues();
  return all;
}

}  // namespace nearfar::bench
