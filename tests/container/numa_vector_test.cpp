#include "nearfar/container/numa_vector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <numeric>
#include <ranges>
#include <scoped_allocator>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_resource.hpp"
#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/pages.hpp"

namespace {

using nearfar::index_range;
using nearfar::numa_allocator;
using nearfar::numa_resource;
using nearfar::numa_vector;
using nearfar::placed_from_bytes;
using nearfar::static_schedule;
using nearfar::team;
using nearfar::team_member;

using doubles = numa_vector<double>;
using ordinary = numa_vector<double, std::allocator<double>>;
using strings = numa_vector<std::string>;

// ---- concepts --------------------------------------------------------------------------------------------

static_assert(std::contiguous_iterator<doubles::iterator> &&
              std::contiguous_iterator<doubles::const_iterator>);
static_assert(std::same_as<doubles::iterator, double*>);
static_assert(std::ranges::contiguous_range<doubles> && std::ranges::contiguous_range<const doubles>);
static_assert(std::ranges::sized_range<doubles> && std::ranges::common_range<doubles>);
static_assert(!std::ranges::view<doubles> && !std::ranges::borrowed_range<doubles>);
static_assert(std::same_as<std::ranges::range_reference_t<const doubles>, const double&>);
static_assert(std::regular<doubles> && std::totally_ordered<strings>);
static_assert(std::three_way_comparable<doubles, std::partial_ordering>);
static_assert(std::is_nothrow_default_constructible_v<doubles>);
static_assert(std::is_nothrow_move_constructible_v<doubles> && std::is_nothrow_move_assignable_v<doubles>);
static_assert(std::is_nothrow_swappable_v<doubles> && std::is_nothrow_destructible_v<doubles>);
static_assert(!std::is_nothrow_move_assignable_v<nearfar::pmr::numa_vector<double>>);
static_assert(std::constructible_from<std::span<const double>, const doubles&>);
static_assert(!std::convertible_to<std::size_t, doubles> && !std::convertible_to<ordinary, doubles>);
static_assert(std::same_as<decltype(numa_vector{1.0, 2.0}), doubles>);
static_assert(std::same_as<decltype(numa_vector(std::declval<std::list<int>>().begin(),
                                                std::declval<std::list<int>>().end())),
                           numa_vector<int>>);
static_assert(numa_vector<double, numa_allocator<double, 7>>::chunk == 7 && doubles::chunk == 0);
static_assert(sizeof(ordinary) == 3 * sizeof(void*));

// ---- behaves like std::vector
// --------------------------------------------------------------------------------

// The text is long, so that it has memory of its own.
[[nodiscard]] std::string word(std::size_t i) {
  return "element number " + std::to_string(i) + " of them all";
}

template <typename Vector>
[[nodiscard]] std::vector<typename Vector::value_type> contents(const Vector& vector) {
  return {vector.begin(), vector.end()};
}

[[nodiscard]] std::vector<std::string> words(std::size_t n) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(word(i));
  return all;
}

TEST(numa_vector, is_made_of_zeros_values_ranges_and_lists) {
  EXPECT_TRUE(doubles().empty());
  EXPECT_EQ(contents(doubles(5)), std::vector<double>(5));
  EXPECT_EQ(contents(doubles(5, 1.5)), std::vector<double>(5, 1.5));
  EXPECT_EQ(contents(strings(3, word(1))), std::vector<std::string>(3, word(1)));
  EXPECT_EQ(contents(numa_vector<int>{3, 1, 2}), (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(numa_vector<int>(2, 7), (numa_vector<int>{7, 7}));

  const std::vector<std::string> source = words(1000);
  const std::list<std::string> linked(source.begin(), source.end());
  const std::forward_list<std::string> singly(source.begin(), source.end());
  const numa_allocator<std::string> allocator(team(3));
  EXPECT_EQ(contents(strings(source.begin(), source.end(), allocator)), source);
  EXPECT_EQ(contents(strings(linked.begin(), linked.end(), allocator)), source);
  EXPECT_EQ(contents(strings(singly.begin(), singly.end(), allocator)), source);
  using chunked = numa_vector<std::string, numa_allocator<std::string, 7>>;
  EXPECT_EQ(contents(chunked(linked.begin(), linked.end(), team(3))), source);
  std::istringstream stream("1 2 3 4 5");
  const numa_vector<int> read(std::istream_iterator<int>{stream}, std::istream_iterator<int>{});
  EXPECT_EQ(read, (numa_vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(read.capacity(), 5U);
  const auto squares = std::views::iota(0, 5) | std::views::transform([](int i) { return i * i; });
  EXPECT_EQ((numa_vector<int>(squares.begin(), squares.end())), (numa_vector<int>{0, 1, 4, 9, 16}));
  EXPECT_EQ(contents(strings::generate(1000, word, allocator)), source);
}

TEST(numa_vector, has_zeros_also_where_memory_was_used_before) {
  for (const std::size_t n : {100U, 5000U, 9000U, 100'000U}) {
    {
      const doubles dirty(n, 1.5);
    }
    const doubles zeros(n);
    EXPECT_EQ(std::ranges::count(zeros, 0.0), static_cast<std::ptrdiff_t>(n));
  }
}

TEST(numa_vector, is_copied_moved_and_swapped) {
  const std::vector<std::string> source = words(100);
  const strings original(source.begin(), source.end(), team(3));
  strings copy(original);
  EXPECT_EQ(copy, original);
  EXPECT_NE(copy.data(), original.data());
  EXPECT_EQ(copy.team(), team(3));
  const std::string* const data = copy.data();
  strings moved(std::move(copy));
  EXPECT_EQ(moved.data(), data);
  EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move)
  copy = moved;
  EXPECT_EQ(copy, original);
  strings other{word(7)};
  swap(other, copy);
  EXPECT_EQ(contents(other), source);
  EXPECT_EQ(copy.size(), 1U);
  other = std::move(copy);
  EXPECT_EQ(contents(other), std::vector<std::string>{word(7)});
  const strings elsewhere(original, team(2));
  EXPECT_EQ(elsewhere, original);
  EXPECT_EQ(elsewhere.team(), team(2));
  strings& self = moved;
  moved = self;
  EXPECT_EQ(contents(moved), source);
  moved = std::move(self);
  EXPECT_EQ(contents(moved), source);
}

TEST(numa_vector, is_copied_and_assigned_across_allocators) {
  const doubles source{1, 2, 3};
  ordinary copy(source);
  EXPECT_EQ(copy, source);
  copy = {4, 5};
  EXPECT_NE(copy, source);
  EXPECT_GT(copy, source);
  copy = source;
  EXPECT_EQ(copy, source);
  numa_resource resource;
  nearfar::pmr::numa_vector<double> polymorphic(copy, &resource);
  EXPECT_EQ(polymorphic, source);
  polymorphic = numa_vector<double, numa_allocator<double, 2>>(4, 0.5);
  EXPECT_EQ(contents(polymorphic), std::vector<double>(4, 0.5));
  EXPECT_EQ(polymorphic.get_allocator().resource(), &resource);
}

TEST(numa_vector, is_assigned_values_ranges_and_parts_of_itself) {
  const std::vector<std::string> source = words(50);
  strings vector(source.begin(), source.end(), team(3));
  vector.assign(50, vector[20]);
  EXPECT_EQ(contents(vector), std::vector<std::string>(50, word(20)));
  vector.assign(source.begin(), source.end());
  vector.assign(vector.begin() + 10, vector.begin() + 20);
  EXPECT_EQ(contents(vector), std::vector<std::string>(source.begin() + 10, source.begin() + 20));
  vector.assign({word(1), word(2)});
  EXPECT_EQ(vector.back(), word(2));
  vector.assign(3, vector[1]);
  EXPECT_EQ(contents(vector), std::vector<std::string>(3, word(2)));
  doubles numbers(100'000, 1.0, team(3));
  numbers[70'000] = 3;
  const double* const data = numbers.data();
  numbers.assign(numbers.size(), numbers[70'000]);
  EXPECT_EQ(std::ranges::count(numbers, 3.0), 100'000);
  numbers = ordinary(100'000, 5.0);
  EXPECT_EQ(std::ranges::count(numbers, 5.0), 100'000);
  const doubles sixes(100'000, 6.0);
  numbers = sixes;
  EXPECT_EQ(numbers, sixes);
  EXPECT_EQ(numbers.data(), data) << "all of this is done in place";
  const doubles sevens(100'001, 7.0);
  numbers = sevens;
  EXPECT_EQ(numbers, sevens);
  EXPECT_EQ(numbers.capacity(), 100'001U);
}

TEST(numa_vector, is_divided_by_its_size_after_any_assignment) {
  const nearfar::numa_vector<int> values(5, 7);
  for (const bool from_value : {false, true}) {
    nearfar::numa_vector<int> grown;
    for (int i = 0; i < 5; ++i) grown.push_back(i);
    ASSERT_GT(grown.capacity(), grown.size());
    if (from_value)
      grown.assign(5, 7);
    else
      grown = values;
    EXPECT_EQ(grown, values);
    EXPECT_EQ(grown.capacity(), 5U);
  }
}

TEST(numa_vector, gives_access_to_its_elements) {
  numa_vector<int> vector{1, 2, 3};
  const auto& constant = vector;
  vector[1] = 7;
  vector.at(2) = 8;
  EXPECT_EQ(constant[1] + constant.at(2), 15);
  EXPECT_EQ(constant.front() + constant.back(), 9);
  vector.front() = 4;
  vector.back() = 5;
  EXPECT_EQ(contents(vector), (std::vector<int>{4, 7, 5}));
  EXPECT_EQ(std::vector<int>(vector.rbegin(), vector.rend()), (std::vector<int>{5, 7, 4}));
  EXPECT_EQ(std::vector<int>(vector.crbegin(), vector.crend()), (std::vector<int>{5, 7, 4}));
  EXPECT_EQ(vector.cend() - vector.cbegin(), 3);
  EXPECT_THROW(static_cast<void>(vector.at(3)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(constant.at(3)), std::out_of_range);
  std::ranges::sort(vector, std::greater<>());
  std::ranges::reverse(vector | std::views::take(2));
  EXPECT_EQ(contents(vector), (std::vector<int>{5, 7, 4}));
  EXPECT_EQ(std::accumulate(vector.begin(), vector.end(), 0), 16);
  numa_vector<bool> bools(3, true);
  bool* const flag = &bools[1];
  *flag = false;
  EXPECT_EQ(std::ranges::count(bools, true), 2);
}

TEST(numa_vector, checks_indices_in_checked_builds_only) {
  doubles vector(2);
  doubles none;
  if constexpr (nearfar::checked_build) {
    EXPECT_THROW(static_cast<void>(vector[2]), nearfar::misuse);
    EXPECT_THROW(static_cast<void>(none.front()), nearfar::misuse);
    EXPECT_THROW(static_cast<void>(none.back()), nearfar::misuse);
    EXPECT_THROW(none.pop_back(), nearfar::misuse);
  } else {
    EXPECT_EQ(&vector[2], vector.data() + 2);
  }
}

TEST(numa_vector, is_compared_lexicographically) {
  EXPECT_EQ((numa_vector<int>{1, 2} <=> numa_vector<int>{1, 3}), std::strong_ordering::less);
  EXPECT_EQ((numa_vector<int>{1, 2} <=> numa_vector<int, std::allocator<int>>{1}),
            std::strong_ordering::greater);
  EXPECT_LE(doubles(), doubles{1.0});
  EXPECT_EQ((doubles{std::numeric_limits<double>::quiet_NaN()} <=> doubles{1.0}),
            std::partial_ordering::unordered);
  EXPECT_FALSE((numa_vector<int>{1, 2} == numa_vector<int>{1, 2, 3}));
  struct only_less {
    int value;
    bool operator<(const only_less& other) const { return value < other.value; }
  };
  using less_vector = numa_vector<only_less>;
  EXPECT_TRUE((less_vector{{1}, {2}} < less_vector{{1}, {3}}));
}

// ---- size ------------------------------------------------------------------------------------------------

TEST(numa_vector, grows_and_shrinks) {
  strings vector(numa_allocator<std::string>(team(3)));
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 300; ++i) {
    vector.push_back(word(i));
    expected.push_back(word(i));
    ASSERT_EQ(contents(vector), expected);
    ASSERT_GE(vector.capacity(), vector.size());
  }
  vector.pop_back();
  expected.pop_back();
  for (const std::size_t size : {299U, 10U, 500U, 500U, 3U, 0U, 4U}) {
    vector.resize(size);
    expected.resize(size);
    ASSERT_EQ(contents(vector), expected);
    ASSERT_EQ(vector.capacity(), size);
  }
  vector.resize(100, word(3));
  expected.resize(100, word(3));
  vector.resize(200, vector[99]);
  expected.resize(200, expected[99]);
  EXPECT_EQ(contents(vector), expected);
  vector.reserve(1000);
  EXPECT_EQ(vector.capacity(), 1000U);
  const std::string* const data = vector.data();
  while (vector.size() < 900) vector.emplace_back(3U, 'x');
  vector.resize(1000, word(5));
  EXPECT_EQ(vector.data(), data);
  EXPECT_EQ(vector[899] + vector[900] + vector[999], "xxx" + word(5) + word(5));
  vector.reserve(10);
  EXPECT_EQ(vector.data(), data);
  vector.clear();
  EXPECT_EQ(vector.capacity(), 1000U);
  vector.shrink_to_fit();
  EXPECT_EQ(vector.capacity(), 0U);
  EXPECT_EQ(vector.data(), nullptr);
}

TEST(numa_vector, pushes_its_own_elements) {
  strings vector{word(0)};
  for (std::size_t i = 1; i < 200; ++i) {
    vector.push_back(vector[0]);
    ASSERT_EQ(vector.back(), word(0));
  }
  numa_vector<std::string> moved{word(1)};
  moved.shrink_to_fit();
  moved.push_back(std::move(moved[0]));
  EXPECT_EQ(moved[1], word(1));
}

TEST(numa_vector, doubles_its_capacity_when_it_is_used_up) {
  numa_vector<int> vector;
  std::size_t growths = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::size_t before = vector.capacity();
    vector.push_back(i);
    growths += static_cast<std::size_t>(vector.capacity() != before);
  }
  EXPECT_LE(growths, 17U);
  EXPECT_EQ(vector[99'999], 99'999);
}

TEST(numa_vector, of_nothing_is_no_trouble) {
  const doubles none(0, 1.0);
  doubles other(none);
  other = none;
  other.resize(0);
  other.reserve(0);
  other.shrink_to_fit();
  other.redistribute();
  other.clear();
  other.assign(0, 2.0);
  other.assign(none.begin(), none.end());
  EXPECT_EQ(other.begin(), other.end());
  EXPECT_EQ(other.capacity(), 0U);
  other.for_each_block([](index_range) { FAIL(); });
}

TEST(numa_vector, refuses_sizes_that_overflow) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  doubles vector{1, 2, 3};
  const double* const data = vector.data();
  EXPECT_THROW(static_cast<void>(doubles(most)), std::length_error);
  EXPECT_THROW(static_cast<void>(ordinary(most / 8 + 1)), std::length_error);
  EXPECT_THROW(vector.resize(vector.max_size() + 1), std::length_error);
  EXPECT_THROW(vector.reserve(most), std::length_error);
  EXPECT_THROW(vector.assign(most, 1.0), std::length_error);
  EXPECT_THROW(vector.reserve(vector.max_size()), std::bad_alloc);
  EXPECT_EQ(vector.data(), data);
  EXPECT_EQ(contents(vector), (std::vector<double>{1, 2, 3}));
}

struct alignas(4096) page_like {
  int value = 3;
};
struct alignas(128) line_pair {
  int value = 3;
};

TEST(numa_vector, aligns_over_aligned_elements) {
  numa_vector<page_like> pages(40, numa_allocator<page_like>(team(3)));
  numa_vector<line_pair, numa_allocator<line_pair, 3>> pairs(1000);
  numa_vector<line_pair, std::allocator<line_pair>> plain(10);
  pages.emplace_back();
  pairs.emplace_back();
  plain.resize(11);
  const auto right = [](const auto& element) {
    return reinterpret_cast<std::uintptr_t>(&element) % alignof(decltype(element)) == 0 && element.value == 3;
  };
  EXPECT_TRUE(std::ranges::all_of(pages, right));
  EXPECT_TRUE(std::ranges::all_of(pairs, right));
  EXPECT_TRUE(std::ranges::all_of(plain, right));
}

TEST(numa_vector, holds_elements_that_can_only_be_moved) {
  numa_vector<std::unique_ptr<int>> vector(3, numa_allocator<std::unique_ptr<int>>(team(3)));
  for (int i = 0; i < 100; ++i) vector.push_back(std::make_unique<int>(i));
  vector.resize(200);
  vector.reserve(500);
  vector.redistribute();
  EXPECT_EQ(*vector[102], 99);
  EXPECT_EQ(vector[150], nullptr);
  numa_vector<std::unique_ptr<int>> other(std::move(vector), team(2));
  EXPECT_EQ(*other[3], 0);
  auto made = numa_vector<std::unique_ptr<std::size_t>>::generate(
      100, [](std::size_t i) { return std::make_unique<std::size_t>(i); });
  EXPECT_EQ(*made[77], 77U);
}

// ---- owners
// --------------------------------------------------------------------------------------------------

std::vector<std::thread::id> threads_of(const team& threads) {
  std::mutex mutex;
  std::map<int, std::thread::id> ids;
  threads.run([&](team_member member) {
    const std::lock_guard lock(mutex);
    ids[member.index] = std::this_thread::get_id();
  });
  std::vector<std::thread::id> all;
  for (const auto& [index, id] : ids) all.push_back(id);
  return all;
}

// Remembers the thread that made it. Its destructor records the destroying thread in an array of its vector.
struct signed_element {
  signed_element() = default;
  explicit signed_element(int) {}
  signed_element(const signed_element&) {}
  signed_element(signed_element&&) noexcept {}
  signed_element& operator=(const signed_element&) = default;
  ~signed_element() {
    if (destroyed_by != nullptr) *destroyed_by = std::this_thread::get_id();
  }
  std::thread::id made_by = std::this_thread::get_id();
  std::thread::id* destroyed_by = nullptr;
};

void expect_made_by_owners(std::span<const signed_element> elements, const static_schedule& schedule,
                           const team& threads, std::size_t first, std::size_t last) {
  ASSERT_GE(elements.size(), last);
  const auto ids = threads_of(threads);
  const static_schedule owners(schedule.size(), static_cast<int>(ids.size()), schedule.chunk());
  ASSERT_EQ(owners.threads(), schedule.threads());
  for (std::size_t i = first; i < last; ++i) {
    ASSERT_EQ(elements[i].made_by, ids[static_cast<std::size_t>(owners.owner(i))]) << "element " << i;
    ASSERT_EQ(schedule.owner(i), owners.owner(i));
  }
}

template <typename Vector>
void expect_made_by_owners(const Vector& vector, std::size_t first, std::size_t last) {
  EXPECT_EQ(vector.schedule().size(), vector.capacity());
  EXPECT_EQ(vector.schedule().chunk(), Vector::chunk);
  expect_made_by_owners(vector, vector.schedule(), vector.team(), first, last);
}

void expect_destroyed_by_owners(std::span<const std::thread::id> destroyed_by, const team& threads,
                                std::size_t chunk) {
  const auto ids = threads_of(threads);
  const static_schedule owners(destroyed_by.size(), static_cast<int>(ids.size()), chunk);
  for (std::size_t i = 0; i < destroyed_by.size(); ++i) {
    ASSERT_EQ(destroyed_by[i], ids[static_cast<std::size_t>(owners.owner(i))]) << "element " << i;
  }
}

template <typename Vector>
void expect_owners_at_work(const team& threads) {
  const typename Vector::allocator_type allocator = [&] {
    if constexpr (std::constructible_from<typename Vector::allocator_type, team>) {
      return typename Vector::allocator_type(threads);
    } else {
      return typename Vector::allocator_type();
    }
  }();
  for (const std::size_t n : {1U, 2U, 10U, 5000U}) {
    Vector vector(n, allocator);
    EXPECT_EQ(vector.capacity(), n);
    expect_made_by_owners(vector, 0, n);
    const Vector copy(vector);
    expect_made_by_owners(copy, 0, n);
    const Vector values(n, signed_element(), allocator);
    expect_made_by_owners(values, 0, n);
    const std::list<int> linked(n);
    const Vector from_list(linked.begin(), linked.end(), allocator);
    expect_made_by_owners(from_list, 0, n);
    vector.resize(2 * n);
    expect_made_by_owners(vector, 0, 2 * n);
    vector.resize(n + 1, signed_element());
    expect_made_by_owners(vector, 0, n + 1);
    vector.reserve(4 * n);
    expect_made_by_owners(vector, 0, n + 1);
    vector.resize(4 * n);
    expect_made_by_owners(vector, 0, 4 * n);
    while (vector.size() < 5 * n) vector.emplace_back();
    EXPECT_EQ(vector.back().made_by, std::this_thread::get_id());
    vector.redistribute();
    EXPECT_EQ(vector.capacity(), vector.size());
    expect_made_by_owners(vector, 0, vector.size());
    vector.clear();
    vector.shrink_to_fit();

    // The threads that destroy the elements.
    std::vector<std::thread::id> destroyed_by(n);
    {
      Vector mortal(n, allocator);
      for (std::size_t i = 0; i < n; ++i) mortal[i].destroyed_by = &destroyed_by[i];
    }
    expect_destroyed_by_owners(destroyed_by, threads, Vector::chunk);
  }
}

TEST(numa_vector, has_its_elements_made_and_destroyed_by_their_owners) {
  expect_owners_at_work<numa_vector<signed_element>>(team(3));
  expect_owners_at_work<numa_vector<signed_element, numa_allocator<signed_element, 1>>>(team(2));
  expect_owners_at_work<numa_vector<signed_element, numa_allocator<signed_element, 64>>>(team(3));
  expect_owners_at_work<numa_vector<signed_element>>(team::serial());
  expect_owners_at_work<numa_vector<signed_element, std::allocator<signed_element>>>(team());
}

TEST(numa_vector, has_trivial_elements_written_by_their_owners_once_they_are_placed) {
  const std::size_t n = 3 * placed_from_bytes / sizeof(double);
  doubles vector(n, team(3));
  const auto ids = threads_of(team(3));
  std::vector<std::thread::id> by(n);
  vector.for_each_block([&](index_range block) {
    for (std::size_t i = block.first; i < block.last; ++i) by[i] = std::this_thread::get_id();
  });
  const static_schedule owners(n, static_cast<int>(ids.size()));
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(by[i], ids[static_cast<std::size_t>(owners.owner(i))]);
}

TEST(numa_vector, calls_for_each_block_of_its_elements_only) {
  numa_vector<int> vector(10'000, numa_allocator<int>(team(3)));
  vector.reserve(100'000);
  vector.for_each_block([&](index_range block) {
    for (std::size_t i = block.first; i < block.last; ++i) ++vector[i];
  });
  EXPECT_EQ(std::ranges::count(vector, 1), 10'000);
}

TEST(numa_vector, has_its_spare_room_touched_too) {
  doubles vector(10, team(3));
  vector.reserve(10 * placed_from_bytes);
  if (const auto where = nearfar::locate_pages(vector.data(), vector.capacity() * sizeof(double))) {
    EXPECT_EQ(std::ranges::count(where->domains, nearfar::untouched_page), 0);
  } else {
    EXPECT_FALSE(nearfar::placement_problems().empty());
  }
}

struct writes_nothing {
  double value;
  writes_nothing() {}  // NOLINT: writing nothing is the point
};

TEST(numa_vector, has_its_pages_touched_even_if_constructors_write_nothing) {
  const numa_vector<writes_nothing> vector(10 * placed_from_bytes, team(3));
  if (const auto where = nearfar::locate_pages(vector.data(), vector.size() * sizeof(writes_nothing))) {
    EXPECT_EQ(std::ranges::count(where->domains, nearfar::untouched_page), 0);
  } else {
    EXPECT_FALSE(nearfar::placement_problems().empty());
  }
}

TEST(numa_vector, takes_the_team_of_a_numa_resource_and_no_other_for_elements_that_share_one) {
  numa_resource resource(team(3));
  using pmr_strings = nearfar::pmr::numa_vector<std::pmr::string>;
  const pmr_strings placed(1000, std::pmr::string(100, 'x'), &resource);
  EXPECT_EQ(placed.team(), team(3));
  EXPECT_EQ(placed[999].get_allocator().resource(), &resource);
  std::pmr::monotonic_buffer_resource buffer;
  const pmr_strings serial(1000, std::pmr::string(100, 'x'), &buffer);
  EXPECT_EQ(serial.team(), team::serial());
  EXPECT_EQ(serial, placed);
  EXPECT_EQ(nearfar::pmr::numa_vector<double>(&buffer).team(), team());
}

TEST(numa_vector, sees_the_team_through_a_scoped_adaptor) {
  using row = std::vector<double, numa_allocator<double>>;
  using adaptor = std::scoped_allocator_adaptor<numa_allocator<row, 5>>;
  numa_vector<row, adaptor> matrix(100, adaptor(numa_allocator<row, 5>(team(3))));
  static_assert(decltype(matrix)::chunk == 5);
  EXPECT_EQ(matrix.team(), team(3));
}

// ---- exceptions
// ------------------------------------------------------------------------------------------------

// Counts its instances and throws at a chosen construction.
template <bool NothrowMove>
struct counted {
  counted() : counted(0) {}
  explicit counted(int number) : value(make(number)) {}
  counted(const counted& other) : value(make(*other.value)) {}
  counted(counted&& other) noexcept(NothrowMove)  // NOLINT(performance-noexcept-move-constructor)
      : value(NothrowMove || may_succeed() ? std::move(other.value) : nullptr) {
    ++alive;
  }
  counted& operator=(const counted& other) {
    *value = *other.value;
    return *this;
  }
  counted& operator=(counted&&) = delete;
  ~counted() { --alive; }
  [[nodiscard]] friend bool operator==(const counted& a, const counted& b) {
    return a.value && b.value && *a.value == *b.value;
  }
  // -1 for an object that was moved from.
  [[nodiscard]] int number() const { return value ? *value : -1; }

  static bool may_succeed() {
    return --until_throw == 0 ? throw std::runtime_error("a construction that fails") : true;
  }
  static std::unique_ptr<int> make(int number) {
    may_succeed();
    auto made = std::make_unique<int>(number);
    ++alive;
    return made;
  }

  static inline std::atomic<long> alive = 0;
  static inline std::atomic<long> until_throw = 0;
  std::unique_ptr<int> value;
};

// The state that an operation must keep if it throws.
struct vector_state {
  const void* data = nullptr;
  std::size_t capacity = 0;
  std::vector<int> values{};
  long alive = 0;
  [[nodiscard]] friend bool operator==(const vector_state&, const vector_state&) = default;
};

template <typename Vector>
[[nodiscard]] vector_state state_of(const Vector& vector) {
  vector_state state{
      .data = vector.data(), .capacity = vector.capacity(), .alive = Vector::value_type::alive};
  for (const auto& element : vector) state.values.push_back(element.number());
  return state;
}

// Calls `change` on a vector of `n` elements with each construction failing in turn, until one run makes
// fewer. The change is a `std::function`, so that this is compiled once for each kind of vector.
template <typename Vector>
void expect_strong_guarantee(const char* what, const team& threads, std::size_t n,
                             const std::function<void(Vector&)>& change) {
  using element = typename Vector::value_type;
  const long alive_before = element::alive;
  for (long k = 1;; ++k) {
    Vector vector = Vector::generate(
        n, [](std::size_t i) { return static_cast<int>(i); }, threads);
    const vector_state before = state_of(vector);
    ASSERT_EQ(before.capacity, n);
    element::until_throw = k;
    bool thrown = false;
    try {
      change(vector);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    element::until_throw = 0;
    if (!thrown) {
      ASSERT_GT(k, 1) << what << " constructed nothing";
      break;
    }
    ASSERT_EQ(state_of(vector), before) << what << ", construction " << k;
  }
  EXPECT_EQ(element::alive, alive_before) << what;
}

template <bool NothrowMove, std::size_t Chunk>
void expect_strong_guarantees() {
  using element = counted<NothrowMove>;
  using vector = numa_vector<element, numa_allocator<element, Chunk>>;
  const vector source(13, element(9));
  const element value(7);
  const std::list<int> numbers(10, 5);
  for (const int threads : {1, 2}) {
    const auto expect = [&](const char* what, const std::function<void(vector&)>& change) {
      for (const std::size_t n : {1U, 10U}) expect_strong_guarantee(what, team(threads), n, change);
    };
    expect("construction", [&](vector&) { const vector other(10, team(2)); });
    expect("construction of values", [&](vector&) { const vector other(10, value, team(2)); });
    expect("construction of a range",
           [&](vector&) { const vector other(numbers.begin(), numbers.end(), team(2)); });
    expect("generate", [&](vector&) {
      static_cast<void>(vector::generate(10, [](std::size_t i) { return element(static_cast<int>(i)); }));
    });
    expect("copy", [&](vector& v) { EXPECT_EQ(vector(v), v); });
    expect("copy assignment", [&](vector& v) { v = source; });
    expect("copy assignment of another allocator's",
           [&](vector& v) { v = numa_vector<element, std::allocator<element>>(source); });
    expect("assign", [&](vector& v) { v.assign(10, value); });
    expect("assign of a range", [&](vector& v) { v.assign(source.begin(), source.end()); });
    expect("resize", [&](vector& v) { v.resize(15); });
    expect("resize with a value", [&](vector& v) { v.resize(15, v[0]); });
    expect("push_back", [&](vector& v) { v.push_back(value); });
    expect("push_back of its own", [&](vector& v) { v.push_back(v[0]); });
    expect("emplace_back", [&](vector& v) { v.emplace_back(3); });
    if (!NothrowMove) {
      expect("reserve", [&](vector& v) { v.reserve(20); });
      expect("redistribute", [&](vector& v) { v.redistribute(); });
      expect("resize to fewer", [&](vector& v) { v.resize(v.size() == 1 ? 2 : v.size() / 2); });
    }
  }
}

TEST(numa_vector, is_as_it_was_after_any_construction_that_throws) {
  expect_strong_guarantees<true, 0>();
  expect_strong_guarantees<true, 3>();
  expect_strong_guarantees<false, 0>();
  expect_strong_guarantees<false, 3>();
}

TEST(numa_vector, is_as_it_was_when_growing_within_its_capacity_throws) {
  using element = counted<true>;
  for (long k = 1; k <= 10; ++k) {
    numa_vector<element> vector(10, team(3));
    vector.reserve(20);
    const long alive = element::alive;
    element::until_throw = k;
    EXPECT_THROW(vector.resize(20), std::runtime_error);
    element::until_throw = 1;
    EXPECT_THROW(vector.emplace_back(), std::runtime_error);
    EXPECT_EQ(element::alive, alive);
    EXPECT_EQ(vector.size(), 10U);
    EXPECT_EQ(vector.capacity(), 20U);
  }
}

TEST(numa_vector, does_not_leak_when_an_iterator_throws) {
  const std::list<int> numbers(100, 1);
  const auto failing =
      numbers | std::views::transform([calls = std::make_shared<std::atomic<int>>(0)](int i) {
        return ++*calls == 50 ? throw std::runtime_error("an iterator that fails") : counted<true>(i);
      });
  const long alive = counted<true>::alive;
  EXPECT_THROW((numa_vector<counted<true>>(failing.begin(), failing.end(), team(3))), std::runtime_error);
  EXPECT_EQ(counted<true>::alive, alive);
}

// ---- allocators that differ
// ------------------------------------------------------------------------------------

// The memory that each allocator has given, over all tracked allocators.
struct records {
  std::mutex mutex;
  std::map<void*, std::pair<int, std::size_t>> blocks;
  bool wrong = false;
};
records& all_records() {
  static records all;
  return all;
}

template <typename T, bool CopyAssigns, bool MoveAssigns, bool Swaps, bool AlwaysEqual>
struct tracked {
  using value_type = T;
  using propagate_on_container_copy_assignment = std::bool_constant<CopyAssigns>;
  using propagate_on_container_move_assignment = std::bool_constant<MoveAssigns>;
  using propagate_on_container_swap = std::bool_constant<Swaps>;
  using is_always_equal = std::bool_constant<AlwaysEqual>;
  template <typename U>
  struct rebind {
    using other = tracked<U, CopyAssigns, MoveAssigns, Swaps, AlwaysEqual>;
  };

  explicit tracked(int number) : id(number) {}
  T* allocate(std::size_t n) {
    T* const p = std::allocator<T>().allocate(n);
    const std::lock_guard lock(all_records().mutex);
    all_records().blocks[p] = {id, n};
    return p;
  }
  void deallocate(T* p, std::size_t n) noexcept {
    const std::lock_guard lock(all_records().mutex);
    const auto found = all_records().blocks.find(p);
    if (found == all_records().blocks.end() || found->second.second != n ||
        (!AlwaysEqual && found->second.first != id)) {
      all_records().wrong = true;
    }
    all_records().blocks.erase(p);
    std::allocator<T>().deallocate(p, n);
  }
  [[nodiscard]] tracked select_on_container_copy_construction() const { return tracked(id + 1000); }
  [[nodiscard]] friend bool operator==(const tracked& a, const tracked& b) {
    return AlwaysEqual || a.id == b.id;
  }

  int id;
};

// A vector of strings with an allocator of any kind, so that its tests are compiled once.
class any_vector {
 public:
  any_vector() = default;
  any_vector(const any_vector&) = delete;
  any_vector& operator=(const any_vector&) = delete;
  virtual ~any_vector() = default;

  // Makes a vector of the same kind, of a size or from this one.
  using pointer = std::unique_ptr<any_vector>;
  [[nodiscard]] virtual pointer made(int id, std::span<const std::string> source) const = 0;
  [[nodiscard]] virtual pointer copied() const = 0;
  [[nodiscard]] virtual pointer copied(int id) const = 0;
  [[nodiscard]] virtual pointer moved() = 0;
  [[nodiscard]] virtual pointer moved(int id) = 0;

  // `other` is of the same kind.
  virtual void assign(const any_vector& other) = 0;
  virtual void assign_moved(any_vector& other) = 0;
  virtual void swap_with(any_vector& other) = 0;
  virtual void push_back(const std::string& value) = 0;
  virtual void reserve(std::size_t count) = 0;

  [[nodiscard]] virtual int id() const = 0;
  [[nodiscard]] virtual std::span<const std::string> elements() const = 0;
};

// The properties that an allocator states.
struct propagation {
  bool copy_assigns;
  bool move_assigns;
  bool swaps;
  bool always_equal;
};

template <propagation Of>
class tracked_vector final : public any_vector {
  using allocator = tracked<std::string, Of.copy_assigns, Of.move_assigns, Of.swaps, Of.always_equal>;
  using vector = numa_vector<std::string, allocator>;
  static_assert(std::is_nothrow_move_assignable_v<vector> == (Of.move_assigns || Of.always_equal));
  static_assert(std::is_nothrow_swappable_v<vector> == (Of.swaps || Of.always_equal));

 public:
  template <typename... Arguments>
  explicit tracked_vector(std::in_place_t, Arguments&&... arguments)
      : all_(std::forward<Arguments>(arguments)...) {}

  [[nodiscard]] pointer made(int id, std::span<const std::string> source) const override {
    return make(source.begin(), source.end(), allocator(id));
  }
  [[nodiscard]] pointer copied() const override { return make(all_); }
  [[nodiscard]] pointer copied(int id) const override { return make(all_, allocator(id)); }
  [[nodiscard]] pointer moved() override { return make(std::move(all_)); }
  [[nodiscard]] pointer moved(int id) override { return make(std::move(all_), allocator(id)); }

  void assign(const any_vector& other) override { all_ = of(other); }
  void assign_moved(any_vector& other) override { all_ = std::move(of(other)); }
  void swap_with(any_vector& other) override { swap(all_, of(other)); }
  void push_back(const std::string& value) override { all_.push_back(value); }
  void reserve(std::size_t count) override { all_.reserve(count); }

  [[nodiscard]] int id() const override { return all_.get_allocator().id; }
  [[nodiscard]] std::span<const std::string> elements() const override { return all_; }

 private:
  template <typename... Arguments>
  [[nodiscard]] static pointer make(Arguments&&... arguments) {
    return std::make_unique<tracked_vector>(std::in_place, std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] static const vector& of(const any_vector& other) {
    return static_cast<const tracked_vector&>(other).all_;
  }
  [[nodiscard]] static vector& of(any_vector& other) { return static_cast<tracked_vector&>(other).all_; }

  vector all_;
};

void expect_elements(const any_vector& vector, std::span<const std::string> expected, int id,
                     const char* what) {
  EXPECT_TRUE(std::ranges::equal(vector.elements(), expected)) << what;
  EXPECT_EQ(vector.id(), id) << what;
}

void expect_propagation(const any_vector& kind, const propagation& of) {
  SCOPED_TRACE("copy " + std::to_string(of.copy_assigns) + " move " + std::to_string(of.move_assigns) +
               " swap " + std::to_string(of.swaps) + " equal " + std::to_string(of.always_equal));
  const std::vector<std::string> words_of_all = words(20);
  const std::span<const std::string> source = words_of_all;
  for (const int other_id : {1, 2}) {
    for (const std::size_t n : {0U, 5U, 20U}) {
      const bool exchangeable = of.always_equal || other_id == 1;
      const std::span<const std::string> expected = source.first(n);
      const auto other = kind.made(other_id, expected);
      {
        const auto copy = other->copied();
        copy->reserve(n);
        expect_elements(*copy, expected, other_id + 1000, "copied");
        const auto target = kind.made(1, source.first(5));
        target->assign(*other);
        expect_elements(*target, expected, of.copy_assigns ? other_id : 1, "copy-assigned");
        target->push_back(word(1));
      }
      {
        const auto moving = kind.made(other_id, expected);
        const std::string* const data = moving->elements().data();
        const auto target = kind.made(1, source.first(5));
        target->assign_moved(*moving);
        expect_elements(*target, expected, of.move_assigns ? other_id : 1, "move-assigned");
        EXPECT_EQ(target->elements().data() == data, n == 0 || of.move_assigns || exchangeable);
        moving->assign_moved(*kind.made(other_id, source.first(2)));
        EXPECT_EQ(moving->elements().size(), 2U);
      }
      {
        const auto moving = kind.made(other_id, expected);
        const std::string* const data = moving->elements().data();
        const auto target = moving->moved(1);
        expect_elements(*target, expected, 1, "moved with an allocator");
        EXPECT_EQ(target->elements().data() == data, n == 0 || exchangeable);
        const auto copy = target->copied(7);
        EXPECT_EQ(copy->id(), 7);
        const auto constructed = kind.made(3, expected);
        expect_elements(*constructed->moved(), expected, 3, "moved");
      }
      const auto one = kind.made(1, source.first(3));
      const auto two = kind.made(other_id, expected);
      if (of.swaps || exchangeable) {
        one->swap_with(*two);
        expect_elements(*one, expected, of.swaps ? other_id : 1, "swapped");
        expect_elements(*two, source.first(3), of.swaps ? 1 : other_id, "swapped");
      } else if (nearfar::checked_build) {
        EXPECT_THROW(one->swap_with(*two), nearfar::misuse);
        EXPECT_EQ(one->elements().size(), 3U);
      }
    }
  }
  EXPECT_FALSE(all_records().wrong);
}

template <bool... Flags>
void expect_propagation_for_all() {
  if constexpr (sizeof...(Flags) == 4) {
    constexpr propagation of{Flags...};
    {
      const tracked_vector<of> none(std::in_place, tracked<std::string, Flags...>(0));
      expect_propagation(none, of);
    }
    EXPECT_TRUE(all_records().blocks.empty());
  } else {
    expect_propagation_for_all<Flags..., false>();
    expect_propagation_for_all<Flags..., true>();
  }
}

TEST(numa_vector, hands_its_allocator_on_as_that_says) { expect_propagation_for_all<>(); }

// Constructs and destroys through the allocator, which counts both.
template <typename T>
struct counting : std::allocator<T> {
  using value_type = T;
  template <typename U>
  struct rebind {
    using other = counting<U>;
  };
  template <typename U, typename... Arguments>
  void construct(U* p, Arguments&&... arguments) {
    ++made;
    std::construct_at(p, std::forward<Arguments>(arguments)...);
  }
  template <typename U>
  void destroy(U* p) {
    ++destroyed;
    std::destroy_at(p);
  }
  static inline std::atomic<int> made = 0;
  static inline std::atomic<int> destroyed = 0;
};

TEST(numa_vector, constructs_and_destroys_through_its_allocator) {
  {
    numa_vector<int, counting<int>> vector(100);
    EXPECT_EQ(counting<int>::made, 100);
    vector.resize(150);
    EXPECT_EQ(counting<int>::made, 250);
    EXPECT_EQ(counting<int>::destroyed, 100);
    vector.pop_back();
  }
  EXPECT_EQ(counting<int>::destroyed, 250);
}

}  // namespace
