// The loops and algorithms of nearfar beside OpenMP's, the standard's parallel ones over oneTBB, and those of
// GCC's parallel mode. All run by one call, on the same memory and in turn, and the results are verified.
// Built with -DNEARFAR_RIVALS=ON, see docs/numa-measured.md.
#include <fmt/format.h>
#include <omp.h>
#include <oneapi/tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <execution>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <parallel/algorithm>
#include <parallel/numeric>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/numa_vector_arithmetic.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar::bench {
namespace {

using numbers = numa_vector<double>;
constexpr auto parallel = std::execution::par_unseq;

/// One way to write a loop. It returns a number that is verified.
struct way {
  std::string name;
  std::function<double()> run;
};

/// A loop in all ways. The others are compared with the first.
struct loop {
  std::string name;
  std::vector<way> ways;
  std::function<void()> prepare;  ///< before each measurement
  std::function<bool(double, int)>
      is_right;  ///< checks the result and the data after the last of several calls
};

/// The data of all loops.
struct arrays {
  explicit arrays(std::size_t n)
      : a(n, 0.0), b(n, 1.0), c(n, 2.0), d(n, 3.0), keys(n), pool(std::max(n, least_pool)) {
    std::minstd_rand random(1);
    for (double& key : pool) key = static_cast<double>(random());
  }
  [[nodiscard]] std::size_t size() const { return a.size(); }

  /// The unsorted keys that the last call of `take_keys` copied.
  [[nodiscard]] auto unsorted() {
    return std::ranges::subrange(pool.data() + next, pool.data() + next + size());
  }
  /// Takes other keys each time, so that no branch predictor learns the order of a few thousand keys.
  void take_keys() {
    next = next + 2 * size() <= pool.size() ? next + size() : 0;
    copy(unsorted(), keys.begin());
  }

  static constexpr std::size_t least_pool = std::size_t{1} << 22U;
  numbers a, b, c, d, keys, pool;
  std::size_t next = 0;
};

bool all_are(const numbers& of, double value) {
  return std::all_of(of.begin(), of.end(), [=](double each) { return each == value; });
}

loop triad(arrays& on) {
  constexpr double result = 1 + 2 * 3;
  const auto function = [](double y, double z) { return y * z; };
  return {
      .name = "a = b + c * d",
      .ways = {{"OpenMP",
                [&on] {
                  const double *b = on.b.data(), *c = on.c.data(), *d = on.d.data();
                  double* a = on.a.data();
#pragma omp parallel for schedule(static)
                  for (std::size_t i = 0; i < on.size(); ++i) a[i] = b[i] + c[i] * d[i];
                  return 0.0;
                }},
               {"nearfar",
                [&on] {
                  transform(on.b, on.c, on.d, on.a, [](double x, double y, double z) { return x + y * z; });
                  return 0.0;
                }},
               {"nearfar, expression",
                [&on] {
                  on.a = on.b + hadamard(on.c, on.d);
                  return 0.0;
                }},
               // The standard's transformations have at most two inputs, so this takes two passes, as its
               // users would write it.
               {"std::execution",
                [&on, function] {
                  std::transform(parallel, on.c.begin(), on.c.end(), on.d.begin(), on.a.begin(), function);
                  std::transform(parallel, on.a.begin(), on.a.end(), on.b.begin(), on.a.begin(),
                                 std::plus<>());
                  return 0.0;
                }},
               {"__gnu_parallel",
                [&on, function] {
                  __gnu_parallel::transform(on.c.begin(), on.c.end(), on.d.begin(), on.a.begin(), function);
                  __gnu_parallel::transform(on.a.begin(), on.a.end(), on.b.begin(), on.a.begin(),
                                            std::plus<>());
                  return 0.0;
                }}},
      .prepare = [&on] { std::fill(on.a.begin(), on.a.end(), 0.0); },
      .is_right = [&on](double, int) { return all_are(on.a, result); }};
}

loop axpy(arrays& on) {
  const auto function = [](double x, double y) { return y + 0.5 * x; };
  return {
      .name = "a += 0.5 * b",
      .ways = {{"OpenMP",
                [&on] {
                  const double* b = on.b.data();
                  double* a = on.a.data();
#pragma omp parallel for schedule(static)
                  for (std::size_t i = 0; i < on.size(); ++i) a[i] += 0.5 * b[i];
                  return 0.0;
                }},
               {"nearfar, expression",
                [&on] {
                  on.a += 0.5 * on.b;
                  return 0.0;
                }},
               {"std::execution",
                [&on, function] {
                  std::transform(parallel, on.b.begin(), on.b.end(), on.a.begin(), on.a.begin(), function);
                  return 0.0;
                }},
               {"__gnu_parallel",
                [&on, function] {
                  __gnu_parallel::transform(on.b.begin(), on.b.end(), on.a.begin(), on.a.begin(), function);
                  return 0.0;
                }}},
      .prepare = [&on] { std::fill(on.a.begin(), on.a.end(), 0.0); },
      .is_right = [&on](double, int calls) { return all_are(on.a, 0.5 * calls); }};
}

loop dot_product(arrays& on) {
  return {.name = "dot(c, d)",
          .ways = {{"OpenMP",
                    [&on] {
                      const double *c = on.c.data(), *d = on.d.data();
                      double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
                      for (std::size_t i = 0; i < on.size(); ++i) sum += c[i] * d[i];
                      return sum;
                    }},
                   {"nearfar", [&on] { return dot(on.c, on.d); }},
                   {"std::execution",
                    [&on] {
                      return std::transform_reduce(parallel, on.c.begin(), on.c.end(), on.d.begin(), 0.0);
                    }},
                   {"__gnu_parallel",
                    [&on] {
                      return __gnu_parallel::inner_product(on.c.begin(), on.c.end(), on.d.begin(), 0.0);
                    }}},
          .prepare = [] {},
          // Sums of so few and such small whole numbers are exact in any order.
          .is_right = [&on](double sum, int) { return sum == 6.0 * static_cast<double>(on.size()); }};
}

loop scan(arrays& on) {
  return {.name = "inclusive_scan",
          .ways = {{"serial",
                    [&on] {
                      std::inclusive_scan(on.b.begin(), on.b.end(), on.a.begin());
                      return on.a[on.size() - 1];
                    }},
                   {"nearfar",
                    [&on] {
                      inclusive_scan(on.b, on.a.begin());
                      return on.a[on.size() - 1];
                    }},
                   {"std::execution",
                    [&on] {
                      std::inclusive_scan(parallel, on.b.begin(), on.b.end(), on.a.begin());
                      return on.a[on.size() - 1];
                    }},
                   {"__gnu_parallel",
                    [&on] {
                      __gnu_parallel::partial_sum(on.b.begin(), on.b.end(), on.a.begin());
                      return on.a[on.size() - 1];
                    }}},
          .prepare = [&on] { std::fill(on.a.begin(), on.a.end(), 0.0); },
          .is_right =
              [&on](double last, int) {
                double expected = 0;
                for (const double each : on.a)
                  if (each != ++expected) return false;
                return last == expected;
              }};
}

/// Finds the last element.
loop search(arrays& on) {
  return {.name = "find, of the last",
          .ways = {{"serial",
                    [&on] {
                      return static_cast<double>(std::find(on.a.begin(), on.a.end(), 1.0) - on.a.begin());
                    }},
                   {"nearfar", [&on] { return static_cast<double>(find(on.a, 1.0) - on.a.begin()); }},
                   {"std::execution",
                    [&on] {
                      return static_cast<double>(std::find(parallel, on.a.begin(), on.a.end(), 1.0) -
                                                 on.a.begin());
                    }},
                   {"__gnu_parallel",
                    [&on] {
                      return static_cast<double>(__gnu_parallel::find(on.a.begin(), on.a.end(), 1.0) -
                                                 on.a.begin());
                    }}},
          .prepare =
              [&on] {
                std::fill(on.a.begin(), on.a.end(), 0.0);
                on.a[on.size() - 1] = 1.0;
              },
          .is_right = [&on](double where, int) { return where == static_cast<double>(on.size() - 1); }};
}

/// Sorts random numbers, which each way copies in each call.
loop order(arrays& on) {
  return {.name = "sort",
          .ways = {{"serial",
                    [&on] {
                      on.take_keys();
                      std::sort(on.keys.begin(), on.keys.end());
                      return 0.0;
                    }},
                   {"nearfar",
                    [&on] {
                      on.take_keys();
                      sort(on.keys);
                      return 0.0;
                    }},
                   {"std::execution",
                    [&on] {
                      on.take_keys();
                      std::sort(parallel, on.keys.begin(), on.keys.end());
                      return 0.0;
                    }},
                   {"__gnu_parallel",
                    [&on] {
                      on.take_keys();
                      __gnu_parallel::sort(on.keys.begin(), on.keys.end());
                      return 0.0;
                    }}},
          .prepare = [] {},
          .is_right =
              [&on](double, int) {
                // The sum of fractions depends on the order of addition; the sum of their bits does not.
                const auto sum = [](const auto& of) {
                  std::uint64_t all = 0;
                  for (const double each : of) all += std::bit_cast<std::uint64_t>(each);
                  return all;
                };
                return std::ranges::is_sorted(on.keys) && sum(on.keys) == sum(on.unsorted());
              }};
}

using seconds = std::chrono::duration<double>;

/// Time of one call, measured over `calls` calls.
double time_of(const loop& of, const way& by, int calls) {
  of.prepare();
  double found = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) found = by.run();
  const seconds span = std::chrono::steady_clock::now() - start;
  if (!of.is_right(found, calls))
    throw std::runtime_error(fmt::format("{} of {} went wrong", of.name, by.name));
  return span.count() / calls;
}

/// The median, and the bounds of the middle half of the runs.
struct middle {
  double low;
  double median;
  double high;
};
middle middle_of(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return {of[of.size() / 4], of[of.size() / 2], of[of.size() * 3 / 4]};
}

/// Runs the ways in turn. Each run begins with another way.
void compare(const loop& of, std::size_t length, int threads, int runs, bool as_json) {
  constexpr seconds long_enough(0.002);
  const double once = time_of(of, of.ways.front(), 1);
  const int calls = static_cast<int>(std::clamp(long_enough.count() / std::max(once, 1e-9), 1.0, 10'000.0));
  std::vector<std::vector<double>> times(of.ways.size());
  for (const way& each : of.ways) static_cast<void>(time_of(of, each, calls));
  for (int run = 0; run < runs; ++run)
    for (std::size_t i = 0; i < of.ways.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(run)) % of.ways.size();
      times[turn].push_back(time_of(of, of.ways[turn], calls));
    }
  for (std::size_t i = 0; i < of.ways.size(); ++i) {
    std::vector<double> ratios;
    for (int run = 0; run < runs; ++run)
      ratios.push_back(times[i][static_cast<std::size_t>(run)] / times[0][static_cast<std::size_t>(run)]);
    const middle time = middle_of(times[i]);
    const middle ratio = middle_of(ratios);
    constexpr double micro = 1e6;
    if (as_json)
      fmt::print("{}\n", nlohmann::ordered_json({{"loop", of.name},
                                                 {"way", of.ways[i].name},
                                                 {"threads", threads},
                                                 {"length", length},
                                                 {"runs", runs},
                                                 {"seconds", {time.low, time.median, time.high}},
                                                 {"over", of.ways[0].name},
                                                 {"ratio", {ratio.low, ratio.median, ratio.high}}})
                             .dump());
    else
      fmt::print("{:<18} {:<20} {:>7} {:>10} {:>12.2f} {:>8.2f} [{:.2f}, {:.2f}]\n", of.name, of.ways[i].name,
                 threads, length, time.median * micro, ratio.median, ratio.low, ratio.high);
  }
}

}  // namespace
}  // namespace nearfar::bench

int main(int argc, char** argv) {
  using namespace nearfar::bench;
  CLI::App app("nearfar's loops beside OpenMP's, std::execution::par_unseq and __gnu_parallel",
               "nearfar_loop_rivals");
  const std::map<std::string, loop (*)(arrays&)> known{{"triad", triad},     {"axpy", axpy},
                                                       {"dot", dot_product}, {"scan", scan},
                                                       {"find", search},     {"sort", order}};
  std::vector<std::string> names{"triad", "axpy", "dot", "scan", "find", "sort"};
  std::vector<std::size_t> lengths{1'000, 10'000, 400'000, 4'000'000};
  int threads = 2;
  int runs = 31;
  bool as_json = false;
  app.add_option("--loops", names, "of triad, axpy, dot, scan, find, sort")
      ->check(CLI::IsMember(known))
      ->delimiter(',');
  app.add_option("--lengths", lengths, "elements")->check(CLI::Range(2, 1 << 27))->delimiter(',');
  app.add_option("--threads", threads)->check(CLI::Range(1, 256));
  app.add_option("--runs", runs)->check(CLI::Range(1, 1000));
  app.add_flag("--json", as_json, "a line of JSON for each");
  CLI11_PARSE(app, argc, argv);
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(threads));
  try {
    if (!as_json)
      fmt::print("{:<18} {:<20} {:>7} {:>10} {:>12} {:>8} [quartiles], {} runs in turn\n", "loop", "way",
                 "threads", "length", "us a call", "ratio", runs);
    for (const std::string& name : names)
      for (const std::size_t length : lengths) {
        arrays on(length);
        compare(known.at(name)(on), length, threads, runs, as_json);
      }
  } catch (const std::exception& caught) {
    fmt::print(stderr, "nearfar_loop_rivals: {}\n", caught.what());
    return 1;
  }
  return 0;
}
