#include "apps/nearfar/sim/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/kinds/locks/upb.hpp"
#include "bench/results/statistics.hpp"
#include "nearfar/simulation/cluster.hpp"

namespace nearfar::command {

namespace {

using std::chrono::nanoseconds;

/// The parameters of the published measurements.
const bench::lock_parameters published{.max_local_passes = published_local_passes};

/// A deviation counts as at most this, so that what the model does not explain does not lead.
constexpr double most_counted = 0.5;

/// The machine with a network that is slower by this factor. Its processors stay as they are.
simulation::machine with_network(simulation::machine machine, double factor) {
  machine.network.island_latency *= factor;
  for (simulation::transfer_cost& cost :
       machine.transfers[static_cast<std::size_t>(simulation::distance::remote)]) {
    cost.latency *= factor;
    cost.completion *= factor;
  }
  return machine;
}

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
                      now = w.after_turn(w.now());
                    }
                    const nanoseconds measured_from = now;
                    std::int64_t iterations = 0;
                    do {
                      made->lock_and_unlock();
                      ++iterations;
                      now = w.after_turn(w.now());
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

/// One line for each lock and session, one column for each configuration: simulated / measured.
void print_ratios(const char* title, const std::vector<judged_point>& points,
                  const std::function<std::string(const measured_point&)>& column_of) {
  if (points.empty()) return;
  std::vector<std::string> columns;
  std::map<std::pair<std::string, std::string>, std::map<std::string, const judged_point*>> lines;
  for (const judged_point& point : points) {
    const std::string column = column_of(point.measured);
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    lines[{point.measured.lock, point.measured.session}][column] = &point;
  }
  std::sort(columns.begin(), columns.end());
  fmt::print("\n# {}: simulated ns, and in brackets simulated / measured\n{:<28}{:<20}", title, "# lock",
             "session");
  for (const std::string& column : columns) fmt::print("{:>15}", column);
  fmt::print("\n");
  for (const auto& [line, cells] : lines) {
    fmt::print("{:<28}{:<20}", line.first, line.second);
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

std::optional<double> comparison::rank_correlation() const {
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
      if (last[i]->measured.session != last[j]->measured.session) continue;
      const int measured = sign(last[i]->measured.ns - last[j]->measured.ns);
      const int simulated = sign(last[i]->simulated_ns - last[j]->simulated_ns);
      concordance += measured * simulated;
      of_measured += measured * measured;
      of_simulated += simulated * simulated;
    }
  }
  const double pairs = std::sqrt(of_measured * of_simulated);
  return pairs > 0 ? std::optional(concordance / pairs) : std::nullopt;
}

std::string comparison::rank_correlation_text() const {
  const std::optional<double> tau = rank_correlation();
  return tau ? fmt::format("{:.3f}", *tau) : "-";
}

comparison compare(const simulation::machine& machine, const published_data& to,
                   const simulation_effort& effort, const network_factors& networks) {
  comparison result;
  for (const measured_point& point : to.ecsb) result.ecsb.push_back({point});
  for (const measured_point& point : to.upb) result.upb.push_back({point});
  // A case that several sessions measured within a node, or over networks of one speed, is simulated once.
  const auto factor_of = [&](const measured_point& point) {
    const auto known = networks.find(point.job());
    return known == networks.end() ? 1.0 : known->second;
  };
  using key = std::tuple<std::string, int, int, double>;
  std::map<key, std::vector<judged_point*>> ecsb_of;
  std::map<key, std::vector<judged_point*>> upb_of;
  for (auto [points, by] : {std::pair{&result.ecsb, &ecsb_of}, std::pair{&result.upb, &upb_of}}) {
    for (judged_point& point : *points) {
      const measured_point& is = point.measured;
      (*by)[{is.lock, is.shape.nodes, is.shape.ranks_per_node, factor_of(is)}].push_back(&point);
    }
  }
  std::vector<std::function<void()>> things;
  // The longest first, so that no thread is left with one at the end.
  std::vector<const std::vector<judged_point*>*> ecsb;
  for (const auto& [which, points] : ecsb_of) ecsb.push_back(&points);
  std::stable_sort(ecsb.begin(), ecsb.end(), [](const auto* a, const auto* b) {
    const auto cost = [](const measured_point& p) {
      return p.ns * p.shape.nodes * p.shape.ranks_per_node * p.shape.nodes * p.shape.ranks_per_node;
    };
    return cost(a->front()->measured) > cost(b->front()->measured);
  });
  for (const auto* points : ecsb)
    things.emplace_back([&, points] {
      const measured_point& one = points->front()->measured;
      const double ns = simulate_ecsb(with_network(machine, factor_of(one)), one, effort);
      for (judged_point* point : *points) point->simulated_ns = ns;
    });
  for (const auto& [which, points] : upb_of)
    things.emplace_back([&, points = &points] {
      const measured_point& one = points->front()->measured;
      const auto times = simulate_upb(with_network(machine, factor_of(one)), one, effort);
      for (judged_point* point : *points) point->simulated_ns = times.at(point->measured.scenario);
    });
  do_all(things, effort.jobs);
  return result;
}

std::map<std::string, job_network> networks_of(const simulation::machine& machine, const published_data& of,
                                               const simulation_effort& effort) {
  published_data over_network;
  for (const auto& [from, to] :
       {std::pair{&of.ecsb, &over_network.ecsb}, std::pair{&of.upb, &over_network.upb}})
    std::ranges::copy_if(*from, std::back_inserter(*to), [](const auto& one) { return !one.job().empty(); });
  // A wider range than that of the published runs, of which the slowest took 1.5 times as long.
  constexpr std::array<double, network_evaluations> tried{0.7, 0.85, 1, 1.2, 1.45, 1.8};
  // By job: of each of its points the deviation with each of the factors.
  std::map<std::string, std::vector<std::array<double, network_evaluations>>> by_job;
  for (std::size_t at = 0; at < tried.size(); ++at) {
    network_factors all;
    for (const auto* points : {&over_network.ecsb, &over_network.upb})
      for (const measured_point& point : *points) all[point.job()] = tried[at];
    const comparison judged = compare(machine, over_network, effort, all);
    std::map<std::string, std::size_t> next;
    for (const auto* points : {&judged.ecsb, &judged.upb}) {
      for (const judged_point& point : *points) {
        auto& mine = by_job[point.measured.job()];
        const std::size_t which = next[point.measured.job()]++;
        if (which == mine.size()) mine.emplace_back();
        mine[which][at] = point.deviation();
      }
    }
  }
  constexpr int steps = 200;
  const double first = std::log(tried.front());
  const double last = std::log(tried.back());
  const auto ln_factor = [&](int step) { return first + (last - first) * step / steps; };
  const auto cost = [&](const std::string& job, int step) {
    const double x = ln_factor(step);
    std::size_t above = 1;
    while (above + 1 < tried.size() && std::log(tried[above]) < x) ++above;
    const double below = std::log(tried[above - 1]);
    const double share = (x - below) / (std::log(tried[above]) - below);
    double sum = std::abs(x);
    for (const auto& one : by_job.at(job)) {
      const double here = one[above - 1] + share * (one[above] - one[above - 1]);
      sum += std::min(std::abs(here), most_counted);
    }
    return sum;
  };
  std::map<std::string, job_network> result;
  std::map<std::string, double> least;
  double all_costs = 0;
  double all_points = 0;
  for (const auto& [job, points] : by_job) {
    int best = 0;
    for (int step = 1; step <= steps; ++step)
      if (cost(job, step) < cost(job, best)) best = step;
    least[job] = cost(job, best);
    result[job] = {.factor = std::exp(ln_factor(best)), .points = static_cast<int>(points.size())};
    all_costs += least[job];
    all_points += static_cast<double>(points.size());
  }
  const double scale = std::max(0.01, all_costs / std::max(1.0, all_points));
  for (auto& [job, its] : result) {
    std::vector<double> weights;
    for (int step = 0; step <= steps; ++step)
      weights.push_back(std::exp((least[job] - cost(job, step)) / scale));
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    double so_far = 0;
    its.low = tried.back();
    its.high = tried.front();
    for (int step = 0; step <= steps; ++step) {
      so_far += weights[static_cast<std::size_t>(step)];
      constexpr double outside = 0.05;
      if (so_far >= outside * all) its.low = std::min(its.low, std::exp(ln_factor(step)));
      if (so_far <= (1 - outside) * all) its.high = std::exp(ln_factor(step));
    }
    its.low = std::min(its.low, its.factor);
    its.high = std::max(its.high, its.factor);
  }
  return result;
}

network_factors factors_of(const std::map<std::string, job_network>& networks) {
  network_factors result;
  for (const auto& [job, its] : networks) result[job] = its.factor;
  return result;
}

void print_networks(const std::map<std::string, job_network>& networks) {
  if (networks.empty()) return;
  fmt::print("\n# network of each job: times of the machine's latencies, and the interval of 90 %\n");
  for (const auto& [job, its] : networks)
    fmt::print("{:<36}{:>6.2f}  [{:.2f}, {:.2f}]  {} points\n", job, its.factor, its.low, its.high,
               its.points);
}

void print_comparison(const comparison& judged, const published_data& data, bool in_detail) {
  fmt::print("# median |ln(simulated / measured)|: 0.20 is 22 % off\n{:<28}{:>10}{:>10}\n", "# lock", "ECSB",
             "UPB");
  std::set<std::string> locks;
  for (const auto* points : {&judged.ecsb, &judged.upb})
    for (const judged_point& point : *points) locks.insert(point.measured.lock);
  for (const std::string& lock : locks) {
    const auto of_lock = [&](std::vector<judged_point> points) {
      std::erase_if(points, [&](const judged_point& point) { return point.measured.lock != lock; });
      return text_of(points);
    };
    fmt::print("{:<28}{:>10}{:>10}\n", lock, of_lock(judged.ecsb), of_lock(judged.upb));
  }
  fmt::print("{:<28}{:>10}{:>10}\n", "all", text_of(judged.ecsb), text_of(judged.upb));
  fmt::print(
      "points: {} ECSB, {} UPB; Kendall's tau of the locks' order at the most ranks, within "
      "sessions: {}\n",
      judged.ecsb.size(), judged.upb.size(), judged.rank_correlation_text());
  if (!in_detail) return;
  print_ratios("ECSB by nodes x ranks", judged.ecsb, [](const auto& p) { return shape_name(p.shape); });
  print_ratios("UPB by scenario", judged.upb, [](const auto& p) { return p.scenario; });
  fmt::print("\n# measured, but not compared\n");
  for (const auto& [lock, why] : data.left_out) fmt::print("{}\n    {}\n", lock, why);
}

}  // namespace nearfar::command
