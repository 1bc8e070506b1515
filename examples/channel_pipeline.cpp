// A pipeline of threads: one thread produces numbers, two pick the primes, and one counts the primes.
//
//   build/dev-openmpi/examples/channel_pipeline
// [headers]
#include <cstdint>
#include <iostream>
#include <thread>
#include <vector>

#include "nearfar/channel/channel.hpp"
// [end]

namespace {

// [pipeline]
bool is_prime(std::uint64_t number) {
  for (std::uint64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return false;
  return number >= 2;
}

/// Counts the primes below `end`. A sender waits while its channel is full, and a receiver while its channel
/// is empty. A loop over a channel ends when the channel is closed and empty.
std::uint64_t count_primes(std::uint64_t end) {
  nearfar::channel<std::uint64_t> numbers(100);
  nearfar::channel<std::uint64_t> primes(100);
  std::jthread producer([&] {
    for (std::uint64_t number = 0; number < end; ++number)
      if (numbers.send(number) != nearfar::queue_status::success) return;
    numbers.close();
  });
  std::jthread sieve([&] {
    {
      std::vector<std::jthread> workers;
      for (int i = 0; i < 2; ++i)
        workers.emplace_back([&] {
          for (const std::uint64_t number : numbers)
            if (is_prime(number) && primes.send(number) != nearfar::queue_status::success) return;
        });
    }
    primes.close();  // all workers have ended
  });
  std::uint64_t count = 0;
  for ([[maybe_unused]] const std::uint64_t prime : primes) ++count;
  return count;
}
// [end]

}  // namespace

int main() {
  constexpr std::uint64_t end = 10'000;
  constexpr std::uint64_t known = 1229;
  const std::uint64_t found = count_primes(end);
  std::cout << found << " primes below " << end << '\n';
  return found == known ? 0 : 1;
}
