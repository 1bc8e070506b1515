#include "nearfar/container/segmented_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/segment_queue.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/core/layout.hpp"
#include "tests/container/segmented_cases.hpp"

namespace {

using nearfar::contiguous_layout;
using nearfar::padded_layout;
using nearfar::segmented_array;
using nearfar::team;
using nearfar::testing::for_each_case;
using nearfar::testing::make_array;

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// Counts its living objects. Its constructor throws after `until_throw` others.
struct counted {
  static inline std::atomic<int> alive{0};
  static inline std::atomic<int> until_throw{std::numeric_limits<int>::max()};
  static void reset(int throw_after = std::numeric_limits<int>::max()) {
    alive = 0;
    until_throw = throw_after;
  }

  std::string text = "some text that is too long to be kept in the string itself";

  counted() { born(); }
  counted(const counted& other) : text(other.text) { born(); }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }

 private:
  static void born() {
    if (until_throw.fetch_sub(1) <= 0) throw std::runtime_error("no more");
    ++alive;
  }
};

template <typename Layout>
void expect_places_differ_unless_aligned() {
  const Layout packed{.page_aligned = false};
  const segmented_array<double, Layout> one(3, 1000, packed);
  const segmented_array<double, Layout> two(3, 1000, packed);
  const auto place_of = [](const segmented_array<double, Layout>& array) {
    return reinterpret_cast<std::uintptr_t>(array.segment(0).data()) % nearfar::page_size();
  };
  EXPECT_NE(place_of(one), place_of(two));
  const segmented_array<double, Layout> aligned(3, 1000);
  EXPECT_EQ(place_of(aligned), 0U);
}

TEST(segmented_arrays_in_a_row, begin_at_different_places_of_a_page_unless_aligned_to_it) {
  expect_places_differ_unless_aligned<contiguous_layout>();
  expect_places_differ_unless_aligned<padded_layout>();
}

TEST(segmented_array, has_segments_whose_sizes_differ_by_one_at_most_the_larger_first) {
  const segmented_array<int, padded_layout> array(4, 11);
  ASSERT_EQ(array.segments(), 4U);
  EXPECT_EQ(array.segment(0).size(), 3U);
  EXPECT_EQ(array.segment(1).size(), 3U);
  EXPECT_EQ(array.segment(2).size(), 3U);
  EXPECT_EQ(array.segment(3).size(), 2U);
}

TEST(segmented_array, keeps_units_together) {
  const segmented_array<int> array(4, 66, {.unit = 11});
  EXPECT_EQ(array.segment(0).size(), 22U);
  EXPECT_EQ(array.segment(1).size(), 22U);
  EXPECT_EQ(array.segment(2).size(), 11U);
  EXPECT_EQ(array.segment(3).size(), 11U);
  EXPECT_EQ(array.begin() + 44, array.end() - 22);
  EXPECT_EQ(&array[44], array.segment(2).data());
  EXPECT_THROW(segmented_array<int>(4, 67, {.unit = 11}), nearfar::misuse);
  EXPECT_THROW(segmented_array<int>(4, 67, {.unit = 0}), nearfar::misuse);
}

TEST(segmented_array, value_initialises_or_copies_a_value) {
  for_each_case([](const auto& shape) {
    const auto zeros = make_array<int>(shape);
    const auto sevens = make_array<int>(shape, 7);
    ASSERT_EQ(zeros.size(), shape.size);
    ASSERT_EQ(static_cast<std::size_t>(std::count(zeros.begin(), zeros.end(), 0)), shape.size);
    ASSERT_EQ(static_cast<std::size_t>(std::count(sevens.begin(), sevens.end(), 7)), shape.size);
    std::size_t in_segments = 0;
    for (std::size_t i = 0; i < shape.segments; ++i) in_segments += zeros.segment(i).size();
    ASSERT_EQ(in_segments, shape.size);
  });
}

TEST(segmented_array, begins_each_segment_on_a_page_or_the_padding_after_the_one_before) {
  const segmented_array<double, padded_layout> paged(5, 1003, {.padding = 8});
  for (std::size_t i = 0; i < paged.segments(); ++i)
    EXPECT_EQ(address(paged.segment(i).data()) % nearfar::page_size(), 0U);
  for (std::size_t i = 1; i < paged.segments(); ++i)
    EXPECT_GE(paged.segment(i).data(), paged.segment(i - 1).data() + paged.segment(i - 1).size() + 1);

  const segmented_array<double, padded_layout> padded(5, 1003, {.padding = 24, .page_aligned = false});
  const segmented_array<double, padded_layout> dense(5, 1003, {.page_aligned = false});
  for (std::size_t i = 1; i < padded.segments(); ++i) {
    EXPECT_EQ(padded.segment(i).data(), padded.segment(i - 1).data() + padded.segment(i - 1).size() + 3);
    EXPECT_EQ(dense.segment(i).data(), dense.segment(i - 1).data() + dense.segment(i - 1).size());
  }
}

TEST(segmented_array, leaves_a_full_page_of_padding_where_a_segment_fills_its_pages) {
  const std::size_t on_a_page = nearfar::page_size() / sizeof(double);
  const segmented_array<double, padded_layout> touching(2, 2 * on_a_page);
  const segmented_array<double, padded_layout> apart(2, 2 * on_a_page, {.padding = 1});
  EXPECT_EQ(touching.segment(1).data(), touching.segment(0).data() + on_a_page);
  EXPECT_EQ(apart.segment(1).data(), apart.segment(0).data() + 2 * on_a_page);
}

// The promises of `contiguous_layout` about whole pages, in the words of its description.
template <std::size_t Bytes>
void expect_whole_pages(std::size_t segments, std::size_t size, std::size_t unit = 1) {
  struct element {
    std::array<std::byte, Bytes> bytes;
  };
  SCOPED_TRACE(std::to_string(Bytes) + " bytes, " + std::to_string(segments) + " segments, " +
               std::to_string(size) + " elements in units of " + std::to_string(unit));
  const segmented_array<element> array(segments, size, {.unit = unit}, team::serial());
  const std::size_t page = nearfar::page_size();
  const std::size_t unit_bytes = unit * Bytes;
  ASSERT_EQ(address(array.data()) % page, 0U);
  std::size_t before = 0;
  for (std::size_t i = 0; i < segments; ++i) {
    const auto segment = array.segment(i);
    ASSERT_EQ(segment.data(), array.data() + before) << "contiguous";
    ASSERT_FALSE(segment.empty());
    ASSERT_EQ(segment.size() % unit, 0U);
    const std::size_t into_page = address(segment.data()) % page;
    ASSERT_LE(std::min(into_page, page - into_page), unit_bytes / 2) << "on a page";
    const auto share = static_cast<double>(size * Bytes) / static_cast<double>(segments);
    const auto bytes = static_cast<double>(segment.size_bytes());
    ASSERT_LE(std::abs(bytes - share), static_cast<double>(page + 2 * unit_bytes)) << "balanced";
    if (page % unit_bytes == 0) {
      ASSERT_EQ(into_page, 0U);
      ASSERT_LE(std::abs(bytes - share), static_cast<double>(page)) << "within a page";
    }
    before += segment.size();
    for (const std::size_t of : {before - segment.size(), before - segment.size() / 2 - 1, before - 1}) {
      const auto it = array.begin() + static_cast<std::ptrdiff_t>(of);
      using traits = nearfar::segmented_iterator_traits<std::remove_const_t<decltype(it)>>;
      ASSERT_EQ(traits::segment(it).index(), i);
    }
  }
  ASSERT_EQ(before, size);
}

TEST(segmented_array, cuts_contiguous_segments_where_pages_begin) {
  const std::size_t page = nearfar::page_size();
  std::mt19937 random(6);  // NOLINT(cert-msc32-c,cert-msc51-cpp) the same cases each time
  for (int i = 0; i < 200; ++i) {
    const std::size_t segments = 1 + random() % 40;
    const auto at_least_pages = [&](std::size_t bytes) {
      const std::size_t least = segments * ((page + bytes - 1) / bytes);
      return least + (i % 3 == 0 ? 0 : random() % (2 * least));
    };
    expect_whole_pages<1>(segments, at_least_pages(1));
    expect_whole_pages<8>(segments, at_least_pages(8));
    expect_whole_pages<24>(segments, at_least_pages(24));
    expect_whole_pages<1000>(segments, at_least_pages(1000));
    expect_whole_pages<4096>(segments, at_least_pages(4096));
    const std::size_t unit = 1 + random() % 128;
    expect_whole_pages<8>(segments, at_least_pages(8 * unit) * unit, unit);
    expect_whole_pages<8>(segments, at_least_pages(512) * 64, 64);
  }
}

TEST(segmented_array, cuts_contiguous_segments_of_less_than_a_page_where_cache_lines_begin) {
  for (std::size_t segments = 1; segments < 60; ++segments)
    for (const std::size_t size : {8 * segments, 8 * segments + 5, 300 * segments + 1}) {
      const segmented_array<double> array(segments, size, {}, team::serial());
      for (std::size_t i = 0; i < segments; ++i) {
        ASSERT_EQ(address(array.segment(i).data()) % nearfar::cache_line, 0U);
        ASSERT_LE(array.segment(i).size(), size / segments + 8);
        ASSERT_GE(array.segment(i).size() + 8, size / segments);
        ASSERT_FALSE(array.segment(i).empty());
      }
    }
}

TEST(segmented_array, cuts_contiguous_segments_evenly_where_there_is_less_than_a_cache_line_or_no_alignment) {
  const auto expect_even = [](const segmented_array<int>& array, std::size_t units, std::size_t unit) {
    for (std::size_t i = 0; i < array.segments(); ++i)
      ASSERT_EQ(array.segment(i).size(),
                unit * (units / array.segments() + (i < units % array.segments() ? 1 : 0)));
    ASSERT_EQ(array.segment(array.segments() - 1).data() + array.segment(array.segments() - 1).size(),
              array.data() + array.size());
  };
  expect_even(segmented_array<int>(4, 11), 11, 1);
  expect_even(segmented_array<int>(7, 3), 3, 1);
  expect_even(segmented_array<int>(5, 100'003, {.page_aligned = false}), 100'003, 1);
  // Rows of more than a page have to share pages.
  expect_even(segmented_array<int>(5, 13 * 1'500, {.unit = 1'500}), 13, 1'500);
}

TEST(segmented_array, says_what_is_wrong_with_a_padding) {
  try {
    const segmented_array<double, padded_layout> array(2, 10, {.padding = 12, .page_aligned = false});
    FAIL();
  } catch (const nearfar::misuse& error) {
    EXPECT_NE(std::string(error.what()).find("12 bytes"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW((segmented_array<double, padded_layout>(2, 10, {.padding = 12})));
  EXPECT_THROW(segmented_array<double>(0, 10), nearfar::misuse);
}

TEST(segmented_array, refuses_sizes_that_overflow) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  using padded = segmented_array<double, padded_layout>;
  for (const bool page_aligned : {false, true}) {
    const contiguous_layout contiguous{.page_aligned = page_aligned};
    const padded_layout unpadded{.page_aligned = page_aligned};
    for (const std::size_t size : {most, most / 2, most / 4, most / 8 + 1, most / 16 + 1})
      for (const std::size_t segments : {std::size_t{1}, std::size_t{3}, std::size_t{1} << 20}) {
        EXPECT_THROW(segmented_array<double>(segments, size, contiguous), std::length_error)
            << size << ' ' << segments;
        EXPECT_THROW(padded(segments, size, unpadded), std::length_error) << size << ' ' << segments;
      }
    EXPECT_THROW(segmented_array<double>(most, 8, contiguous), std::length_error);
    EXPECT_THROW(padded(most, 8, unpadded), std::length_error);
    EXPECT_THROW(padded(2, 8, {.padding = most - 7, .page_aligned = page_aligned}), std::length_error);
    EXPECT_THROW(padded(3, 8, {.padding = most / 2 + 1, .page_aligned = page_aligned}), std::length_error);
  }
}

TEST(segmented_array, has_empty_segments_if_there_are_more_than_elements) {
  segmented_array<int, padded_layout> array(7, 3, {.page_aligned = false});
  std::iota(array.begin(), array.end(), 1);
  EXPECT_EQ(array.segment(2)[0], 3);
  for (std::size_t i = 3; i < 7; ++i) EXPECT_TRUE(array.segment(i).empty());
  EXPECT_EQ(array.end() - array.begin(), 3);
  EXPECT_EQ(*(array.end() - 1), 3);

  const segmented_array<int, padded_layout> none(3, 0, {.padding = 64});
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(none.segments(), 3U);
  EXPECT_TRUE(none.segment(2).empty());
}

TEST(segmented_array, without_segments_is_an_empty_range) {
  segmented_array<int> none;
  EXPECT_EQ(none.segments(), 0U);
  EXPECT_EQ(none.begin(), none.end());
  for (const team& threads : {team::serial(), team(2)}) {
    EXPECT_EQ(nearfar::reduce(threads, none), 0);
    nearfar::sort(threads, none);
    nearfar::for_each(threads, none, [](int) { FAIL(); });
    nearfar::fill(threads, none, 1);
    nearfar::transform(threads, none, none, [](int x) { return x; });
    EXPECT_EQ(nearfar::copy(threads, none, none.begin()), none.end());
    EXPECT_EQ(nearfar::inclusive_scan(threads, none, none.begin()), none.end());
    EXPECT_EQ(nearfar::find(threads, none, 1), none.end());
  }
  const segmented_array<int> copied(none);
  EXPECT_EQ(copied.size(), 0U);
  EXPECT_EQ(std::ranges::distance(copied.my_segments()), 0);
  segmented_array<int> array(2, 8, 1);
  none = std::move(array);
  EXPECT_EQ(none.size(), 8U);
  array = none;  // NOLINT(bugprone-use-after-move) moved-from arrays can be assigned to
  EXPECT_EQ(array, none);
}

TEST(segmented_array, has_each_segment_constructed_by_its_owner) {
  for (const int threads : {1, 2, 3, 5})
    for (const std::size_t segments : {1U, 2U, 5U, 12U}) {
      struct built {
        std::thread::id by = std::this_thread::get_id();
      };
      std::vector<std::thread::id> members(static_cast<std::size_t>(threads));
      const auto meet = [&](nearfar::team_member member) {
        members[static_cast<std::size_t>(member.index)] = std::this_thread::get_id();
      };
      team(threads).run(meet);
      const segmented_array<built> array(segments, 40, {}, team(threads));
      const int size = nearfar::openmp_available() ? threads : 1;
      for (std::size_t i = 0; i < segments; ++i) {
        ASSERT_EQ(array.owner(i), nearfar::static_schedule(segments, size).owner(i));
        for (const built& element : array.segment(i))
          ASSERT_EQ(element.by, members[static_cast<std::size_t>(array.owner(i))]);
      }
    }
}

TEST(segmented_array, knows_the_domain_of_each_segment) {
  const segmented_array<int> array(6, 100);
  const int domain = nearfar::this_thread_domain();
  std::size_t mine = 0;
  for (const std::span<const int> segment : array.segments_of(domain)) {
    EXPECT_TRUE(std::ranges::any_of(std::views::iota(0U, 6U), [&](std::size_t i) {
      return array.segment(i).data() == segment.data() && array.domain(i) == domain;
    }));
    ++mine;
  }
  std::size_t expected = 0;
  for (std::size_t i = 0; i < 6; ++i) expected += array.domain(i) == domain ? 1U : 0U;
  EXPECT_EQ(mine, expected);
  if (nearfar::this_machine().numa_domains() == 1) {
    EXPECT_EQ(std::ranges::distance(array.my_segments()), 6);
  }
}

TEST(segmented_array, destroys_what_it_constructed_if_a_constructor_throws) {
  for (const int threads : {1, 2, 4})
    for (int throw_after = 0; throw_after < 60; throw_after += 7) {
      counted::reset(throw_after);
      EXPECT_THROW(segmented_array<counted>(9, 60, {}, team(threads)), std::runtime_error);
      EXPECT_EQ(counted::alive, 0);
    }
}

TEST(segmented_array, stays_as_it_was_if_an_assignment_throws) {
  counted::reset();
  {
    segmented_array<counted> target(3, 10);
    target[7].text = "here";
    const segmented_array<counted> source(4, 100);
    const counted* const before = &target[0];
    counted::until_throw = 50;
    EXPECT_THROW(target = source, std::runtime_error);
    EXPECT_EQ(target.size(), 10U);
    EXPECT_EQ(&target[0], before);
    EXPECT_EQ(target[7].text, "here");
    EXPECT_EQ(counted::alive, 110);
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(segmented_array, copies_elements_and_shape) {
  using padded = segmented_array<int, padded_layout>;
  const padded source(3, 100, 5, {.padding = 64, .page_aligned = false}, team(2));
  padded copied(source);
  EXPECT_EQ(copied, source);
  EXPECT_EQ(copied.segments(), 3U);
  EXPECT_EQ(copied.team(), team(2));
  EXPECT_EQ(copied.layout().padding, 64U);
  copied[50] = 6;
  EXPECT_NE(copied, source);
  const padded& itself = copied;
  copied = itself;
  EXPECT_EQ(copied[50], 6);
}

template <typename Layout>
void expect_iterators_stay_valid() {
  using array = segmented_array<int, Layout>;
  array a(3, 100, 5);
  array b(2, 10, 6);
  auto middle = a.begin() + 40;
  swap(a, b);
  EXPECT_EQ(a.size(), 10U);
  *middle = 9;
  EXPECT_EQ(b[40], 9);
  const array moved(std::move(b));
  EXPECT_EQ(b.size(), 0U);  // NOLINT(bugprone-use-after-move) the header says that it is empty
  EXPECT_EQ(moved[40], 9);
  EXPECT_EQ(*(middle + 59), 5);
  EXPECT_EQ(middle + 60, moved.end());
}

TEST(segmented_array, keeps_iterators_valid_when_moved_and_swapped) {
  expect_iterators_stay_valid<contiguous_layout>();
  expect_iterators_stay_valid<padded_layout>();
}

TEST(segmented_array, holds_elements_that_can_only_be_moved) {
  segmented_array<std::unique_ptr<int>> array(3, 10);
  EXPECT_EQ(array[9], nullptr);
  array[9] = std::make_unique<int>(3);
  const segmented_array<std::unique_ptr<int>> moved(std::move(array));
  EXPECT_EQ(*moved[9], 3);
}

template <std::size_t Alignment>
void expect_aligned() {
  struct alignas(Alignment) wide {
    char value = 1;
  };
  for (const bool page_aligned : {false, true}) {
    const segmented_array<wide> contiguous(3, 7, {.page_aligned = page_aligned});
    const segmented_array<wide, padded_layout> padded(3, 7,
                                                      {.padding = Alignment, .page_aligned = page_aligned});
    const auto expect = [](const wide& element) {
      EXPECT_EQ(address(&element) % Alignment, 0U);
      EXPECT_EQ(element.value, 1);
    };
    std::ranges::for_each(contiguous, expect);
    std::ranges::for_each(padded, expect);
  }
}

TEST(segmented_array, aligns_over_aligned_elements) {
  expect_aligned<64>();
  expect_aligned<2048>();
  expect_aligned<4096>();
}

TEST(segmented_array, never_writes_to_padding) {
  for (const bool page_aligned : {false, true}) {
    segmented_array<int, padded_layout> array(5, 103, {.padding = 128, .page_aligned = page_aligned},
                                              team(3));
    const auto for_each_padding = [&](auto&& body) {
      for (std::size_t i = 0; i + 1 < array.segments(); ++i) {
        auto* const first =
            reinterpret_cast<unsigned char*>(array.segment(i).data() + array.segment(i).size());
        auto* const last = reinterpret_cast<unsigned char*>(array.segment(i + 1).data());
        EXPECT_GE(last - first, 128);
        for (auto* byte = first; byte != last; ++byte) body(*byte);
      }
    };
    for_each_padding([](unsigned char& byte) { byte = 0xA5; });
    for (const nearfar::store_kind stores : {nearfar::store_kind::regular, nearfar::store_kind::streaming}) {
      nearfar::fill(array, -1, stores);
      nearfar::transform(
          array.begin(), array.end(), array.begin(), [](int x) { return 3 * x; }, stores);
      const std::vector<int> source(103, 4);
      nearfar::copy(source, array.begin(), stores);
    }
    nearfar::inclusive_scan(array, array.begin());
    nearfar::sort(array, std::greater<>{});
    nearfar::for_each(array, [](int& x) { ++x; });
    for_each_padding([](const unsigned char& byte) { ASSERT_EQ(byte, 0xA5); });
  }
}

TEST(segment_queue, gives_out_own_segments_first_and_each_once) {
  const std::array domains{0, 1, 0, 1, 1, nearfar::unknown_domain};
  nearfar::segment_queue queue(domains);
  EXPECT_EQ(queue.take(1), 1U);
  EXPECT_EQ(queue.take(0), 0U);
  EXPECT_EQ(queue.take(1, nearfar::when_done::stop), 3U);
  EXPECT_EQ(queue.take(1), 4U);
  EXPECT_EQ(queue.take(1, nearfar::when_done::stop), std::nullopt);
  std::set<std::size_t> rest;
  while (const auto segment = queue.take(1)) EXPECT_TRUE(rest.insert(*segment).second);
  EXPECT_EQ(rest, (std::set<std::size_t>{2, 5}));
  EXPECT_EQ(queue.take(0), std::nullopt);
  EXPECT_EQ(nearfar::segment_queue({}).take(0), std::nullopt);
}

TEST(segment_queue, gives_each_segment_to_one_of_many_threads) {
  constexpr std::size_t size = 20000;
  constexpr int threads = 8;
  std::vector<int> domains(size);
  for (std::size_t i = 0; i < size; ++i) domains[i] = static_cast<int>(i * i % 5);
  nearfar::segment_queue queue(domains);
  std::vector<std::atomic<int>> taken(size);
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread)
    all.emplace_back([&, thread] {
      // Domain 6 has no segments, so two of the threads help from the beginning.
      while (const auto segment = queue.take(thread < 2 ? 6 : thread % 5)) ++taken[*segment];
    });
  for (std::thread& thread : all) thread.join();
  EXPECT_TRUE(std::ranges::all_of(taken, [](const std::atomic<int>& times) { return times == 1; }));
}

TEST(for_each_segment_dynamic, does_each_segment_once_even_if_some_throw) {
  for (const int threads : {1, 2, 5})
    for (const auto then : {nearfar::when_done::help, nearfar::when_done::stop}) {
      const segmented_array<int> array(300, 1000, {.page_aligned = false});
      std::vector<std::atomic<int>> done(300);
      try {
        nearfar::for_each_segment_dynamic(
            team(threads), array,
            [&](std::span<const int> segment, std::size_t index) {
              EXPECT_EQ(segment.data(), array.segment(index).data());
              ++done[index];
              if (index % 100 == 57) throw std::runtime_error(std::to_string(index));
            },
            then);
        FAIL();
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "57");
      }
      EXPECT_TRUE(std::ranges::all_of(done, [](const std::atomic<int>& times) { return times == 1; }));
    }
}

TEST(segmented_array_of_a_range, holds_copies_of_its_elements) {
  for_each_case([](const auto& shape) {
    using array_type = decltype(make_array<int>(shape));
    std::vector<int> values(shape.size);
    std::iota(values.begin(), values.end(), 1);
    const auto holds = [&](const array_type& array) {
      return array.segments() == shape.segments && array.layout().page_aligned == shape.layout.page_aligned &&
             std::ranges::equal(array, values);
    };
    const std::list<int> list(values.begin(), values.end());
    ASSERT_TRUE(holds({shape.segments, values.begin(), values.end(), shape.layout, shape.threads}));
    ASSERT_TRUE(holds({shape.segments, values, shape.layout, shape.threads}));
    ASSERT_TRUE(holds({shape.segments, list, shape.layout, shape.threads}));
    ASSERT_TRUE(holds({shape.segments, std::counted_iterator(list.begin(), std::ssize(list)),
                       std::default_sentinel, shape.layout, shape.threads}));
    std::stringstream text;
    for (const int value : values) text << value << ' ';
    ASSERT_TRUE(holds({shape.segments, std::views::istream<int>(text), shape.layout, shape.threads}));

    array_type array(shape.segments, 7, 1, shape.layout, shape.threads);
    array.assign_range(list);
    ASSERT_TRUE(holds(array));
    array.assign(array.rbegin(), array.rend());  // a range of its own
    ASSERT_TRUE(std::ranges::equal(array, std::views::reverse(values)));
    ASSERT_TRUE(std::equal(array.rbegin(), array.rend(), values.begin(), values.end()));
    ASSERT_TRUE(std::equal(array.crbegin(), array.crend(), values.begin(), values.end()));
    array.assign({4, 5});
    ASSERT_EQ(array, array_type(2, {4, 5}));
    array.assign(3, 9);
    ASSERT_EQ(array, array_type(5, {9, 9, 9}));
  });
  segmented_array<int> none;
  none.assign({1, 2, 3});
  EXPECT_EQ(none.segments(), static_cast<std::size_t>(team().size()));
  EXPECT_EQ(none, segmented_array<int>(1, {1, 2, 3}));
}

TEST(segmented_array_that_is_assigned_to, is_as_it_was_if_that_throws) {
  counted::reset();
  {
    segmented_array<counted> array(3, 10, {}, team(2));
    const std::vector<counted> values(20);
    counted::until_throw = 15;
    EXPECT_THROW(array.assign_range(values), std::runtime_error);
    EXPECT_EQ(array.size(), 10U);
    EXPECT_EQ(counted::alive, 30);
  }
  EXPECT_EQ(counted::alive, 0);
  segmented_array<int> rows(2, 6, {.unit = 3});
  EXPECT_THROW(rows.assign(4, 1), nearfar::misuse);
  EXPECT_EQ(rows.size(), 6U);
}

TEST(segmented_array_elements, are_reached_as_those_of_a_vector) {
  segmented_array<int> array(3, {1, 2, 3, 4});
  EXPECT_EQ(array.front(), 1);
  EXPECT_EQ(array.back(), 4);
  array.at(3) = 5;
  EXPECT_EQ(std::as_const(array).at(3), 5);
  EXPECT_EQ(std::as_const(array).back(), 5);
  EXPECT_THROW((void)array.at(4), std::out_of_range);
  EXPECT_THROW((void)segmented_array<int>().at(0), std::out_of_range);
}

TEST(segmented_arrays, are_ordered_like_vectors) {
  struct only_less {
    int value = 0;
    bool operator<(const only_less& other) const { return value < other.value; }
  };
  const segmented_array<int> a(2, {1, 2, 3});
  EXPECT_LT(a, segmented_array<int>(3, {1, 2, 4}));
  EXPECT_LT(a, segmented_array<int>(3, {1, 2, 3, 0}));
  EXPECT_GT(a, segmented_array<int>());
  EXPECT_TRUE((a <=> segmented_array<int>(1, {1, 2, 3})) == 0);
  EXPECT_TRUE(
      (segmented_array<only_less>(2, {only_less{1}}) <=> segmented_array<only_less>(1, {only_less{2}})) < 0);
  EXPECT_TRUE((segmented_array<double>(1, {0.0}) <=>
               segmented_array<double>(1, {std::numeric_limits<double>::quiet_NaN()})) ==
              std::partial_ordering::unordered);
}

}  // namespace
