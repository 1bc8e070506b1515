// Algorithms compared with those of the standard. segmented_algorithm_test.cpp has the algorithms of the
// first version.
#include "nearfar/container/algorithm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "tests/container/segmented_cases.hpp"

namespace {

using nearfar::execution;
using nearfar::padded_layout;
using nearfar::segmented_array;
using nearfar::team;
using nearfar::testing::together;

// Numbers of threads, and sizes from 0 to several pages.
template <typename Body>
void for_each_size(Body&& body) {
  for (int threads = 1; threads <= 9; ++threads)
    for (const std::size_t size : {0U, 1U, 2U, 3U, 17U, 100U, 1025U, 5003U}) body(team(threads), size);
}

template <typename T>
std::vector<T> random_numbers(std::size_t size, unsigned largest, unsigned seed = 1) {
  std::mt19937 random(seed +
                      static_cast<unsigned>(size));  // NOLINT(cert-msc32-c,cert-msc51-cpp) reproducible
  std::vector<T> result(size);
  for (T& each : result) each = static_cast<T>(random() % largest);
  return result;
}

// Calls body(execution, range) for a vector of these values, whole and in chunks, and for segmented arrays.
template <typename T, typename Body>
void for_each_range(team threads, const std::vector<T>& values, Body&& body) {
  for (const execution& how : {execution(threads), together(threads), together(threads, 7)}) {
    std::vector<T> vector(values.begin(), values.end());
    body(how, vector);
  }
  for (const std::size_t segments : {2U, 11U}) {
    segmented_array<T> array(segments, values, {}, threads);
    body(together(threads), array);
    segmented_array<T, padded_layout> padded(segments, values, {.page_aligned = segments == 2}, threads);
    body(together(threads), padded);
  }
}

template <typename Range>
auto copied(const Range& range) {
  return std::vector<std::ranges::range_value_t<const Range>>(range.begin(), range.end());
}

// A value with its original place.
struct item {
  int key = 0;
  int place = 0;
  friend bool operator==(const item&, const item&) = default;
};

std::vector<item> random_items(std::size_t size, unsigned keys) {
  std::vector<item> result;
  for (const int key : random_numbers<int>(size, keys))
    result.push_back({key, static_cast<int>(result.size())});
  return result;
}

// The sentinel of a range that ends at a zero.
struct zero {
  friend bool operator==(const auto& it, zero) { return *it == 0; }
};

// A function that can only be moved.
template <typename Function>
struct move_only {
  Function function;
  std::unique_ptr<int> unique = std::make_unique<int>(1);
  explicit move_only(Function of) : function(std::move(of)) {}
  template <typename... Arguments>
  decltype(auto) operator()(Arguments&&... arguments) const {
    return function(std::forward<Arguments>(arguments)...);
  }
};

TEST(transform_reduce, agrees_with_the_standard) {
  for_each_size([](team threads, std::size_t size) {
    const auto values = random_numbers<long>(size, 1000);
    const auto others = random_numbers<long>(size + 1, 1000, 2);
    const auto square = [](long x) { return x * x; };
    const auto larger = [](long a, long b) { return std::max(a, b); };
    for_each_range(threads, values, [&](const execution& how, const auto& range) {
      ASSERT_EQ(nearfar::transform_reduce(how, range, 3L, std::plus<>{}, square),
                std::transform_reduce(values.begin(), values.end(), 3L, std::plus<>{}, square));
      ASSERT_EQ(nearfar::transform_reduce(how, range.begin(), range.end(), -1L, larger, square),
                std::transform_reduce(values.begin(), values.end(), -1L, larger, square));
      const long product = std::transform_reduce(values.begin(), values.end(), others.begin(), 3L);
      ASSERT_EQ(nearfar::transform_reduce(how, range, others, 3L), product);
      ASSERT_EQ(nearfar::transform_reduce(how, range.begin(), range.end(), others.begin(), 3L), product);
      ASSERT_EQ(nearfar::transform_reduce(how, others.begin(), std::prev(others.end()), range.begin(), -1L,
                                          larger, std::minus<>{}),
                std::transform_reduce(others.begin(), std::prev(others.end()), values.begin(), -1L, larger,
                                      std::minus<>{}));
    });
  });
  EXPECT_THROW((void)nearfar::transform_reduce(std::vector<int>(3), std::vector<int>(2), 0), nearfar::misuse);
}

TEST(transform_reduce, of_floating_point_numbers_is_the_same_each_time) {
  const auto a = random_numbers<double>(10007, 1000000000, 1);
  const auto b = random_numbers<double>(10007, 1000000000, 2);
  const auto root = [](double x) { return 1 / (x + 1); };
  for (int threads = 1; threads <= 9; ++threads)
    for_each_range(team(threads), a, [&](const execution& how, const auto& range) {
      const double product = nearfar::transform_reduce(how, range, b, 0.0);
      const double sum = nearfar::transform_reduce(how, range, 0.0, std::plus<>{}, root);
      for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(nearfar::transform_reduce(how, range, b, 0.0), product);
        ASSERT_EQ(nearfar::transform_reduce(how, range, 0.0, std::plus<>{}, root), sum);
      }
    });
}

TEST(scans, agree_with_the_standard) {
  for_each_size([](team threads, std::size_t size) {
    // The order of the parts of a text matters.
    std::vector<std::string> values;
    for (const int value : random_numbers<int>(std::min<std::size_t>(size, 100), 100))
      values.push_back(std::to_string(value));
    const auto twice = [](const std::string& x) { return x + x; };
    std::vector<std::string> expected(values.size());
    std::vector<std::string> out(values.size());
    const std::string init = "from ";
    const std::plus<> plus;
    for_each_range(threads, values, [&](const execution& how, auto& range) {
      const auto check = [&](auto end) {
        ASSERT_EQ(end, out.end());
        ASSERT_EQ(out, expected);
        std::fill(out.begin(), out.end(), std::string{});
      };
      std::exclusive_scan(values.begin(), values.end(), expected.begin(), init, plus);
      check(nearfar::exclusive_scan(how, range, out.begin(), init));
      check(nearfar::exclusive_scan(how, range.begin(), range.end(), out.begin(), init, plus));
      std::transform_exclusive_scan(values.begin(), values.end(), expected.begin(), init, plus, twice);
      check(nearfar::transform_exclusive_scan(how, range, out.begin(), init, plus, twice));
      std::transform_inclusive_scan(values.begin(), values.end(), expected.begin(), plus, twice);
      check(nearfar::transform_inclusive_scan(how, range, out.begin(), plus, twice));
      std::transform_inclusive_scan(values.begin(), values.end(), expected.begin(), plus, twice, init);
      check(nearfar::transform_inclusive_scan(how, range, out.begin(), plus, twice, init));

      // The scan works in place.
      std::exclusive_scan(values.begin(), values.end(), expected.begin(), init, plus);
      ASSERT_EQ(nearfar::exclusive_scan(how, range, range.begin(), init), range.end());
      ASSERT_EQ(copied(range), expected);
    });
  });
}

TEST(scans, of_proxies_add_up_what_they_stand_for) {
  std::vector<bool> bits(100);
  bits[7] = true;
  for (const int threads : {1, 3}) {
    std::vector<char> any(bits.size());
    nearfar::inclusive_scan(team(threads), bits, any.begin(), std::logical_or<>{});
    EXPECT_EQ(std::ranges::count(any, char{0}), 7);
    nearfar::exclusive_scan(team(threads), bits, any.begin(), false, std::logical_or<>{});
    EXPECT_EQ(std::ranges::count(any, char{0}), 8);
  }
}

TEST(scans, of_floating_point_numbers_are_the_same_each_time) {
  const auto values = random_numbers<double>(10007, 1000000000);
  std::vector<double> first(values.size());
  std::vector<double> again(values.size());
  for (int threads = 1; threads <= 9; ++threads)
    for_each_range(team(threads), values, [&](const execution& how, const auto& range) {
      nearfar::exclusive_scan(how, range, first.begin(), 0.1);
      for (int i = 0; i < 5; ++i) {
        nearfar::exclusive_scan(how, range, again.begin(), 0.1);
        ASSERT_EQ(again, first);
      }
    });
}

TEST(min_and_max_element, agree_with_the_standard_on_the_first_or_last_of_equal_ones) {
  for_each_size([](team threads, std::size_t size) {
    for (const unsigned keys : {1U, 3U, 100000U}) {
      const auto items = random_items(size, keys);
      for_each_range(threads, items, [&](const execution& how, const auto& range) {
        ASSERT_EQ(nearfar::min_element(how, range, {}, &item::key),
                  std::ranges::min_element(range, {}, &item::key));
        ASSERT_EQ(nearfar::max_element(how, range, {}, &item::key),
                  std::ranges::max_element(range, {}, &item::key));
        ASSERT_EQ(nearfar::max_element(how, range.begin(), range.end(), std::greater<>{}, &item::key),
                  std::ranges::max_element(range, std::greater<>{}, &item::key));
        const auto [least, greatest] = nearfar::minmax_element(how, range, std::less<>{}, &item::key);
        const auto expected = std::ranges::minmax_element(range, std::less<>{}, &item::key);
        ASSERT_EQ(least, expected.min);
        ASSERT_EQ(greatest, expected.max);
      });
    }
  });
}

TEST(min_and_max_element, stay_in_the_range_without_an_order) {
  for_each_size([](team threads, std::size_t size) {
    std::vector<double> values = random_numbers<double>(size, 50);
    for (std::size_t i = 0; i < size; i += 3) values[i] = std::numeric_limits<double>::quiet_NaN();
    for_each_range(threads, values, [&](const execution& how, const auto& range) {
      const auto is_in = [&](auto it) {
        const auto index = it - range.begin();
        return index >= 0 && (size == 0 ? it == range.end() : index < range.end() - range.begin());
      };
      ASSERT_TRUE(is_in(nearfar::min_element(how, range)));
      ASSERT_TRUE(is_in(nearfar::max_element(how, range)));
      const auto both = nearfar::minmax_element(how, range, std::less_equal<>{});
      ASSERT_TRUE(is_in(both.min));
      ASSERT_TRUE(is_in(both.max));
    });
  });
}

TEST(count, and_its_kin_agree_with_the_standard) {
  for_each_size([](team threads, std::size_t size) {
    const auto items = random_items(size, 7);
    const auto odd = [](int x) { return x % 2 == 1; };
    for_each_range(threads, items, [&](const execution& how, const auto& range) {
      ASSERT_EQ(nearfar::count(how, range, 3, &item::key), std::ranges::count(items, 3, &item::key));
      ASSERT_EQ(nearfar::count(how, range.begin(), range.end(), item{3, 2}),
                std::ranges::count(items, item{3, 2}));
      ASSERT_EQ(nearfar::count_if(how, range, odd, &item::key),
                std::ranges::count_if(items, odd, &item::key));
      for (const int bound : {-1, 0, 3, 6, 7, 4999, 6000})
        for (const auto member : {&item::key, &item::place}) {
          const auto below = [bound](int x) { return x < bound; };
          ASSERT_EQ(nearfar::any_of(how, range, below, member), std::ranges::any_of(items, below, member));
          ASSERT_EQ(nearfar::all_of(how, range, below, member), std::ranges::all_of(items, below, member));
          ASSERT_EQ(nearfar::none_of(how, range, below, member), std::ranges::none_of(items, below, member));
          ASSERT_EQ(nearfar::all_of(how, range.begin(), range.end(), below, member),
                    std::ranges::all_of(items, below, member));
          ASSERT_EQ(nearfar::find(how, range, bound, member), std::ranges::find(range, bound, member));
        }
    });
  });
}

TEST(stable_sort, agrees_with_the_standard) {
  for_each_size([](team threads, std::size_t size) {
    for (const unsigned keys : {1U, 3U, 100U, 100000U}) {
      const auto items = random_items(size, keys);
      auto expected = items;
      std::ranges::stable_sort(expected, std::greater<>{}, &item::key);
      for_each_range(threads, items, [&](const execution& how, auto& range) {
        nearfar::stable_sort(how, range, std::greater<>{}, &item::key);
        ASSERT_EQ(copied(range), expected);
      });
      std::deque<item> deque(items.begin(), items.end());
      nearfar::stable_sort(together(threads), deque.begin(), deque.end(),
                           [](const item& a, const item& b) { return a.key > b.key; });
      ASSERT_EQ(copied(deque), expected);
    }
  });
}

TEST(stable_sort, is_stable_for_elements_whose_moves_may_throw) {
  struct throwing : item {
    throwing() = default;
    explicit throwing(const item& other) : item(other) {}
    throwing(const throwing& other) noexcept(false) = default;
    throwing& operator=(const throwing& other) noexcept(false) = default;
  };
  for (const std::size_t size : {0U, 2U, 17U, 40U, 1025U}) {
    const auto items = random_items(size, 9);
    auto expected = items;
    std::ranges::stable_sort(expected, {}, &item::key);
    std::vector<throwing> values;
    for (const item& each : items) values.emplace_back(each);
    nearfar::stable_sort(together(team(3)), values, {}, &throwing::key);
    ASSERT_TRUE(std::ranges::equal(values, expected, {}, [](const throwing& x) -> const item& { return x; }));
  }
  std::vector<bool> bits(100);
  for (std::size_t i = 0; i < 100; i += 3) bits[i] = true;
  nearfar::stable_sort(bits);
  EXPECT_TRUE(std::is_sorted(bits.begin(), bits.end()));
}

TEST(stable_sort, keeps_all_elements_without_an_order) {
  nearfar::testing::expect_all_are_kept_without_an_order(nearfar::stable_sort);
}

TEST(stable_sort, keeps_every_element_if_a_comparison_throws) {
  for (const int threads : {1, 2, 4})
    for (int calls = 0; calls < 6000; calls += 211) {
      segmented_array<std::string> array(6, 500, {}, team(threads));
      std::multiset<std::string> before;
      for (std::size_t i = 0; i < 500; ++i)
        before.insert(array[i] = "a string that is too long for itself " + std::to_string(i * 7919 % 501));
      std::atomic<int> left = calls;
      try {
        nearfar::stable_sort(together(team(threads)), array, [&](const std::string& a, const std::string& b) {
          if (left.fetch_sub(1) <= 0) throw std::runtime_error("enough");
          return a < b;
        });
        ASSERT_TRUE(std::is_sorted(array.begin(), array.end()));
      } catch (const std::runtime_error&) {
        std::size_t lost = 0;
        for (const std::string& each : array) {
          if (each.empty())
            ++lost;
          else
            ASSERT_TRUE(before.contains(each)) << each;
        }
        ASSERT_LE(lost, static_cast<std::size_t>(threads));
      }
    }
}

TEST(algorithms, compare_by_less_where_braces_stand_for_it) {
  auto items = random_items(1000, 50);
  nearfar::sort(items, {}, &item::key);
  EXPECT_TRUE(std::ranges::is_sorted(items, {}, &item::key));
  nearfar::sort(items.begin(), items.end(), {}, &item::place);
  EXPECT_TRUE(std::ranges::is_sorted(items, {}, &item::place));
  nearfar::stable_sort(items, {}, &item::key);
  EXPECT_TRUE(std::ranges::is_sorted(items, {}, &item::key));
  EXPECT_EQ(nearfar::min_element(items, {}, &item::key), items.begin());
  EXPECT_EQ(nearfar::max_element(items, {}, &item::place), std::ranges::max_element(items, {}, &item::place));
  EXPECT_EQ(nearfar::minmax_element(items.begin(), items.end(), {}, &item::key).min, items.begin());
}

// Records the threads on which a function is called.
class callers {
 public:
  void note() {
    const std::lock_guard lock(mutex_);
    ids_.insert(std::this_thread::get_id());
  }
  // The number since the last call.
  [[nodiscard]] std::size_t count() { return std::exchange(ids_, {}).size(); }
  [[nodiscard]] bool was_this_thread_alone() {
    return std::exchange(ids_, {}) == std::set{std::this_thread::get_id()};
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> ids_;
};

TEST(execution, leaves_few_elements_to_the_caller_alone) {
  callers seen;
  std::vector<int> values;
  std::vector<int> out;
  const auto less = [&](int a, int b) { return seen.note(), a < b; };
  const auto plus = [&](int a, int b) { return seen.note(), a + b; };
  const auto unary = [&](int a) { return seen.note(), a; };
  const auto each_algorithm = [&](const execution& how, std::size_t size, auto&& check) {
    values = random_numbers<int>(size, 1000);
    out.resize(size);
    nearfar::sort(how, values, less);
    check("sort");
    nearfar::stable_sort(how, values, less);
    check("stable_sort");
    nearfar::inclusive_scan(how, values, out.begin(), plus);
    check("inclusive_scan");
    static_cast<void>(nearfar::find_if(how, values, [&](int x) { return unary(x) < 0; }));
    check("find_if");
    nearfar::transform(how, values, out, unary);
    check("transform");
    static_cast<void>(nearfar::transform_reduce(how, values, 0, std::plus<>{}, unary));
    check("transform_reduce");
    static_cast<void>(nearfar::min_element(how, values, less));
    check("min_element");
    nearfar::for_each_index(how, size, [&](std::size_t) { seen.note(); });
    check("for_each_index");
  };
  constexpr std::size_t few = 1000;
  const auto alone = [&](const char* name) { EXPECT_TRUE(seen.was_this_thread_alone()) << name; };
  const auto shared = [&](const char* name) {
    EXPECT_EQ(seen.count(), nearfar::openmp_available() ? 3U : 1U) << name;
  };
  each_algorithm({team(3), 0, few}, few - 1, alone);
  each_algorithm({team(3), 0, few}, 3 * few, shared);
  each_algorithm({team(3), 0, 0}, few, shared);
}

TEST(sort, takes_projections) {
  for_each_size([](team threads, std::size_t size) {
    for_each_range(threads, random_items(size, 50), [&](const execution& how, auto& range) {
      nearfar::sort(how, range, std::greater<>{}, &item::key);
      ASSERT_TRUE(std::ranges::is_sorted(range, std::greater<>{}, &item::key));
      nearfar::sort(how, range.begin(), range.end(), {}, &item::place);
      for (int i = 0; i < static_cast<int>(size); ++i) ASSERT_EQ(range.begin()[i].place, i);
    });
  });
}

TEST(for_each, takes_any_number_of_ranges_and_projections) {
  for_each_size([](team threads, std::size_t size) {
    const auto items = random_items(size, 50);
    const auto more = random_numbers<int>(size + 2, 50, 3);
    for_each_range(threads, items, [&](const execution& how, auto& range) {
      std::vector<int> sums(size);
      nearfar::for_each(how, range, more, sums, [](const item& a, int b, int& sum) { sum = a.key + b; });
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(sums[i], items[i].key + more[i]);
      nearfar::for_each(how, sums, range, [](int sum, item& a) { a.place = sum; });
      nearfar::for_each(
          how, range, [](int& key) { key += 1; }, &item::key);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(range.begin()[static_cast<std::ptrdiff_t>(i)], (item{items[i].key + 1, sums[i]}));
    });
  });
  const std::vector<int> three(3);
  const std::vector<int> two(2);
  EXPECT_THROW(nearfar::for_each(three, two, [](int, int) {}), nearfar::misuse);
}

TEST(for_each, leaves_each_segment_to_its_owner_also_if_it_is_of_a_later_range) {
  struct element {
    std::thread::id owner = std::this_thread::get_id();
    std::thread::id visitor{};
  };
  for (const int threads : {1, 2, 3}) {
    segmented_array<element> array(7, 100, {}, team(threads));
    const std::vector<int> plain(100);
    nearfar::for_each(team(threads), plain, array,
                      [](int, element& each) { each.visitor = std::this_thread::get_id(); });
    for (const element& each : array) ASSERT_EQ(each.owner, each.visitor);
    nearfar::for_each_index(team(threads), array,
                            [&](std::size_t i) { array[i].visitor = std::this_thread::get_id(); });
    for (const element& each : array) ASSERT_EQ(each.owner, each.visitor);
  }
}

TEST(for_each_index, visits_each_index_once_where_the_schedule_says) {
  for_each_size([](team threads, std::size_t size) {
    for (const std::size_t chunk : {0U, 7U}) {
      const execution how(threads, chunk);
      std::vector<std::thread::id> members(static_cast<std::size_t>(threads.size()));
      how.team.run([&](nearfar::team_member member) {
        members[static_cast<std::size_t>(member.index)] = std::this_thread::get_id();
      });
      std::vector<int> visits(size);
      std::vector<std::thread::id> visitors(size);
      nearfar::for_each_index(how, size, [&](std::size_t i) {
        ++visits[i];
        visitors[i] = std::this_thread::get_id();
      });
      const nearfar::static_schedule schedule(size, threads.size(), chunk);
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(visits[i], 1);
        ASSERT_EQ(visitors[i], members[static_cast<std::size_t>(schedule.owner(i))]);
      }
    }
  });
}

TEST(for_each_index, takes_integers_of_all_kinds) {
  for (const int threads : {1, 3}) {
    std::atomic<int> sum = 0;
    nearfar::for_each_index(team(threads), -5, 6, [&](int i) { sum += i * i; });
    EXPECT_EQ(sum, 110);
    nearfar::for_each_index(team(threads), 4, [&](int i) { sum += i; });
    EXPECT_EQ(sum, 116);
    std::mutex mutex;
    std::set<int> seen;
    using small = std::int8_t;
    nearfar::for_each_index(team(threads), small{-128}, small{127}, [&](small i) {
      const std::lock_guard lock(mutex);
      seen.insert(i);
    });
    EXPECT_EQ(seen.size(), 255U);
    EXPECT_EQ(*seen.begin(), -128);
    EXPECT_EQ(*seen.rbegin(), 126);
  }
  EXPECT_THROW(nearfar::for_each_index(3, 2, [](int) {}), nearfar::misuse);
  EXPECT_THROW(nearfar::for_each_index(-1, [](int) {}), nearfar::misuse);
  nearfar::for_each_index(2, 2, [](int) { FAIL(); });
}

TEST(transform, takes_a_range_and_where_to_write) {
  const segmented_array<int> in(3, 100, 2);
  std::vector<double> out(101);
  EXPECT_EQ(nearfar::transform(
                team(2), in, out.begin(), [](int x) { return x / 4.0; }, nearfar::store_kind::streaming),
            std::prev(out.end()));
  EXPECT_EQ(std::ranges::count(out, 0.5), 100);
  const std::vector<item> items{{1, 2}, {3, 4}};
  std::vector<int> keys;
  nearfar::transform(items, std::back_inserter(keys), &item::key);
  segmented_array<int> places(2, 2);
  nearfar::transform(items, places, &item::place);
  EXPECT_EQ(copied(places), (std::vector{2, 4}));
  EXPECT_EQ(keys, (std::vector{1, 3}));
}

TEST(algorithms, take_an_iterator_and_a_sentinel) {
  std::vector<int> values = random_numbers<int>(5000, 100);
  for (int& value : values) ++value;
  const std::vector<int> original = values;
  values.push_back(0);
  for (const int threads : {1, 2, 5}) {
    const nearfar::execution all = together(team(threads));
    const auto first = values.begin();
    std::vector<int> out(5000);
    std::copy(original.begin(), original.end(), first);
    EXPECT_EQ(nearfar::reduce(all, first, zero{}, 0), std::reduce(original.begin(), original.end()));
    EXPECT_EQ(nearfar::transform_reduce(all, first, zero{}, first, 0),
              std::inner_product(original.begin(), original.end(), original.begin(), 0));
    EXPECT_EQ(nearfar::count(all, first, zero{}, 7), std::count(original.begin(), original.end(), 7));
    EXPECT_EQ(nearfar::find(all, first, zero{}, 1000), first + 5000);
    EXPECT_EQ(nearfar::find(all, first, std::unreachable_sentinel, 0), first + 5000);
    EXPECT_EQ(nearfar::max_element(all, first, zero{}),
              first + (std::ranges::max_element(original) - original.begin()));
    EXPECT_TRUE(nearfar::all_of(all, first, zero{}, [](int x) { return x > 0; }));
    EXPECT_EQ(nearfar::copy(all, first, zero{}, out.begin()), out.end());
    EXPECT_EQ(out, original);
    EXPECT_EQ(nearfar::transform(all, first, zero{}, out.begin(), std::negate<>{}), out.end());
    EXPECT_EQ(out[17], -original[17]);
    EXPECT_EQ(nearfar::inclusive_scan(all, first, zero{}, out.begin()), out.end());
    EXPECT_EQ(out.back(), std::reduce(original.begin(), original.end()));
    nearfar::sort(all, first, zero{});
    EXPECT_TRUE(std::is_sorted(first, first + 5000));
    nearfar::for_each(all, first, zero{}, [](int& x) { x += 1; });
    EXPECT_EQ(std::reduce(first, first + 5000), out.back() + 5000);
    nearfar::for_each(all, std::counted_iterator(first, 3), std::default_sentinel, [](int& x) { x = -1; });
    EXPECT_EQ(std::count(values.begin(), values.end(), -1), 3);
    nearfar::fill(all, first, zero{}, 1);
    EXPECT_EQ(std::reduce(first, first + 5000), 5000);
  }
}

TEST(algorithms, take_ranges_whose_end_is_a_sentinel) {
  const auto numbers = std::views::iota(0, 3000);
  const auto below_100 = std::views::iota(0) | std::views::take_while([](int x) { return x < 100; });
  EXPECT_EQ(nearfar::reduce(team(2), numbers, 0L), 4498500);
  EXPECT_EQ(nearfar::reduce(team(2), below_100, 0), 4950);
  EXPECT_EQ(nearfar::count_if(team(2), below_100, [](int x) { return x % 7 == 0; }), 15);
  std::istringstream in("1 2 3 4");
  std::vector<int> out(4);
  nearfar::exclusive_scan(std::views::istream<int>(in), out.begin(), 10);
  EXPECT_EQ(out, (std::vector{10, 11, 13, 16}));
  static_assert(std::same_as<decltype(nearfar::find(std::vector<int>{}, 1)), std::ranges::dangling>);
}

TEST(algorithms, serve_weak_iterators) {
  const std::forward_list<int> list{3, 1, 2, 3, 1};
  EXPECT_EQ(nearfar::transform_reduce(list, 0, std::plus<>{}, [](int x) { return x * x; }), 24);
  EXPECT_EQ(nearfar::transform_reduce(list.begin(), list.end(), list.begin(), 0), 24);
  EXPECT_EQ(nearfar::min_element(list), std::next(list.begin()));
  EXPECT_EQ(nearfar::max_element(list), list.begin());
  const auto both = nearfar::minmax_element(list);
  EXPECT_EQ(both.min, std::next(list.begin()));
  EXPECT_EQ(both.max, std::next(list.begin(), 3));
  EXPECT_EQ(nearfar::count(list, 3), 2);
  EXPECT_TRUE(nearfar::any_of(list, [](int x) { return x == 2; }));
  EXPECT_TRUE(nearfar::none_of(list, [](int x) { return x == 4; }));
  const std::list<int> none;
  EXPECT_EQ(nearfar::min_element(none), none.end());
  nearfar::testing::lists<int> lists{{{}, {4, 2}, {}, {1, 9, 9, 1}, {}}};
  for (const int threads : {1, 2, 5}) {
    EXPECT_EQ(nearfar::max_element(team(threads), lists), std::next(lists.begin(), 3));
    EXPECT_EQ(nearfar::min_element(team(threads), lists), std::next(lists.begin(), 2));
    EXPECT_EQ(nearfar::count(team(threads), lists, 9), 2);
    std::vector<int> out(6);
    nearfar::exclusive_scan(together(team(threads)), lists, out.begin(), 0);
    EXPECT_EQ(out, (std::vector{0, 4, 6, 7, 16, 25}));
  }
}

TEST(algorithms, take_functions_that_can_only_be_moved) {
  const auto made = [](auto function) { return move_only<decltype(function)>(std::move(function)); };
  for (const int threads : {1, 2, 5}) {
    const nearfar::execution all = together(team(threads));
    std::vector<int> values = random_numbers<int>(5000, 100);
    const auto original = values;
    std::vector<int> out(5000);
    std::atomic<long> sum = 0;
    nearfar::for_each(all, values, made([&](int x) { sum += x; }));
    nearfar::for_each(all, values, values, made([&](int x, int) { sum += x; }));
    nearfar::for_each_index(all, values, made([&](std::size_t i) { sum += values[i]; }));
    EXPECT_EQ(sum, 3 * std::reduce(values.begin(), values.end(), 0L));
    nearfar::transform(all, values, out, made([](int x) { return x * x; }));
    EXPECT_EQ(
        nearfar::reduce(all, out, 0L, made(std::plus<>{})),
        nearfar::transform_reduce(all, values, 0L, made(std::plus<>{}), made([](int x) { return x * x; })));
    EXPECT_EQ(nearfar::count_if(all, values, made([](int x) { return x == 5; })),
              std::ranges::count(values, 5));
    EXPECT_EQ(nearfar::find_if(all, values, made([](int x) { return x == 5; })),
              std::ranges::find(values, 5));
    EXPECT_TRUE(nearfar::all_of(all, values, made([](int x) { return x < 100; })));
    EXPECT_EQ(nearfar::max_element(all, values, made(std::less<>{}), made(std::negate<>{})),
              std::ranges::min_element(values));
    nearfar::exclusive_scan(all, values, out.begin(), 0, made(std::plus<>{}));
    EXPECT_EQ(out.back() + values.back(), std::reduce(values.begin(), values.end()));
    nearfar::sort(all, values, made(std::greater<>{}));
    EXPECT_TRUE(std::ranges::is_sorted(values, std::greater<>{}));
    nearfar::stable_sort(all, values, made(std::less<>{}), made([](int x) { return x / 10; }));
    EXPECT_TRUE(std::ranges::is_sorted(values, {}, [](int x) { return x / 10; }));
  }
}

TEST(algorithms, lose_no_exception_of_any_function) {
  for (const int threads : {1, 2, 4}) {
    const nearfar::execution all = together(team(threads));
    const segmented_array<int> array(5, 10000, 1, {}, all.team);
    std::vector<int> out(10000);
    std::atomic<int> left = 0;
    const auto unary = [&](int x) {
      if (left.fetch_sub(1) <= 0) throw std::runtime_error("enough");
      return x;
    };
    const auto binary = [&](int x, int y) { return unary(x) + y; };
    const auto expect_throw = [&](auto&& algorithm) {
      left = 700;
      EXPECT_THROW((void)algorithm(), std::runtime_error);
    };
    expect_throw([&] { return nearfar::transform_reduce(all, array, 0, std::plus<>{}, unary); });
    expect_throw([&] { return nearfar::transform_reduce(all, array, array, 0, binary); });
    expect_throw([&] { return nearfar::exclusive_scan(all, array, out.begin(), 0, binary); });
    expect_throw([&] { return nearfar::min_element(all, array, {}, unary); });
    expect_throw([&] { return nearfar::minmax_element(all, array, binary); });
    expect_throw([&] { return nearfar::count_if(all, array, unary); });
    expect_throw([&] { return nearfar::all_of(all, array, unary); });
    expect_throw([&] { return nearfar::for_each(all, array, out, binary); });
    expect_throw([&] { return nearfar::for_each_index(all, 10000, unary); });
    expect_throw([&] { return nearfar::stable_sort(all, out, binary); });
  }
}

TEST(algorithms, take_the_policies_of_the_standard) {
  const auto threads_of = [](const auto& policy) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    nearfar::for_each_index(policy, 1000, [&](int) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    return seen.size();
  };
  // These policies are not from <execution>, which would make the tests link with oneTBB.
  namespace standard = nearfar::detail::standard_policies;
  const standard::sequenced_policy seq{};
  const standard::unsequenced_policy unseq{};
  const standard::parallel_policy par{};
  const standard::parallel_unsequenced_policy par_unseq{};
  EXPECT_EQ(threads_of(seq), 1U);
  EXPECT_EQ(threads_of(unseq), 1U);
  EXPECT_EQ(threads_of(nearfar::seq), 1U);
  const auto all = static_cast<std::size_t>(team().size());
  EXPECT_EQ(threads_of(par), all);
  EXPECT_EQ(threads_of(par_unseq), all);
  EXPECT_EQ(threads_of(nearfar::par), all);

  std::vector<int> values = random_numbers<int>(3000, 100);
  nearfar::sort(par, values);
  EXPECT_TRUE(std::ranges::is_sorted(values));
  EXPECT_EQ(nearfar::reduce(seq, values.begin(), values.end()), nearfar::reduce(nearfar::par, values));
}

}  // namespace
