/// \file
/// Sweeps over a grid in memory, ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/kinds/containers/kernels.hpp"
#include "bench/kinds/containers/loop_case.hpp"

namespace nearfar::bench {

/// Type-erased; what is timed is virtual as a whole.
class relax_loop {
 public:
  relax_loop() = default;
  relax_loop(const relax_loop&) = delete;
  relax_loop& operator=(const relax_loop&) = delete;
  virtual ~relax_loop() = default;

  virtual void run(std::int64_t sweeps) = 0;
  /// Runs a few sweeps more, and tells whether the grid is then what a serial program makes of the one
  /// before, bit by bit, and whether the boundary is what it was in the beginning.
  [[nodiscard]] virtual bool verify() = 0;
};

/// The initial points of a grid. Each differs from the mean of its neighbours, so that a sweep changes it.
[[nodiscard]] inline double initial_point(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 31 + 7) * (column * 17 + 5) % 1009) / 8;
}

/// A plain copy of a grid, for the reference.
class plain_grid {
 public:
  template <typename Grid>
  plain_grid(const relax_case& of, const Grid& from) : rows_(of.rows), columns_(of.columns) {
    points_.reserve(rows_ * columns_);
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j) points_.push_back(from[i][j]);
  }

  void sweep() {
    std::vector<double> next = points_;
    for (std::size_t i = 1; i + 1 < rows_; ++i)
      for (std::size_t j = 1; j + 1 < columns_; ++j) {
        const std::size_t at = i * columns_ + j;
        next[at] =
            (points_[at - columns_] + points_[at - 1] + points_[at + 1] + points_[at + columns_]) * 0.25;
      }
    points_.swap(next);
  }

  /// Bit by bit: both do the same operations in the same order.
  template <typename Grid>
  [[nodiscard]] bool equals(const Grid& other) const {
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j)
        if (points_[i * columns_ + j] != other[i][j]) return false;
    return true;
  }

  [[nodiscard]] bool has_initial_boundary() const {
    const auto is_initial = [&](std::size_t i, std::size_t j) {
      return points_[i * columns_ + j] == initial_point(i, j);
    };
    for (std::size_t i = 0; i < rows_; ++i)
      if (!is_initial(i, 0) || !is_initial(i, columns_ - 1)) return false;
    for (std::size_t j = 0; j < columns_; ++j)
      if (!is_initial(0, j) || !is_initial(rows_ - 1, j)) return false;
    return true;
  }

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> points_;
};

/// `Grid` is made of a case, holds initial_point(i, j) at [i][j], and says how it is swept:
///   using sweeps = ...;
///   template <typename Grid> static void sweeps::horizontal(const relax_case&, Grid& to, const Grid& from);
///   template <typename Grid> static void sweeps::vertical(const relax_case&, Grid& to, const Grid& from);
///   template <typename Grid> static void sweeps::by_row(const relax_case&, Grid& to, const Grid& from);
template <typename Grid>
class relax_loop_of final : public relax_loop {
 public:
  explicit relax_loop_of(const relax_case& of) : of_(of), one_(of), other_(of) {}

  void run(std::int64_t sweeps) override {
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
      switch (of_.decomposition) {
        case loop_decomposition::horizontal:
          Grid::sweeps::horizontal(of_, *to_, std::as_const(*from_));
          break;
        case loop_decomposition::vertical:
          Grid::sweeps::vertical(of_, *to_, std::as_const(*from_));
          break;
        case loop_decomposition::by_row:
          Grid::sweeps::by_row(of_, *to_, std::as_const(*from_));
      }
      std::swap(from_, to_);
      keep(*this);
    }
  }

  [[nodiscard]] bool verify() override {
    plain_grid reference(of_, *from_);
    if (!reference.has_initial_boundary()) return false;
    constexpr int sweeps = 3;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      run(1);
      reference.sweep();
    }
    return reference.equals(*from_);
  }

 private:
  relax_case of_;
  Grid one_;
  Grid other_;
  Grid* from_ = &one_;
  Grid* to_ = &other_;
};

/// Null for a container that has no grid.
[[nodiscard]] std::unique_ptr<relax_loop> make_relax_loop(const relax_case& of);

}  // namespace nearfar::bench
