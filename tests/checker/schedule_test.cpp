// How `nearfar check` shows a violation: columns, files to replay, pictures. The locks of the registry have
// no violations, so broken ones stand in for them.
#include "apps/nearfar/check/schedule.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/check/checkable.hpp"
#include "apps/nearfar/check/diagram.hpp"
#include "bench/kinds/locks/any_lock.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/core/error.hpp"
#include "tests/adversarial/broken_locks.hpp"

namespace nearfar::command {

namespace {

using checker::fault;
using testing::flaw;

/// A broken lock under a case, made as `program_of` makes it for a registered lock.
template <flaw Flaw>
checker::program broken(const check_case& of) {
  return checker::lock_program(locality_of(of), of.acquisitions, [](engine::world& w) {
    return bench::make_any_lock<testing::flawed_mcs_lock<engine::world, Flaw>>(w);
  });
}

/// The first violation of a broken lock, in the form that the command keeps.
struct example {
  check_case of;
  checker::program what;
  recorded_schedule recorded;
  checker::replayed shown;
};

template <flaw Flaw>
example example_of(check_case of = {.object = "broken"}) {
  example made{.of = of, .what = broken<Flaw>(of), .recorded = {}, .shown = {}};
  const checker::report result = check(made.what, options_of(of));
  EXPECT_TRUE(result.found) << "the flaw was not found";
  if (!result.found) return made;
  made.recorded = {.of = of, .found = minimised(made.what, options_of(of), *result.found)};
  made.shown = replay(made.what, options_of(of), made.recorded.found.schedule);
  return made;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string refusal_of(const std::string& text) {
  try {
    (void)parse_schedule(text, "x.json");
  } catch (const error& refused) {
    return refused.what();
  }
  return "none";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// Whether every element that is opened is closed, in order, and every attribute quoted. A browser draws a
/// picture only then. The text says where this fails.
std::optional<std::string> xml_problem(const std::string& text) {
  std::vector<std::string> open;
  static const std::regex tag(R"(^<(/?)([A-Za-z]+)((\s+[A-Za-z:0-9\-]+="[^"<]*")*)\s*(/?)>)");
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '>' || (static_cast<unsigned char>(text[at]) < 0x20 && text[at] != '\n'))
      return "stray character at " + std::to_string(at);
    if (text[at] == '&' &&
        !std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                           std::regex("^&(amp|lt|gt|quot);"), std::regex_constants::match_continuous))
      return "stray & at " + std::to_string(at);
    if (text[at] != '<') continue;
    std::smatch match;
    const std::string rest = text.substr(at, text.find('>', at) + 1 - at);
    if (!std::regex_search(rest, match, tag)) return "no element: " + rest.substr(0, 60);
    if (match[1].length() != 0) {
      if (open.empty() || open.back() != match[2]) return "closed but not open: " + match[2].str();
      open.pop_back();
    } else if (match[5].length() == 0) {
      open.push_back(match[2]);
    }
    at += rest.size() - 1;
  }
  if (!open.empty()) return "not closed: " + open.back();
  return std::nullopt;
}

std::size_t count_of(const std::string& what, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace

TEST(schedule, columns_name_rank_operation_word_and_values_within_110_columns) {
  const example of = example_of<flaw::released_too_early>();
  const std::string text = violation_text(of.of, of.shown);
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 110U) << line;
  EXPECT_TRUE(std::regex_search(text, std::regex("step +rank +operation +word +values"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("  3 +\\d +"))) << text;
  EXPECT_NE(text.find("flawed_mcs_lock.tail of rank 0"), std::string::npos) << text;
  EXPECT_NE(text.find("ENTER"), std::string::npos) << text;
  const checker::violation& found = *of.shown.found;
  EXPECT_NE(text.find(std::string(name(found.what)) + ": rank "), std::string::npos) << text;
  EXPECT_NE(text.find("That is: " + std::string(meaning(found.what)).substr(0, 30)), std::string::npos)
      << text;
  // Each step has a line below the head, and the last is marked. An explanation of the brackets of deliveries
  // follows.
  const std::vector<std::string> lines = lines_of(checker::steps_text(of.shown));
  ASSERT_EQ(lines.size(), of.shown.steps.size() + 3);
  EXPECT_EQ(count_of("\n> ", text), 1U);
  EXPECT_EQ(lines[of.shown.steps.size()][0], '>');
  EXPECT_EQ(lines[lines.size() - 2], "");
}

TEST(schedule, deliveries_say_after_which_step_they_were_issued) {
  const example of = example_of<flaw::torn_swap>();
  const std::string text = violation_text(of.of, of.shown);
  EXPECT_TRUE(std::regex_search(text, std::regex("deliver (get|put) \\[\\d+\\]"))) << text;
  for (std::size_t i = 0; i < of.shown.steps.size(); ++i) {
    EXPECT_LT(of.shown.steps[i].issued_after, static_cast<int>(i));
  }
}

TEST(schedule, a_file_keeps_all_that_replay_needs) {
  const check_case unusual{.object = "broken",
                           .ranks = 3,
                           .nodes = 1,
                           .acquisitions = 1,
                           .readers = 2,
                           .home = 2,
                           .try_first = true,
                           .max_local_passes = 7,
                           .mode = checker::delivery_mode::progress,
                           .near = checker::near_model::sequential,
                           .crashes = 2,
                           .tier = checker::search::random,
                           .step_limit = 321,
                           .seed = 0xFFFFFFFFFFFFFFFFU,
                           .depth = 5};
  const recorded_schedule before{.of = unusual,
                                 .found = {.what = fault::bypass,
                                           .text = "\"quoted\", \n & <odd>",
                                           .schedule = {{0, 0, 0}, {2, 9, 1}, {1, -1, 0}}}};
  EXPECT_EQ(parse_schedule(to_text(before, {}), "x.json"), before);
  for (const fault what : checker::all_faults) {
    recorded_schedule other = before;
    other.found.what = what;
    EXPECT_EQ(parse_schedule(to_text(other, {}), "x.json"), other);
    EXPECT_FALSE(meaning(what).empty());
  }
}

TEST(schedule, a_file_from_before_there_were_readers_has_none) {
  const recorded_schedule before{.of = {.object = "broken", .ranks = 3, .step_limit = 9},
                                 .found = {.what = fault::bypass, .text = "x", .schedule = {{0, 0, 0}}}};
  EXPECT_EQ(parse_schedule(replaced(to_text(before, {}), ",\n \"readers\": 0", ""), "x.json"), before);
}

TEST(schedule, replaying_a_file_shows_the_same_violation) {
  for (const example& of : {example_of<flaw::torn_swap>(), example_of<flaw::released_too_early>(),
                            example_of<flaw::successor_forgotten>(), example_of<flaw::no_grant_reset>(),
                            example_of<flaw::never_handed_over>()}) {
    const recorded_schedule read = parse_schedule(to_text(of.recorded, of.shown.steps), "x.json");
    const checker::replayed again = replay(of.what, options_of(read.of), read.found.schedule);
    ASSERT_TRUE(again.found);
    EXPECT_EQ(again.found->what, of.recorded.found.what);
    EXPECT_EQ(again.found->text, of.recorded.found.text);
    EXPECT_EQ(again.refused, 0U);
    EXPECT_EQ(violation_text(read.of, again), violation_text(of.of, of.shown));
  }
}

TEST(schedule, replaying_it_on_a_mended_lock_finds_nothing) {
  // Once, since the mended lock resets words that may be written again.
  const example of = example_of<flaw::torn_swap>({.object = "broken", .acquisitions = 1});
  const checker::replayed again =
      replay(broken<flaw::none>(of.of), options_of(of.of), of.recorded.found.schedule);
  EXPECT_FALSE(again.found);
  EXPECT_NE(again.refused, 0U) << "the lock is another, so not every step can be taken";
  EXPECT_EQ(violation_text(of.of, again).find("That is"), std::string::npos);
}

TEST(schedule, files_that_are_none_are_refused_by_name) {
  const example of = example_of<flaw::torn_swap>();
  const std::string good = to_text(of.recorded, of.shown.steps);
  EXPECT_EQ(refusal_of(good), "none");
  for (const std::string& bad :
       std::vector<std::string>{"",
                                "[]",
                                "{}",
                                "seven",
                                good.substr(0, good.size() / 2),
                                "{\"schema\": 7}",
                                replaced(good, "nearfar.schedule/2", "nearfar.schedule/3"),
                                replaced(good, "\"ranks\": 2", "\"ranks\": 0"),
                                replaced(good, "\"ranks\": 2", "\"ranks\": 2.5"),
                                replaced(good, "\"ranks\": 2", "\"ranks\": \"2\""),
                                replaced(good, "\"ranks\": 2", "\"ranks\": 4294967298"),
                                replaced(good, "\"nodes\": 2", "\"nodes\": 3"),
                                replaced(good, "\"readers\": 0", "\"readers\": 3"),
                                replaced(good, "\"readers\": 0", "\"readers\": \"one\""),
                                replaced(good, "\"mode\": \"lazy\"", "\"mode\": \"idle\""),
                                replaced(good, "\"conflicts\": \"report\"", "\"conflicts\": \"ignore\""),
                                replaced(good, "\"promises\": \"racing_gets", "\"promises\": \"whole_words"),
                                replaced(good, "\"step_limit\"", "\"steps_limit\""),
                                replaced(good, "\"fault\": \"", "\"fault\": \"un"),
                                replaced(good, "\"rank\":0", "\"rank\":2"),
                                replaced(good, "\"choice\":0", "\"choice\":-1"),
                                replaced(good, "{\"rank\"", "7, {\"rank\"")}) {
    const std::string refusal = refusal_of(bad);
    EXPECT_EQ(refusal.rfind("'x.json' ", 0), 0U) << refusal << " for " << bad.substr(0, 200);
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
  EXPECT_NE(refusal_of(replaced(good, "nearfar.schedule/2", "nearfar.schedule/3")).find("nearfar.schedule/3"),
            std::string::npos);
  EXPECT_THROW((void)read_schedule("no/such/file.json"), error);
  EXPECT_THROW((void)read_schedule("/"), error);
}

TEST(schedule, a_picture_shows_all_ranks_and_steps_and_is_well_formed) {
  check_case three{.object = "broken <&> \"lock\"", .ranks = 3, .acquisitions = 1};
  for (const example& of : {example_of<flaw::torn_swap>(), example_of<flaw::torn_swap>(three),
                            example_of<flaw::successor_forgotten>(three)}) {
    const std::string picture = diagram(of.of, of.shown);
    EXPECT_EQ(picture.rfind(diagram_mark, 0), 0U);
    EXPECT_EQ(xml_problem(picture), std::nullopt);
    for (int rank = 0; rank < of.of.ranks; ++rank)
      EXPECT_EQ(count_of(">rank " + std::to_string(rank) + "</text>", picture), 1U);
    for (std::size_t i = 1; i <= of.shown.steps.size(); ++i)
      EXPECT_EQ(count_of("id=\"step" + std::to_string(i) + "\"", picture), 1U);
    EXPECT_EQ(count_of("<circle class=\"bad\"", picture), 1U);
    EXPECT_NE(picture.find("node 1"), std::string::npos);
    EXPECT_NE(picture.find("class=\"rma\""), std::string::npos);
    // The only outside name is that of the language.
    EXPECT_EQ(count_of("http", picture), 1U);
  }
  const example of = example_of<flaw::released_too_early>();
  EXPECT_GE(count_of("class=\"inside\"", diagram(of.of, of.shown)), 3U) << "two sections and the legend";
}

TEST(schedule, a_picture_of_many_ranks_or_of_no_fault_is_well_formed_too) {
  const check_case many{.object = "broken", .ranks = 12, .acquisitions = 1, .tier = checker::search::random};
  checker::options how = options_of(many);
  how.most_executions = 200;
  const checker::program what = broken<flaw::torn_swap>(many);
  const checker::report result = check(what, how);
  ASSERT_TRUE(result.found);
  const std::string picture = diagram(many, replay(what, how, result.found->schedule));
  EXPECT_EQ(xml_problem(picture), std::nullopt);
  EXPECT_EQ(count_of("class=\"lane\"", picture), 12U);
  const check_case right{.object = "right"};
  const checker::replayed quiet = replay(broken<flaw::none>(right), options_of(right), {});
  EXPECT_EQ(xml_problem(diagram(right, quiet)), std::nullopt);
  EXPECT_EQ(count_of("class=\"bad\"", diagram(right, quiet)), 0U);
}

TEST(schedule, the_command_line_names_what_is_not_usual) {
  const check_case of{.object = "dash", .ranks = 8, .home = 3, .tier = checker::search::random, .seed = 9};
  EXPECT_EQ(arguments_of(of),
            "--locks dash --ranks 8 --nodes 2 --acquisitions 2 --mode lazy --tier random --home 3 --seed 9");
  const std::string usual = " --ranks 2 --nodes 2 --acquisitions 2 --mode lazy --tier exhaustive";
  EXPECT_EQ(arguments_of({.object = "rma_rw", .readers = 1}), "--locks rma_rw" + usual + " --readers 1");
  EXPECT_EQ(arguments_of({.object = "rma_rw"}), "--locks rma_rw" + usual + " --readers 0") << "some is usual";
  EXPECT_EQ(arguments_of({.object = "mcs"}), "--locks mcs" + usual);
}

TEST(schedule, the_shape_says_who_reads) {
  check_case of{.object = "rma_rw", .ranks = 3, .readers = 1};
  EXPECT_EQ(shape_text(of), "3 ranks on 2 nodes, 1 of them a reader, 2 acquisitions each");
  of.readers = 2;
  EXPECT_EQ(shape_text(of), "3 ranks on 2 nodes, 2 of them readers, 2 acquisitions each");
  of.readers = 0;
  EXPECT_EQ(shape_text(of), "3 ranks on 2 nodes, 2 acquisitions each");
  for (const auto& [ranks, readers] : {std::pair{1, 1}, {2, 1}, {3, 1}, {4, 2}, {64, 32}})
    EXPECT_EQ(usual_readers(ranks), readers);
}

TEST(checkable, locks_of_both_kinds_do_what_a_case_says) {
  for (const checkable& lock : checkables()) {
    check_case of{.object = lock.name, .ranks = 3, .nodes = lock.one_node_only ? 1 : 2, .acquisitions = 1};
    for (const int readers : {0, 2}) {
      if (readers != 0 && !lock.is_shared) continue;
      of.readers = readers;
      const checker::program what = lock.program(of);
      const bool can_meet = readers == 2;
      EXPECT_EQ(what.demands.size(), can_meet ? 1U : 0U) << lock.name;
      if (!lock.is_sound) continue;
      const checker::report result = check(what, options_of(of));
      EXPECT_TRUE(result.complete && !result.found) << lock.name << ", " << shape_text(of);
      EXPECT_EQ(result.reached.contains(std::string(checker::shared_by_two)), can_meet) << lock.name;
    }
  }
  EXPECT_TRUE(find_checkable("cohort_rw")->is_shared);
  EXPECT_FALSE(find_checkable("cohort")->is_shared);
  EXPECT_EQ(find_checkable("cohort_r"), nullptr);
}

}  // namespace nearfar::command
