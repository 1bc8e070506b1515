/// \file Programs by which the model checker checks a rendezvous: ranks that meet, or do not.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "nearfar/core/error.hpp"
#include "tests/channel/channel_programs.hpp"

namespace nearfar::checker::testing {

/// Knowledge of other ranks that the ranks of a program have beside the channel.
struct arrivals {
  world::near<word> of{};
};

/// Each message is received once, in order. A sender goes on only when a receiver has come for the message.
[[nodiscard]] inline program meetings(const strategy& of, int senders, word count) {
  return on_a_node(senders + 1, [=](world& w, monitor&) {
    world::near_array<arrivals> came(w, 1);
    const auto made = of.make(w, 0);
    any_channel& channel = *made;
    auto& arrived = came.at({0, 0}).of;
    if (w.rank() < senders) {
      for (word i = 1; i <= count; ++i) {
        if (channel.send(i) != queue_status::success) throw nearfar::error("nobody closes");
        if (arrived.load(std::memory_order_relaxed) < i) throw nearfar::error("went on alone");
      }
    } else {
      for (word i = 1; i <= count * static_cast<word>(senders); ++i) {
        arrived.store(i, std::memory_order_relaxed);
        if (!channel.receive()) throw nearfar::error("nobody closes");
      }
    }
    w.barrier();
    if (channel.try_receive().status() != queue_status::empty) throw nearfar::error("doubled");
    w.barrier();
  });
}

/// Every rank may give up at any time, and the last rank does not wait at all. The messages received are
/// those sent, and no others.
[[nodiscard]] inline program impatience(const strategy& of, int senders, int receivers) {
  return on_a_node(senders + receivers + 1, [=](world& w, monitor&) {
    const auto made = of.make(w, 0);
    any_channel& channel = *made;
    const std::chrono::nanoseconds soon = w.now() + std::chrono::nanoseconds(1);
    std::int64_t balance = 0;
    const word mine = 1 + static_cast<word>(w.rank());
    if (w.rank() < senders) {
      balance = channel.send_until(mine, soon) == queue_status::success ? static_cast<std::int64_t>(mine) : 0;
    } else if (w.rank() < senders + receivers) {
      if (const auto got = channel.receive_until(soon)) balance = -static_cast<std::int64_t>(*got);
    } else {
      if (channel.try_send(mine) == queue_status::success) balance = static_cast<std::int64_t>(mine);
      if (const auto got = channel.try_receive()) balance -= static_cast<std::int64_t>(*got);
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost, doubled or changed");
    w.barrier();
  });
}

/// One rank closes the channel while the others wait, and opens it again.
[[nodiscard]] inline program parting(const strategy& of) {
  return on_a_node(3, [=](world& w, monitor&) {
    const auto made = of.make(w, 0);
    any_channel& channel = *made;
    std::int64_t balance = 0;
    if (w.rank() == 0) {
      for (word i = 1; i <= 2; ++i) balance += channel.send(i) == queue_status::success ? 1 : 0;
    } else if (w.rank() == 1) {
      for (int i = 0; i < 2; ++i) balance -= channel.receive() ? 1 : 0;
    } else {
      channel.close();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    w.barrier();
    if (w.rank() == 2) channel.reopen();
    w.barrier();
    if (w.rank() == 0 && channel.send(1) != queue_status::success) throw nearfar::error("it is open");
    if (w.rank() == 1 && !channel.receive()) throw nearfar::error("it is open");
    w.barrier();
  });
}

}  // namespace nearfar::checker::testing
