#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/nearfar/figures/stengel2007.hpp"
#include "apps/nearfar/figures/stengel_claims.hpp"

namespace {

using namespace nearfar::bench;
using namespace nearfar::command;

figure_machine machine(std::vector<int> threads, int cpus, int domains, bool quick = false) {
  figure_machine result;
  result.threads = std::move(threads);
  result.cpus.resize(static_cast<std::size_t>(cpus));
  std::iota(result.cpus.begin(), result.cpus.end(), 0);
  result.domains = domains;
  result.quick = quick;
  return result;
}

const figure_definition& figure(const std::string& number) {
  for (const figure_definition& each : stengel2007())
    if (each.number == number) return each;
  throw std::out_of_range(number);
}

std::vector<figure_machine> machines() {
  return {machine({1}, 1, 1), machine({1, 2}, 2, 1), machine({1, 2}, 2, 1, true), machine({1, 2, 4, 8}, 8, 4),
          machine({3}, 64, 2)};
}

const triad_case& triad_of(const figure_case& of) { return std::get<triad_case>(of.what); }

/// The field of a case that an axis shows, as text.
std::string on_axis(figure_axis axis, const loop_case& of) {
  if (axis == figure_axis::threads)
    return std::to_string(std::visit([](const auto& c) { return c.threads; }, of));
  const auto& triad = std::get<triad_case>(of);
  switch (axis) {
    case figure_axis::length:
      return std::to_string(triad.length);
    case figure_axis::chunk:
      return std::to_string(triad.chunk);
    case figure_axis::segments:
      return std::to_string(triad.segments);
    default:
      return triad.pin.to_string();
  }
}

TEST(figures, of_every_machine_can_be_measured) {
  for (const figure_machine& on : machines())
    for (const figure_definition& each : stengel2007()) {
      const auto cases = each.cases(on);
      EXPECT_FALSE(cases.empty()) << each.number;
      for (const figure_case& point : cases)
        EXPECT_EQ(obstacle(point.what), "") << each.number << point.series;
    }
}

TEST(figures, have_one_point_of_a_curve_at_each_place_of_the_axis) {
  for (const figure_machine& on : machines())
    for (const figure_definition& each : stengel2007()) {
      std::set<std::pair<std::string, std::string>> points;
      for (const figure_case& point : each.cases(on))
        EXPECT_TRUE(points.emplace(point.series, on_axis(each.axis, point.what)).second)
            << each.number << ": " << point.series << " at " << on_axis(each.axis, point.what);
    }
}

TEST(figures, have_every_point_that_a_claim_names) {
  for (const figure_machine& on :
       {machine({1, 2}, 2, 1), machine({1, 2}, 2, 1, true), machine({1, 2, 4, 8}, 8, 4)})
    for (const loop_claim& each : stengel2007_claims(on)) {
      int asked = 0;
      const verdict_on_claim verdict = judge(
          each.what, [&](const place_found& where, const std::string& /*column*/) -> std::optional<double> {
            ++asked;
            const figure_definition& of = figure(where.analysis);
            const auto cases = of.cases(on);
            const auto& [axis, position] = *where.at.begin();
            EXPECT_EQ(axis, name_of(of.axis)) << each.what.text;
            EXPECT_TRUE(std::any_of(cases.begin(), cases.end(),
                                    [&](const figure_case& point) {
                                      return point.series == where.object &&
                                             on_axis(of.axis, point.what) ==
                                                 std::to_string(where.at.begin()->second);
                                    }))
                << each.what.text << ": " << where.object << " at " << position;
            return 1;
          });
      EXPECT_GE(asked, 2) << each.what.text;
      EXPECT_TRUE(verdict.holds.has_value()) << each.what.text;
    }
}

TEST(figures, that_need_several_domains_say_what_one_domain_cannot_show) {
  for (const figure_definition& each : stengel2007()) {
    if (each.needs_domains) {
      EXPECT_STRNE(each.with_one_domain, "") << each.number;
    }
  }
}

TEST(figures, run_with_no_other_numbers_of_threads_than_they_are_given) {
  const std::set<int> given{1, 2, 4, 8};
  std::set<int> used;
  for (const figure_definition& each : stengel2007())
    for (const figure_case& point : each.cases(machine({1, 2, 4, 8}, 8, 4)))
      used.insert(std::visit([](const auto& c) { return c.threads; }, point.what));
  EXPECT_EQ(used, given);
}

TEST(figures, of_nonlocal_memory_bind_it_to_the_threads_domain_and_to_another) {
  figure_machine on = machine({1}, 8, 4);
  on.domain = 3;
  std::set<std::vector<int>> domains;
  for (const figure_case& point : figure("2.2").cases(on)) {
    EXPECT_EQ(triad_of(point).placement.policy, nearfar::page_policy::bind);
    domains.insert(triad_of(point).placement.domains);
  }
  EXPECT_EQ(domains, (std::set<std::vector<int>>{{3}, {0}}));
}

TEST(figures, of_pairs_of_cpus_show_every_ordered_pair_of_at_most_six) {
  const auto pairs = [](const figure_machine& on) {
    std::set<std::string> found;
    for (const figure_case& point : figure("2.6").cases(on)) found.insert(triad_of(point).pin.to_string());
    return found;
  };
  EXPECT_EQ(pairs(machine({1, 2}, 3, 1)).size(), 6U);
  EXPECT_EQ(pairs(machine({1}, 1, 1)).size(), 1U);
  const auto of_many = pairs(machine({1, 2}, 64, 2));
  EXPECT_EQ(of_many.size(), 30U);
  EXPECT_TRUE(of_many.count("0,63") == 1 && of_many.count("63,0") == 1);
}

TEST(figures, of_segments_have_the_same_length_divided_evenly) {
  for (const figure_case& point : figure("3.8").cases(machine({1, 2}, 2, 1))) {
    EXPECT_EQ(triad_of(point).length, 14'348'907U);
    EXPECT_EQ(triad_of(point).length % triad_of(point).segments, 0U);
  }
}

}  // namespace
