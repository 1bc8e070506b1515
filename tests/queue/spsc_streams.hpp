/// \file
/// Programs of a few values that go from one rank to one other, for the model checker.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/queue/spsc_queue.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::checker::testing {

using engine::world;
using word = std::uint64_t;
using spsc_faults = nearfar::detail::spsc_queue_faults;

/// The operations of the two ranks, and their places.
struct stream {
  std::size_t count = 2;    ///< values
  std::size_t at_once = 1;  ///< by one push
  std::size_t capacity = 2;
  bool pops_wait = true;  ///< else the consumer tries `count` times, and again after all
  bool closes = false;    ///< and the consumer pops until it learns that
  std::string topology = "node:2";
};

/// The value fills both of its far words, so that it can be torn.
[[nodiscard]] constexpr word value_of(word number) { return number << 32U | number; }

/// Rank 0 pushes numbers from 1 on. They must come to rank 1 in this order, each once.
template <spsc_faults Faults>
[[nodiscard]] program stream_program(const stream& what) {
  const auto body = [what](world& w, monitor&) {
    spsc_queue<world, word, Faults> queue(w, {.capacity = what.capacity, .producer = 0, .consumer = 1});
    word next = 1;
    const auto note = [&](const popped<word>& value) {
      if (value && *value != value_of(next++)) throw nearfar::error("lost, doubled, torn or out of order");
    };
    if (w.rank() == 0) {
      std::vector<word> values;
      for (word i = 1; i <= what.count; ++i) values.push_back(value_of(i));
      for (std::size_t i = 0; i < what.count; i += what.at_once) {
        const std::span<const word> some =
            std::span(values).subspan(i).first(std::min(what.at_once, what.count - i));
        if (queue.push_range(some).count != some.size()) throw nearfar::error("not all were pushed");
      }
      if (what.closes) queue.close();
      if (what.closes && queue.try_push(9) != queue_status::closed) throw nearfar::error("it is closed");
    } else if (what.closes) {
      popped<word> value = queue.pop();
      for (; value; value = queue.pop()) note(value);
      if (value.status() != queue_status::closed || queue.try_pop().status() != queue_status::closed)
        throw nearfar::error("it is closed");
    } else {
      for (std::size_t i = 0; i < what.count; ++i) note(what.pops_wait ? queue.pop() : queue.try_pop());
    }
    w.barrier();
    if (w.rank() == 1) {
      std::vector<word> rest(what.count);
      rest.resize(queue.try_pop_range(rest).count);
      for (const word value : rest) note(value);
      if (next != what.count + 1) throw nearfar::error("lost");
    }
    w.barrier();
  };
  return {.where = topology_spec::parse(what.topology).place(2), .body = body};
}

/// Both ranks try, wait until a deadline if that fails, and try again, twice: each wait ends in both ways.
[[nodiscard]] inline program timed_stream_program(const std::string& topology) {
  const auto body = [](world& w, monitor& watch) {
    spsc_queue<world, word> queue(w, {.capacity = 1, .producer = 0, .consumer = 1});
    const std::chrono::nanoseconds soon = w.now() + std::chrono::nanoseconds(1);
    word pushed = 0;
    word popped = 0;
    for (int i = 0; i < 2; ++i) {
      if (w.rank() == 0) {
        queue_status status = queue.put(value_of(pushed + 1));
        if (status == queue_status::full) {
          const bool has_come = queue.await_room(soon);
          watch.reach(has_come ? "room came" : "room did not come");
          if (has_come) status = queue.put(value_of(pushed + 1));
          if (has_come && status != queue_status::success) throw nearfar::error("there is room");
        }
        pushed += status == queue_status::success ? 1 : 0;
      } else {
        auto value = queue.take();
        if (value.status() == queue_status::empty) {
          const bool has_come = queue.await_element(soon);
          watch.reach(has_come ? "an element came" : "no element came");
          if (has_come) value = queue.take();
        }
        if (value && *value != value_of(++popped))
          throw nearfar::error("lost, doubled, torn or out of order");
      }
    }
    w.barrier();
    while (w.rank() == 1 && queue.try_pop()) ++popped;
    if (w.sum_over_ranks({static_cast<std::int64_t>(pushed - popped)})[0] != 0)
      throw nearfar::error("lost or doubled");
    w.barrier();
  };
  return {.where = topology_spec::parse(topology).place(2),
          .body = body,
          .demands = {"room came", "room did not come", "an element came", "no element came"}};
}

}  // namespace nearfar::checker::testing
