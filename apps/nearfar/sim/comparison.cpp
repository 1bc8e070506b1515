#include "apps/nearfar/sim/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/kinds/locks/upb.hpp"
#include "bench/results/statistics.hpp"
#include "nearfar/simulation/cluster.hpp"

namespace nearfar::command {

namespace {

using std::chrono::nanoseconds;

/// The parameters of the published measurements.
const bench::lock_parameters published{.max_local_passes = published_local_passes};

/// The published loop: as `bench::lock_loop`, but nothing is counted in the critical section, which would
/// weigh more in short runs than it does in a second. Returns the time from one acquisition to the next.
double simulate_ecsb(const simulation::machine& machine, const measured_point& point,
                     const simulation_effort& effort) {
  const bench::lock_entry& lock = *bench::catalogue::instance().find(point.lock);
  const locality where = locality_of(machine, point.shape);
  const double cycle = point.ns * where.size();
  const nanoseconds warm_up(static_cast<std::int64_t>(cycle * effort.iterations_per_rank / 4));
  const nanoseconds total =
      warm_up + nanoseconds(static_cast<std::int64_t>(cycle * effort.iterations_per_rank));
  double throughput = 0;
  simulation::run(machine, where,
                  [&](engine::world& w) {
                    const auto made = lock.factory<engine::world>()(w, 0, published);
                    w.barrier();
                    const nanoseconds start = w.now();
                    nanoseconds now = start;
                    while (now - start < warm_up) {
                      made->lock_and_unlock();
                      now = w.now();
                    }
                    const nanoseconds measured_from = now;
                    std::int64_t iterations = 0;
                    do {
                      made->lock_and_unlock();
                      ++iterations;
                      now = w.now();
                    } while (now - start < total);
                    throughput +=
                        static_cast<double>(iterations) / static_cast<double>((now - measured_from).count());
                    w.barrier();
                  },
                  {.seed = effort.seed, .bytes = bytes_for_locks(1)});
  return 1 / throughput;
}

/// Times by scenario.
std::map<std::string, double> simulate_upb(const simulation::machine& machine, const measured_point& point,
                                           const simulation_effort& effort) {
  const bench::lock_entry& lock = *bench::catalogue::instance().find(point.lock);
  const locality where = locality_of(machine, point.shape);
  std::map<std::string, double> result;
  simulation::run(machine, where,
                  [&](engine::world& w) {
                    bench::upb_locks<engine::world> benchmark(w, lock, published, effort.locks);
                    for (const bench::sample& sample : benchmark.run())
                      if (w.rank() == 0) result[*sample.scenario] = sample.ns_per_acquisition();
                  },
                  {.seed = effort.seed, .bytes = bytes_for_locks(effort.locks)});
  return result;
}

/// Does independent things on several threads; rethrows the first exception in their order.
void do_all(std::vector<std::function<void()>>& things, unsigned threads) {
  std::vector<std::exception_ptr> thrown(things.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t mine = next++; mine < things.size(); mine = next++) {
      try {
        things[mine]();
      } catch (...) {
        thrown[mine] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
}

std::vector<double> deviations(const std::vector<judged_point>& of) {
  std::vector<double> result;
  for (const judged_point& point : of) result.push_back(std::abs(point.deviation()));
  return result;
}

double capped_mean(const std::vector<judged_point>& of) {
  static constexpr double most_counted = 0.5;
  const std::vector<double> all = deviations(of);
  const double sum = std::accumulate(all.begin(), all.end(), 0.0, [](double so_far, double one) {
    return so_far + std::min(one, most_counted);
  });
  return sum / static_cast<double>(all.size());
}

std::string text_of(const std::vector<judged_point>& points) {
  return points.empty() ? "-" : fmt::format("{:.3f}", comparison::median_deviation(points));
}

std::string shape_name(const cluster_shape& shape) {
  return fmt::format("{}x{}", shape.nodes, shape.ranks_per_node);
}

/// One line for each lock, one column for each configuration: simulated / measured.
void print_ratios(const char* title, const std::vector<judged_point>& points,
                  const std::function<std::string(const measured_point&)>& column_of) {
  if (points.empty()) return;
  std::vector<std::string> columns;
  std::map<std::string, std::map<std::string, const judged_point*>> lines;
  for (const judged_point& point : points) {
    const std::string column = column_of(point.measured);
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    lines[point.measured.lock][column] = &point;
  }
  std::sort(columns.begin(), columns.end());
  fmt::print("\n# {}: simulated ns, and in brackets simulated / measured\n{:<24}", title, "# lock");
  for (const std::string& column : columns) fmt::print("{:>15}", column);
  fmt::print("\n");
  for (const auto& [lock, cells] : lines) {
    fmt::print("{:<24}", lock);
    for (const std::string& column : columns) {
      const auto cell = cells.find(column);
      fmt::print("{:>15}", cell == cells.end() ? "-"
                                               : fmt::format("{:.0f} ({:.2f})", cell->second->simulated_ns,
                                                             std::exp(cell->second->deviation())));
    }
    fmt::print("\n");
  }
}

}  // namespace

double comparison::median_deviation(const std::vector<judged_point>& of) {
  return of.empty() ? 0 : bench::median_of(deviations(of)).median;
}

double comparison::mean_deviation() const {
  if (ecsb.empty() || upb.empty()) return capped_mean(ecsb.empty() ? upb : ecsb);
  return (capped_mean(ecsb) + capped_mean(upb)) / 2;
}

double comparison::rank_correlation() const {
  int most = 0;
  const auto ranks = [](const judged_point& p) {
    return p.measured.shape.nodes * p.measured.shape.ranks_per_node;
  };
  for (const judged_point& point : ecsb) most = std::max(most, ranks(point));
  std::vector<const judged_point*> last;
  for (const judged_point& point : ecsb)
    if (ranks(point) == most) last.push_back(&point);
  double concordance = 0;
  double of_measured = 0;
  double of_simulated = 0;
  const auto sign = [](double difference) { return difference > 0 ? 1 : difference < 0 ? -1 : 0; };
  for (std::size_t i = 0; i < last.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int measured = sign(last[i]->measured.ns - last[j]->measured.ns);
      const int simulated = sign(last[i]->simulated_ns - last[j]->simulated_ns);
      concordance += measured * simulated;
      of_measured += measured * measured;
      of_simulated += simulated * simulated;
    }
  }
  const double pairs = std::sqrt(of_measured * of_simulated);
  return pairs > 0 ? concordance / pairs : 0;
}

comparison compare(const simulation::machine& machine, const published_data& to,
                   const simulation_effort& effort) {
  comparison result;
  for (const measured_point& point : to.ecsb) result.ecsb.push_back({point});
  for (const measured_point& point : to.upb) result.upb.push_back({point});
  std::vector<std::function<void()>> things;
  std::map<std::string, std::vector<judged_point*>> upb_of_lock;
  for (judged_point& point : result.upb) upb_of_lock[point.measured.lock].push_back(&point);
  // The longest first, so that no thread is left with one at the end.
  std::vector<judged_point*> ecsb;
  for (judged_point& point : result.ecsb) ecsb.push_back(&point);
  std::stable_sort(ecsb.begin(), ecsb.end(), [](const judged_point* a, const judged_point* b) {
    const auto cost = [](const measured_point& p) {
      return p.ns * p.shape.nodes * p.shape.ranks_per_node * p.shape.nodes * p.shape.ranks_per_node;
    };
    return cost(a->measured) > cost(b->measured);
  });
  for (judged_point* point : ecsb)
    things.emplace_back(
        [&, point] { point->simulated_ns = simulate_ecsb(machine, point->measured, effort); });
  for (auto& [lock, points] : upb_of_lock)
    things.emplace_back([&, all = &points] {
      const auto times = simulate_upb(machine, all->front()->measured, effort);
      for (judged_point* point : *all) point->simulated_ns = times.at(point->measured.scenario);
    });
  do_all(things, effort.jobs);
  return result;
}

void print_comparison(const comparison& judged, const published_data& data, bool in_detail) {
  fmt::print("# median |ln(simulated / measured)|: 0.20 is 22 % off\n{:<24}{:>10}{:>10}\n", "# lock", "ECSB",
             "UPB");
  std::set<std::string> locks;
  for (const auto* points : {&judged.ecsb, &judged.upb})
    for (const judged_point& point : *points) locks.insert(point.measured.lock);
  for (const std::string& lock : locks) {
    const auto of_lock = [&](std::vector<judged_point> points) {
      std::erase_if(points, [&](const judged_point& point) { return point.measured.lock != lock; });
      return text_of(points);
    };
    fmt::print("{:<24}{:>10}{:>10}\n", lock, of_lock(judged.ecsb), of_lock(judged.upb));
  }
  fmt::print("{:<24}{:>10}{:>10}\n", "all", text_of(judged.ecsb), text_of(judged.upb));
  fmt::print("points: {} ECSB, {} UPB; Kendall's tau of the locks' order at the most ranks: {:.3f}\n",
             judged.ecsb.size(), judged.upb.size(), judged.rank_correlation());
  if (!in_detail) return;
  print_ratios("ECSB by nodes x ranks", judged.ecsb, [](const auto& p) { return shape_name(p.shape); });
  print_ratios("UPB by scenario", judged.upb, [](const auto& p) { return p.scenario; });
  fmt::print("\n# measured, but not compared\n");
  for (const auto& [lock, why] : data.left_out) fmt::print("{}\n    {}\n", lock, why);
}

}  // namespace nearfar::command
