#include "apps/nearfar/sim/machine_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/machine_fields.hpp"
#include "apps/nearfar/shared/prediction_scope.hpp"

namespace nearfar::command {

namespace {

/// Calls `action` with the number of that name.
template <typename Machine, typename Action>
void with_field(Machine& machine, const std::string& name, Action action) {
  bool found = false;
  const auto visit = [&]<typename Member>(const std::string& field, Member& member, const auto&... allowed) {
    if constexpr (sizeof...(allowed) == 1 && std::is_floating_point_v<std::remove_const_t<Member>>) {
      if (field != name) return;
      action(member);
      found = true;
    }
  };
  visit_fields(machine, visit);
  if (!found) throw usage_error(fmt::format("machines have no cost '{}'", name));
}

using coordinates = std::vector<double>;

class pattern_search {
 public:
  pattern_search(const simulation::machine& start, const std::vector<free_parameter>& free,
                 const published_data& data, const fit_effort& effort, const fit_progress& progress)
      : start_(start),
        free_(&free),
        data_(&data),
        effort_(&effort),
        progress_(&progress),
        random_(effort.simulation.seed) {
    // The start's intervals were found for another machine.
    for (const prediction_scope where : prediction_scopes) interval_of(start_, where) = {};
    for (const free_parameter& parameter : free) {
      const double value =
          std::clamp(field_of(start, parameter.fields.front()), parameter.low, parameter.high);
      best_.push_back(std::log(value));
    }
    constexpr double nothing_yet = 1e9;
    least_ = evaluate(best_, nothing_yet);
  }

  fitted_machine run() {
    descend();
    // The parameters make up for each other, so that a descent along the axes ends in one of many valleys.
    coordinates best = best_;
    double least = least_;
    network_factors factors = factors_;
    while (!spent()) {
      best_ = elsewhere(best);
      least_ = evaluate(best_, least);
      descend();
      if (least_ < least) {
        least = least_;
        best = best_;
        factors = factors_;
      } else {
        factors_ = factors;
      }
    }
    const simulation::machine result = machine_at(best);
    return {result, networks_of(result, *data_, effort_->simulation)};
  }

 private:
  [[nodiscard]] bool spent() const { return evaluations_ >= effort_->evaluations; }

  void descend() {
    constexpr double first_step = 0.35;
    constexpr double last_step = 0.02;
    constexpr double narrower = 0.5;
    for (double step = first_step; step >= last_step && !spent(); step *= narrower) {
      fit_networks();
      while (!spent()) {
        const coordinates before = best_;
        if (!explore(step)) break;
        // On in the direction that has just paid.
        coordinates beyond = best_;
        for (std::size_t i = 0; i < beyond.size(); ++i) beyond[i] += best_[i] - before[i];
        try_out(beyond);
      }
    }
  }

  void fit_networks() {
    evaluations_ += network_evaluations;
    const network_factors before = factors_;
    try {
      factors_ = factors_of(networks_of(machine_at(best_), *data_, effort_->simulation));
    } catch (const std::exception&) {
      return;  // as in `evaluate`
    }
    // Interpolation may promise more than it holds.
    const double deviation = evaluate(best_, least_);
    if (deviation <= least_)
      least_ = deviation;
    else
      factors_ = before;
  }

  /// A third of the parameters changed at random, by a factor of about two.
  coordinates elsewhere(coordinates from) {
    std::normal_distribution<double> normal(0, 0.7);
    std::bernoulli_distribution chosen(0.33);
    for (double& value : from)
      if (chosen(random_)) value += normal(random_);
    return bounded(std::move(from));
  }

  [[nodiscard]] coordinates bounded(coordinates of) const {
    for (std::size_t i = 0; i < of.size(); ++i)
      of[i] = std::clamp(of[i], std::log((*free_)[i].low), std::log((*free_)[i].high));
    return of;
  }

  /// One step up or down along each axis. Returns whether any helped.
  bool explore(double step) {
    bool helped = false;
    for (std::size_t axis = 0; axis < best_.size(); ++axis) {
      for (const double direction : {step, -step}) {
        if (spent()) return helped;
        coordinates tried = best_;
        // The direction that helped last time is likelier to help again.
        tried[axis] += direction * (last_direction_.empty() ? 1 : last_direction_[axis]);
        const bool better = try_out(tried);
        helped = helped || better;
        if (better) {
          remember(axis, direction > 0);
          break;
        }
      }
    }
    return helped;
  }

  void remember(std::size_t axis, bool same) {
    if (last_direction_.empty()) last_direction_.assign(best_.size(), 1);
    if (!same) last_direction_[axis] = -last_direction_[axis];
  }

  bool try_out(coordinates tried) {
    tried = bounded(std::move(tried));
    if (tried == best_) return false;
    const double deviation = evaluate(tried, least_);
    if (deviation >= least_) return false;
    least_ = deviation;
    best_ = tried;
    return true;
  }

  [[nodiscard]] simulation::machine machine_at(const coordinates& where) const {
    simulation::machine result = start_;
    for (std::size_t i = 0; i < where.size(); ++i) {
      const double value = std::exp(where[i]);
      const double of_first = field_of(start_, (*free_)[i].fields.front());
      for (const std::string& name : (*free_)[i].fields)
        with_field(result, name,
                   [&](double& member) { member = of_first > 0 ? member * value / of_first : value; });
    }
    return result;
  }

  /// `least` is the best so far, to be shown to the user.
  double evaluate(const coordinates& where, double least) {
    ++evaluations_;
    double deviation = 0;
    try {
      deviation = compare(machine_at(where), *data_, effort_->simulation, factors_).mean_deviation();
    } catch (const std::exception&) {
      // The start must be sound; a step from it may end at a machine on which a lock cannot run to its end.
      if (evaluations_ == 1) throw;
      constexpr double hopeless = 10;
      deviation = hopeless;
    }
    (*progress_)(evaluations_, std::min(deviation, least));
    return deviation;
  }

  simulation::machine start_;
  const std::vector<free_parameter>* free_;
  const published_data* data_;
  const fit_effort* effort_;
  const fit_progress* progress_;
  std::mt19937_64 random_;
  network_factors factors_;
  coordinates best_;
  coordinates last_direction_;
  double least_ = 0;
  int evaluations_ = 0;
};

}  // namespace

double field_of(const simulation::machine& machine, const std::string& name) {
  double value = 0;
  with_field(machine, name, [&](const double& member) { value = member; });
  return value;
}

fitted_machine fit_machine(const simulation::machine& start, const std::vector<free_parameter>& free,
                           const published_data& data, const fit_effort& effort,
                           const fit_progress& progress) {
  return pattern_search(start, free, data, effort, progress).run();
}

}  // namespace nearfar::command
