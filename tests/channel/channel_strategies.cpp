#include "tests/channel/channel_strategies.hpp"

#include <array>
#include <concepts>
#include <stdexcept>
#include <type_traits>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::testing {
namespace {

template <typename T, template <typename, typename> typename Buffer>
class channel_behind : public any_channel<T> {
 public:
  explicit channel_behind(std::size_t capacity)
    requires(channel<T, Buffer>::takes_capacity)
      : of_(capacity) {}
  explicit channel_behind(std::size_t /*capacity*/) {}

  queue_status try_send(T&& message) override { return of_.try_send(std::move(message)); }
  queue_status send(T&& message) override { return of_.send(std::move(message)); }
  queue_status send_until(T&& message, std::chrono::nanoseconds deadline) override {
    return of_.send_until(std::move(message), deadline);
  }
  queue_status send_for(T&& message, std::chrono::nanoseconds span) override {
    return of_.send_for(std::move(message), span);
  }
  received<T> try_receive() override { return of_.try_receive(); }
  received<T> receive() override { return of_.receive(); }
  received<T> receive_until(std::chrono::nanoseconds deadline) override {
    return of_.receive_until(deadline);
  }
  received<T> receive_for(std::chrono::nanoseconds span) override { return of_.receive_for(span); }

  queue_range_result try_send_range(std::vector<T>&& messages) override {
    if constexpr (is_given_away) return of_.try_send_range(std::move(messages));
    return try_send_range(std::as_const(messages));
  }
  queue_range_result try_send_range(const std::vector<T>& messages) override {
    if constexpr (std::copy_constructible<T>) return of_.try_send_range(messages);
    throw std::logic_error("these cannot be copied");
  }
  queue_range_result send_range(std::vector<T>&& messages) override {
    if constexpr (is_given_away) return of_.send_range(std::move(messages));
    return send_range(std::as_const(messages));
  }
  queue_range_result send_range(const std::vector<T>& messages) override {
    if constexpr (std::copy_constructible<T>) return of_.send_range(messages);
    throw std::logic_error("these cannot be copied");
  }
  queue_range_result try_receive_range(std::vector<T>& to, std::size_t most) override {
    return of_.try_receive_range(std::back_inserter(to), most);
  }
  queue_range_result receive_range(std::vector<T>& to, std::size_t most) override {
    return of_.receive_range(std::back_inserter(to), most);
  }

  void close() override { of_.close(); }
  void reopen() override { of_.reopen(); }
  [[nodiscard]] bool is_closed() const override { return of_.is_closed(); }
  [[nodiscard]] std::size_t peek() const override { return of_.peek(); }
  [[nodiscard]] std::size_t capacity() const override { return of_.capacity(); }

 private:
  /// A trivially copyable message is copied in either case.
  static constexpr bool is_given_away = !std::is_trivially_copyable_v<T>;

  channel<T, Buffer> of_;
};

template <typename T, template <typename, typename> typename Buffer>
std::unique_ptr<any_channel<T>> make(std::size_t capacity) {
  return std::make_unique<channel_behind<T, Buffer>>(capacity);
}

/// Whether full and empty are linearizable, as the headers say.
enum class looks : std::uint8_t {
  exact,
  full_early,  ///< it may say full while a node is on its way back
  late,        ///< a side without a lock does not fence
};

template <template <typename, typename> typename Buffer>
[[nodiscard]] channel_strategy strategy(std::string_view name, looks how = looks::exact) {
  using of_numbers = channel<std::uint64_t, Buffer>;
  return {.name = name,
          .takes_capacity = of_numbers::takes_capacity,
          .has_one_sender = of_numbers::has_one_sender,
          .has_one_receiver = of_numbers::has_one_receiver,
          .hands_back = detail::hands_back<typename channel<thrower, Buffer>::buffer_type>,
          .tells_full = how == looks::exact,
          .tells_empty = how != looks::late,
          .makers = {&make<std::uint64_t, Buffer>, &make<owned, Buffer>, &make<thrower, Buffer>}};
}

}  // namespace

std::span<const channel_strategy> channel_strategies() {
  using namespace channel_lock;
  using namespace list_nodes;
  static const std::array all{
      strategy<ring_buffer>("ring_buffer"),
      strategy<spsc_ring>("spsc_ring", looks::late),
      strategy<mailbox>("mailbox"),
      strategy<two_flag_mailbox>("two_flag_mailbox", looks::full_early),
      strategy<ring_of<spin>::mpmc>("ring_of_spin_mpmc"),
      strategy<ring_of<spin>::mpsc>("ring_of_spin_mpsc", looks::late),
      strategy<ring_of<spin>::mailbox>("ring_of_spin_mailbox"),
      strategy<ring_of<published_spin>::mpmc>("ring_of_published_spin_mpmc"),
      strategy<ring_of<ticket>::mpmc>("ring_of_ticket_mpmc"),
      strategy<ring_of<published_ticket>::mpmc>("ring_of_published_ticket_mpmc"),
      strategy<ring_of<partitioned_ticket>::mpmc>("ring_of_partitioned_ticket_mpmc"),
      strategy<ring_of<parking>::mpmc>("ring_of_parking_mpmc"),
      strategy<ring_of<pthread_mutex>::mpmc>("ring_of_pthread_mutex_mpmc"),
      strategy<ring_of<pthread_spin>::mpsc>("ring_of_pthread_spin_mpsc", looks::late),
      strategy<flagged_by<flags::single>::mpmc>("flagged_by_single_mpmc"),
      strategy<flagged_by<flags::twofold>::mpmc>("flagged_by_twofold_mpmc"),
      strategy<flagged_by<flags::twofold>::mpsc>("flagged_by_twofold_mpsc"),
      strategy<flagged_by<flags::binary>::mpsc>("flagged_by_binary_mpsc"),
      strategy<headless_ring>("headless_ring"),
      strategy<list_of<ticket, recycled>::mpmc>("list_of_ticket_recycled_mpmc"),
      strategy<list_of<spin, heap>::mpsc>("list_of_spin_heap_mpsc", looks::late),
      strategy<list_of<parking, fixed>::mpmc>("list_of_parking_fixed_mpmc", looks::full_early),
      strategy<spsc_list_of<heap>::spsc>("spsc_list_of_heap", looks::late),
      strategy<lock_free_list_of<recycled>::mpmc>("lock_free_list_of_recycled"),
      strategy<lock_free_list_of<hazard>::mpmc>("lock_free_list_of_hazard"),
      strategy<lock_free_list_of<fixed>::mpmc>("lock_free_list_of_fixed", looks::full_early),
      strategy<lock_free_list_of<recycled>::mpsc>("lock_free_list_of_recycled_mpsc"),
      strategy<lock_free_list_of<hazard>::mpsc>("lock_free_list_of_hazard_mpsc"),
      strategy<lock_free_list_of<fixed>::mpsc>("lock_free_list_of_fixed_mpsc", looks::full_early),
      strategy<segments_of<recycled>::mpmc>("segments_of_recycled_mpmc"),
      strategy<segments_of<heap, 2>::mpmc>("segments_of_2_heap_mpmc"),
      strategy<segments_of<fixed, 3>::mpmc>("segments_of_3_fixed_mpmc", looks::full_early),
      strategy<segments_of<heap>::mpsc>("segments_of_heap_mpsc"),
  };
  return all;
}

}  // namespace nearfar::testing
