// Waits for several channels at once: a thread by `select`, and coroutines, which occupy no thread while they
// wait.
//
//   build/dev-openmpi/examples/channel_select
// [headers]
#include <chrono>
#include <cstdint>
#include <iostream>
#include <thread>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/coroutine.hpp"
#include "nearfar/channel/select.hpp"
#include "nearfar/channel/strategies.hpp"
// [end]

namespace {

// [select]
/// Adds up the numbers until their channel is closed and empty. In between, sends the sum so far to any
/// thread that receives from `progress`.
std::int64_t add_up(nearfar::channel<std::int64_t>& numbers,
                    nearfar::channel<std::int64_t, nearfar::rendezvous>& progress) {
  std::int64_t sum = 0;
  for (bool is_over = false; !is_over;)
    nearfar::select(nearfar::on_receive(numbers,
                                        [&](const nearfar::received<std::int64_t>& number) {
                                          is_over = !number;
                                          if (number) sum += *number;
                                        }),
                    nearfar::on_send(progress, sum, [](nearfar::queue_status) {}));
  return sum;
}
// [end]

// [coroutines]
nearfar::task squares(nearfar::channel<std::int64_t>& from, nearfar::channel<std::int64_t>& to) {
  while (const auto number = co_await nearfar::async_receive(from))
    if (co_await nearfar::async_send(to, *number * *number) != nearfar::queue_status::success) co_return;
  to.close();
}
// [end]

}  // namespace

int main() {
  constexpr std::int64_t count = 1000;
  nearfar::channel<std::int64_t> numbers(10);
  nearfar::channel<std::int64_t> results(10);
  nearfar::channel<std::int64_t, nearfar::rendezvous> progress;
  // [spawn]
  nearfar::executor workers;
  workers.spawn(squares(numbers, results));
  // [end]
  const std::jthread source([&] {
    for (std::int64_t number = 1; number <= count; ++number)
      if (numbers.send(number) != nearfar::queue_status::success) return;
    numbers.close();
  });
  const std::jthread curious([&] {
    using namespace std::chrono_literals;
    for (int i = 0; i < 3; ++i)
      if (const auto sum = progress.receive_for(1s)) std::cout << *sum << " so far\n";
  });
  const std::int64_t sum = add_up(results, progress);
  progress.close();
  // [wait]
  workers.wait();  // until all coroutines have ended; the destructor waits, too
  // [end]
  std::cout << sum << " in all\n";
  return sum == count * (count + 1) * (2 * count + 1) / 6 ? 0 : 1;
}
