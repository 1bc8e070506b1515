#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/grid_view.hpp"
#include "nearfar/container/segmented_array.hpp"

namespace {

using nearfar::grid_view;
using nearfar::padded_layout;
using nearfar::segmented_array;

// Element (i, j) is 100 i + j.
template <typename Grid>
void number(Grid& grid) {
  for (std::size_t i = 0; i < grid.rows(); ++i)
    for (std::size_t j = 0; j < grid.columns(); ++j) grid(i, j) = static_cast<int>(100 * i + j);
}

TEST(grid_view, sees_rows_in_one_piece_of_memory) {
  std::vector<int> memory(20, -1);
  grid_view<int> grid(memory.data(), 4, 3, 5);
  number(grid);
  EXPECT_EQ(memory, (std::vector{0,   1,   2,   -1, -1, 100, 101, 102, -1, -1,
                                 200, 201, 202, -1, -1, 300, 301, 302, -1, -1}));
  EXPECT_EQ(grid.row(2).data(), memory.data() + 10);
  EXPECT_EQ(grid.row(2).size(), 3U);
  EXPECT_THROW(grid_view<int>(memory.data(), 4, 3, 2), nearfar::misuse);
}

TEST(grid_view, sees_rows_of_a_container) {
  std::vector<int> memory(12);
  grid_view grid(memory, 4);
  static_assert(std::is_same_v<decltype(grid), grid_view<int>>);
  ASSERT_EQ(grid.rows(), 3U);
  number(grid);
  EXPECT_EQ(memory[11], 203);
  const auto& constant = memory;
  static_assert(std::is_same_v<decltype(grid_view(constant, 4)), grid_view<const int>>);
  EXPECT_EQ(grid_view(constant, 6)(1, 5), 203);
  EXPECT_THROW(grid_view(memory, 5), nearfar::misuse);
  EXPECT_THROW(grid_view(memory, 0), nearfar::misuse);
}

TEST(grid_view, sees_a_segment_as_a_row_or_as_several) {
  for (const std::size_t segments : {1U, 2U, 3U, 7U, 9U})
    for (const bool page_aligned : {false, true}) {
      segmented_array<int, padded_layout> padded(segments, 35,
                                                 {.padding = 16, .page_aligned = page_aligned, .unit = 5});
      segmented_array<int> contiguous(segments, 35, {.page_aligned = page_aligned, .unit = 5});
      const auto expect_rows = [](auto& memory) {
        grid_view grid(memory, 5);
        ASSERT_EQ(grid.rows(), 7U);
        number(grid);
        for (std::size_t i = 0; i < 35; ++i) ASSERT_EQ(memory[i], static_cast<int>(i / 5 * 100 + i % 5));
      };
      expect_rows(padded);
      expect_rows(contiguous);
    }
  segmented_array<int, padded_layout> torn(2, 35);
  EXPECT_THROW(grid_view(torn, 5), nearfar::misuse);
  segmented_array<int> in_one_piece(2, 35);
  EXPECT_EQ(grid_view(in_one_piece, 5).rows(), 7U);
  EXPECT_THROW(grid_view(in_one_piece, 6), nearfar::misuse);
}

TEST(grid_view, sees_arrays_of_pointers) {
  std::array<int, 3> first{};
  std::array<int, 3> second{};
  const std::array<int*, 2> rows{second.data(), first.data()};
  grid_view<int> grid(rows.data(), 2, 3);
  number(grid);
  EXPECT_EQ(first[2], 102);
  const grid_view<const int> constant = grid;
  EXPECT_EQ(&constant(0, 1), &second[1]);
}

TEST(grid_view, swaps_views_not_elements) {
  std::vector<int> a(6, 1);
  std::vector<int> b(6, 2);
  grid_view from(a, 3);
  grid_view to(b, 2);
  swap(from, to);
  EXPECT_EQ(&from(1, 1), &b[3]);
  EXPECT_EQ(&to(1, 1), &a[4]);
  EXPECT_EQ(a[4], 1);
}

}  // namespace
