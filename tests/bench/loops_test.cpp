#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/loops/loop_case.hpp"
#include "bench/loops/relax_loop.hpp"
#include "bench/loops/vector_loop.hpp"
#include "nearfar/core/error.hpp"

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

TEST(loop_sample_rates, follow_from_work_and_time) {
  loop_sample sample;
  sample.iterations = 500;
  sample.duration = 2ms;
  sample.work = loop_work{.flops = 2000, .bytes = 32000, .bytes_with_rfo = 40000};
  EXPECT_DOUBLE_EQ(sample.mflops().value(), 500);
  EXPECT_DOUBLE_EQ(sample.gbytes_per_s().value(), 8);
  EXPECT_DOUBLE_EQ(sample.gbytes_per_s_with_rfo().value(), 10);
  EXPECT_DOUBLE_EQ(sample.ns_per_iteration(), 4000);
  EXPECT_FALSE(sample.mlups());
  sample.megapoints = 0.25;
  EXPECT_DOUBLE_EQ(sample.mlups().value(), 62500);
  sample.work->flops = 0;
  EXPECT_FALSE(sample.mflops()) << "a copy computes nothing";
}

TEST(loop_sample_record, has_null_for_what_does_not_apply) {
  const auto of_vectors = nlohmann::ordered_json(run_triad(triad_of(loop_container::vector, 10), {}));
  for (const char* field : {"rows", "columns", "decomposition", "sweeps", "mlups", "segments", "padding"})
    EXPECT_TRUE(of_vectors.at(field).is_null()) << field;
  EXPECT_EQ(of_vectors.at("chunk"), 0);
  EXPECT_EQ(of_vectors.at("schema"), "nearfar.loops/1");

  relax_case grid;
  grid.rows = grid.columns = 5;
  grid.pin = {};
  const auto of_grid = nlohmann::ordered_json(run_relax(grid, {}));
  for (const char* field : {"length", "chunk", "stores", "gbytes_per_s", "gbytes_per_s_with_rfo"})
    EXPECT_TRUE(of_grid.at(field).is_null()) << field;
  EXPECT_EQ(of_grid.at("sweeps"), of_grid.at("iterations"));
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
      const loop_sample sample = run();
      EXPECT_TRUE(sample.verified) << sample.container << ' ' << sample.benchmark;
      ++ran;
    } else {
      EXPECT_THROW(run(), misuse);
    }
  }
  EXPECT_GT(ran, 150);
}

TEST(loop_cases, last_as_long_as_they_should) {
  const loop_sample sample =
      run_triad(triad_of(loop_container::array, 100), {.shortest = 2ms, .first_guess = 3});
  EXPECT_GE(sample.duration, 2ms);
  EXPECT_EQ(sample.iterations % 3, 0) << "iterations double from the first guess";
}

TEST(loop_turns_taken, run_every_case_once_a_repetition_in_changing_order) {
  std::vector<loop_case> cases;
  for (std::size_t length = 1; length <= 8; ++length)
    cases.emplace_back(triad_of(loop_container::array, length));
  const auto order_of = [&](std::uint64_t seed) {
    std::vector<std::vector<std::size_t>> order(3);
    run_in_turns(
        cases, {.repetitions = 3, .seed = seed}, [](const loop_case&) {},
        [&](std::size_t index, const loop_sample& sample) {
          EXPECT_EQ(sample.length, index + 1);
          order[static_cast<std::size_t>(sample.repetition)].push_back(index);
        });
    return order;
  };
  const auto order = order_of(1);
  for (const auto& turn : order)
    EXPECT_EQ(std::set<std::size_t>(turn.begin(), turn.end()).size(), cases.size());
  EXPECT_NE(order[0], order[1]);
  EXPECT_EQ(order, order_of(1));
  EXPECT_NE(order, order_of(2));
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
