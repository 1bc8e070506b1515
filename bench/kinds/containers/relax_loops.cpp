// Relaxation: sweeps over a grid made of rows.
//
// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 1.6.2 and
// chapter 4.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bench/kinds/containers/raw_loop.hpp"
#include "bench/kinds/containers/relax_loop.hpp"
#include "nearfar/container/grid_view.hpp"
#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/segmented_array.hpp"

namespace nearfar::bench {

namespace {

/// The points `first` to `last` - 1 of a row.
template <typename Row, typename ConstRow>
void relax_row(Row&& to, const ConstRow& above, const ConstRow& here, const ConstRow& below,
               std::size_t first, std::size_t last) {
  for (std::size_t j = first; j < last; ++j) to[j] = (above[j] + here[j - 1] + here[j + 1] + below[j]) * 0.25;
}

/// Sweeps as written with OpenMP, over any grid with rows.
struct raw_sweeps {
  template <typename Grid>
  static void horizontal(const relax_case& of, Grid& to, const Grid& from) {
    raw_for(of.threads, 0, of.rows - 2, [&](std::size_t before) {
      relax_row(to[before + 1], from[before], from[before + 1], from[before + 2], 1, of.columns - 1);
    });
  }

  template <typename Grid>
  static void vertical(const relax_case& of, Grid& to, const Grid& from) {
    if (of.threads == 1) return horizontal(of, to, from);
      // Rows are independent: a sweep reads one grid and writes the other.
#pragma omp parallel num_threads(of.threads)
    for (std::size_t i = 1; i < of.rows - 1; ++i) {
      auto&& row = to[i];
      auto&& above = from[i - 1];
      auto&& here = from[i];
      auto&& below = from[i + 1];
#pragma omp for schedule(static) nowait
      for (std::size_t j = 1; j < of.columns - 1; ++j)
        row[j] = (above[j] + here[j - 1] + here[j + 1] + below[j]) * 0.25;
    }
  }

  template <typename Grid>
  static void by_row(const relax_case& of, Grid& to, const Grid& from) {
    for (std::size_t i = 1; i < of.rows - 1; ++i) {
      auto&& row = to[i];
      auto&& above = from[i - 1];
      auto&& here = from[i];
      auto&& below = from[i + 1];
      raw_for(of.threads, 0, of.columns - 2, [&](std::size_t before) {
        const std::size_t j = before + 1;
        row[j] = (above[j] + here[j - 1] + here[j + 1] + below[j]) * 0.25;
      });
    }
  }
};

/// Sweeps by a team of this library.
struct team_sweeps {
  template <typename Grid>
  static void horizontal(const relax_case& of, Grid& to, const Grid& from) {
    team(of.threads).for_each_block(of.rows, 0, [&](index_range mine) {
      const std::size_t last = std::min(mine.last, of.rows - 1);
      for (std::size_t i = std::max<std::size_t>(mine.first, 1); i < last; ++i)
        relax_row(to[i], from[i - 1], from[i], from[i + 1], 1, of.columns - 1);
    });
  }

  template <typename Grid>
  static void vertical(const relax_case& of, Grid& to, const Grid& from) {
    team(of.threads).for_each_block(of.columns - 2, 0, [&](index_range mine) {
      for (std::size_t i = 1; i < of.rows - 1; ++i)
        relax_row(to[i], from[i - 1], from[i], from[i + 1], mine.first + 1, mine.last + 1);
    });
  }

  template <typename Grid>
  static void by_row(const relax_case& of, Grid& to, const Grid& from) {
    for (std::size_t i = 1; i < of.rows - 1; ++i)
      team(of.threads).for_each_block(of.columns - 2, 0, [&](index_range mine) {
        relax_row(to[i], from[i - 1], from[i], from[i + 1], mine.first + 1, mine.last + 1);
      });
  }
};

/// A row of a C array, placed by `new`: aligned to 16 bytes. Containers whose rows begin with a cache line
/// are up to 6 % faster.
class raw_row {
 public:
  raw_row() = default;
  explicit raw_row(std::size_t size) : data_(new double[size]) {}

  // NOLINTNEXTLINE(google-explicit-constructor): so that it is what `double**` gives.
  operator double*() noexcept { return data_.get(); }
  operator const double*() const noexcept { return data_.get(); }  // NOLINT(google-explicit-constructor)

 private:
  std::unique_ptr<double[]> data_;
};

/// A grid whose rows are containers of their own.
template <typename Row>
class grid_of_rows {
 public:
  using sweeps = raw_sweeps;
  static constexpr bool is_numa = requires(const Row& row) { row.get_allocator().placement(); };

  explicit grid_of_rows(const relax_case& of) : rows_(of.rows) {
    const bool by_owners = of.initialisation != loop_initialisation::serial &&
                           of.decomposition == loop_decomposition::horizontal;
    raw_for(by_owners ? of.threads : 1, 0, of.rows, [&](std::size_t i) {
      rows_[i] = make(of, of.initialisation == loop_initialisation::allocator);
      if (!touched_by_columns(of)) fill(i, 0, of.columns);
    });
    if (!touched_by_columns(of)) return;
    for (std::size_t i = 0; i < of.rows; ++i)
      raw_for(of.threads, 0, of.columns, [&](std::size_t j) { rows_[i][j] = initial_point(i, j); });
  }

  [[nodiscard]] Row& operator[](std::size_t row) { return rows_[row]; }
  [[nodiscard]] const Row& operator[](std::size_t row) const { return rows_[row]; }

 private:
  static bool touched_by_columns(const relax_case& of) {
    return of.initialisation == loop_initialisation::parallel &&
           of.decomposition != loop_decomposition::horizontal;
  }

  static Row make(const relax_case& of, [[maybe_unused]] bool by_team) {
    if constexpr (is_numa) {
      const team threads = by_team && of.threads > 1 ? team(of.threads) : team::serial();
      return Row(of.columns, typename Row::allocator_type(threads, of.placement));
    } else {
      return Row(of.columns);
    }
  }

  void fill(std::size_t row, std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) rows_[row][j] = initial_point(row, j);
  }

  std::vector<Row> rows_;
};

/// A segmented_array with one segment for each row.
class segmented_grid {
 public:
  using sweeps = team_sweeps;

  explicit segmented_grid(const relax_case& of)
      : points_(of.rows, of.rows * of.columns, {.page_aligned = false},
                of.initialisation == loop_initialisation::serial || of.threads == 1 ? team::serial()
                                                                                    : team(of.threads),
                of.placement),
        rows_(points_, of.columns) {
    for (std::size_t i = 0; i < of.rows; ++i)
      for (std::size_t j = 0; j < of.columns; ++j) (*this)[i][j] = initial_point(i, j);
  }

  [[nodiscard]] double* operator[](std::size_t row) { return rows_.row(row).data(); }
  [[nodiscard]] const double* operator[](std::size_t row) const { return rows_.row(row).data(); }

 private:
  segmented_array<double> points_;
  grid_view<double> rows_;
};

}  // namespace

std::unique_ptr<relax_loop> make_relax_loop(const relax_case& of) {
  switch (of.container) {
    case loop_container::array:
      return std::make_unique<relax_loop_of<grid_of_rows<raw_row>>>(of);
    case loop_container::vector:
      return std::make_unique<relax_loop_of<grid_of_rows<std::vector<double>>>>(of);
    case loop_container::vector_numa:
      return std::make_unique<relax_loop_of<grid_of_rows<std::vector<double, numa_allocator<double>>>>>(of);
    case loop_container::numa_vector:
      return std::make_unique<relax_loop_of<grid_of_rows<numa_vector<double>>>>(of);
    case loop_container::segmented:
      return std::make_unique<relax_loop_of<segmented_grid>>(of);
    default:
      return nullptr;
  }
}

}  // namespace nearfar::bench
