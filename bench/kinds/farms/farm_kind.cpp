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
          "Ways of sharing uneven tasks, which create subtasks, among all ranks until none is left.",
      .remarks =
          "'Given away' and 'taken' name the operations by which a rank hands out surplus tasks and takes a "
          "task.",
      .parameters = {},
      .refuse = [](const point&) { return std::string(); },
      .objects = {
          way("queue", "a ticket_queue of tasks", "3 far operations and 1 put each", "2 far operations"),
          way("counter", "a counter of whole trees at rank 0", "never", "1 far operation a tree"),
          way("master", "rank 0 hands out all tasks and does none", "a message", "two messages")}};
  return all;
}

}  // namespace nearfar::bench
