/// \file A `ticket_queue` with all cells at one rank, made by the parameters of all queues.
#pragma once

#include <cstddef>

#include "nearfar/core/world.hpp"
#include "nearfar/queue/ticket_queue.hpp"

namespace nearfar::testing {

template <world W, far_object_value T>
class ticket_queue_at_home : public ticket_queue<W, T> {
 public:
  struct parameters {
    std::size_t capacity = 0;
    std::size_t ring = 0;
  };

  ticket_queue_at_home(W& w, const parameters& of)
      : ticket_queue<W, T>(w, {.capacity = of.capacity,
                               .home = w.size() - 1,
                               .ring = of.ring,
                               .cells = ticket_cells::at_home}) {}
};

}  // namespace nearfar::testing
