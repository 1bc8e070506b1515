/// \file
/// What the model checker is given to check channels: a few messages of two to four ranks of a node. Channels
/// are behind an interface, so that a program is compiled once, and not for each strategy.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/instrumented.hpp"

namespace nearfar::checker::testing {

using engine::world;
using word = std::uint64_t;

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
/// With ranks that may wake once each for no reason. A lost wake-up shows without.
[[nodiscard]] inline options waking_early(options how) {
  how.most_early_wakes = 1;
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

/// A channel of words, of whatever strategy. Each function does what the channel's of that name does.
class any_channel {
 public:
  any_channel() = default;
  any_channel(const any_channel&) = delete;
  any_channel& operator=(const any_channel&) = delete;
  virtual ~any_channel() noexcept(false) = default;

  [[nodiscard]] virtual queue_status try_send(word message) = 0;
  [[nodiscard]] virtual queue_status send(word message) = 0;
  [[nodiscard]] virtual queue_status send_until(word message, std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual received<word> try_receive() = 0;
  [[nodiscard]] virtual received<word> receive() = 0;
  [[nodiscard]] virtual received<word> receive_until(std::chrono::nanoseconds deadline) = 0;
  [[nodiscard]] virtual queue_range_result send_range(std::span<const word> messages) = 0;
  /// Up to as many as there is space for.
  [[nodiscard]] virtual queue_range_result receive_range(std::span<word> to) = 0;
  virtual void close() = 0;
  virtual void reopen() = 0;
  [[nodiscard]] virtual std::size_t peek() const = 0;

  [[nodiscard]] message_iterator<any_channel, word> begin() {
    return message_iterator<any_channel, word>(*this);
  }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }
};

/// Owns a channel. The end of one may throw, as a lock of the world waits for the other ranks.
class made_channel {
 public:
  explicit made_channel(any_channel* of) : of_(of) {}
  made_channel(const made_channel&) = delete;
  made_channel& operator=(const made_channel&) = delete;
  ~made_channel() noexcept(false) { delete of_; }  // NOLINT(cppcoreguidelines-owning-memory)
  [[nodiscard]] any_channel& operator*() const { return *of_; }

 private:
  any_channel* of_;
};

/// A buffer, in the same way.
class any_buffer {
 public:
  any_buffer() = default;
  any_buffer(const any_buffer&) = delete;
  any_buffer& operator=(const any_buffer&) = delete;
  virtual ~any_buffer() = default;

  [[nodiscard]] virtual queue_status put(word& value) = 0;
  [[nodiscard]] virtual received<word> take() = 0;
  [[nodiscard]] virtual bool close() = 0;
  [[nodiscard]] virtual bool reopen() = 0;
  [[nodiscard]] virtual std::size_t count() const = 0;
};

/// A strategy of channels.
struct strategy {
  std::string_view name;
  bool tells_full;     ///< exactly
  std::size_t places;  ///< of a mailbox; else 0
  bool has_one_sender;
  bool has_one_receiver;
  /// Whether an end without a lock may tell full and empty late, as the headers say: such calls are fenced by
  /// who makes them, so that each knows of those that have returned.
  bool is_late;
  /// Collective; with that capacity if it takes one.
  made_channel (*make)(world& w, std::size_t capacity);

  // Of those that all programs are for; else null.
  std::unique_ptr<any_buffer> (*make_buffer)(node_memory<world>& memory, std::size_t capacity);
  /// As `streams`, in frames. Each sender first reserves one in vain.
  program (*frame_streams)(std::size_t capacity, int senders, int receivers, word count, bool closes);
  /// One closes while another commits and a third receives, and one more waits for a frame: all are told,
  /// what was committed is received, and all frames come back.
  program (*frame_closing)(std::size_t capacity);

  friend void PrintTo(const strategy& it, std::ostream* out) { *out << it.name; }
};

/// Those that all programs are for.
[[nodiscard]] std::span<const strategy> strategies();
/// Of these, or of the few others. Throws `misuse` if there is none of that name.
[[nodiscard]] const strategy& strategy_named(std::string_view name);

/// One operation: a message that is not 0, sent, or `get`.
inline constexpr word get = 0;
/// Or these, where anybody may.
inline constexpr word shut = 1000;
inline constexpr word open = 1001;
using plan = std::vector<std::vector<word>>;

/// Whether there is no more than one who does what only one may.
[[nodiscard]] bool may_do(const strategy& of, const plan& of_ranks);

/// Attempts of each rank, judged by the specification.
[[nodiscard]] program attempts(const strategy& of, std::size_t capacity, const plan& of_ranks);

/// Attempts of each rank at a buffer, of which some close and open it, judged by a queue that can be closed.
/// They are fenced, so that a call knows of those that have returned.
[[nodiscard]] program closings(const strategy& of, std::size_t capacity, const plan& of_ranks);

/// The first ranks send so many messages each and wait for room, the others receive them all, and wait.
/// With `closes` the last who sends closes, and who receives does so until it is told.
[[nodiscard]] program streams(const strategy& of, std::size_t capacity, int senders, int receivers,
                              word count, bool closes);

/// As `streams`, in ranges: each sender has one of `count` messages, which may wake several, and who receives
/// takes up to two at once.
[[nodiscard]] program range_streams(const strategy& of, std::size_t capacity, int senders, int receivers,
                                    word count);

/// One closes while another sends and a third receives: what was sent is received, and nothing else.
[[nodiscard]] program closing(const strategy& of);

/// As `closing`, of two messages that are sent at once.
[[nodiscard]] program range_closing(const strategy& of, std::size_t capacity);

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
