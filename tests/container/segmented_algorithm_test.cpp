#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "tests/container/segmented_cases.hpp"

namespace {

using nearfar::execution;
using nearfar::padded_layout;
using nearfar::segmented_array;
using nearfar::team;
using nearfar::testing::expect_all_are_kept_without_an_order;
using nearfar::testing::for_each_case;
using nearfar::testing::lists;
using nearfar::testing::make_array;
using nearfar::testing::random_array;
using nearfar::testing::segmented_case;
using nearfar::testing::together;

template <typename Range>
auto copied(const Range& range) {
  return std::vector<std::ranges::range_value_t<const Range>>(range.begin(), range.end());
}

// Parts of a range: the whole range, an empty part, and from the middle of one segment to the middle of
// another.
template <typename Body>
void for_each_part(std::size_t size, Body&& body) {
  const auto n = static_cast<std::ptrdiff_t>(size);
  for (const auto& [first, last] :
       {std::pair{std::ptrdiff_t{0}, n}, {n / 2, n / 2}, {n / 3, n}, {n / 3, n - n / 4}})
    body(first, last);
}

template <typename T>
lists<T> some_lists(std::size_t size) {
  lists<T> result{{{}, {}}};
  T next{};
  for (std::size_t length = 1; size != 0; length = length * 3 % 101) {
    const std::size_t n = std::min(size, length);
    result.all.emplace_back(n);
    std::iota(result.all.back().begin(), result.all.back().end(), next);
    next += static_cast<T>(n);
    size -= n;
    if (length % 4 == 0) result.all.emplace_back();
  }
  return result;
}

TEST(segmented_for_each, visits_every_element_of_a_part_once) {
  for_each_case([](const auto& shape) {
    for_each_part(shape.size, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
      auto array = make_array<int>(shape);
      nearfar::for_each(shape.threads, array.begin() + first, array.begin() + last,
                        [](int& element) { ++element; });
      ASSERT_EQ(std::count(array.begin(), array.end(), 1), last - first);
      ASSERT_EQ(std::count(array.begin() + first, array.begin() + last, 1), last - first);
    });
  });
}

TEST(segmented_for_each, works_on_segments_where_their_owners_are) {
  for (const int threads : {1, 2, 3})
    for (const std::size_t segments : {3U, 8U}) {
      struct element {
        std::thread::id owner = std::this_thread::get_id();
        std::thread::id visitor{};
      };
      segmented_array<element> array(segments, 100, {}, team(threads));
      // This holds for a part, too, although it has another number of segments.
      for (const std::ptrdiff_t first : {0, 45}) {
        nearfar::for_each(team(threads), array.begin() + first, array.end(),
                          [](element& each) { each.visitor = std::this_thread::get_id(); });
        for (auto it = array.begin() + first; it != array.end(); ++it) ASSERT_EQ(it->owner, it->visitor);
      }
    }
}

TEST(segmented_for_each, gives_elements_of_other_ranges_to_the_owners_of_a_static_schedule) {
  std::vector<std::thread::id> visitors(1000);
  const execution how(team(3), 64);
  std::vector<std::thread::id> members(3);
  how.team.run([&](nearfar::team_member member) {
    members[static_cast<std::size_t>(member.index)] = std::this_thread::get_id();
  });
  nearfar::for_each(how, visitors, [](std::thread::id& id) { id = std::this_thread::get_id(); });
  const nearfar::static_schedule schedule(1000, nearfar::openmp_available() ? 3 : 1, 64);
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(visitors[i], members[static_cast<std::size_t>(schedule.owner(i))]) << i;
}

TEST(segmented_transform, agrees_with_the_standard_on_parts_of_ranges_that_are_segmented_differently) {
  for_each_case([](const auto& shape) {
    const auto a = random_array<int>(shape, 1);
    const auto b = random_array<int>(
        segmented_case<padded_layout>{shape.size, shape.segments + 2, {.page_aligned = false}, shape.threads},
        2);
    const std::vector<int> plain = copied(b);
    for_each_part(shape.size, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
      for (const nearfar::store_kind stores :
           {nearfar::store_kind::regular, nearfar::store_kind::streaming}) {
        std::vector<int> expected(shape.size, -1);
        std::transform(a.begin() + first, a.begin() + last, b.begin(), expected.begin(), std::minus<>{});

        segmented_array<int> out(5, shape.size, -1, {}, shape.threads);
        auto end = nearfar::transform(shape.threads, a.begin() + first, a.begin() + last, b.begin(),
                                      out.begin(), std::minus<>{}, stores);
        ASSERT_EQ(end - out.begin(), last - first);
        ASSERT_EQ(copied(out), expected);

        std::vector<int> plain_out(shape.size, -1);
        nearfar::transform(execution(shape.threads, 10), a.begin() + first, a.begin() + last, plain.begin(),
                           plain_out.begin(), std::minus<>{}, stores);
        ASSERT_EQ(plain_out, expected);

        std::transform(a.begin() + first, a.begin() + last, expected.begin(), std::negate<>{});
        nearfar::transform(shape.threads, a.begin() + first, a.begin() + last, out.begin(), std::negate<>{},
                           stores);
        ASSERT_EQ(copied(out), expected);
      }
    });
  });
}

TEST(segmented_transform, takes_any_number_of_ranges) {
  for_each_case([](const auto& shape) {
    const auto b = random_array<double>(shape, 1);
    const auto c = random_array<double>(segmented_case<>{shape.size, 3, {}, shape.threads}, 2);
    const std::vector<double> d(shape.size + 3, 0.5);
    auto a = make_array<double>(shape);
    const auto triad = [](double x, double y, double z) { return x + y * z; };
    for (const nearfar::store_kind stores : {nearfar::store_kind::regular, nearfar::store_kind::streaming}) {
      nearfar::transform(shape.threads, b, c, d, a, triad, stores);
      for (std::size_t i = 0; i < shape.size; ++i) ASSERT_EQ(a[i], b[i] + c[i] * d[i]);
      nearfar::fill(shape.threads, a, 0.0);
    }
    nearfar::transform(shape.threads, b, c, d, a, triad);
    for (std::size_t i = 0; i < shape.size; ++i) ASSERT_EQ(a[i], b[i] + c[i] * d[i]);
    nearfar::transform(b, a, [](double x) { return x; });
    ASSERT_EQ(a, b);
  });
  segmented_array<int> out(2, 10);
  EXPECT_THROW(nearfar::transform(std::vector<int>(9), out, std::negate<>{}), nearfar::misuse);
}

TEST(segmented_transform, may_write_to_its_input) {
  for_each_case([](const auto& shape) {
    auto array = random_array<int>(shape, 1);
    std::vector<int> expected = copied(array);
    for (int& element : expected) element = 4 * element + 4;
    nearfar::transform(shape.threads, array, array, [](int x) { return 2 * x + 2; });
    nearfar::transform(
        shape.threads, array, array, [](int x) { return 2 * x; }, nearfar::store_kind::streaming);
    ASSERT_EQ(copied(array), expected);
  });
}

TEST(segmented_algorithms, run_on_segmented_iterators_of_others) {
  for (const int threads : {1, 2, 5})
    for (const std::size_t size : {0U, 1U, 50U, 2345U}) {
      lists<int> list = some_lists<int>(size);
      std::vector<int> expected(size);
      std::iota(expected.begin(), expected.end(), 0);
      ASSERT_EQ(std::distance(list.begin(), list.end()), static_cast<std::ptrdiff_t>(size));
      ASSERT_EQ(nearfar::reduce(team(threads), list), std::accumulate(expected.begin(), expected.end(), 0));
      ASSERT_EQ(nearfar::find(together(team(threads)), list, static_cast<int>(size)), list.end());
      for (const int value : {0, 17, 49, 2000}) {
        if (static_cast<std::size_t>(value) >= size) break;
        ASSERT_EQ(*nearfar::find(together(team(threads)), list, value), value);
      }

      segmented_array<int> out(4, size, {}, team(threads));
      nearfar::transform(team(threads), list.begin(), list.end(), out.begin(), [](int x) { return x + 1; });
      for (int& x : expected) ++x;
      ASSERT_EQ(copied(out), expected);
      const auto end = nearfar::inclusive_scan(together(team(threads)), out, list.begin());
      ASSERT_EQ(end, list.end());
      std::partial_sum(expected.begin(), expected.end(), expected.begin());
      ASSERT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end()));
      nearfar::fill(team(threads), std::next(list.begin(), static_cast<std::ptrdiff_t>(size / 2)), list.end(),
                    -1);
      ASSERT_EQ(std::count(list.begin(), list.end(), -1), static_cast<std::ptrdiff_t>(size - size / 2));
    }
}

TEST(segmented_algorithms, serve_weaker_iterators_as_the_standard_does) {
  std::forward_list<int> list{3, 1, 2};
  nearfar::for_each(list, [](int& x) { x *= 2; });
  std::vector<int> out;
  nearfar::copy(list.begin(), list.end(), std::back_inserter(out));
  nearfar::transform(list.begin(), list.end(), std::back_inserter(out), std::negate<>{});
  nearfar::inclusive_scan(list, std::back_inserter(out));
  EXPECT_EQ(out, (std::vector{6, 2, 4, -6, -2, -4, 6, 8, 12}));
  EXPECT_EQ(nearfar::reduce(list, 1), 13);
  EXPECT_EQ(nearfar::find(list, 2), std::next(list.begin()));
  nearfar::fill(list, 9);
  EXPECT_EQ(list, (std::forward_list{9, 9, 9}));
}

TEST(segmented_copy, and_fill_agree_with_the_standard) {
  for_each_case([](const auto& shape) {
    const auto source = random_array<int>(shape, 1);
    for (const nearfar::store_kind stores : {nearfar::store_kind::regular, nearfar::store_kind::streaming}) {
      segmented_array<int> out(4, shape.size, {.page_aligned = false}, shape.threads);
      for_each_part(shape.size, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        std::vector<int> expected = copied(out);
        std::copy(source.begin() + first, source.begin() + last, expected.begin() + first);
        ASSERT_EQ(nearfar::copy(shape.threads, source.begin() + first, source.begin() + last,
                                out.begin() + first, stores),
                  out.begin() + last);
        ASSERT_EQ(copied(out), expected);
        std::fill(expected.begin() + first, expected.begin() + last, 77);
        nearfar::fill(shape.threads, out.begin() + first, out.begin() + last, 77, stores);
        ASSERT_EQ(copied(out), expected);
      });
      nearfar::copy(shape.threads, source, out.begin(), stores);
      ASSERT_TRUE(std::ranges::equal(out, source));
    }
  });
}

TEST(segmented_copy, converts_elements) {
  const segmented_array<int> source(3, 100, 7);
  std::vector<double> out(100);
  nearfar::copy(source, out.begin(), nearfar::store_kind::streaming);
  EXPECT_EQ(std::count(out.begin(), out.end(), 7.0), 100);
  segmented_array<double> filled(3, 100);
  nearfar::fill(filled, 3, nearfar::store_kind::streaming);
  EXPECT_EQ(std::count(filled.begin(), filled.end(), 3.0), 100);
}

TEST(segmented_reduce, agrees_with_the_standard) {
  for_each_case([](const auto& shape) {
    const auto array = random_array<long>(shape, 1);
    for_each_part(shape.size, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
      ASSERT_EQ(nearfar::reduce(shape.threads, array.begin() + first, array.begin() + last, 5L),
                std::reduce(array.begin() + first, array.begin() + last, 5L));
      const auto larger = [](long a, long b) { return std::max(a, b); };
      ASSERT_EQ(nearfar::reduce(shape.threads, array.begin() + first, array.begin() + last, -1L, larger),
                std::reduce(array.begin() + first, array.begin() + last, -1L, larger));
    });
    const std::vector<long> plain = copied(array);
    ASSERT_EQ(nearfar::reduce(execution(shape.threads, 7), plain), std::reduce(plain.begin(), plain.end()));
  });
}

TEST(segmented_reduce, gives_the_same_each_time) {
  segmented_array<double> array(5, 10007);
  std::mt19937 random(3);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  for (double& element : array) element = std::uniform_real_distribution(-1.0, 1e6)(random);
  const double sum = nearfar::reduce(team(3), array);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(nearfar::reduce(team(3), array), sum);
}

TEST(segmented_inclusive_scan, agrees_with_the_standard_for_operations_that_do_not_commute) {
  for_each_case([](const auto& shape) {
    auto of_strings = shape;
    of_strings.size = std::min<std::size_t>(shape.size, 100);
    auto array = make_array<std::string>(of_strings);
    for (std::size_t i = 0; i < array.size(); ++i) array[i] = std::to_string(i);
    const auto size = array.size();
    for_each_part(size, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
      std::vector<std::string> expected(size);
      segmented_array<std::string> out(4, size, {}, shape.threads);
      std::inclusive_scan(array.begin() + first, array.begin() + last, expected.begin(), std::plus<>{});
      ASSERT_EQ(nearfar::inclusive_scan(together(shape.threads), array.begin() + first, array.begin() + last,
                                        out.begin()),
                out.begin() + (last - first));
      ASSERT_EQ(copied(out), expected);
      const std::string init = "before ";
      std::inclusive_scan(array.begin() + first, array.begin() + last, expected.begin(), std::plus<>{}, init);
      nearfar::inclusive_scan(together(shape.threads), array.begin() + first, array.begin() + last,
                              out.begin(), std::plus<>{}, init);
      ASSERT_EQ(copied(out), expected);
    });
    std::vector<std::string> expected(size);
    std::inclusive_scan(array.begin(), array.end(), expected.begin(), std::plus<>{});
    nearfar::inclusive_scan(together(shape.threads), array, array.begin());
    ASSERT_EQ(copied(array), expected);
  });
}

TEST(segmented_find, returns_the_first_of_many) {
  for_each_case([](const auto& shape) {
    const auto array = random_array<int>(shape, 1, 300);
    const std::vector<int> plain = copied(array);
    for (int value = -1; value < 300; value += 23)
      for_each_part(shape.size, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        ASSERT_EQ(nearfar::find(together(shape.threads), array.begin() + first, array.begin() + last, value),
                  std::find(array.begin() + first, array.begin() + last, value));
        ASSERT_EQ(
            nearfar::find(together(shape.threads, 5), plain.begin() + first, plain.begin() + last, value),
            std::find(plain.begin() + first, plain.begin() + last, value));
      });
  });
}

TEST(segmented_find, stops_early) {
  segmented_array<int> array(4, 1000000, {}, team::serial());
  array[5000] = 1;
  std::size_t looked_at = 0;
  const auto found = nearfar::find_if(team::serial(), array, [&](int x) { return ++looked_at, x == 1; });
  EXPECT_EQ(found - array.begin(), 5000);
  EXPECT_EQ(looked_at, 5001U);
}

TEST(segmented_sort, agrees_with_the_standard) {
  for_each_case([](const auto& shape) {
    for (const int largest : {3, 1000000})
      for_each_part(shape.size, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        auto array = random_array<int>(shape, 1, largest);
        std::vector<int> expected = copied(array);
        std::vector<int> plain = expected;
        std::sort(expected.begin() + first, expected.begin() + last, std::greater<>{});
        nearfar::sort(together(shape.threads), array.begin() + first, array.begin() + last, std::greater<>{});
        ASSERT_EQ(copied(array), expected);
        nearfar::sort(together(shape.threads), plain.begin() + first, plain.begin() + last, std::greater<>{});
        ASSERT_EQ(plain, expected);
        nearfar::sort(together(shape.threads), array);
        ASSERT_TRUE(std::is_sorted(array.begin(), array.end()));
      });
  });
}

TEST(segmented_sort, moves_elements_that_cannot_be_copied) {
  for_each_case([](const auto& shape) {
    auto array = make_array<std::unique_ptr<int>>(shape);
    std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
    for (auto& element : array) element = std::make_unique<int>(static_cast<int>(random() % 5000));
    nearfar::sort(together(shape.threads), array, [](const auto& a, const auto& b) { return *a < *b; });
    ASSERT_TRUE(
        std::is_sorted(array.begin(), array.end(), [](const auto& a, const auto& b) { return *a < *b; }));
  });
}

TEST(segmented_sort, sorts_elements_whose_moves_may_throw) {
  struct throwing {
    int value = 0;
    throwing() = default;
    throwing(throwing&& other) noexcept(false) : value(other.value) {}
    throwing& operator=(throwing&& other) noexcept(false) {
      value = other.value;
      return *this;
    }
  };
  segmented_array<throwing> array(3, 100);
  for (std::size_t i = 0; i < 100; ++i) array[i].value = static_cast<int>(i * 37 % 100);
  nearfar::sort(together(team(2)), array,
                [](const throwing& a, const throwing& b) { return a.value < b.value; });
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(array[i].value, static_cast<int>(i));
}

// Throws after a number of calls.
struct failing {
  std::shared_ptr<std::atomic<int>> calls;

  explicit failing(int n) : calls(std::make_shared<std::atomic<int>>(n)) {}
  void call() const {
    if (calls->fetch_sub(1) <= 0) throw std::runtime_error("enough");
  }
};

TEST(segmented_sort, keeps_every_element_alive_if_a_comparison_throws) {
  for (const int threads : {1, 2, 4})
    for (int calls = 0; calls < 12000; calls += 211) {
      segmented_array<std::string> array(6, 500, {}, team(threads));
      for (std::size_t i = 0; i < 500; ++i)
        array[i] = "a string that is too long for itself " + std::to_string(i * i);
      const failing fail(calls);
      try {
        nearfar::sort(together(team(threads)), array, [&](const std::string& a, const std::string& b) {
          fail.call();
          return a < b;
        });
        ASSERT_TRUE(std::is_sorted(array.begin(), array.end()));
      } catch (const std::runtime_error&) {
        // A sort holds one element aside while it compares.
        ASSERT_LE(std::count(array.begin(), array.end(), std::string{}), threads);
      }
    }
}

TEST(segmented_sort, keeps_every_element_if_a_comparator_cannot_be_copied) {
  struct fails_to_copy {
    failing fail;
    explicit fails_to_copy(int copies) : fail(copies) {}
    fails_to_copy(const fails_to_copy& other) : fail(other.fail) { fail.call(); }
    bool operator()(const std::string& a, const std::string& b) const { return a < b; }
  };
  const auto value = [](std::size_t i) {
    return "a string that is too long for itself " + std::to_string(i * i);
  };
  for (const int threads : {1, 2, 4}) {
    bool thrown = true;
    for (int copies = 1; thrown; ++copies) {
      segmented_array<std::string> array(6, 100, {}, team(threads));
      for (std::size_t i = 0; i < 100; ++i) array[i] = value(i);
      try {
        nearfar::sort(together(team(threads)), array.begin(), array.end(), fails_to_copy(copies));
        thrown = false;
      } catch (const std::runtime_error&) {
        ASSERT_LE(std::count(array.begin(), array.end(), std::string{}), threads);
      }
    }
  }
}

TEST(segmented_sort, keeps_all_elements_without_an_order) {
  expect_all_are_kept_without_an_order(nearfar::sort);
}

TEST(segmented_sort, of_numbers_with_none_among_them_ends) {
  for (const int threads : {1, 2, 3, 8}) {
    std::vector<double> values(10000);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] =
          i % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i * 7919 % 10007);
    double expected = 0;
    for (const double value : values) expected += value == value ? value : 1e9;
    nearfar::sort(together(team(threads)), values);
    double sum = 0;
    for (const double value : values) sum += value == value ? value : 1e9;
    ASSERT_EQ(sum, expected);
  }
}

// Loops over numbers do not test for the end: sanitizers see whether a loop passes it.
TEST(sort, of_few_numbers_with_none_among_them_stays_in_bounds) {
  const auto expect_kept = [](const auto& less) {
    std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
    for (int round = 0; round < 500; ++round) {
      std::vector<double> values(random() % 300);
      double expected = 0;
      for (double& each : values) {
        each =
            random() % 4 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(random() % 64);
        expected += each == each ? each : 1e9;
      }
      nearfar::sort(team::serial(), values, less);
      double sum = 0;
      for (const double each : values) sum += each == each ? each : 1e9;
      ASSERT_EQ(sum, expected);
    }
  };
  expect_kept(std::less<>{});
  expect_kept(std::greater<>{});
}

TEST(segmented_sort, of_elements_aligned_to_more_than_a_page) {
  struct alignas(8192) aligned {
    int value;
    bool operator<(const aligned& other) const {
      if (reinterpret_cast<std::uintptr_t>(this) % alignof(aligned) != 0)
        throw std::logic_error("misaligned");
      return value < other.value;
    }
  };
  std::vector<aligned> values(200);
  for (int i = 0; i < 200; ++i) values[static_cast<std::size_t>(i)].value = i * 37 % 200;
  nearfar::sort(together(team(3)), values);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)].value, i);
}

TEST(segmented_algorithms, write_to_what_can_only_be_assigned_to) {
  struct meter {
    double value = 0;
    meter() = default;  // so that it is no aggregate, which any code could construct
    meter& operator=(double x) {
      value = x;
      return *this;
    }
  };
  static_assert(std::is_trivially_copyable_v<meter> && !std::is_constructible_v<meter, double>);
  for (const auto stores : {nearfar::store_kind::regular, nearfar::store_kind::streaming}) {
    segmented_array<meter> lengths(3, 100);
    nearfar::fill(lengths, 2.0, stores);
    EXPECT_EQ(lengths[99].value, 2.0);
    const std::vector<double> x(100, 3.0);
    nearfar::transform(
        x, lengths, [](double one) { return one; }, stores);
    EXPECT_EQ(lengths[99].value, 3.0);
  }
}

TEST(segmented_algorithms, lose_no_bit_of_words_that_elements_share) {
  for (int round = 0; round < 20; ++round) {
    constexpr std::size_t size = 100'000;
    std::vector<bool> bits(size);
    const execution bit_by_bit(team(2), 1);
    nearfar::fill(bit_by_bit, bits, true);
    ASSERT_EQ(std::count(bits.begin(), bits.end(), true), size);
    nearfar::transform(bit_by_bit, std::vector<int>(size), bits, [](int x) { return x != 0; });
    ASSERT_EQ(std::count(bits.begin(), bits.end(), true), 0);
  }
}

TEST(segmented_algorithms, lose_no_exception) {
  for (const int threads : {1, 2, 4}) {
    const nearfar::execution all = together(team(threads));
    segmented_array<int> array(5, 10000, 1, {}, all.team);
    std::vector<int> plain(10000);
    const auto unary = [fail = failing(700)](int x) { return fail.call(), x; };
    const auto binary = [fail = failing(700)](int x, int y) { return fail.call(), x + y; };
    EXPECT_THROW(nearfar::for_each(all, array, [f = failing(700)](int) { f.call(); }), std::runtime_error);
    for (const auto stores : {nearfar::store_kind::regular, nearfar::store_kind::streaming}) {
      EXPECT_THROW(nearfar::transform(all, array, array, unary, stores), std::runtime_error);
      EXPECT_THROW(nearfar::transform(all, plain.begin(), plain.end(), array.begin(), unary, stores),
                   std::runtime_error);
    }
    EXPECT_THROW(nearfar::reduce(all, array, 0, binary), std::runtime_error);
    EXPECT_THROW(nearfar::inclusive_scan(all, array, plain.begin(), binary), std::runtime_error);
    EXPECT_THROW(nearfar::find_if(all, array, [&](int x) { return unary(x) == 0; }), std::runtime_error);
  }
}

}  // namespace
