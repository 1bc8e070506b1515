// The stress test of channels tells a wrong channel from a right one.
#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/channel/channel.hpp"
#include "nearfar/memory/threads/world.hpp"

namespace nearfar::bench {
namespace {

enum class wrong { nothing, doubled, swapped, lost_and_doubled, number, sender, mark, middle };

constexpr std::int64_t messages = 300;

/// Damages one or two messages of the first sender; `middle` damages a word of all messages.
template <typename T>
class wrong_port final : public message_port<T> {
 public:
  wrong_port(std::size_t capacity, wrong how) : of_(capacity), how_(how) {}

  [[nodiscard]] queue_status try_send(const T& message) override { return of_.try_send(message); }
  [[nodiscard]] received<T> try_receive() override { return of_.try_receive(); }
  [[nodiscard]] received<T> receive() override { return of_.receive(); }
  [[nodiscard]] queue_status send(const T& message) override {
    if (message.sender() != 0) return of_.send(message);
    const int number = sent_++;
    T changed = message;
    if (number == 50) {
      kept_ = message;
      if (how_ == wrong::doubled) static_cast<void>(of_.send(message));
      if (how_ == wrong::swapped) return queue_status::success;
      if (how_ == wrong::number) changed.words.front() ^= 1;
      if (how_ == wrong::sender) changed.words.front() ^= std::uint32_t{1} << T::number_bits;
      if (how_ == wrong::mark) changed.words.back() ^= 1;
    }
    if (how_ == wrong::middle) changed.words[changed.words.size() / 2] = 0;
    if (number == 51 && how_ == wrong::swapped) {
      static_cast<void>(of_.send(message));
      return of_.send(kept_);
    }
    if (number == 51 && how_ == wrong::lost_and_doubled) changed = kept_;
    return of_.send(changed);
  }

 private:
  channel<T> of_;
  wrong how_;
  int sent_ = 0;  // sent by the first sender, whose thread alone uses this and the next ones
  T kept_{};
};

// A maker is a function without state of its own.
wrong chosen = wrong::nothing;

template <typename Port>
std::unique_ptr<Port> make_wrong(threads::world& /*w*/, std::size_t capacity) {
  if constexpr (std::same_as<Port, whole_port>)
    return nullptr;
  else
    return std::make_unique<wrong_port<typename Port::value_type>>(capacity, chosen);
}

[[nodiscard]] channel_makers<threads::world> makers() {
  return {std::apply(
              []<typename... Port>(port_maker<threads::world, Port>... /*one of each*/) {
                return std::tuple(port_maker<threads::world, Port>(make_wrong<Port>)...);
              },
              decltype(channel_makers<threads::world>::stressed)()),
          make_wrong<whole_port>};
}

/// Whether the counts of all ranks are those of a right channel.
[[nodiscard]] bool passes(wrong how, int senders, int receivers, std::size_t bytes) {
  chosen = how;
  std::vector<std::int64_t> sums;
  threads::run(senders + receivers, [&](threads::world& w) {
    const auto channel = make_any_channel(makers(), {.capacity = 16, .bytes = bytes});
    const channel_counts mine = channel->run(w, {.messages = messages, .receivers = receivers});
    const auto all =
        w.sum_over_ranks({mine.sent, mine.got, mine.faults, static_cast<std::int64_t>(mine.sum)});
    if (w.rank() == 0) sums = all;
  });
  return sums[0] == messages && sums[1] == messages && sums[2] == 0 && sums[3] == 0;
}

TEST(channel_stress, passes_what_is_right) {
  for (const std::size_t bytes : {4U, 64U})
    for (const int senders : {1, 2})
      for (const int receivers : {1, 2})
        EXPECT_TRUE(passes(wrong::nothing, senders, receivers, bytes)) << senders << " to " << receivers;
}

TEST(channel_stress, tells_what_is_wrong) {
  for (const wrong how :
       {wrong::doubled, wrong::swapped, wrong::lost_and_doubled, wrong::number, wrong::sender})
    for (const std::size_t bytes : {4U, 64U})
      EXPECT_FALSE(passes(how, 2, 1, bytes)) << static_cast<int>(how) << ", " << bytes << " bytes";
  // Messages of 4 bytes have no mark.
  EXPECT_FALSE(passes(wrong::mark, 2, 1, 64));
  EXPECT_FALSE(passes(wrong::middle, 2, 1, 64));
}

}  // namespace
}  // namespace nearfar::bench
