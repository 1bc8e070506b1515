// The oracle of the litmus tests, on programs with known answers.
#include "tests/litmus/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nearfar::litmus {
namespace {

/// The program of these names; a wrong name ends the test.
[[nodiscard]] program program_of(const std::string& shape_name, const std::string& form_name) {
  const auto what = std::find_if(shapes().begin(), shapes().end(),
                                 [&](const shape& one) { return one.name == shape_name; });
  const auto how =
      std::find_if(forms().begin(), forms().end(), [&](const form& one) { return one.name == form_name; });
  if (what == shapes().end() || how == forms().end()) throw error("no such litmus program");
  return {&*what, &*how};
}

TEST(oracle, forbids_to_miss_both_by_far_operations_only) {
  const outcome both{0, 0, 1, 1};
  for (const char* far : {"put, get", "put, get: the other's", "replace, fetch", "swap, fetch", "in place",
                          "in place, get", "put, in place", "one in place, one by put"})
    EXPECT_FALSE(allowed(program_of("store buffering", far)).contains(both)) << far;
  for (const char* near : {"near release, acquire", "near relaxed", "near exchange, acquire"})
    EXPECT_TRUE(allowed(program_of("store buffering", near)).contains(both)) << near;
}

TEST(oracle, forbids_stale_messages_unless_relaxed) {
  const outcome stale{1, 0, 1, 1};
  for (const form& how : forms())
    EXPECT_EQ(allowed(program_of("message passing", how.name)).contains(stale), how.name == "near relaxed")
        << how.name;
}

TEST(oracle, lets_readers_disagree_on_near_words_only) {
  const outcome crosswise{1, 0, 1, 0, 1, 1};
  EXPECT_FALSE(allowed(program_of("independent reads", "put, get")).contains(crosswise));
  EXPECT_TRUE(allowed(program_of("independent reads", "near release, acquire")).contains(crosswise));
}

TEST(oracle, has_programs_of_rival_writes_where_mpi_defines_them) {
  EXPECT_FALSE(program_of("2+2W", "put, get").is_defined());
  EXPECT_FALSE(program_of("S", "in place").is_defined());
  EXPECT_TRUE(program_of("2+2W", "replace, fetch").is_defined());
  EXPECT_FALSE(allowed(program_of("2+2W", "replace, fetch")).contains({1, 1}));
}

TEST(oracle, says_what_a_program_is) {
  const program what = program_of("write to read causality", "put, get");
  EXPECT_EQ(to_string(what), "write to read causality by put, get: x=1 | a=x y=1 | b=y c=x");
  EXPECT_EQ(to_string(what, {1, 1, 0, 1, 1}), "a=1 b=1 c=0 then x=1 y=1");
  EXPECT_FALSE(what.shares_memory());
  EXPECT_TRUE(program_of("write to read causality", "near relaxed").shares_memory());
  EXPECT_TRUE(program_of("message passing", "in place").shares_memory());
  EXPECT_FALSE(program_of("message passing", "put, in place: of one").shares_memory());
}

}  // namespace
}  // namespace nearfar::litmus
