// Relaxation: sweeps over two grids. In a sweep each point becomes the mean of its four neighbours.
// [headers]
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <utility>

#include "nearfar/container/grid_view.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/container/team.hpp"
// [end]

namespace {

// [relax]
using grid = nearfar::grid_view<double>;

void sweep(nearfar::team team, const grid& from, const grid& to) {
  const std::size_t columns = from.columns();
  team.for_each_block(from.rows(), 0,
                      [&](nearfar::index_range mine) {  // a thread's own rows, as at construction
                        for (std::size_t i = mine.first; i < mine.last; ++i) {
                          if (i == 0 || i + 1 == from.rows()) continue;
                          const double* above = from.row(i - 1).data();
                          const double* here = from.row(i).data();
                          const double* below = from.row(i + 1).data();
                          double* out = to.row(i).data();
                          for (std::size_t j = 1; j + 1 < columns; ++j)
                            out[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
                        }
                      });
}

/// Returns the mean of a grid's points after the given number of sweeps. At first the grid is 1 at its upper
/// edge and 0 elsewhere.
double relax(std::size_t rows, std::size_t columns, int sweeps) {
  // Each row is a segment, which its owner constructs. Two grids that begin at a page boundary are 6 %
  // slower.
  const nearfar::contiguous_layout layout{.page_aligned = false};
  nearfar::segmented_array<double> first(rows, rows * columns, layout);
  nearfar::segmented_array<double> second(rows, rows * columns, layout);
  for (nearfar::segmented_array<double>* each : {&first, &second})
    for (double& x : each->segment(0)) x = 1;
  grid from(first, columns);
  grid to(second, columns);
  for (int i = 0; i < sweeps; ++i) {
    sweep(first.team(), from, to);
    swap(from, to);
  }
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (const double x : from.row(i)) sum += x;
  return sum / static_cast<double>(rows * columns);
}
// [end]

}  // namespace

int main() {
  // In the steady state, the four edges of a square contribute equally to its inner points.
  constexpr std::size_t side = 18;
  constexpr double inner = (side - 2) * (side - 2);
  constexpr double expected = (side + 0.25 * inner) / (side * side);
  const double mean = relax(side, side, 2000);
  std::printf("mean %.12f, expected %.12f\n", mean, expected);
  return std::abs(mean - expected) < 1e-12 ? 0 : 1;
}
