// Plans as users of `nearfar check` write them.
#include "apps/nearfar/check/plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

enum toy_method : int { fill, look, swap_all };

constexpr std::array toy_words{plan_word{"fill", fill, "V"}, plan_word{"look", look},
                               plan_word{"swap", swap_all, "KV"}};
constexpr plan_language toys{"toy", toy_words};

checker::object_plan parsed(std::string_view text) { return parse_plan(text, toys); }

std::string refusal_of(std::string_view text) {
  try {
    (void)parsed(text);
  } catch (const usage_error& refused) {
    return refused.what();
  }
  return "none";
}

}  // namespace

TEST(plans, separate_ranks_and_operations) {
  const checker::object_plan expected{.of_ranks = {{{fill, {1}}, {look}}, {{swap_all, {2, 3}}}}};
  EXPECT_EQ(parsed("fill 1, look | swap 2 3"), expected);
  EXPECT_EQ(parsed("  fill   1,look|swap 2\t3 \n"), expected);
  EXPECT_EQ(parsed("look"), (checker::object_plan{.of_ranks = {{{look}}}}));
}

TEST(plans, begin_with_what_rank_0_does_before_all_others) {
  const checker::object_plan expected{.before = {{fill, {1}}, {look}}, .of_ranks = {{{look}}, {{fill, {2}}}}};
  EXPECT_EQ(parsed("fill 1, look; look | fill 2"), expected);
  EXPECT_EQ(parsed(";look|fill 2").of_ranks, expected.of_ranks);
  EXPECT_TRUE(parsed(";look|fill 2").before.empty());
}

TEST(plans, let_ranks_rest) {
  const checker::object_plan plan = parsed("look | | fill 1 |");
  ASSERT_EQ(plan.ranks(), 4);
  EXPECT_TRUE(plan.of_ranks[1].empty() && plan.of_ranks[3].empty());
}

TEST(plans, are_written_as_they_are_read) {
  for (const std::string text : {"fill 1, look | swap 2 3", "fill 0; look | fill 4294967295", " | look"})
    EXPECT_EQ(plan_text(parsed(text), toys), text);
  EXPECT_EQ(words_text(toys), "fill V, look, swap K V");
}

TEST(plans, refuse_operations_of_other_kinds_and_name_their_own) {
  const std::string refusal = refusal_of("fil 1");
  EXPECT_NE(refusal.find("toy operation 'fil' is unknown; did you mean 'fill'?"), std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find(words_text(toys)), std::string::npos) << refusal;
  EXPECT_EQ(refusal_of("look | dequeue").find("did you mean"), std::string::npos);
}

TEST(plans, refuse_arguments_that_an_operation_does_not_take) {
  EXPECT_EQ(refusal_of("fill"), "--plan: 'fill' is not 'fill V'");
  EXPECT_EQ(refusal_of("fill 1 2"), "--plan: 'fill 1 2' is not 'fill V'");
  EXPECT_EQ(refusal_of("look 1"), "--plan: 'look 1' is not 'look'");
  EXPECT_EQ(refusal_of("swap 1"), "--plan: 'swap 1' is not 'swap K V'");
  for (const std::string value : {"x", "-1", "1.5", "0x1", "4294967296", "99999999999999999999999"})
    EXPECT_EQ(refusal_of("fill " + value),
              "--plan: 'fill' takes whole numbers of 0 to 4294967295, not '" + value + "'");
}

TEST(plans, refuse_what_is_no_plan) {
  EXPECT_NE(refusal_of("look, | look").find("an operation of rank 0 is empty"), std::string::npos);
  EXPECT_NE(refusal_of("look | ,look").find("an operation of rank 1 is empty"), std::string::npos);
  EXPECT_NE(refusal_of(",; look").find("before ';' is empty"), std::string::npos) << refusal_of(",; look");
  EXPECT_NE(refusal_of("look; look; look").find("one ';' at most"), std::string::npos);
  EXPECT_EQ(refusal_of(std::string(63, '|')), "none");
  EXPECT_NE(refusal_of(std::string(64, '|')).find("64 ranks at most, not 65"), std::string::npos);
}

}  // namespace nearfar::command
