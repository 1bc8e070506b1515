/// \file
/// A simulated machine against measurements of the real one.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/sim/published.hpp"
#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

/// How the published benchmarks are simulated.
struct simulation_effort {
  std::uint64_t seed = 1;
  /// Of each rank in the ECSB, beside a quarter of that to warm up.
  int iterations_per_rank = 150;
  /// Of the UPB; in virtual time each costs the same.
  int locks = 8;
  unsigned jobs = 1;  ///< threads; the results do not depend on it
};

struct judged_point {
  measured_point measured;
  double simulated_ns = 0;

  /// ln(simulated / measured): 0.1 is about 10 % too slow.
  [[nodiscard]] double deviation() const { return std::log(simulated_ns / measured.ns); }
};

/// By what factor the network of a job was slower than the machine's: latencies and completions between
/// nodes, by `measured_point::job`. A job without an entry has the machine's own.
using network_factors = std::map<std::string, double>;

/// Every measured point with what the simulation makes of it.
struct comparison {
  std::vector<judged_point> ecsb;
  std::vector<judged_point> upb;

  [[nodiscard]] static double median_deviation(const std::vector<judged_point>& of);
  /// Mean of |deviation|, each counted as at most 0.5, so that what the model does not explain does not lead:
  /// of the ECSB and of the UPB with equal weight.
  [[nodiscard]] double mean_deviation() const;
  /// Kendall's tau-b between the simulated and the measured order of the locks in the ECSB at the most ranks,
  /// of pairs of locks that one job measured. Nothing where no pair has an order.
  [[nodiscard]] std::optional<double> rank_correlation() const;
  [[nodiscard]] std::string rank_correlation_text() const;
};

/// Simulates every point. A pure function of its arguments. Throws what the simulation throws.
[[nodiscard]] comparison compare(const simulation::machine& machine, const published_data& to,
                                 const simulation_effort& effort, const network_factors& networks = {});

/// The network of one job as its measurements tell it.
struct job_network {
  double factor = 1;
  double low = 1;  ///< of the interval of 90 %
  double high = 1;
  int points = 0;
};

/// The network of each job with which the simulation comes nearest to what was measured: the least sum of the
/// points' |deviation|, each counted as at most 0.5, and of |ln factor|, so that one point alone moves
/// nothing. The interval takes deviations as distributed by Laplace, with the mean over all jobs. Simulates
/// all points over the network a few times, and interpolates. A pure function of its arguments.
[[nodiscard]] std::map<std::string, job_network> networks_of(const simulation::machine& machine,
                                                             const published_data& of,
                                                             const simulation_effort& effort);

[[nodiscard]] network_factors factors_of(const std::map<std::string, job_network>& networks);

/// Number of comparisons that `networks_of` takes as much time as.
inline constexpr int network_evaluations = 6;

/// As tables on stdout.
void print_comparison(const comparison& judged, const published_data& data, bool in_detail);
void print_networks(const std::map<std::string, job_network>& networks);

}  // namespace nearfar::command
