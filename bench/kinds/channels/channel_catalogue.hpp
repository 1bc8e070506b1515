/// \file
/// The registry of channel strategies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bench/kinds/channels/any_channel.hpp"
#include "bench/registry.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::bench {

/// One set of values for all channels.
struct channel_parameters {
  std::size_t capacity = 0;  ///< messages that have room; 0: the strategy's form without a buffer
  std::size_t bytes = 4;     ///< of a message, one of `message_sizes`
};

/// The available message sizes in bytes, up to the largest in the source. Each size is compiled for each
/// strategy, which takes minutes, so builds for tests have few.
#ifdef NEARFAR_FEW_MESSAGE_SIZES
inline constexpr std::array<std::size_t, 2> message_sizes{4, 64};
#else
inline constexpr std::array<std::size_t, 6> message_sizes{4, 16, 64, 256, 1024, 4096};
#endif

/// Channel strategies, as a kind of registered objects.
struct registered_channels {
  template <typename W>
  using any = any_channel<W>;
  using parameters = channel_parameters;
  struct bypass {};
};

/// One registered strategy.
using channel_entry = entry<registered_channels>;

/// All registered strategies.
class channel_catalogue : public registry<channel_entry> {
 public:
  /// The one catalogue, made at first use.
  static const channel_catalogue& instance();

  /// The roles of a registered strategy.
  [[nodiscard]] const channel_roles& roles_of(const std::string& name) const { return roles_.at(name); }
  void set_roles(const std::string& name, const channel_roles& of) { roles_[name] = of; }

 private:
  channel_catalogue();

  std::map<std::string, channel_roles> roles_;
};

/// How a strategy makes its channels: of messages of each size, and of wide messages.
template <world W>
struct channel_makers {
  template <std::size_t... index>
  [[nodiscard]] static std::tuple<port_maker<W, message_port<stamped_message<message_sizes[index]>>>...>
      of_sizes(std::index_sequence<index...>);

  decltype(of_sizes(std::make_index_sequence<message_sizes.size()>())) stressed;
  port_maker<W, whole_port> whole;
};

/// Throws `misuse` if no messages of that size are compiled.
template <world W>
[[nodiscard]] std::unique_ptr<any_channel<W>> make_any_channel(const channel_makers<W>& makers,
                                                               const channel_parameters& of);

namespace detail {

template <world W, template <typename, typename> typename Buffer>
[[nodiscard]] channel_makers<W> makers_of() {
  return {std::apply(
              []<typename... Port>(port_maker<W, Port>... /*one of each*/) {
                return std::tuple(port_maker<W, Port>(make_port<W, Port, Buffer>)...);
              },
              decltype(channel_makers<W>::stressed)()),
          make_port<W, whole_port, Buffer>};
}

}  // namespace detail

/// Where a strategy runs: only among the threads of one process, or also between the processes of a node.
enum class channel_reach : std::uint8_t { process, node };

/// `Unbuffered` is the strategy's form for a capacity of 0.
template <template <typename, typename> typename Buffer, template <typename, typename> typename Unbuffered,
          channel_reach reach = channel_reach::node>
void add_channel(channel_catalogue& to, channel_entry of) {
  using buffer = Buffer<process_memory, std::uint64_t>;
  to.set_roles(of.name, {.senders = buffer::has_one_sender ? 1 : most_senders,
                         .receivers = buffer::has_one_receiver ? 1 : most_senders,
                         .meet = nearfar::detail::waiting_buffer<buffer, std::uint64_t>});
  to.add(
      std::move(of),
      []<world W>(W& /*w*/, int /*home*/, const channel_parameters& set) requires(
          std::same_as<W, threads::world> || (std::same_as<W, mpi::world> && reach == channel_reach::node)) {
        return make_any_channel(
            set.capacity == 0 ? detail::makers_of<W, Unbuffered>() : detail::makers_of<W, Buffer>(), set);
      });
}

// One function for each family, in bench/kinds/channels/.
void add_ring_channels(channel_catalogue& to);
void add_locked_channels(channel_catalogue& to);
void add_list_channels(channel_catalogue& to);
void add_rendezvous_channel(channel_catalogue& to);
void add_flagged_channels(channel_catalogue& to);

}  // namespace nearfar::bench
