// Random sequences of operations on the containers, compared with std::vector, and of algorithms, compared
// with the standard's. Every run has the same ones. NEARFAR_LONG_TESTS=1 in the environment makes 100 times
// as many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/segmented_array.hpp"

namespace {

using nearfar::segmented_array;
using nearfar::team;

int rounds(int usual) { return std::getenv("NEARFAR_LONG_TESTS") != nullptr ? 100 * usual : usual; }

class dice {
 public:
  explicit dice(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  // Mostly few numbers, sometimes several pages of them.
  std::size_t size() { return below(4) == 0 ? below(6000) : below(40); }

 private:
  std::mt19937 random_;
};

// Its copy throws once the thread has made `copies_left` copies.
struct throwing {
  static inline thread_local int copies_left = -1;  // negative: any number
  std::string text;

  throwing() = default;
  explicit throwing(int value) : text(std::to_string(value) + " and more than fits into the string itself") {}
  throwing(const throwing& other) : text(other.text) { count(); }
  throwing(throwing&&) noexcept = default;
  throwing& operator=(const throwing& other) {
    count();
    text = other.text;
    return *this;
  }
  throwing& operator=(throwing&&) noexcept = default;
  [[maybe_unused]] friend auto operator<=>(const throwing&, const throwing&) = default;

 private:
  static void count() {
    if (copies_left > 0 && --copies_left == 0) throw std::runtime_error("no more copies");
  }
};

struct alignas(256) aligned {
  int value = 0;
  aligned() = default;
  explicit aligned(int number) : value(number) {
    if (reinterpret_cast<std::uintptr_t>(this) % alignof(aligned) != 0) throw std::logic_error("misaligned");
  }
  [[maybe_unused]] friend auto operator<=>(const aligned&, const aligned&) = default;
};

template <typename T>
T value_of(std::size_t number) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::to_string(number);
  else
    return T(static_cast<int>(number));
}

template <typename T>
std::vector<T> random_values(dice& random, std::size_t size) {
  std::vector<T> result;
  for (std::size_t i = 0; i < size; ++i) result.push_back(value_of<T>(random.below(100)));
  return result;
}

template <typename Container, typename T>
void expect_equal(const Container& container, const std::vector<T>& expected) {
  ASSERT_EQ(container.size(), expected.size());
  ASSERT_TRUE(std::equal(container.begin(), container.end(), expected.begin()));
  ASSERT_TRUE(std::equal(container.rbegin(), container.rend(), expected.rbegin()));
  if (!expected.empty()) {
    ASSERT_EQ(container.front(), expected.front());
    ASSERT_EQ(container.back(), expected.back());
  }
  ASSERT_THROW((void)container.at(expected.size()), std::out_of_range);
}

// Whether an operation ended without an exception; copies within it may throw.
template <typename T, typename Operation>
bool succeeds(dice& random, Operation&& operation) {
  const int copies = static_cast<int>(random.below(100)) - 50;
  bool thrown = false;
  if constexpr (std::is_same_v<T, throwing>) throwing::copies_left = copies;
  try {
    operation();
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  if constexpr (std::is_same_v<T, throwing>) throwing::copies_left = -1;
  return !thrown;
}

// Changes a container and a vector in the same way, or leaves both unchanged.
template <typename Container, typename T>
void operate(dice& random, Container& container, std::vector<T>& expected, const Container& fresh) {
  const std::size_t size = random.size();
  const std::vector<T> values = random_values<T>(random, size);
  const T value = value_of<T>(7);
  Container other = fresh;
  other.assign(values.begin(), values.end());
  switch (random.below(8)) {
    case 0:
      if (succeeds<T>(random, [&] { container.assign(values.begin(), values.end()); })) expected = values;
      break;
    case 1:
      if (succeeds<T>(random, [&] { container.assign(size, value); })) expected.assign(size, value);
      break;
    case 2:
      if (succeeds<T>(random, [&] { container = other; })) expected = values;
      break;
    case 3:
      container.swap(other);
      expected = values;
      break;
    case 4:
      (void)succeeds<T>(random, [&] { container = Container(container); });
      break;
    case 5:
      if (succeeds<T>(random, [&] { container.assign(container.rbegin(), container.rend()); }))
        std::reverse(expected.begin(), expected.end());
      break;
    case 6:
      container = std::move(other);
      expected = values;
      break;
    default:
      if constexpr (requires { container.push_back(value); }) {
        container.reserve(random.size());
        for (std::size_t i = 0; i < std::min<std::size_t>(size, 20); ++i)
          if (succeeds<T>(random, [&] { container.push_back(values[i]); })) expected.push_back(values[i]);
        const std::size_t other_size = random.size();
        if (succeeds<T>(random, [&] { container.resize(other_size, value); }))
          expected.resize(other_size, value);
      }
  }
  expect_equal(container, expected);
}

template <typename T>
void fuzz_containers(unsigned seed) {
  for (int round = 0; round < rounds(12); ++round) {
    dice random(seed + static_cast<unsigned>(round));
    const team threads(1 + static_cast<int>(random.below(9)));
    const std::size_t segments = 1 + random.below(12);
    const bool page_aligned = random.below(2) == 0;
    const segmented_array<T> no_segments(segments, 0, {.page_aligned = page_aligned}, threads);
    segmented_array<T> array = no_segments;
    using padded_array = segmented_array<T, nearfar::padded_layout>;
    const padded_array no_padded(segments, 0, {.page_aligned = page_aligned}, threads);
    padded_array padded = no_padded;
    const nearfar::numa_vector<T> no_elements{nearfar::numa_allocator<T>(threads)};
    nearfar::numa_vector<T> vector = no_elements;
    std::vector<T> of_array;
    std::vector<T> of_padded;
    std::vector<T> of_vector;
    for (int i = 0; i < 30; ++i) {
      operate(random, array, of_array, no_segments);
      operate(random, padded, of_padded, no_padded);
      operate(random, vector, of_vector, no_elements);
      if (::testing::Test::HasFatalFailure())
        FAIL() << "seed " << seed << ", round " << round << ", step " << i;
    }
  }
}

TEST(containers_fuzzed, hold_what_a_vector_holds) {
  fuzz_containers<int>(1);
  fuzz_containers<std::string>(1000000);
  fuzz_containers<throwing>(2000000);
  fuzz_containers<aligned>(3000000);
}

template <typename Layout>
void fuzz_algorithms() {
  for (int round = 0; round < rounds(100); ++round) {
    dice random(static_cast<unsigned>(round));
    nearfar::execution how(team(1 + static_cast<int>(random.below(9))), random.below(3) * 5);
    if (random.below(2) == 0) how.alone_below = random.below(100);
    std::vector<int> a = random_values<int>(random, random.size());
    const std::vector<int> b = random_values<int>(random, a.size());
    segmented_array<int, Layout> array(1 + random.below(12), a, {.page_aligned = random.below(2) == 0},
                                       how.team);
    std::vector<int> out(a.size());
    std::vector<int> expected(a.size());
    for (int step = 0; step < 12; ++step) {
      const auto first = static_cast<std::ptrdiff_t>(random.below(a.size() + 1));
      const auto last =
          first + static_cast<std::ptrdiff_t>(random.below(a.size() + 1 - static_cast<std::size_t>(first)));
      const auto from = array.begin() + first;
      const auto to = array.begin() + last;
      const auto from_a = a.begin() + first;
      const auto to_a = a.begin() + last;
      const int value = static_cast<int>(random.below(100));
      const auto is_less = [value](int x) { return x < value; };
      const auto by_tens = [](int x, int y) { return x / 10 < y / 10; };
      ASSERT_EQ(nearfar::find(how, from, to, value) - from, std::find(from_a, to_a, value) - from_a);
      ASSERT_EQ(nearfar::count(how, from, to, value), std::count(from_a, to_a, value));
      ASSERT_EQ(nearfar::any_of(how, from, to, is_less), std::any_of(from_a, to_a, is_less));
      ASSERT_EQ(nearfar::all_of(how, from, to, is_less), std::all_of(from_a, to_a, is_less));
      ASSERT_EQ(nearfar::min_element(how, from, to, by_tens) - from,
                std::min_element(from_a, to_a, by_tens) - from_a);
      const auto [least, greatest] = nearfar::minmax_element(how, from, to, by_tens);
      const auto both = std::minmax_element(from_a, to_a, by_tens);
      ASSERT_EQ(least - from, both.first - from_a);
      ASSERT_EQ(greatest - from, both.second - from_a);
      ASSERT_EQ(nearfar::transform_reduce(how, from, to, b.begin(), value),
                std::inner_product(from_a, to_a, b.begin(), value));
      switch (random.below(6)) {
        case 0:
          nearfar::sort(how, from, to);
          std::sort(from_a, to_a);
          break;
        case 1:
          nearfar::stable_sort(how, from, to, by_tens);
          std::stable_sort(from_a, to_a, by_tens);
          break;
        case 2:
          nearfar::exclusive_scan(how, from, to, out.begin(), value);
          std::exclusive_scan(from_a, to_a, expected.begin(), value);
          break;
        case 3:
          nearfar::inclusive_scan(how, from, to, out.begin());
          std::inclusive_scan(from_a, to_a, expected.begin());
          break;
        case 4:
          nearfar::transform(how, from, to, b.begin(), out.begin(), std::minus<>{});
          std::transform(from_a, to_a, b.begin(), expected.begin(), std::minus<>{});
          break;
        default:
          nearfar::copy(how, b.begin() + first, b.begin() + last, from);
          std::copy(b.begin() + first, b.begin() + last, from_a);
          nearfar::for_each(how, from, to, [](int& x) { x = (x + 1) % 100; });
          std::for_each(from_a, to_a, [](int& x) { x = (x + 1) % 100; });
      }
      ASSERT_TRUE(std::equal(array.begin(), array.end(), a.begin(), a.end())) << "round " << round;
      ASSERT_EQ(out, expected) << "round " << round;
    }
  }
}

TEST(algorithms_fuzzed, agree_with_the_standard) {
  fuzz_algorithms<nearfar::contiguous_layout>();
  fuzz_algorithms<nearfar::padded_layout>();
}

}  // namespace
