/// \file Programs by which the model checker checks channels: a few messages of two to four ranks of a node.
/// Channels are behind an interface, so that a program is compiled once instead of once per strategy.
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
/// Instrumented builds run this fraction of the executions.
inline constexpr std::uint64_t part = nearfar::testing::is_instrumented ? 20 : 1;

/// These programs have no far memory.
[[nodiscard]] inline options by(near_model near) { return {.mode = delivery_mode::eager, .near = near}; }
[[nodiscard]] inline options at_random(near_model near, std::uint64_t executions) {
  options how = by(near);
  how.by = search::random;
  how.most_executions = executions;
  return how;
}
/// Options under which each rank may wake once without a reason. A lost wake-up shows also without that.
[[nodiscard]] inline options waking_early(options how) {
  how.most_early_wakes = 1;
  return how;
}
[[nodiscard]] inline program on_a_node(int ranks, std::function<void(world&, monitor&)> body) {
  return {.where = topology_spec::parse("node:1").place(ranks), .body = std::move(body)};
}

/// A channel of words, with this capacity if it takes one.
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

/// A channel of words with any strategy. Each function calls the channel's function of the same name.
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
  /// Receives as many as `to` has space for.
  [[nodiscard]] virtual queue_range_result receive_range(std::span<word> to) = 0;
  virtual void close() = 0;
  virtual void reopen() = 0;
  [[nodiscard]] virtual std::size_t peek() const = 0;

  [[nodiscard]] message_iterator<any_channel, word> begin() {
    return message_iterator<any_channel, word>(*this);
  }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }
};

/// Owns a channel. Its destructor may throw, since a lock of the world waits for the other ranks.
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

/// Owns a buffer in the same way.
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
  std::size_t places;  ///< for a mailbox; else 0
  bool has_one_sender;
  bool has_one_receiver;
  /// Whether an end without a lock may tell full and empty late, as the headers say. The callers fence such
  /// calls, so that each call knows of those that have returned.
  bool is_late;
  /// Collective. The channel has this capacity if it takes one.
  made_channel (*make)(world& w, std::size_t capacity);

  // Null for a strategy that not all programs are for.
  std::unique_ptr<any_buffer> (*make_buffer)(node_memory<world>& memory, std::size_t capacity);
  /// Like `streams`, in frames. Each sender first reserves a frame and gives it back.
  program (*frame_streams)(std::size_t capacity, int senders, int receivers, word count, bool closes);
  /// One rank closes while another commits and a third receives, and one more waits for a frame. All are
  /// woken, every committed message is received, and all frames come back.
  program (*frame_closing)(std::size_t capacity);

  friend void PrintTo(const strategy& it, std::ostream* out) { *out << it.name; }
};

/// The strategies that all programs are for.
[[nodiscard]] std::span<const strategy> strategies();
/// One of these, or of the few others. Throws `misuse` if the name is unknown.
[[nodiscard]] const strategy& strategy_named(std::string_view name);

/// One operation: a message other than 0 to send, or `get`.
inline constexpr word get = 0;
/// Further operations, where any rank may use them.
inline constexpr word shut = 1000;
inline constexpr word open = 1001;
using plan = std::vector<std::vector<word>>;

/// Whether at most one rank does what the strategy lets only one do.
[[nodiscard]] bool may_do(const strategy& of, const plan& of_ranks);

/// Attempts of each rank; the specification judges them.
[[nodiscard]] program attempts(const strategy& of, std::size_t capacity, const plan& of_ranks);

/// Attempts of each rank at a buffer, some of which close and open it. A queue that can be closed judges
/// them. The attempts are fenced, so that a call knows of those that have returned.
[[nodiscard]] program closings(const strategy& of, std::size_t capacity, const plan& of_ranks);

/// The first `senders` ranks send `count` messages each and wait for room. The others receive all messages,
/// and wait. With `closes` the last sender to finish closes the channel, and receivers go on until they learn
/// that.
[[nodiscard]] program streams(const strategy& of, std::size_t capacity, int senders, int receivers,
                              word count, bool closes);

/// Like `streams`, in ranges: each sender has one range of `count` messages, which may wake several ranks. A
/// receiver takes up to two at once.
[[nodiscard]] program range_streams(const strategy& of, std::size_t capacity, int senders, int receivers,
                                    word count);

/// One rank closes while another sends and a third receives. Every message sent is received, and no other.
[[nodiscard]] program closing(const strategy& of);

/// One rank sends, one receives, and a third closes, opens and closes again. Both waits end, and the message
/// is received or left in the channel if it was sent.
[[nodiscard]] program closing_twice(const strategy& of);

/// Like `closing`, with two messages that are sent at once.
[[nodiscard]] program range_closing(const strategy& of, std::size_t capacity);

/// Plans of attempts. The first few are short enough for all orders.
inline const std::vector<plan> small_plans{
    {{1}, {get}}, {{1, 2}, {get, get}}, {{1, get}, {2, get}}, {{1}, {2}, {get}}, {{1}, {get}, {get}}};
inline const std::vector<plan> large_plans{{{1, 2, 3}, {4, 5, 6}, {get, get, get}, {get, get, get}},
                                           {{1, get, 2, get}, {3, get, 4, get}, {5, get, 6, get}},
                                           {{1, 2, 3}, {4, 5, 6}, {get, get, get, get}},
                                           {{1, 2, 3, 4}, {get, get, get, get}}};
/// Plans for channels that are closed and opened meanwhile.
inline const std::vector<plan> closing_plans{
    {{1}, {get}, {shut}},
    {{1}, {get}, {shut, open}},
    {{1, 2}, {get, get}, {shut}, {shut}, {open}},
    {{1, 2, 3}, {get, get, get}, {shut, open}, {shut}, {open}},
    {{1, 2, 3}, {get, get, get, get}, {shut, open, shut}, {open, shut, open}},
    {{1, 2, shut, 3}, {get, shut, get, open, get}, {open, shut}}};

}  // namespace nearfar::checker::testing
