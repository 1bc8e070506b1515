/// \file Shapes of segmented data for the tests of the algorithms, and a segmented container that is not from
/// nearfar.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/execution.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/container/segmented_traits.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar::testing {

/// A reproducible shape: size, segments, layout, and the team that an algorithm runs on.
template <typename Layout = contiguous_layout>
struct segmented_case {
  template <typename T>
  using array = segmented_array<T, Layout>;

  std::size_t size;
  std::size_t segments;
  Layout layout;
  team threads;
};

/// Uses all threads, even for few elements.
inline execution together(team threads, std::size_t chunk = 0) { return {threads, chunk, 0}; }

/// Makes an array of this shape.
template <typename T, typename Layout, typename... Value>
segmented_array<T, Layout> make_array(const segmented_case<Layout>& shape, const Value&... value) {
  return {shape.segments, shape.size, value..., shape.layout, shape.threads};
}

/// Shapes of both layouts. Contiguous segments have several pages, less than one, or less than a cache line.
template <typename Body>
void for_each_case(Body&& body) {
  std::mt19937 random(4);  // NOLINT(cert-msc32-c,cert-msc51-cpp) the same cases each time
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (const int threads : {1, 2, 3})
    for (const std::size_t size : {0U, 1U, 2U, 13U, 100U, 1037U, 5003U})
      for (int i = 0; i < 4; ++i) {
        const std::size_t padding = below(4) * 64;
        const std::size_t segments = 1 + below(i == 3 ? 60 : 9);
        const bool page_aligned = i % 2 == 0;
        body(segmented_case<padded_layout>{size, segments, {padding, page_aligned}, team(threads)});
        body(segmented_case<>{size, segments, {page_aligned || i == 3}, team(threads)});
      }
}

template <typename T, typename Layout>
segmented_array<T, Layout> random_array(const segmented_case<Layout>& shape, unsigned seed,
                                        std::type_identity_t<T> largest = 1000) {
  auto array = make_array<T>(shape);
  std::mt19937 random(seed);  // NOLINT(cert-msc32-c,cert-msc51-cpp) the same numbers each time
  for (T& element : array) element = static_cast<T>(random() % static_cast<unsigned>(largest));
  return array;
}

/// Lists of different lengths, some of them empty, as one forward range.
template <typename T>
struct lists {
  std::vector<std::vector<T>> all;

  class iterator {
   public:
    using value_type = T;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using list_iterator = typename std::vector<std::vector<T>>::iterator;

    iterator() = default;
    iterator(list_iterator list, list_iterator last_list, T* element)
        : list_(list), last_list_(last_list), element_(element) {
      skip_ends();
    }
    T& operator*() const { return *element_; }
    T* operator->() const { return element_; }
    iterator& operator++() {
      ++element_;
      skip_ends();
      return *this;
    }
    iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.list_ == b.list_ && a.element_ == b.element_;
    }

    list_iterator list_{};
    list_iterator last_list_{};
    T* element_ = nullptr;

   private:
    // The end of the range is the end of the last list.
    void skip_ends() {
      while (list_ != last_list_ && element_ == list_->data() + list_->size()) element_ = (++list_)->data();
    }
  };

  /// The container has at least one list.
  iterator begin() { return {all.begin(), std::prev(all.end()), all.front().data()}; }
  iterator end() {
    return {std::prev(all.end()), std::prev(all.end()), all.back().data() + all.back().size()};
  }
};

/// All elements are there afterwards, once each, whatever the comparison says of them. Some are no numbers.
template <typename Sort>
void expect_all_are_kept(const Sort& sort, const std::function<bool(double, double)>& less) {
  for (const int threads : {1, 2, 3, 8})
    for (const std::size_t size : {2U, 17U, 100U, 1000U, 4099U}) {
      std::vector<std::unique_ptr<double>> values;
      std::mt19937 random(static_cast<unsigned>(size));  // NOLINT(cert-msc32-c,cert-msc51-cpp)
      std::vector<const double*> before;
      for (std::size_t i = 0; i < size; ++i) {
        const bool is_none = random() % 3 == 0;
        values.push_back(std::make_unique<double>(is_none ? std::numeric_limits<double>::quiet_NaN()
                                                          : static_cast<double>(random() % 100)));
        before.push_back(values.back().get());
      }
      sort(together(team(threads)), values, [&](const auto& a, const auto& b) {
        // ASSERT_NE would return only from this function.
        if (a == nullptr || b == nullptr) throw std::logic_error("compares what is not there");
        return less(*a, *b);
      });
      std::vector<const double*> after;
      for (const auto& value : values) after.push_back(value.get());
      std::ranges::sort(before);
      std::ranges::sort(after);
      ASSERT_EQ(before, after);
    }
}
template <typename Sort>
void expect_all_are_kept_without_an_order(const Sort& sort) {
  expect_all_are_kept(sort, [](double a, double b) { return a < b; });
  expect_all_are_kept(sort, [](double a, double b) { return a <= b; });
  expect_all_are_kept(sort, [](double, double) { return true; });
  std::atomic<unsigned> calls = 0;
  expect_all_are_kept(sort,
                      [&](double, double) { return (calls.fetch_add(1) * 2654435769U >> 30) % 2 == 1; });
}

}  // namespace nearfar::testing

namespace nearfar {

/// The test container's own iterator. The place of its declaration identifies it.
template <typename Iterator>
  requires requires(Iterator it) {
    it.list_;
    it.last_list_;
  }
struct segmented_iterator_traits<Iterator> {
  static constexpr bool is_segmented = true;
  // A list, and the last list for compose().
  struct segment_iterator {
    typename Iterator::list_iterator list{};
    typename Iterator::list_iterator last{};
    segment_iterator& operator++() {
      ++list;
      return *this;
    }
    friend bool operator==(const segment_iterator&, const segment_iterator&) = default;
  };
  using local_iterator = typename Iterator::pointer;

  static segment_iterator segment(Iterator it) { return {it.list_, it.last_list_}; }
  static local_iterator local(Iterator it) { return it.element_; }
  static local_iterator begin(segment_iterator it) { return it.list->data(); }
  static local_iterator end(segment_iterator it) { return it.list->data() + it.list->size(); }
  static Iterator compose(segment_iterator it, local_iterator local) { return {it.list, it.last, local}; }
};

}  // namespace nearfar
