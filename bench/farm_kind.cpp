// Ways of sharing out tasks, as a kind of objects.

#include <string>
#include <vector>

#include "bench/object.hpp"

namespace nearfar::bench {

namespace {

object way(const char* name, const char* summary, const char* given, const char* taken) {
  return {.name = name,
          .summary = summary,
          .paper = "common practice",
          .facts = {{"given away", given}, {"taken", taken}},
          .parameters = {},
          .worlds = {world_kind::mpi, world_kind::threads, world_kind::engine}};
}

}  // namespace

const object_kind& farms() {
  static const object_kind all{
      .name = "farm",
      .plural = "farms",
      .title = "task farm",
      .introduction =
          "Ways of sharing out uneven tasks that beget others to all ranks, until nothing is left.",
      .remarks =
          "Given away, taken: what a rank does to give away tasks that it has too many of, and to take one.",
      .parameters = {},
      .refuse = [](const point&) { return std::string(); },
      .objects = {
          way("queue", "a ticket_queue of tasks", "3 far operations and 1 put each", "2 far operations"),
          way("counter", "a counter of whole trees at rank 0", "never", "1 far operation a tree"),
          way("master", "rank 0 has all tasks and does none", "a message", "two messages")}};
  return all;
}

}  // namespace nearfar::bench
