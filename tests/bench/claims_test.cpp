#include "apps/nearfar/figures/claims.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace nearfar::command;

quantity time_of(const std::string& object) { return {{.object = object}, "time"}; }

/// Finds these times in the analysis "a", and twice as much in "b".
finding_at times(std::map<std::string, double> of) {
  return [of = std::move(of)](const place_found& where, const std::string& column) -> std::optional<double> {
    const auto found = of.find(where.object);
    if (found == of.end() || column != "time") return std::nullopt;
    return found->second * (where.analysis == "b" ? 2 : 1);
  };
}

verdict_on_claim verdict(evidence of, std::map<std::string, double> found) {
  return judge({.analysis = "a", .text = "it is so", .of = {std::move(of)}}, times(std::move(found)));
}

TEST(claims, a_ratio_holds_from_its_least_value_on) {
  const evidence twice = takes_times(time_of("slow"), time_of("fast"), 2);
  const verdict_on_claim at_least = verdict(twice, {{"slow", 200}, {"fast", 100}});
  EXPECT_EQ(at_least.claim, "it is so");
  EXPECT_EQ(at_least.holds, true);
  EXPECT_EQ(at_least.found, "ratio 2.00 (200 to 100 ns)");
  EXPECT_EQ(verdict(twice, {{"slow", 199}, {"fast", 100}}).holds, false);
}

TEST(claims, an_order_holds_if_each_is_larger_than_the_one_before_it) {
  const evidence order = in_order({{"A", time_of("a")}, {"B", time_of("b")}, {"C", time_of("c")}}, "%");
  EXPECT_EQ(verdict(order, {{"a", 1}, {"b", 2}, {"c", 3}}).holds, true);
  EXPECT_EQ(verdict(order, {{"a", 1}, {"b", 2}, {"c", 3}}).found, "A 1, B 2, C 3 %");
  EXPECT_EQ(verdict(order, {{"a", 1}, {"b", 2}, {"c", 2}}).holds, false);
  EXPECT_EQ(verdict(order, {{"a", 2}, {"b", 1}, {"c", 3}}).holds, false);
}

TEST(claims, a_range_has_no_ends) {
  const evidence range = within(100 * time_of("a"), 500, 700, "{:.0f} %");
  EXPECT_EQ(verdict(range, {{"a", 6}}).holds, true);
  EXPECT_EQ(verdict(range, {{"a", 6}}).found, "600 %");
  EXPECT_EQ(verdict(range, {{"a", 5}}).holds, false);
  EXPECT_EQ(verdict(range, {{"a", 7}}).holds, false);
  EXPECT_EQ(verdict(within(time_of("a"), any_low, 5, "{}"), {{"a", -1e300}}).holds, true);
}

TEST(claims, without_a_measurement_there_is_no_verdict) {
  const verdict_on_claim none = verdict(takes_times(time_of("slow"), time_of("fast"), 2), {{"slow", 200}});
  EXPECT_EQ(none.holds, std::nullopt);
  EXPECT_EQ(none.found, "");
  EXPECT_EQ(verdict(takes_times(time_of("slow"), time_of("fast"), 2), {{"slow", 1}, {"fast", 0}}).holds,
            std::nullopt);
}

TEST(claims, a_quantity_can_be_of_another_analysis) {
  EXPECT_EQ(verdict(takes_times(time_of("a").in("b"), time_of("a"), 2), {{"a", 3}}).holds, true);
  EXPECT_EQ(verdict(within((time_of("a") - 1).in("b"), 4.9, 5.1, "{}"), {{"a", 3}}).found, "5");
}

TEST(claims, the_smallest_and_the_largest_need_all_of_them) {
  const evidence spread{
      {}, "{} {}", {smallest({time_of("a"), time_of("b")}), largest({time_of("a"), time_of("b")})}};
  EXPECT_EQ(verdict(spread, {{"a", 4}, {"b", 3}}).found, "3 4");
  EXPECT_EQ(verdict(spread, {{"a", 4}}).holds, std::nullopt);
}

TEST(claims, counts_the_evidence_that_was_measured) {
  claim what{.analysis = "a", .text = "it is so", .of = {}, .before = "ns: "};
  for (const char* object : {"a", "b", "c"}) what.of.push_back(within(time_of(object), any_low, 5, "{}"));
  const finding_at found = times({{"a", 6}, {"b", 3}});
  EXPECT_EQ(judge(what, found).found, "ns: 6, 3");
  EXPECT_EQ(judge(what, found).holds, false);
  what.counts = counting::last;
  EXPECT_EQ(judge(what, found).found, "ns: 3");
  EXPECT_EQ(judge(what, found).holds, true);
  what.counts = counting::greatest;
  EXPECT_EQ(judge(what, found).found, "ns: 6");
  EXPECT_EQ(judge(what, found).holds, false);
}

TEST(claims, evidence_beside_counts_if_it_was_measured) {
  const evidence worst{{},
                       "{}; ",
                       {time_of("a")},
                       {within(time_of("b"), any_low, 5, "b {}"), within(time_of("c"), any_low, 5, "c {}")}};
  EXPECT_EQ(verdict(worst, {{"a", 9}, {"c", 4}}).found, "9; c 4");
  EXPECT_EQ(verdict(worst, {{"a", 9}, {"b", 1}, {"c", 6}}).holds, false);
}

}  // namespace
