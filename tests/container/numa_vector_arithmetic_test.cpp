#include "nearfar/container/numa_vector_arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"

namespace {

using nearfar::numa_allocator;
using nearfar::numa_vector;
using nearfar::team;
using nearfar::team_member;

using doubles = numa_vector<double>;
using ordinary = numa_vector<double, std::allocator<double>>;
using strings = numa_vector<std::string>;

template <typename V>
concept has_plus = requires(V a) { a + a; };
static_assert(has_plus<doubles> && has_plus<strings> && !has_plus<numa_vector<std::unique_ptr<int>>>);

template <typename Left, typename Right>
void expect_arithmetic(const Left& a, const Right& b) {
  const std::size_t n = a.size();
  const auto expect = [n](const auto& result, const auto& formula) {
    ASSERT_EQ(result.size(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], formula(i)) << "element " << i << " of " << n;
  };
  const Left sum = a + b;
  expect(sum, [&](std::size_t i) { return a[i] + b[i]; });
  expect(a - b, [&](std::size_t i) { return a[i] - b[i]; });
  expect(-a, [&](std::size_t i) { return -a[i]; });
  expect(3 * a, [&](std::size_t i) { return 3 * a[i]; });
  expect(a * 3, [&](std::size_t i) { return a[i] * 3; });
  expect(a / 2, [&](std::size_t i) { return a[i] / 2; });
  expect((a + b) + b - a, [&](std::size_t i) { return a[i] + b[i] + b[i] - a[i]; });
  expect((a + b) * 4 / 2, [&](std::size_t i) { return (a[i] + b[i]) * 4 / 2; });
  Left c = a;
  c += b;
  expect(c, [&](std::size_t i) { return a[i] + b[i]; });
  c -= a;
  c *= 6;
  c /= 3;
  expect(c, [&](std::size_t i) { return b[i] * 2; });
  c = a;
  c += c;
  expect(c, [&](std::size_t i) { return a[i] + a[i]; });
  double expected = 0;
  for (std::size_t i = 0; i < n; ++i) expected += a[i] * b[i];
  EXPECT_EQ(dot(a, b), expected);
  EXPECT_EQ(dot(b, a), expected);
  EXPECT_EQ(sum.team(), a.team());
}

TEST(numa_vector_arithmetic, calculates_across_allocators_of_every_size) {
  // Small integers, so that every order of summation gives the same.
  const auto left = [](std::size_t i) { return static_cast<double>(i % 17); };
  const auto right = [](std::size_t i) { return static_cast<double>(i % 13) - 6; };
  for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 100U, 8191U, 8192U, 50'000U}) {
    const auto a = doubles::generate(n, left, team(3));
    const auto b = ordinary::generate(n, right);
    const auto c = numa_vector<double, numa_allocator<double, 5>>::generate(n, right, team(2));
    expect_arithmetic(a, doubles::generate(n, right, team(2)));
    expect_arithmetic(a, b);
    expect_arithmetic(b, c);
    expect_arithmetic(c, a);
  }
}

TEST(numa_vector_arithmetic, with_nothing_is_no_trouble) {
  const doubles none;
  doubles other(none);
  other += none;
  other *= 2;
  EXPECT_EQ(dot(other, none), 0.0);
  EXPECT_EQ(other + none, none);
  EXPECT_EQ(other.capacity(), 0U);
}

TEST(numa_vector_arithmetic, keeps_the_memory_of_a_temporary_on_the_left) {
  doubles a(100'000, 1.0);
  const double* const data = a.data();
  const doubles result = (std::move(a) + doubles(100'000, 2.0)) * 2 / 3 - doubles(100'000, 1.0);
  EXPECT_EQ(result.data(), data);
  EXPECT_EQ(std::ranges::count(result, 1.0), 100'000);
}

TEST(numa_vector_arithmetic, multiplies_by_one_of_its_own_elements) {
  doubles a(100'000, 2.0, team(3));
  a *= a[0];
  EXPECT_EQ(std::ranges::count(a, 4.0), 100'000);
  a /= a[50'000];
  EXPECT_EQ(std::ranges::count(a, 1.0), 100'000);
}

TEST(numa_vector_arithmetic, refuses_to_combine_vectors_of_different_lengths) {
  doubles a(3, 1.0);
  const ordinary b(4, 1.0);
  EXPECT_THROW(a += b, nearfar::misuse);
  EXPECT_THROW(a -= b, nearfar::misuse);
  EXPECT_THROW(static_cast<void>(a + b), nearfar::misuse);
  EXPECT_THROW(static_cast<void>(b - a), nearfar::misuse);
  try {
    static_cast<void>(dot(a, b));
    FAIL();
  } catch (const nearfar::misuse& error) {
    EXPECT_STREQ(error.what(), "vectors of 3 and 4 elements cannot be combined");
  }
  EXPECT_EQ(a, doubles(3, 1.0));
}

TEST(numa_vector_arithmetic, gives_the_same_dot_product_to_the_last_bit_each_time) {
  const auto a = doubles::generate(
      100'003, [](std::size_t i) { return 1.0 / static_cast<double>(3 * i + 1); }, team(3));
  const auto b = doubles::generate(
      100'003, [](std::size_t i) { return 1.0 / static_cast<double>(7 * i + 2); }, team(3));
  const double first = dot(a, b);
  for (int round = 0; round < 50; ++round) ASSERT_EQ(dot(a, b), first);
}

TEST(numa_vector_arithmetic, calculates_with_complex_numbers_words_and_small_integers) {
  using complex = std::complex<double>;
  const numa_vector<complex> z(1000, complex(0, 1));
  EXPECT_EQ(dot(z, z), complex(-1000, 0));
  EXPECT_EQ((z * complex(0, 1) + z)[999], complex(-1, 1));
  const strings a(3, "near");
  EXPECT_EQ((a + strings(3, " far"))[2], "near far");
  numa_vector<short> shorts(10, short{3});
  shorts += shorts;
  EXPECT_EQ(dot(shorts, shorts), 360);
}

TEST(numa_vector_arithmetic, is_used_inside_a_parallel_region_by_each_thread_alone) {
  std::array<double, 4> results{};
  team(4).run([&](team_member member) {
    doubles mine(20'000, 1.0);
    mine += mine;
    mine.resize(30'000, 3.0);
    results[static_cast<std::size_t>(member.index)] = dot(mine, mine);
    if (member.size < 4) results.fill(170'000);
  });
  for (const double result : results) EXPECT_EQ(result, 170'000);
}

}  // namespace
