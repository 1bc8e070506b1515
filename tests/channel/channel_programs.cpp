#include "tests/channel/channel_programs.hpp"

#include <algorithm>

#include "nearfar/checker/closable_queue.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::checker::testing {
namespace {

/// A mailbox that does not tell full exactly may always say it.
[[nodiscard]] closable_queue specification_of(const strategy& of, std::size_t capacity) {
  using fullness = closable_queue::fullness;
  return closable_queue(capacity, of.places != 0 && !of.tells_full ? fullness::said_early : fullness::exact);
}

}  // namespace

bool may_do(const strategy& of, const plan& of_ranks) {
  const auto ranks_that = [&](bool sends) {
    return std::count_if(of_ranks.begin(), of_ranks.end(), [&](const auto& mine) {
      return std::any_of(mine.begin(), mine.end(),
                         [&](word one) { return one < shut && (one != get) == sends; });
    });
  };
  return (!of.has_one_sender || ranks_that(true) <= 1) && (!of.has_one_receiver || ranks_that(false) <= 1);
}

program attempts(const strategy& of, std::size_t capacity, const plan& of_ranks) {
  program result = on_a_node(static_cast<int>(of_ranks.size()), [=](world& w, monitor& watch) {
    const auto made = of.make(w, capacity);
    any_channel& channel = *made;
    std::int64_t balance = 0;
    const auto fenced = [&](const auto& call) {
      if (of.is_late) w.fence(std::memory_order_seq_cst);
      const auto brought = call();
      if (of.is_late) w.fence(std::memory_order_seq_cst);
      return brought;
    };
    for (const word one : of_ranks[static_cast<std::size_t>(w.rank())]) {
      if (one == get) {
        watch.call(0, closable_queue::try_pop, {});
        const auto value = fenced([&] { return channel.try_receive(); });
        watch.returned(value ? closable_queue::result_of_pop(*value)
                             : closable_queue::result_of(value.status()));
        balance -= value ? 1 : 0;
      } else {
        watch.call(0, closable_queue::try_push, {one});
        const queue_status status = fenced([&] { return channel.try_send(one); });
        watch.returned(closable_queue::result_of(status));
        balance += status == queue_status::success ? 1 : 0;
      }
    }
    balance = w.sum_over_ranks({balance})[0];
    if (static_cast<std::int64_t>(channel.peek()) != balance) throw nearfar::error("counted wrongly");
    w.barrier();
  });
  result.judge = linearizable_by(specification_of(of, capacity));
  return result;
}

program closings(const strategy& of, std::size_t capacity, const plan& of_ranks) {
  program result = on_a_node(static_cast<int>(of_ranks.size()), [=](world& w, monitor& watch) {
    node_memory<world> memory(w);
    const auto made = of.make_buffer(memory, capacity);
    any_buffer& buffer = *made;
    std::int64_t balance = 0;
    const auto noted = [&](int method, value_list arguments, const auto& call) {
      watch.call(0, method, arguments);
      memory.fence(std::memory_order_seq_cst);
      const value_list brought = call();
      memory.fence(std::memory_order_seq_cst);
      watch.returned(brought);
    };
    for (word one : of_ranks[static_cast<std::size_t>(w.rank())]) {
      if (one == shut) {
        noted(closable_queue::close, {}, [&] { return value_list{buffer.close() ? word{1} : word{0}}; });
      } else if (one == open) {
        noted(closable_queue::reopen, {}, [&] { return value_list{buffer.reopen() ? word{1} : word{0}}; });
      } else if (one == get) {
        noted(closable_queue::try_pop, {}, [&] {
          const auto value = buffer.take();
          balance -= value ? 1 : 0;
          return value ? closable_queue::result_of_pop(*value) : closable_queue::result_of(value.status());
        });
      } else {
        noted(closable_queue::try_push, {one}, [&] {
          const queue_status status = buffer.put(one);
          balance += status == queue_status::success ? 1 : 0;
          return closable_queue::result_of(status);
        });
      }
    }
    balance = w.sum_over_ranks({balance})[0];
    if (static_cast<std::int64_t>(buffer.count()) != balance) throw nearfar::error("counted wrongly");
    w.barrier();
  });
  result.judge = linearizable_by(specification_of(of, capacity));
  return result;
}

program streams(const strategy& of, std::size_t capacity, int senders, int receivers, word count,
                bool closes) {
  return on_a_node(senders + receivers, [=](world& w, monitor&) {
    const auto made = of.make(w, capacity);
    any_channel& channel = *made;
    std::vector<word> least(static_cast<std::size_t>(senders), 1);
    std::int64_t got = 0;
    const auto note = [&](word message) {
      const auto from = static_cast<std::size_t>(message / 16);
      if (from >= least.size() || message % 16 < least[from]) throw nearfar::error("doubled or out of order");
      least[from] = message % 16 + 1;
      ++got;
    };
    if (w.rank() < senders) {
      for (word i = 1; i <= count; ++i)
        if (channel.send(static_cast<word>(w.rank()) * 16 + i) != queue_status::success)
          throw nearfar::error("nobody closes yet");
      if (closes && senders == 1) channel.close();
    } else if (closes) {
      for (const word message : channel) note(message);
    } else {
      const word all = count * static_cast<word>(senders);
      const auto mine = static_cast<word>(w.rank() - senders);
      const auto shares = static_cast<word>(receivers);
      for (word i = mine; i < all; i += shares) note(*channel.receive());
    }
    if (w.sum_over_ranks({got})[0] != static_cast<std::int64_t>(count) * senders)
      throw nearfar::error("lost");
    if ((!of.has_one_receiver || w.rank() == w.size() - 1) && channel.try_receive().has_value())
      throw nearfar::error("doubled");
    w.barrier();
  });
}

program range_streams(const strategy& of, std::size_t capacity, int senders, int receivers, word count) {
  return on_a_node(senders + receivers, [=](world& w, monitor&) {
    const auto made = of.make(w, capacity);
    any_channel& channel = *made;
    std::array<word, 4> least{1, 1, 1, 1};
    std::array<word, 2> some{};
    std::int64_t got = 0;
    if (w.rank() < senders) {
      std::vector<word> messages;
      for (word i = 1; i <= count; ++i) messages.push_back(static_cast<word>(w.rank()) * 16 + i);
      const queue_range_result sent = channel.send_range(messages);
      if (sent.count != count || sent.status != queue_status::success)
        throw nearfar::error("nobody closes yet");
      if (senders == 1) channel.close();
    } else {
      const word all = count * static_cast<word>(senders);
      const auto shares = static_cast<word>(receivers);
      const auto mine = static_cast<word>(w.rank() - senders);
      const word share = senders == 1 ? all : (all - mine + shares - 1) / shares;
      while (static_cast<word>(got) < share) {
        const std::size_t most = std::min<word>(some.size(), share - static_cast<word>(got));
        const queue_range_result received = channel.receive_range(std::span(some).first(most));
        if (received.status == queue_status::closed) break;
        for (std::size_t i = 0; i < received.count; ++i, ++got) {
          const auto from = static_cast<std::size_t>(some[i] / 16);
          if (from >= least.size() || some[i] % 16 < least[from])
            throw nearfar::error("doubled or out of order");
          least[from] = some[i] % 16 + 1;
        }
      }
    }
    if (w.sum_over_ranks({got})[0] != static_cast<std::int64_t>(count) * senders)
      throw nearfar::error("lost");
    w.barrier();
  });
}

program closing(const strategy& of) {
  return on_a_node(3, [=](world& w, monitor&) {
    const auto made = of.make(w, 1);
    any_channel& channel = *made;
    std::int64_t balance = 0;
    if (w.rank() == 0) {
      for (word i = 1; i <= 2; ++i) balance += channel.send(i) == queue_status::success ? 1 : 0;
    } else if (w.rank() == 1) {
      for ([[maybe_unused]] const word message : channel) --balance;
    } else {
      channel.close();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    if ((!of.has_one_receiver || w.rank() == 1) && channel.try_receive().status() != queue_status::closed)
      throw nearfar::error("it is closed and empty");
    w.barrier();
  });
}

program closing_twice(const strategy& of) {
  return on_a_node(3, [=](world& w, monitor&) {
    const auto made = of.make(w, 1);
    any_channel& channel = *made;
    std::int64_t sent = 0;
    std::int64_t got = 0;
    if (w.rank() == 0) {
      sent = channel.send(1) == queue_status::success ? 1 : 0;
    } else if (w.rank() == 1) {
      got = channel.receive().has_value() ? 1 : 0;
    } else {
      channel.close();
      channel.reopen();
      channel.close();
    }
    const auto sums = w.sum_over_ranks({sent, got});
    if (sums[1] > sums[0]) throw nearfar::error("received what nobody sent");
    if (w.rank() == 1) {
      if (sums[0] > sums[1] && !channel.try_receive().has_value()) throw nearfar::error("lost");
      if (channel.try_receive().status() != queue_status::closed)
        throw nearfar::error("it is closed and empty");
    }
    w.barrier();
  });
}

program range_closing(const strategy& of, std::size_t capacity) {
  return on_a_node(3, [=](world& w, monitor&) {
    const auto made = of.make(w, capacity);
    any_channel& channel = *made;
    std::int64_t balance = 0;
    std::array<word, 2> some{1, 2};
    if (w.rank() == 0) {
      balance += static_cast<std::int64_t>(channel.send_range(some).count);
    } else if (w.rank() == 1) {
      while (const std::size_t count = channel.receive_range(some).count)
        balance -= static_cast<std::int64_t>(count);
    } else {
      channel.close();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    w.barrier();
  });
}

}  // namespace nearfar::checker::testing
