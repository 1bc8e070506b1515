// Views of several dimensions over contiguous containers.
#include "nearfar/container/array_view.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/core/error.hpp"

namespace {

using nearfar::array_view;

TEST(array_view, finds_each_element_where_the_last_index_varies_fastest) {
  std::vector<int> memory(2 * 3 * 4);
  std::iota(memory.begin(), memory.end(), 0);
  const array_view cube(memory, 2, 3, 4);
  static_assert(std::is_same_v<decltype(cube), const array_view<int, 3>>);
  static_assert(cube.rank() == 3);
  int next = 0;
  for (std::size_t i = 0; i < cube.extent(0); ++i)
    for (std::size_t j = 0; j < cube.extent(1); ++j)
      for (std::size_t k = 0; k < cube.extent(2); ++k) {
        EXPECT_EQ(cube(i, j, k), next);
        EXPECT_EQ((cube[{i, j, k}]), next);
        EXPECT_EQ(&cube(i, j, k),
                  cube.data_handle() + i * cube.stride(0) + j * cube.stride(1) + k * cube.stride(2));
        EXPECT_EQ(cube.slice(i).slice(j)(k), next);
        ++next;
      }
  EXPECT_EQ(next, 24);
  EXPECT_EQ(cube.size(), 24U);
  EXPECT_EQ(cube.slice(1).elements().size(), 12U);
  cube(1, 2, 3) = -1;
  EXPECT_EQ(memory.back(), -1);
}

TEST(array_view, is_of_any_container_in_one_piece) {
  nearfar::numa_vector<double> numbers(6, 1.0);
  nearfar::segmented_array<double> segments(2, 6, {.page_aligned = false});
  const std::array<double, 6> constants{1, 2, 3, 4, 5, 6};
  array_view(numbers, 2, 3)(1, 2) = 2;
  EXPECT_EQ(numbers[5], 2);
  array_view(segments, 3, 2)(2, 1) = 3;
  EXPECT_EQ(segments[5], 3);
  const array_view seen(constants, 3, 2);
  static_assert(std::is_same_v<decltype(seen), const array_view<const double, 2>>);
  EXPECT_EQ(seen(1, 1), 4);
  const array_view<const double, 2> read = array_view(numbers, 2, 3);
  EXPECT_EQ(read(1, 2), 2);
  static_assert(!std::is_convertible_v<array_view<const double, 2>, array_view<double, 2>>);
}

TEST(array_view, refuses_what_does_not_fit) {
  std::vector<int> memory(6);
  EXPECT_THROW(array_view(memory, 2, 2), nearfar::misuse);
  EXPECT_THROW(array_view(memory, 4, 3), nearfar::misuse);
  EXPECT_THROW(array_view(memory, 0, 6), nearfar::misuse);
  EXPECT_THROW(array_view(memory, std::size_t{1} << 32U, std::size_t{1} << 32U), nearfar::misuse);
  std::vector<int> nothing;
  EXPECT_THROW(array_view(nothing, std::size_t{1} << 32U, std::size_t{1} << 32U), nearfar::misuse);
  EXPECT_TRUE(array_view(nothing, 0, 7).empty());
  EXPECT_TRUE((array_view<int, 2>().empty()));
  if (nearfar::checked_build) {
    const array_view view(memory, 2, 3);
    EXPECT_THROW(static_cast<void>(view(2, 0)), nearfar::misuse);
    EXPECT_THROW(static_cast<void>(view(0, 3)), nearfar::misuse);
    EXPECT_THROW(static_cast<void>(view.slice(2)), nearfar::misuse);
  }
}

}  // namespace
