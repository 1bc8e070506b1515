// The claims of publications are about what their analyses measure.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/papers.hpp"

namespace nearfar::command {

// Only the medians beside the figures need these.
source read_source(const std::string& /*file*/, std::string_view /*shipped*/) { return {}; }
fit_plan parse_plan(std::string_view /*text*/, const std::string& /*file*/) { return {}; }
published_data read_published(const source& /*upb*/, const source& /*ecsb*/, const fit_plan& /*plan*/) {
  return {};
}
std::vector<measured_point> over_sessions(const std::vector<measured_point>& /*points*/) { return {}; }

}  // namespace nearfar::command

namespace {

using namespace nearfar::command;

constexpr int most_ranks = 1 << 16;

const analysis* analysis_of(const paper& of, const std::string& name) {
  const auto found = std::ranges::find(of.analyses, name, &analysis::name);
  return found == of.analyses.end() ? nullptr : &*found;
}

bool runs_with(const paper& of, const analysis& what, int ranks) {
  const std::vector<shape> shapes =
      what.shapes.empty() ? of.shapes(most_ranks, of.ranks_per_node) : what.shapes;
  return std::ranges::any_of(shapes, [ranks](const shape& each) {
    return ranks == (each.ranks != 0 ? each.ranks : each.nodes * each.ranks_per_node);
  });
}

/// Whether the analysis measures at that value of an axis or a parameter.
bool has_value(const paper& of, const analysis& what, const std::string& name, std::int64_t value) {
  const auto is_it = [value](const std::string& text) {
    return std::stod(text) == static_cast<double>(value);
  };
  for (const auto* values : {&what.values, &of.values})
    if (const auto found = values->find(name); found != values->end())
      return std::ranges::any_of(found->second, is_it);
  return false;
}

std::vector<paper> papers() { return {uffmann2022(), schmid2016(), paznikov2023(), laubert2021()}; }

TEST(papers, measure_all_that_their_claims_are_about) {
  for (const paper& of : papers())
    for (const claim& each : of.claims()) {
      int asked = 0;
      const finding_at found = [&](const place_found& where,
                                   const std::string& /*column*/) -> std::optional<double> {
        ++asked;
        const analysis* const what = analysis_of(of, where.analysis);
        if (what == nullptr) {
          ADD_FAILURE() << of.name << ", " << each.text << ": no analysis " << where.analysis;
          return 1;
        }
        EXPECT_TRUE(std::ranges::count(what->objects, where.object)) << each.text << ": " << where.object;
        EXPECT_TRUE(runs_with(of, *what, where.ranks))
            << each.text << ": " << where.object << " with " << where.ranks;
        for (const auto& [name, value] : where.at)
          EXPECT_TRUE(has_value(of, *what, name, value)) << each.text << ": " << name << " " << value;
        return 1;
      };
      EXPECT_TRUE(judge(each, found).holds.has_value()) << each.text;
      EXPECT_GT(asked, 0) << each.text;
    }
}

TEST(papers, name_each_analysis_once) {
  for (const paper& of : papers()) {
    std::set<std::string> names;
    for (const analysis& each : of.analyses) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  }
}

TEST(papers, state_each_claim_once) {
  for (const paper& of : papers()) {
    std::set<std::string> texts;
    for (const claim& each : of.claims()) EXPECT_TRUE(texts.insert(each.text).second) << each.text;
  }
}

TEST(papers, with_a_procedure_say_how_to_follow_it) {
  for (const paper& of : papers())
    if (!of.procedure.empty()) {
      EXPECT_TRUE(!of.full_values.empty() || of.full_shapes != nullptr) << of.name;
      for (const auto& [name, values] : of.full_values)
        EXPECT_EQ(values.size(), 1U) << of.name << " " << name;
    }
}

}  // namespace
