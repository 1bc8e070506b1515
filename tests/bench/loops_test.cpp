#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bench/kinds/containers/loop_case.hpp"
#include "bench/kinds/containers/relax_loop.hpp"
#include "bench/kinds/containers/vector_loop.hpp"
#include "bench/turns.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar::bench {
namespace {

using namespace std::chrono_literals;

triad_case triad_of(loop_container container, std::size_t length) {
  triad_case of;
  of.container = container;
  of.length = length;
  of.pin = {};
  of.initialisation = best_initialisation(of);
  return of;
}

/// The simplest possible container, so that a test covers kernels only.
struct plain_vectors {
  using container = std::vector<double>;

  static container make(const triad_case& of) { return container(of.length); }
  template <typename ValueAt>
  static void fill(const triad_case& of, container& to, const ValueAt& value_at) {
    for (std::size_t i = 0; i < of.length; ++i) to[i] = value_at(i);
  }
  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    for (std::size_t i = 0; i < of.length; ++i) out[i] = Kernel()(in[i]...);
  }
  static auto first(const container& in) { return in.begin(); }
};

/// A container that leaves out one element.
template <std::size_t Missing>
struct forgetful_vectors : plain_vectors {
  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    for (std::size_t i = 0; i < of.length; ++i)
      if (i != Missing) out[i] = Kernel()(in[i]...);
  }
};

/// A container that writes one element too much, into an input.
struct clobbering_vectors : plain_vectors {
  template <typename Kernel, typename First, typename... In>
  static void pass(const triad_case& of, container& out, const First& first, const In&... in) {
    plain_vectors::pass<Kernel>(of, out, first, in...);
    const_cast<First&>(first).back() = 17;
  }
};

struct wrong_triad : triad_kernel {
  template <typename T>
  T operator()(const T& b, const T& c, const T& d) const {
    return b + c - d;
  }
};

template <typename Vectors, typename Kernel>
bool verified_after_passes(std::int64_t passes) {
  vector_loop_of<Vectors, Kernel> loop(triad_of(loop_container::array, 100));
  loop.run(passes);
  return loop.verify();
}

TEST(loop_verification, accepts_every_kernel) {
  EXPECT_TRUE((verified_after_passes<plain_vectors, triad_kernel>(2)));
  EXPECT_TRUE((verified_after_passes<plain_vectors, copy_kernel>(1)));
  EXPECT_TRUE((verified_after_passes<plain_vectors, scale_kernel>(3)));
  EXPECT_TRUE((verified_after_passes<plain_vectors, add_kernel>(1)));
  EXPECT_TRUE((verified_after_passes<plain_vectors, stream_triad_kernel>(1)));
}

TEST(loop_verification, finds_a_wrong_operation) {
  EXPECT_FALSE((verified_after_passes<plain_vectors, wrong_triad>(1)));
}

TEST(loop_verification, finds_an_element_that_was_left_out) {
  EXPECT_FALSE((verified_after_passes<forgetful_vectors<0>, triad_kernel>(1)));
  EXPECT_FALSE((verified_after_passes<forgetful_vectors<50>, copy_kernel>(1)));
  EXPECT_FALSE((verified_after_passes<forgetful_vectors<99>, add_kernel>(1)));
}

TEST(loop_verification, finds_an_input_that_was_changed) {
  EXPECT_FALSE((verified_after_passes<clobbering_vectors, triad_kernel>(1)));
  EXPECT_FALSE((verified_after_passes<clobbering_vectors, copy_kernel>(1)));
}

TEST(loop_verification, finds_that_nothing_was_done) {
  EXPECT_FALSE((verified_after_passes<plain_vectors, triad_kernel>(0)));
}

TEST(loop_work_per_pass, counts_operations_and_bytes) {
  const std::map<vector_kernel, std::tuple<double, double, double>> expected{
      {vector_kernel::triad, {2, 32, 40}},        {vector_kernel::copy, {0, 16, 24}},
      {vector_kernel::scale, {1, 16, 24}},        {vector_kernel::add, {1, 24, 32}},
      {vector_kernel::stream_triad, {2, 24, 32}},
  };
  for (const auto& [kernel, work] : expected) {
    triad_case of = triad_of(loop_container::array, 10);
    of.kernel = kernel;
    const auto& [flops, bytes, with_rfo] = work;
    EXPECT_EQ(work_of(of).flops, 10 * flops);
    EXPECT_EQ(work_of(of).bytes, 10 * bytes);
    EXPECT_EQ(work_of(of).bytes_with_rfo, 10 * with_rfo);
    of.stores = store_kind::streaming;
    EXPECT_EQ(work_of(of).bytes_with_rfo, 10 * bytes) << "streaming stores read nothing for ownership";
  }
}

TEST(loop_rates, follow_from_work_and_time) {
  loop_work work{.flops = 2000, .bytes = 32000, .bytes_with_rfo = 40000};
  const auto rate = [&](const char* name) { return rates_of(work, 500, 2ms).at(name); };
  EXPECT_DOUBLE_EQ(rate("mflops"), 500);
  EXPECT_DOUBLE_EQ(rate("mbytes_per_s"), 8000);
  EXPECT_DOUBLE_EQ(rate("gbytes_per_s"), 8);
  EXPECT_DOUBLE_EQ(rate("gbytes_per_s_with_rfo"), 10);
  EXPECT_TRUE(rate("mlups").is_null());
  work.points = 250'000;
  EXPECT_DOUBLE_EQ(rate("mlups"), 62500);
  work.flops = 0;
  EXPECT_TRUE(rate("mflops").is_null()) << "a copy computes nothing";
}

TEST(loop_sample, has_null_for_what_does_not_apply) {
  const auto of_vectors = run_triad(triad_of(loop_container::vector, 10), {}).counts;
  for (const char* field : {"rows", "columns", "decomposition", "sweeps", "mlups", "segments", "padding"})
    EXPECT_TRUE(of_vectors.at(field).is_null()) << field;
  EXPECT_EQ(of_vectors.at("chunk"), 0);

  relax_case grid;
  grid.rows = grid.columns = 5;
  grid.pin = {};
  const sample of_grid = run_relax(grid, {});
  for (const char* field : {"length", "chunk", "stores", "gbytes_per_s", "gbytes_per_s_with_rfo"})
    EXPECT_TRUE(of_grid.counts.at(field).is_null()) << field;
  EXPECT_EQ(of_grid.counts.at("sweeps"), of_grid.iterations);
}

/// All combinations, for the test of `obstacle`.
std::vector<loop_case> all_small_cases() {
  std::vector<loop_case> cases;
  for (const auto& container : loop_containers)
    for (const auto& initialisation : loop_initialisations) {
      for (const auto& kernel : vector_kernels)
        for (const auto& stores : store_kinds)
          for (const std::size_t chunk : {0U, 8U, 9U}) {
            triad_case of;
            of.container = container.value;
            of.initialisation = initialisation.value;
            of.kernel = kernel.value;
            of.stores = stores.value;
            of.chunk = chunk;
            of.length = 1003;
            of.pin = {};
            of.threads = 2;
            cases.emplace_back(of);
          }
      for (const auto& decomposition : loop_decompositions) {
        relax_case of;
        of.container = container.value;
        of.initialisation = initialisation.value;
        of.decomposition = decomposition.value;
        of.rows = 17;
        of.columns = 29;
        of.pin = {};
        of.threads = 2;
        cases.emplace_back(of);
      }
    }
  return cases;
}

TEST(loop_cases, all_run_and_are_verified_or_are_refused_alike) {
  int ran = 0;
  for (const loop_case& of : all_small_cases()) {
    const auto run = [&] {
      if (const auto* loop = std::get_if<triad_case>(&of)) return run_triad(*loop, {});
      return run_relax(std::get<relax_case>(of), {});
    };
    if (obstacle(of).empty()) {
      EXPECT_TRUE(run().verified) << name_of(loop_containers,
                                             std::visit([](const auto& each) { return each.container; }, of));
      ++ran;
    } else {
      EXPECT_THROW(run(), misuse);
    }
  }
  EXPECT_GT(ran, 150);
}

TEST(loop_cases, of_arrays_begin_with_a_page_or_behind_its_first_16_bytes) {
  constexpr std::size_t in_pages = 20'000;  // more than `placed_from_bytes`
  constexpr std::size_t in_lines = 1000;
  const auto offset = [](loop_container container, std::size_t length, std::size_t chunk) {
    triad_case of = triad_of(container, length);
    of.chunk = chunk;
    return make_array_loop(of)->offset_in_page();
  };
  for (const std::size_t chunk : {0U, 8U, 512U}) {
    EXPECT_EQ(offset(loop_container::array, in_pages, chunk), 0U) << chunk;
    EXPECT_EQ(offset(loop_container::array_unaligned, in_pages, chunk), 16U) << chunk;
  }
  EXPECT_EQ(offset(loop_container::array, in_lines, 512), 0U);
  EXPECT_EQ(offset(loop_container::array_unaligned, in_lines, 512), 16U);
  EXPECT_EQ(offset(loop_container::array, in_lines, 0) % cache_line, 0U);
  EXPECT_EQ(offset(loop_container::array_unaligned, in_lines, 0) % cache_line, 16U);
}

TEST(loop_cases, last_as_long_as_they_should) {
  const sample of = run_triad(triad_of(loop_container::array, 100), {.shortest = 2ms, .first_guess = 3});
  EXPECT_GE(of.duration, 2ms);
  EXPECT_EQ(of.iterations % 3, 0) << "iterations double from the first guess";
}

TEST(turns, take_every_point_once_a_repetition_in_changing_order) {
  const std::vector<std::size_t> points{0, 1, 2, 3, 4, 5, 6, 7};
  turns some(points, 1);
  const auto first = some.next();
  const auto second = some.next();
  EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), points.begin(), points.end()));
  EXPECT_TRUE(std::is_permutation(second.begin(), second.end(), points.begin(), points.end()));
  EXPECT_NE(first, second);
  EXPECT_EQ(first, turns(points, 1).next());
  EXPECT_NE(first, turns(points, 2).next());
}

/// A grid with rows of its own, swept by `Sweep::row(to, from, i, columns)` for each inner row.
template <typename Sweep>
class plain_rows {
 public:
  struct sweeps {
    template <typename Grid>
    static void horizontal(const relax_case& of, Grid& to, const Grid& from) {
      for (std::size_t i = 1; i + 1 < of.rows; ++i) Sweep::row(to, from, i, of.columns);
    }
    template <typename Grid>
    static void vertical(const relax_case& of, Grid& to, const Grid& from) {
      horizontal(of, to, from);
    }
    template <typename Grid>
    static void by_row(const relax_case& of, Grid& to, const Grid& from) {
      horizontal(of, to, from);
    }
  };

  explicit plain_rows(const relax_case& of) : rows_(of.rows, std::vector<double>(of.columns)) {
    for (std::size_t i = 0; i < of.rows; ++i)
      for (std::size_t j = 0; j < of.columns; ++j) rows_[i][j] = initial_point(i, j);
  }
  std::vector<double>& operator[](std::size_t i) { return rows_[i]; }
  const std::vector<double>& operator[](std::size_t i) const { return rows_[i]; }

 private:
  std::vector<std::vector<double>> rows_;
};

struct right_sweep {
  template <typename Grid>
  static void row(Grid& to, const Grid& from, std::size_t i, std::size_t columns) {
    for (std::size_t j = 1; j + 1 < columns; ++j)
      to[i][j] = (from[i - 1][j] + from[i][j - 1] + from[i][j + 1] + from[i + 1][j]) * 0.25;
  }
};

/// Reads the element that it has just written.
struct sweep_in_place {
  template <typename Grid>
  static void row(Grid& to, const Grid& from, std::size_t i, std::size_t columns) {
    for (std::size_t j = 1; j + 1 < columns; ++j)
      to[i][j] = (to[i - 1][j] + from[i][j - 1] + from[i][j + 1] + from[i + 1][j]) * 0.25;
  }
};

struct sweep_without_last_column {
  template <typename Grid>
  static void row(Grid& to, const Grid& from, std::size_t i, std::size_t columns) {
    right_sweep::row(to, from, i, columns - 1);
  }
};

struct sweep_over_the_boundary {
  template <typename Grid>
  static void row(Grid& to, const Grid& from, std::size_t i, std::size_t columns) {
    right_sweep::row(to, from, i, columns);
    to[i][columns - 1] = from[i][columns - 2];
  }
};

template <typename Sweep>
bool sweep_is_verified() {
  relax_case of;
  of.rows = 11;
  of.columns = 13;
  relax_loop_of<plain_rows<Sweep>> loop(of);
  return loop.verify();
}

TEST(relax_verification, finds_broken_sweeps) {
  EXPECT_TRUE(sweep_is_verified<right_sweep>());
  EXPECT_FALSE(sweep_is_verified<sweep_in_place>());
  EXPECT_FALSE(sweep_is_verified<sweep_without_last_column>());
  EXPECT_FALSE(sweep_is_verified<sweep_over_the_boundary>());
}

TEST(relax_verification, holds_again_and_again) {
  relax_case of;
  of.rows = 9;
  of.columns = 14;
  const auto loop = make_relax_loop(of);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(loop->verify());
    loop->run(i);
  }
}

}  // namespace
}  // namespace nearfar::bench
