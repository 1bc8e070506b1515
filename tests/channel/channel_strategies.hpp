/// \file
/// The strategies of channels that threads are tested with, and messages that throw.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::testing {

/// Whether full and empty are linearizable, as the headers say.
enum class looks : std::uint8_t {
  exact,
  full_early,  ///< it may say full while a node is on its way back
  late,        ///< a side without a lock does not fence
};

/// A strategy of channels.
template <template <typename, typename> typename Buffer, looks how = looks::exact>
struct strategy {
  template <typename T>
  using of = channel<T, Buffer>;
  static constexpr bool has_one_sender = of<int>::has_one_sender;
  static constexpr bool has_one_receiver = of<int>::has_one_receiver;
  static constexpr bool tells_full = how == looks::exact;
  static constexpr bool tells_empty = how != looks::late;

  template <typename T>
  [[nodiscard]] static std::unique_ptr<of<T>> make([[maybe_unused]] std::size_t capacity) {
    if constexpr (of<T>::takes_capacity)
      return std::make_unique<of<T>>(capacity);
    else
      return std::make_unique<of<T>>();
  }
};

using all_strategies = ::testing::Types<
    strategy<ring_buffer>, strategy<spsc_ring, looks::late>, strategy<mailbox>,
    strategy<ring_of<channel_lock::spin>::mpmc>, strategy<ring_of<channel_lock::spin>::mpsc, looks::late>,
    strategy<ring_of<channel_lock::spin>::mailbox>, strategy<ring_of<channel_lock::ticket>::mpmc>,
    strategy<ring_of<channel_lock::partitioned_ticket>::mpmc>, strategy<ring_of<channel_lock::parking>::mpmc>,
    strategy<ring_of<channel_lock::pthread_mutex>::mpmc>,
    strategy<ring_of<channel_lock::pthread_spin>::mpsc, looks::late>,
    strategy<flagged_by<flags::single>::mpmc>, strategy<flagged_by<flags::twofold>::mpmc>,
    strategy<flagged_by<flags::twofold>::mpsc>,
    strategy<list_of<channel_lock::ticket, list_nodes::recycled>::mpmc>,
    strategy<list_of<channel_lock::spin, list_nodes::heap>::mpsc, looks::late>,
    strategy<list_of<channel_lock::parking, list_nodes::fixed>::mpmc, looks::full_early>,
    strategy<spsc_list_of<list_nodes::heap>::spsc, looks::late>,
    strategy<lock_free_list_of<list_nodes::recycled>::mpmc>,
    strategy<lock_free_list_of<list_nodes::hazard>::mpmc>,
    strategy<lock_free_list_of<list_nodes::fixed>::mpmc, looks::full_early>,
    strategy<segments_of<list_nodes::recycled>::mpmc>, strategy<segments_of<list_nodes::heap, 2>::mpmc>,
    strategy<segments_of<list_nodes::fixed, 3>::mpmc, looks::full_early>,
    strategy<segments_of<list_nodes::heap>::mpsc>>;

/// Thrown by the message of that number.
struct thrown {
  std::uint64_t number;
};

/// Throws when a thread that was told to moves one.
class thrower {
 public:
  explicit thrower(std::uint64_t number) noexcept : number_(number) {}
  thrower(thrower&& from) : number_(from.number_) {  // NOLINT(performance-noexcept-move-constructor)
    if (throws_in != 0 && --throws_in == 0) throw thrown{number_};
  }
  thrower& operator=(thrower&& from) noexcept {
    number_ = from.number_;
    return *this;
  }
  ~thrower() = default;
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  static inline thread_local unsigned throws_in = 0;  ///< moves; 0: none does

 private:
  std::uint64_t number_;
};

}  // namespace nearfar::testing
