#include "bench/axis.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::bench {
namespace {

axis whole(double least, double most) {
  return {.name = "lock_count", .meaning = "", .standard = std::int64_t{1}, .least = least, .most = most};
}

axis real(double least, double most) {
  return {.name = "duration", .unit = "s", .meaning = "", .standard = 1.0, .least = least, .most = most};
}

TEST(axis, reads_values_of_its_type) {
  EXPECT_EQ(whole(0, 2e6).parse("48"), axis_value(std::int64_t{48}));
  EXPECT_EQ(whole(0, 2e6).parse("1e6"), axis_value(std::int64_t{1'000'000}));
  EXPECT_EQ(real(0, 1).parse("0.5"), axis_value(0.5));
  EXPECT_EQ(real(0, 1).parse("1"), axis_value(1.0));
  axis name{.name = "preference", .meaning = "", .standard = std::string("fair")};
  name.choices = {"fair", "readers"};
  EXPECT_EQ(name.parse("readers"), axis_value(std::string("readers")));
  EXPECT_THROW((void)name.parse("writers"), error);
}

TEST(axis, refuses_what_is_not_allowed) {
  for (const char* text :
       {"", "x", "1x", "0", "11", "010", "1.5", "-1", "1e300", "99999999999999999999", "nan", " 1"})
    EXPECT_THROW((void)whole(1, 10).parse(text), error) << text;
  for (const char* text : {"", "x", "0", "1e-7", "2", "nan", "inf", "-1", "1e400"})
    EXPECT_THROW((void)real(1e-6, 1).parse(text), error) << text;
  try {
    (void)real(1e-6, 1).parse("7");
  } catch (const error& refused) {
    EXPECT_STREQ(refused.what(), "--duration must be a number of s from 1e-06 to 1, not '7'");
  }
}

TEST(axis, says_its_range_briefly) {
  EXPECT_EQ(whole(1, 60'000'000'000).range(), "1 to 60000000000");
  EXPECT_EQ(real(0, 1).range(), "0 to 1 s");
  axis name{.name = "levels", .meaning = "", .standard = std::string("all")};
  name.choices = {"all", "none"};
  EXPECT_EQ(name.range(), "all, none");
  name.others = "a list";
  EXPECT_EQ(name.range(), "all, none, or a list");
}

TEST(axis, values_can_be_read_back) {
  for (const double value : {0.1, 1e-6, 86400.0, 1.0 / 3})
    EXPECT_EQ(real(0, 1e9).parse(text_of(value)), axis_value(value));
  EXPECT_EQ(text_of(std::int64_t{48}), "48");
  EXPECT_EQ(text_of(0.5), "0.5");
}

TEST(points, are_every_combination) {
  const axis a = whole(0, 9);
  const axis b = real(0, 9);
  const std::vector<values_on_axis> both{{&a, {std::int64_t{1}, std::int64_t{2}}}, {&b, {0.5, 1.5, 2.5}}};
  const std::vector<point> points = points_of(both);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[1].whole("lock_count"), 1);
  EXPECT_EQ(points[1].real("duration"), 1.5);
  EXPECT_EQ(points[5].whole("lock_count"), 2);
  EXPECT_EQ(points_of({}).size(), 1U);
  EXPECT_THROW((void)points[0].real("lock_count"), std::logic_error);
  EXPECT_THROW((void)points[0].whole("none"), std::logic_error);
}

// Readers of a results file, the command line and the table rely on these statements.
TEST(benchmarks, state_what_they_are) {
  for (const benchmark& each : benchmarks()) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(find_benchmark(each.name), &each);
    EXPECT_FALSE(each.title.empty() || each.summary.empty() || each.source.empty());
    ASSERT_NE(each.kind, nullptr);
    ASSERT_FALSE(each.columns.empty());
    EXPECT_TRUE(each.columns.front().has_interval) << "objects are judged by it";
    for (const column& one : each.columns) EXPECT_NE(one.of != nullptr, one.relative.has_value()) << one.name;
    for (const std::string& name : each.usual) EXPECT_NE(each.kind->find(name), nullptr) << name;
    for (const auto* axes : {&each.axes, &each.kind->parameters})
      for (const axis& one : *axes) {
        EXPECT_EQ(one.parse(text_of(one.standard)), one.standard) << one.name;
        for (const bool is_simulated : {false, true})
          for (const axis_value& value : one.defaults(is_simulated))
            EXPECT_EQ(one.parse(text_of(value)), value) << one.name;
        for (const axis_value& value : one.all) EXPECT_EQ(one.parse(text_of(value)), value) << one.name;
      }
    if (each.is_of_teams()) continue;
    EXPECT_EQ(static_cast<bool>(each.runner_in<mpi::world>()), is_compiled<mpi::world>);
    EXPECT_EQ(static_cast<bool>(each.runner_in<threads::world>()), is_compiled<threads::world>);
    EXPECT_EQ(static_cast<bool>(each.runner_in<engine::world>()), is_compiled<engine::world>);
  }
  EXPECT_EQ(find_benchmark("none"), nullptr);
}

TEST(objects, are_those_of_the_catalogue) {
  for (const object_kind* kind : object_kinds()) {
    EXPECT_FALSE(kind->objects.empty()) << kind->name;
    for (const object& each : kind->objects) {
      EXPECT_EQ(kind->find(each.name), &each);
      // Some exist in MPI's world only.
      EXPECT_TRUE(!each.worlds.empty() || !is_compiled<mpi::world>) << each.name;
      for (const std::string& name : each.parameters) {
        bool is_stated = false;
        for (const axis& one : kind->parameters) is_stated = is_stated || one.name == name;
        EXPECT_TRUE(is_stated) << each.name << ": " << name;
      }
    }
  }
}

// Statements become options, keys of a study, and fields of a record.
TEST(benchmarks, state_names_that_users_can_tell_apart) {
  std::set<std::string> benchmarks_so_far;
  for (const benchmark& one : benchmarks()) {
    SCOPED_TRACE(one.name);
    EXPECT_TRUE(benchmarks_so_far.insert(one.name).second);
    EXPECT_FALSE(one.summary.empty() || one.title.empty() || one.source.empty());
    std::set<std::string> taken{"benchmark",      "studies",     "world",        "machine",
                                "ranks",          "nodes",       "topology",     "seed",
                                "repetitions",    "output",      "precision",    "format",
                                "ranks_per_node", "stall_limit", one.kind->name, one.kind->plural};
    for (const auto* axes : {&one.axes, &one.kind->parameters})
      for (const axis& each : *axes) {
        EXPECT_TRUE(taken.insert(each.name).second) << each.name;
        EXPECT_FALSE(each.meaning.empty()) << each.name;
        EXPECT_EQ(each.parse(text_of(each.standard)), each.standard) << each.name;
      }
    std::set<std::string> columns;
    std::set<std::string> heads;
    ASSERT_FALSE(one.columns.empty());
    for (const column& each : one.columns) {
      EXPECT_TRUE(columns.insert(each.name).second) << each.name;
      EXPECT_TRUE(heads.insert(each.head).second) << each.head;
    }
  }
}

}  // namespace
}  // namespace nearfar::bench
