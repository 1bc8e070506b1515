/// \file
/// What the model checker is given to check channels: a few messages of two to four ranks of a node.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/channel/byte_channel.hpp"
#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/instrumented.hpp"

namespace nearfar::checker::testing {

using engine::world;
using word = std::uint64_t;
using queue_model = queue_specification;

inline constexpr std::array near_models{near_model::sequential, near_model::release_acquire};
/// Instrumented, a part of the executions does.
inline constexpr std::uint64_t part = nearfar::testing::is_instrumented ? 20 : 1;

/// Nothing is far.
[[nodiscard]] inline options by(near_model near) { return {.mode = delivery_mode::eager, .near = near}; }
[[nodiscard]] inline options at_random(near_model near, std::uint64_t executions) {
  options how = by(near);
  how.by = search::random;
  how.most_executions = executions;
  return how;
}
[[nodiscard]] inline program on_a_node(int ranks, std::function<void(world&, monitor&)> body) {
  return {.where = topology_spec::parse("node:1").place(ranks), .body = std::move(body)};
}

/// A channel of words, with that capacity if it takes one.
template <template <typename, typename> typename Buffer>
class tested : public node_channel<world, word, Buffer> {
 public:
  using base = node_channel<world, word, Buffer>;
  using buffer = Buffer<node_memory<world>, word>;
  tested(world& w, [[maybe_unused]] std::size_t capacity)
    requires(base::takes_capacity)
      : base(w, capacity) {}
  tested(world& w, std::size_t /*capacity*/)
    requires(!base::takes_capacity)
      : base(w) {}
};

/// One operation: a message that is not 0, sent, or `get`.
inline constexpr word get = 0;
/// Or these, where anybody may.
inline constexpr word shut = 1000;
inline constexpr word open = 1001;
using plan = std::vector<std::vector<word>>;

/// Whether there is no more than one who does what only one may.
template <typename Channel>
[[nodiscard]] bool may_do(const plan& of_ranks) {
  const auto ranks_that = [&](bool sends) {
    return std::count_if(of_ranks.begin(), of_ranks.end(), [&](const auto& mine) {
      return std::any_of(mine.begin(), mine.end(),
                         [&](word one) { return one < shut && (one != get) == sends; });
    });
  };
  return (!Channel::has_one_sender || ranks_that(true) <= 1) &&
         (!Channel::has_one_receiver || ranks_that(false) <= 1);
}

/// Whether an end without a lock may tell full and empty late, as the headers say: such calls are fenced by
/// who makes them, so that each knows of those that have returned.
template <typename Buffer>
inline constexpr bool is_late = Buffer::put_order == nearfar::detail::told_after::light_fence ||
                                Buffer::take_order == nearfar::detail::told_after::light_fence;

/// Attempts of each rank, judged by the specification.
template <typename Channel>
[[nodiscard]] program attempts(std::size_t capacity, const plan& of_ranks) {
  program result = on_a_node(static_cast<int>(of_ranks.size()), [=](world& w, monitor& watch) {
    Channel channel(w, capacity);
    std::int64_t balance = 0;
    const auto fenced = [&](const auto& call) {
      if constexpr (is_late<typename Channel::buffer>) w.fence(std::memory_order_seq_cst);
      const auto brought = call();
      if constexpr (is_late<typename Channel::buffer>) w.fence(std::memory_order_seq_cst);
      return brought;
    };
    for (const word one : of_ranks[static_cast<std::size_t>(w.rank())]) {
      if (one == get) {
        watch.call(0, queue_model::pop, {});
        const auto value = fenced([&] { return channel.try_receive(); });
        watch.returned(value ? value_list{*value} : value_list{});
        balance -= value ? 1 : 0;
      } else {
        watch.call(0, queue_model::push, {one});
        const queue_status status = fenced([&] { return channel.try_send(one); });
        watch.returned({status == queue_status::success ? queue_model::done : queue_model::full});
        balance += status == queue_status::success ? 1 : 0;
      }
    }
    balance = w.sum_over_ranks({balance})[0];
    if (static_cast<std::int64_t>(channel.peek()) != balance) throw nearfar::error("counted wrongly");
    w.barrier();
  });
  result.judge = linearizable_by(queue_model(capacity));
  return result;
}

/// A queue that can be closed, in which all say what came of it, and `pop` also the value.
class closable_queue {
 public:
  enum method : int { push, pop, close, reopen };

  explicit closable_queue(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] static std::string_view name(int method) noexcept {
    constexpr std::array<std::string_view, 4> names{"push", "pop", "close", "reopen"};
    return names.at(static_cast<std::size_t>(method));
  }
  [[nodiscard]] bool apply(const operation& what) {
    const queue_status end = is_closed_ ? queue_status::closed : queue_status::empty;
    const queue_status room = is_closed_                    ? queue_status::closed
                              : values_.size() == capacity_ ? queue_status::full
                                                            : queue_status::success;
    switch (what.method) {
      case push:
        if (!what.may_return({static_cast<word>(room)})) return false;
        if (room == queue_status::success) values_.push_back(what.argument(0));
        return true;
      case pop:
        if (values_.empty()) return what.may_return({static_cast<word>(end)});
        if (!what.may_return({static_cast<word>(queue_status::success), values_.front()})) return false;
        values_.erase(values_.begin());
        return true;
      default:
        if (!what.may_return({is_closed_ == (what.method == close) ? word{0} : word{1}})) return false;
        is_closed_ = what.method == close;
        return true;
    }
  }
  [[nodiscard]] std::size_t hash() const { return hash_of(values_, is_closed_ ? 1 : 0); }
  [[nodiscard]] std::string text() const {
    std::string result = is_closed_ ? "closed:" : "open:";
    for (const word value : values_) result += " " + std::to_string(value);
    return result;
  }
  [[nodiscard]] friend bool operator==(const closable_queue&, const closable_queue&) = default;

 private:
  std::vector<word> values_;
  std::size_t capacity_;
  bool is_closed_ = false;
};

/// Attempts of each rank at a buffer, of which some close and open it, judged by that. They are fenced, so
/// that a call knows of those that have returned.
template <typename Buffer>
[[nodiscard]] program closings(std::size_t capacity, const plan& of_ranks) {
  program result = on_a_node(static_cast<int>(of_ranks.size()), [=](world& w, monitor& watch) {
    node_memory<world> memory(w);
    Buffer buffer = [&] {
      if constexpr (Buffer::takes_capacity)
        return Buffer(memory, capacity);
      else
        return Buffer(memory);
    }();
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
        noted(closable_queue::pop, {}, [&] {
          const auto value = buffer.take();
          const auto status = static_cast<word>(value.status());
          balance -= value ? 1 : 0;
          return value ? value_list{status, *value} : value_list{status};
        });
      } else {
        noted(closable_queue::push, {one}, [&] {
          const queue_status status = buffer.put(one);
          balance += status == queue_status::success ? 1 : 0;
          return value_list{static_cast<word>(status)};
        });
      }
    }
    balance = w.sum_over_ranks({balance})[0];
    if (static_cast<std::int64_t>(buffer.count()) != balance) throw nearfar::error("counted wrongly");
    w.barrier();
  });
  result.judge = linearizable_by(closable_queue(capacity));
  return result;
}

/// The first ranks send so many messages each and wait for room, the others receive them all, and wait.
/// With `closes` the last who sends closes, and who receives does so until it is told.
template <typename Channel>
[[nodiscard]] program streams(std::size_t capacity, int senders, int receivers, word count, bool closes) {
  return on_a_node(senders + receivers, [=](world& w, monitor&) {
    Channel channel(w, capacity);
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
    if ((!Channel::has_one_receiver || w.rank() == w.size() - 1) && channel.try_receive().has_value())
      throw nearfar::error("doubled");
    w.barrier();
  });
}

/// As `streams`, in ranges: each sender has one of `count` messages, which may wake several, and who receives
/// takes up to two at once.
template <typename Channel>
[[nodiscard]] program range_streams(std::size_t capacity, int senders, int receivers, word count) {
  return on_a_node(senders + receivers, [=](world& w, monitor&) {
    Channel channel(w, capacity);
    std::array<word, 4> least{1, 1, 1, 1};
    std::array<word, 2> some{};
    std::int64_t got = 0;
    if (w.rank() < senders) {
      const auto messages = std::views::iota(word{1}, count + 1) | std::views::transform([&](word number) {
                              return static_cast<word>(w.rank()) * 16 + number;
                            });
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
        const queue_range_result received = channel.receive_range(some.begin(), most);
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

/// One closes while another sends and a third receives: what was sent is received, and nothing else.
template <typename Channel>
[[nodiscard]] program closing() {
  return on_a_node(3, [](world& w, monitor&) {
    Channel channel(w, 1);
    std::int64_t balance = 0;
    if (w.rank() == 0) {
      for (word i = 1; i <= 2; ++i) balance += channel.send(i) == queue_status::success ? 1 : 0;
    } else if (w.rank() == 1) {
      for ([[maybe_unused]] const word message : channel) --balance;
    } else {
      channel.close();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    if ((!Channel::has_one_receiver || w.rank() == 1) &&
        channel.try_receive().status() != queue_status::closed)
      throw nearfar::error("it is closed and empty");
    w.barrier();
  });
}

/// As `closing`, of two messages that are sent at once.
template <typename Channel>
[[nodiscard]] program range_closing(std::size_t capacity) {
  return on_a_node(3, [=](world& w, monitor&) {
    Channel channel(w, capacity);
    std::int64_t balance = 0;
    std::array<word, 2> some{1, 2};
    if (w.rank() == 0) {
      balance += static_cast<std::int64_t>(channel.send_range(some).count);
    } else if (w.rank() == 1) {
      while (const std::size_t count = channel.receive_range(some.begin(), some.size()).count)
        balance -= static_cast<std::int64_t>(count);
    } else {
      channel.close();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    w.barrier();
  });
}

/// In place of frames of bytes: a word each, so that a frame that two have at a time is a data race.
template <typename Memory>
class word_frames {
 public:
  using cell = typename Memory::world_type::template plain<word>;
  using writable = cell&;
  using readable = const cell&;

  word_frames(Memory& memory, const byte_channel_size& size) : places_(memory, size.capacity) {}
  [[nodiscard]] writable to_write(std::size_t number) const { return places_[number].of; }
  [[nodiscard]] readable to_read(std::size_t number, std::size_t /*length*/) const {
    return places_[number].of;
  }

 private:
  struct place {
    cell of{};
  };
  typename Memory::template array<place> places_;
};

/// A channel of frames of a word.
template <template <typename, typename> typename Buffer>
class tested_frames : public basic_byte_channel<node_memory<world>, Buffer, word_frames<node_memory<world>>> {
 public:
  using base = basic_byte_channel<node_memory<world>, Buffer, word_frames<node_memory<world>>>;
  tested_frames(world& w, std::size_t capacity) : base({.item_size = 1, .capacity = capacity}, w, 0) {}
};

/// As `streams`, in frames. Each sender first reserves one in vain.
template <typename Channel>
[[nodiscard]] program frame_streams(std::size_t capacity, int senders, int receivers, word count,
                                    bool closes) {
  return on_a_node(senders + receivers, [=](world& w, monitor&) {
    Channel channel(w, capacity);
    std::array<word, 4> least{1, 1, 1, 1};
    std::int64_t got = 0;
    const auto note = [&](auto& item) {
      const word message = item.bytes().load();
      item.give_back();
      const auto from = static_cast<std::size_t>(message / 16);
      if (from >= least.size() || message % 16 < least[from]) throw nearfar::error("doubled or out of order");
      least[from] = message % 16 + 1;
      ++got;
    };
    if (w.rank() < senders) {
      channel.reserve()->give_back();
      for (word i = 1; i <= count; ++i) {
        auto frame = channel.reserve();
        frame->bytes().store(static_cast<word>(w.rank()) * 16 + i);
        if (std::move(*frame).commit() != queue_status::success) throw nearfar::error("nobody closes yet");
      }
      if (closes && senders == 1) channel.close();
    } else if (closes) {
      for (auto& item : channel) note(item);
    } else {
      const word all = count * static_cast<word>(senders);
      const auto mine = static_cast<word>(w.rank() - senders);
      const auto shares = static_cast<word>(receivers);
      for (word i = mine; i < all; i += shares) {
        auto item = channel.receive();
        note(*item);
      }
    }
    if (w.sum_over_ranks({got})[0] != static_cast<std::int64_t>(count) * senders)
      throw nearfar::error("lost");
    w.barrier();
  });
}

/// One closes while another commits and a third receives, and one more waits for a frame: all are told, what
/// was committed is received, and all frames come back.
template <typename Channel>
[[nodiscard]] program frame_closing(std::size_t capacity) {
  return on_a_node(Channel::has_one_sender ? 3 : 4, [=](world& w, monitor&) {
    Channel channel(w, capacity);
    std::int64_t balance = 0;
    const auto commit_one = [&] {
      auto frame = channel.reserve();
      if (!frame) return;
      frame->bytes().store(1);
      balance += std::move(*frame).commit() == queue_status::success ? 1 : 0;
    };
    if (w.rank() == 0) {
      commit_one();
      commit_one();
    } else if (w.rank() == 1) {
      for (auto& item : channel) {
        balance -= static_cast<std::int64_t>(item.bytes().load());
        item.give_back();
      }
    } else if (w.rank() == 2) {
      channel.close();
    } else {
      commit_one();
    }
    if (w.sum_over_ranks({balance})[0] != 0) throw nearfar::error("lost or doubled");
    w.barrier();
    channel.reopen();
    w.barrier();
    if (w.rank() == 0) {
      std::array<std::optional<typename Channel::frame>, 2> all;
      for (std::size_t i = 0; i < capacity; ++i) {
        auto frame = channel.try_reserve();
        if (!frame) throw nearfar::error("a frame did not come back");
        all[i].emplace(*std::move(frame));
      }
      for (auto& one : all)
        if (one) one->give_back();
    }
    w.barrier();
  });
}

/// Plans of attempts, the first few enough for all orders.
inline const std::vector<plan> small_plans{
    {{1}, {get}}, {{1, 2}, {get, get}}, {{1, get}, {2, get}}, {{1}, {2}, {get}}, {{1}, {get}, {get}}};
inline const std::vector<plan> large_plans{{{1, 2, 3}, {4, 5, 6}, {get, get, get}, {get, get, get}},
                                           {{1, get, 2, get}, {3, get, 4, get}, {5, get, 6, get}},
                                           {{1, 2, 3}, {4, 5, 6}, {get, get, get, get}},
                                           {{1, 2, 3, 4}, {get, get, get, get}}};
/// The same for those that are closed and opened meanwhile.
inline const std::vector<plan> closing_plans{
    {{1}, {get}, {shut}},
    {{1}, {get}, {shut, open}},
    {{1, 2}, {get, get}, {shut}, {shut}, {open}},
    {{1, 2, 3}, {get, get, get}, {shut, open}, {shut}, {open}},
    {{1, 2, 3}, {get, get, get, get}, {shut, open, shut}, {open, shut, open}},
    {{1, 2, shut, 3}, {get, shut, get, open, get}, {open, shut}}};

}  // namespace nearfar::checker::testing
