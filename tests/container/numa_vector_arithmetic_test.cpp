#include "nearfar/container/numa_vector_arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <concepts>
#include <cstddef>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/checks.hpp"
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
static_assert(!has_plus<numa_vector<std::vector<int>>>);

template <typename A, typename B>
concept has_mixed_plus = requires(A a, B b) { a + b; };
static_assert(has_mixed_plus<doubles, ordinary> && !has_mixed_plus<doubles, numa_vector<float>>);
static_assert(!has_mixed_plus<doubles, double>);

using sum_of_doubles = decltype(std::declval<doubles&>() + std::declval<doubles&>());
static_assert(std::ranges::random_access_range<const sum_of_doubles> &&
              std::ranges::common_range<sum_of_doubles>);
static_assert(std::convertible_to<sum_of_doubles, doubles> && !std::convertible_to<sum_of_doubles, ordinary>);
static_assert(std::constructible_from<ordinary, sum_of_doubles>);
static_assert(!std::constructible_from<numa_vector<float>, sum_of_doubles>);
static_assert(std::same_as<decltype(numa_vector(std::declval<sum_of_doubles>())), doubles>);

/// Counts the requests of vectors; each kind is told from the others.
template <typename T>
struct counting_allocator {
  using value_type = T;
  static inline std::atomic<int> allocations = 0;
  int number = 0;

  counting_allocator() = default;
  explicit counting_allocator(int n) : number(n) {}
  template <typename U>
  counting_allocator(const counting_allocator<U>& other) : number(other.number) {}

  T* allocate(std::size_t n) {
    ++allocations;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* elements, std::size_t n) { std::allocator<T>().deallocate(elements, n); }
  friend bool operator==(const counting_allocator& a, const counting_allocator& b) {
    return a.number == b.number;
  }
};
using counted = numa_vector<double, counting_allocator<double>>;

/// A number whose addition throws if the sum is a given value.
struct fragile {
  static inline std::atomic<int> bad = -1;
  int value = 0;

  friend fragile operator+(const fragile& a, const fragile& b) {
    if (a.value + b.value == bad) throw std::runtime_error("bad sum");
    return {a.value + b.value};
  }
  fragile& operator+=(const fragile& other) { return *this = *this + other; }
  friend bool operator==(const fragile&, const fragile&) = default;
};

doubles numbers(std::size_t n, double first, team threads = team(3)) {
  return doubles::generate(
      n, [first](std::size_t i) { return first + static_cast<double>(i % 19); }, threads);
}

// Takes the elements by index; an expression calculates them one by one.
template <typename Result>
std::vector<double> elements_of(const Result& result) {
  std::vector<double> elements;
  for (std::size_t i = 0; i < result.size(); ++i) elements.push_back(result[i]);
  return elements;
}

void expect_formula(const std::vector<double>& result, std::span<const double> a, std::span<const double> b,
                    double (*formula)(double a, double b)) {
  ASSERT_EQ(result.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(result[i], formula(a[i], b[i])) << "element " << i << " of " << a.size();
}

template <typename Left, typename Right>
void expect_arithmetic(const Left& a, const Right& b) {
  const std::size_t n = a.size();
  const auto expect = [&](const auto& result, double (*formula)(double, double)) {
    expect_formula(elements_of(result), a, b, formula);
  };
  const Left sum = a + b;
  expect(sum, [](double x, double y) { return x + y; });
  expect(a - b, [](double x, double y) { return x - y; });
  expect(-a, [](double x, double) { return -x; });
  expect(3 * a, [](double x, double) { return 3 * x; });
  expect(a * 3, [](double x, double) { return x * 3; });
  expect(a / 2, [](double x, double) { return x / 2; });
  expect((a + b) + b - a, [](double x, double y) { return x + y + y - x; });
  expect((a + b) * 4 / 2, [](double x, double y) { return (x + y) * 4 / 2; });
  expect(hadamard(a, b - a), [](double x, double y) { return x * (y - x); });
  Left c = a;
  c += b;
  expect(c, [](double x, double y) { return x + y; });
  c -= a;
  c *= 6;
  c /= 3;
  expect(c, [](double, double y) { return y * 2; });
  c = a;
  c += c;
  expect(c, [](double x, double) { return x + x; });
  c += 3 * a - b;
  expect(c, [](double x, double y) { return 5 * x - y; });
  c -= hadamard(b, c);
  expect(c, [](double x, double y) { return (5 * x - y) * (1 - y); });
  c = a + 2 * b - a / 2;
  expect(c, [](double x, double y) { return x + 2 * y - x / 2; });
  double expected = 0;
  for (std::size_t i = 0; i < n; ++i) expected += a[i] * b[i];
  EXPECT_EQ(dot(a, b), expected);
  EXPECT_EQ(dot(b, a), expected);
  EXPECT_EQ(dot(2 * a, b - a), 2 * (expected - dot(a, a)));
  EXPECT_EQ(nearfar::reduce(hadamard(a, b), 0.0), expected);
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

TEST(numa_vector_arithmetic, calculates_in_place_without_memory_of_its_own) {
  const counted a(100'000, 1.0);
  const counted b(100'000, 2.0);
  counted y(100'000, 3.0);
  const double* const data = y.data();
  const int before = counting_allocator<double>::allocations;
  y = a + 2.0 * b - y;
  y += 0.5 * (a + b);
  y -= hadamard(a, -b) / 4;
  EXPECT_EQ(dot(y, a - b), -4.0 * 100'000);
  EXPECT_EQ(counting_allocator<double>::allocations, before);
  EXPECT_EQ(y.data(), data);
  EXPECT_EQ(std::ranges::count(y, 4.0), 100'000);
}

TEST(numa_vector_arithmetic, works_on_each_element_in_place_on_its_owner) {
  // A number that knows the thread that added to it last.
  struct visited {
    int value = 0;
    std::thread::id by{};
    visited& operator+=(const visited& other) {
      value += other.value;
      by = std::this_thread::get_id();
      return *this;
    }
    visited operator+(const visited& other) const noexcept {
      return {value + other.value, std::this_thread::get_id()};
    }
  };
  numa_vector<visited> v(50'000, visited{1}, team(3));
  const numa_vector<visited> other(50'000, visited{2}, team(2));
  const auto expect_owners = [&v](int value) {
    const auto schedule = v.schedule();
    std::vector<std::thread::id> threads(static_cast<std::size_t>(schedule.threads()));
    for (std::size_t t = 0; t < threads.size(); ++t)
      threads[t] = v[schedule.block(static_cast<int>(t), 0).first].by;
    EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), threads.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      ASSERT_EQ(v[i].value, value);
      ASSERT_EQ(v[i].by, threads[static_cast<std::size_t>(schedule.owner(i))]) << "element " << i;
    }
  };
  v += other + other;
  expect_owners(5);
  v = other + v;
  expect_owners(7);
  v = numa_vector<visited>(other + v, team(3));
  expect_owners(9);
}

TEST(numa_vector_arithmetic, reads_the_vector_that_it_assigns_to) {
  const doubles y = numbers(30'000, 1);
  doubles x = y;
  x = y + x;
  x = 2 * x - y / 1;
  x = x + x;
  EXPECT_EQ(x, 6 * y);
}

TEST(numa_vector_arithmetic, takes_an_element_as_a_number_by_value) {
  doubles x = numbers(30'000, 2);
  const doubles before = x;
  x = x[0] * x;  // its first element changes while other elements still need the old value
  EXPECT_EQ(x, 2 * before);
  auto scaled = x * x[0];
  x[0] = 1000;
  EXPECT_EQ(scaled[1], 4.0 * x[1]);
}

TEST(numa_vector_arithmetic, sees_what_vectors_hold_when_it_is_carried_out) {
  doubles x(20'000, 1.0);
  const auto twice = 2 * x;
  x *= 5;
  EXPECT_EQ(doubles(twice), doubles(20'000, 10.0));
  x[7] = 1;
  EXPECT_EQ(twice[7], 2.0);
}

TEST(numa_vector_arithmetic, keeps_temporaries_for_as_long_as_the_expression) {
  const doubles x = numbers(20'000, 1);
  const auto make = [&x] {
    auto inner = numbers(20'000, 3) + x;
    return 2 * std::move(inner) - numbers(20'000, 5);
  };
  const auto e = make();
  const std::pair copies(e, e);
  const std::vector<double> other(100'000, 17.0);  // would use freed memory again
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(e[i], 3 * x[i]);
  EXPECT_EQ(copies.first, copies.second);
}

TEST(numa_vector_arithmetic, leaves_the_vectors_of_an_expression_with_a_name_alone) {
  doubles a(20'000, 1.0);
  const auto e = std::move(a) + doubles(20'000, 2.0);
  const doubles once = e;
  const doubles twice = e;
  EXPECT_EQ(once, doubles(20'000, 3.0));
  EXPECT_EQ(twice, once);
}

TEST(numa_vector_arithmetic, has_the_allocator_of_the_first_vector_unless_it_is_assigned) {
  const counted one(10, 1.0, counting_allocator<double>(1));
  const counted two(10, 2.0, counting_allocator<double>(2));
  EXPECT_EQ(counted(one + two).get_allocator().number, 1);
  EXPECT_EQ(counted(3 * (two - one)).get_allocator().number, 2);
  EXPECT_EQ(counted(counted(two) + one).get_allocator().number, 2);
  EXPECT_EQ(counted(one + two, counting_allocator<double>(7)).get_allocator().number, 7);
  counted y(10, 0.0, counting_allocator<double>(5));
  y = one + two;
  EXPECT_EQ(y, counted(10, 3.0));
  counted longer(3, 0.0, counting_allocator<double>(6));
  longer = counted(two) - one;
  EXPECT_EQ(longer, counted(10, 1.0));
  EXPECT_EQ(y.get_allocator().number, 5);
  EXPECT_EQ(longer.get_allocator().number, 6);
}

TEST(numa_vector_arithmetic, assigns_to_vectors_of_other_lengths_and_with_spare_room) {
  const doubles x = numbers(20'000, 1);
  doubles y;
  y = x + x;
  EXPECT_EQ(y, 2 * x);
  y.reserve(40'000);
  y = 3 * x - 2 * x;
  EXPECT_EQ(y.capacity(), 20'000U);  // placed anew, like a vector in an assignment
  EXPECT_EQ(y, x);
  y = doubles() + doubles();
  EXPECT_TRUE(y.empty());
}

TEST(numa_vector_arithmetic, leaves_what_it_says_if_an_element_throws) {
  const auto values = [](int first) {
    return numa_vector<fragile>::generate(
        20'000, [first](std::size_t i) { return fragile{first + static_cast<int>(i)}; }, team(2));
  };
  const auto a = values(0);
  auto y = values(1);
  fragile::bad = 2 * 15'000 + 1;
  EXPECT_THROW(y = a + y, std::runtime_error);
  EXPECT_EQ(y, values(1)) << "an assignment that fails changes nothing";
  EXPECT_THROW(static_cast<void>(numa_vector<fragile>(a + y)), std::runtime_error);
  EXPECT_THROW(y += a, std::runtime_error);
  for (int i = 0; i < 20'000; ++i) {
    const int value = y[static_cast<std::size_t>(i)].value;
    ASSERT_TRUE(value == i + 1 || value == 2 * i + 1) << "neither old nor new";
  }
  EXPECT_EQ(y[15'000].value, 15'001);
  fragile::bad = -1;
  y = a + a;
  EXPECT_EQ(y[19'999].value, 2 * 19'999);
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
  EXPECT_THROW(static_cast<void>(hadamard(a, 2 * b)), nearfar::misuse);
  EXPECT_THROW(static_cast<void>(dot(2 * a, b)), nearfar::misuse);
  EXPECT_THROW(a += 2 * b, nearfar::misuse);
  EXPECT_THROW(a -= -b, nearfar::misuse);
  // A refused vector is not moved from.
  EXPECT_THROW(static_cast<void>(std::move(a) + b), nearfar::misuse);
  try {
    static_cast<void>(dot(a, b));  // NOLINT(bugprone-use-after-move)
    FAIL();
  } catch (const nearfar::misuse& error) {
    EXPECT_STREQ(error.what(), "vectors of 3 and 4 elements cannot be combined");
  }
  EXPECT_EQ(a, doubles(3, 1.0));
}

TEST(numa_vector_arithmetic, refuses_an_expression_whose_vectors_have_changed_their_length) {
  doubles a(30, 1.0);
  const doubles b(30, 2.0);
  doubles y(30, 3.0);
  const auto e = 2 * (b - a);
  a.resize(29);
  EXPECT_THROW(y = e, nearfar::misuse);
  EXPECT_THROW(y += e, nearfar::misuse);
  EXPECT_THROW(static_cast<void>(doubles(e)), nearfar::misuse);
  EXPECT_THROW(static_cast<void>(dot(y, e)), nearfar::misuse);
  EXPECT_THROW(static_cast<void>(e.begin()), nearfar::misuse);
  EXPECT_EQ(y, doubles(30, 3.0));
  a.resize(30, 1.0);
  EXPECT_EQ(e, doubles(30, 2.0));
}

TEST(numa_vector_arithmetic, shows_an_expression_to_algorithms_as_a_range) {
  const doubles a = numbers(20'000, 1);
  const doubles b = numbers(20'000, 4);
  const auto e = b - a;
  EXPECT_EQ(e.size(), 20'000U);
  EXPECT_EQ(e.end() - e.begin(), 20'000);
  EXPECT_EQ(*(e.end() - 1), 3.0);
  EXPECT_EQ(e.begin()[1], 3.0);
  EXPECT_EQ(std::accumulate(e.begin(), e.end(), 0.0), 60'000.0);
  EXPECT_EQ(nearfar::reduce(e), 60'000.0);
  doubles copied(20'000);
  nearfar::copy(2 * e, copied.begin());
  EXPECT_EQ(copied, 2 * e);
  EXPECT_NE(copied, e);
  EXPECT_NE(copied, 2 * doubles(19'999, 3.0));
  if constexpr (nearfar::checked_build) {
    EXPECT_THROW(static_cast<void>(e[20'000]), nearfar::misuse);
  }
}

TEST(numa_vector_arithmetic, gives_the_same_dot_product_to_the_last_bit_each_time) {
  const auto a = doubles::generate(
      100'003, [](std::size_t i) { return 1.0 / static_cast<double>(3 * i + 1); }, team(3));
  const auto b = doubles::generate(
      100'003, [](std::size_t i) { return 1.0 / static_cast<double>(7 * i + 2); }, team(3));
  const double first = dot(a, b);
  for (int round = 0; round < 50; ++round) ASSERT_EQ(dot(a, b), first);
}

TEST(numa_vector_arithmetic, multiplies_two_vectors_by_a_star_where_a_program_asks_for_it) {
  using namespace nearfar::scalar_product;  // NOLINT(google-build-using-namespace): what is tested
  const doubles x(1000, 3.0);
  const doubles y(1000, 0.5);
  EXPECT_EQ(x * y, 1500);
  EXPECT_EQ((x + y) * (2.0 * y), dot(x + y, 2.0 * y));
  EXPECT_EQ((2.0 * x)[0], 6);  // a number as a factor still scales
  EXPECT_THROW(static_cast<void>(x * doubles(999, 1.0)), nearfar::misuse);
}

TEST(numa_vector_arithmetic, calculates_with_complex_numbers_words_and_small_integers) {
  using complex = std::complex<double>;
  const numa_vector<complex> z(1000, complex(0, 1));
  EXPECT_EQ(dot(z, z), complex(-1000, 0));
  EXPECT_EQ((z * complex(0, 1) + z)[999], complex(-1, 1));
  const strings a(3, "near");
  EXPECT_EQ((a + strings(3, " far"))[2], "near far");
  strings b(3, "a");
  b = a + b + strings(3, std::string(100, 'x'));
  EXPECT_EQ(b, strings(3, "neara" + std::string(100, 'x')));
  b += a + a;
  EXPECT_EQ(b[1], "neara" + std::string(100, 'x') + "nearnear");
  EXPECT_EQ(((z + z) / complex(0, 2))[5], complex(1, 0));
  numa_vector<short> shorts(10, short{3});
  shorts += shorts;
  EXPECT_EQ(dot(shorts, shorts), 360);
  // Each step is a short again, as in a vector of shorts.
  const numa_vector<unsigned char> bytes(10, static_cast<unsigned char>(200));
  EXPECT_EQ(((bytes + bytes) / 2)[3], 72);
}

TEST(numa_vector_arithmetic, is_used_inside_a_parallel_region_by_each_thread_alone) {
  std::array<double, 4> results{};
  team(4).run([&](team_member member) {
    doubles mine(20'000, 1.0);
    mine += mine;
    mine.resize(30'000, 3.0);
    results[static_cast<std::size_t>(member.index)] = dot(mine, mine);
    // The places of members that do not exist.
    if (member.index == 0) std::fill(results.begin() + member.size, results.end(), 170'000);
  });
  for (const double result : results) EXPECT_EQ(result, 170'000);
}

}  // namespace
