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

TEST(figures, of_chunks_show_aligned_and_unaligned_arrays_with_the_same_chunks) {
  std::set<std::size_t> aligned;
  std::set<std::size_t> unaligned;
  for (const figure_case& point : figure("2.7").cases(machine({1, 2}, 2, 1))) {
    const triad_case& of = triad_of(point);
    if (of.container == loop_container::array) aligned.insert(of.chunk);
    if (of.container == loop_container::array_unaligned) unaligned.insert(of.chunk);
  }
  EXPECT_FALSE(aligned.empty());
  EXPECT_EQ(unaligned, aligned);
}

TEST(claims, on_indices_alignment_and_rows_are_judged_by_the_ratio_of_two_curves) {
  struct expected {
    const char* begin;  // of the claim
    const char* curve;
    double holds;  // times the other curve
    std::vector<double> differ;
  };
  const figure_machine on = machine({1, 2}, 2, 2);
  const std::vector<loop_claim> claims = stengel2007_claims(on);
  for (const expected& each :
       {expected{"2.7: unaligned", "array.unaligned, 2 threads", 0.9, {0.8, 1}},
        expected{"3.3: in cache an iterator", "vector.iterator, 1 thread", 2, {1, 3}},
        expected{"3.3: in memory an iterator", "vector.iterator, 1 thread", 1.2, {1, 2}},
        expected{"3.7: in cache its iterator", "padded-iterator, 1 thread", 2, {1, 3}},
        expected{"4.3: rows that one thread", "array, rows of one thread", 0.8, {0.6, 1}}}) {
    const auto found = std::find_if(claims.begin(), claims.end(), [&](const loop_claim& one) {
      return one.what.text.rfind(each.begin, 0) == 0;
    });
    ASSERT_NE(found, claims.end()) << each.begin;
    EXPECT_EQ(found->needs_domains, std::string(each.curve).rfind("array", 0) == 0) << each.begin;
    const auto holds_with = [&](double times) {
      return judge(found->what,
                   [&](const place_found& where, const std::string& /*column*/) -> std::optional<double> {
                     return where.object == each.curve ? 1000 * times : 1000;
                   })
          .holds;
    };
    EXPECT_EQ(holds_with(each.holds), true) << each.begin;
    for (const double times : each.differ) EXPECT_EQ(holds_with(times), false) << each.begin << times;
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

TEST(figures, in_full_have_the_grid_and_the_sweeps_of_the_thesis) {
  figure_machine full = machine({1, 2}, 2, 1);
  full.full = true;
  for (const char* number : {"4.2", "4.3"}) {
    for (const figure_case& point : figure(number).cases(full)) {
      const auto& of = std::get<nearfar::bench::relax_case>(point.what);
      EXPECT_EQ(of.rows, 8000U);
      EXPECT_EQ(of.columns, 8000U);
      EXPECT_EQ(of.sweeps, 300);
    }
    for (const figure_case& point : figure(number).cases(machine({1, 2}, 2, 1)))
      EXPECT_EQ(std::get<nearfar::bench::relax_case>(point.what).sweeps, 0);
  }
}

TEST(figures, of_segments_have_the_same_length_divided_evenly) {
  for (const figure_case& point : figure("3.8").cases(machine({1, 2}, 2, 1))) {
    EXPECT_EQ(triad_of(point).length, 14'348'907U);
    EXPECT_EQ(triad_of(point).length % triad_of(point).segments, 0U);
  }
}

}  // namespace
