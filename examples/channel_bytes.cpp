// A thread sends images through a byte channel, which both ends access in place. Another thread sends numbers
// through a channel, several in each call.
//
//   build/dev-openmpi/examples/channel_bytes
// [headers]
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/byte_channel.hpp"
#include "nearfar/channel/channel.hpp"
// [end]

namespace {

// [bytes]
/// Fills the image with its number. Stands for a camera.
void draw(int number, std::span<std::byte> image) {
  std::ranges::fill(image, static_cast<std::byte>(number));
}

/// Returns the sum of all bytes of `count` images. The camera draws each image into a frame of the channel,
/// and the loop reads the image there, without a copy. The frame is free again when `image` is destroyed.
std::uint64_t sum_of_images(int count, std::size_t image_bytes) {
  nearfar::byte_channel images({.item_size = image_bytes, .capacity = 4});
  std::jthread camera([&] {
    for (int number = 0; number < count; ++number) {
      auto frame = images.reserve();
      if (!frame) return;  // the channel is closed
      draw(number, frame->bytes());
      if (std::move(*frame).commit() != nearfar::queue_status::success) return;
    }
    images.close();
  });
  std::uint64_t sum = 0;
  for (const auto& image : images)
    for (const std::byte one : image.bytes()) sum += static_cast<std::uint64_t>(one);
  return sum;
}
// [end]

// [ranges]
/// Returns the sum of the numbers from 1 to `last`. A call receives up to 16 of them.
std::uint64_t sum_of_numbers(std::uint64_t last) {
  nearfar::channel<std::uint64_t> numbers(100);
  std::jthread producer([&] {
    std::vector<std::uint64_t> all;
    for (std::uint64_t number = 1; number <= last; ++number) all.push_back(number);
    if (numbers.send_range(all).count == all.size()) numbers.close();
  });
  std::uint64_t sum = 0;
  std::array<std::uint64_t, 16> some{};
  while (const std::size_t count = numbers.receive_range(some.begin(), some.size()).count)
    for (const std::uint64_t number : std::span(some).first(count)) sum += number;
  return sum;
}
// [end]

}  // namespace

int main() {
  constexpr std::uint64_t known = std::uint64_t{64} * 1024 * (19 * 20 / 2);
  const std::uint64_t of_images = sum_of_images(20, std::size_t{64} * 1024);
  const std::uint64_t of_numbers = sum_of_numbers(1000);
  std::cout << of_images << ' ' << of_numbers << '\n';
  return of_images == known && of_numbers == 500'500 ? 0 : 1;
}
