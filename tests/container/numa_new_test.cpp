#include "nearfar/container/numa_new.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/memory/pages.hpp"
#include "tests/container/alignment.hpp"

namespace {

using nearfar::numa_new;
using nearfar::page_policy;
using nearfar::page_size;
using nearfar::placed_from_bytes;
using nearfar::team;
using nearfar::test::is_aligned;

// Has no destructor, so no number of objects precedes an array of it.
struct plain : numa_new<plain> {
  double value = 1.5;
};

struct chunked : numa_new<chunked, 64> {
  double value = 1.5;
};

struct with_destructor : numa_new<with_destructor> {
  with_destructor() { ++alive; }
  with_destructor(const with_destructor&) = delete;
  with_destructor& operator=(const with_destructor&) = delete;
  ~with_destructor() { --alive; }
  std::string text = "long enough that the string has memory of its own";
  static inline long alive = 0;
};

struct alignas(256) over_aligned : numa_new<over_aligned> {
  over_aligned() = default;
  over_aligned(const over_aligned&) = delete;
  over_aligned& operator=(const over_aligned&) = delete;
  ~over_aligned() { text.clear(); }
  std::string text = "x";
};

struct alignas(16384) over_a_page : numa_new<over_a_page, 2> {
  std::array<char, 16384> bytes{};
};

static_assert(sizeof(plain) == sizeof(double));
static_assert(std::is_trivially_copyable_v<plain>);

constexpr std::size_t sizes[] = {0, 1, 2, 31, 32, 500, 8192, 100'000};

template <typename T>
void expect_arrays_of(const T*) {
  for (const std::size_t n : sizes) {
    std::vector<T*> arrays{new T[n], new (team(2)) T[n],
                           new (team(3), {.policy = page_policy::interleave}) T[n], new (std::nothrow) T[n]};
    for (T* array : arrays) {
      ASSERT_TRUE(is_aligned(array, alignof(T)));
      delete[] array;
    }
    const auto held = std::make_unique<T[]>(n);
    ASSERT_TRUE(is_aligned(held.get(), alignof(T)));
  }
}

TEST(numa_new, makes_and_gives_back_arrays_of_every_size_and_alignment) {
  expect_arrays_of<plain>(nullptr);
  expect_arrays_of<chunked>(nullptr);
  expect_arrays_of<with_destructor>(nullptr);
  expect_arrays_of<over_aligned>(nullptr);
  for (const std::size_t n : {0U, 1U, 20U}) delete[] new over_a_page[n];
  EXPECT_EQ(with_destructor::alive, 0);
}

TEST(numa_new, constructs_and_destroys_every_object) {
  const std::size_t n = 20'000;
  auto* const objects = new (team(3)) with_destructor[n];
  EXPECT_EQ(with_destructor::alive, static_cast<long>(n));
  EXPECT_TRUE(std::all_of(objects, objects + n,
                          [](const with_destructor& object) { return object.text.front() == 'l'; }));
  delete[] objects;
  EXPECT_EQ(with_destructor::alive, 0);
}

TEST(numa_new, begins_arrays_of_plain_objects_with_a_page_when_chunked) {
  for (const std::size_t n : sizes) {
    const std::unique_ptr<chunked[]> array(new chunked[n]);
    EXPECT_TRUE(is_aligned(array.get(), page_size()));
  }
}

TEST(numa_new, touches_the_pages_of_large_arrays_before_any_object_is_there) {
  const std::size_t bytes = 10 * placed_from_bytes;
  void* const array = plain::operator new[](bytes);
  if (const auto where = nearfar::locate_pages(array, bytes)) {
    EXPECT_EQ(std::ranges::count(where->domains, nearfar::untouched_page), 0);
  } else {
    EXPECT_FALSE(nearfar::placement_problems().empty());
  }
  plain::operator delete[](array);
}

struct throwing : numa_new<throwing> {
  throwing() {
    if (++made == 5000) throw std::runtime_error("the 5000th");
    ++alive;
  }
  throwing(const throwing&) = delete;
  throwing& operator=(const throwing&) = delete;
  ~throwing() { --alive; }
  double value = 0;
  static inline int made = 0;
  static inline int alive = 0;
};

TEST(numa_new, gives_memory_back_when_a_constructor_throws) {
  for (int form = 0; form < 4; ++form) {
    throwing::made = 0;
    EXPECT_THROW(
        {
          throwing* const array = form == 0   ? new throwing[20'000]
                                  : form == 1 ? new (team(2)) throwing[20'000]
                                  : form == 2 ? new (std::nothrow) throwing[20'000]
                                              : new (team(2), {}) throwing[20'000];
          delete[] array;
        },
        std::runtime_error);
    EXPECT_EQ(throwing::alive, 0);
  }
}

TEST(numa_new, says_when_there_is_not_so_much_memory) {
  volatile std::size_t n = std::numeric_limits<std::size_t>::max() / 64;
  EXPECT_THROW(delete[] new plain[n], std::bad_alloc);
  EXPECT_EQ(new (std::nothrow) plain[n], nullptr);
  EXPECT_THROW(static_cast<void>(plain::operator new[](std::numeric_limits<std::size_t>::max())),
               std::bad_array_new_length);
}

TEST(numa_new, leaves_single_objects_placement_and_containers_as_they_are) {
  delete new with_destructor;
  alignas(plain) std::array<std::byte, 4 * sizeof(plain)> room{};
  plain* const placed = new (room.data()) plain[4];
  EXPECT_EQ(static_cast<void*>(placed), room.data());
  const std::vector<plain> many(100'000);
  EXPECT_EQ(many.back().value, 1.5);
  delete[] static_cast<plain*>(nullptr);
}

struct point : numa_new<point> {
  int x = 0;
  friend auto operator<=>(const point&, const point&) = default;
};

TEST(numa_new, does_not_stand_in_the_way_of_comparison) {
  point one;
  point other;
  other.x = 1;
  EXPECT_LT(one, other);
  EXPECT_NE(one, other);
}

struct derived : plain {
  std::array<double, 20> more{};
};

TEST(numa_new, serves_classes_derived_further) {
  const std::unique_ptr<derived[]> array(new derived[5000]);
  EXPECT_EQ(array[4999].value, 1.5);
}

}  // namespace
