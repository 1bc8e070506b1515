#include "nearfar/container/pin_team.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/pinning.hpp"

namespace {

using nearfar::pin_team;
using nearfar::pinning;
using nearfar::team;
using nearfar::team_member;
using nearfar::this_machine;

std::vector<int> affinity() { return this_machine().this_thread_binding().allowed_cpus; }

/// The processors that the members of a team may use, as each member asks the system.
std::vector<std::vector<int>> affinities(const team& threads) {
  std::vector<std::vector<int>> all(static_cast<std::size_t>(threads.size()));
  threads.run([&](team_member member) { all[static_cast<std::size_t>(member.index)] = affinity(); });
  return all;
}

/// Runs a test on a thread of its own, so that the thread's binding ends with the test.
class pinned_team : public testing::Test {
 protected:
  template <typename Body>
  static void on_a_thread(Body body) {
    if (!this_machine().is_this_system()) {
      EXPECT_THROW(pin_team(team(2), pinning::parse("compact")), nearfar::topology_error);
      return;  // nothing else to test here
    }
    const std::vector<int> before = affinity();
    std::thread(body).join();
    EXPECT_EQ(affinity(), before);
  }
};

TEST_F(pinned_team, has_each_member_on_the_cpu_of_the_rule) {
  on_a_thread([] {
    const std::vector<std::string> rules{"compact", "scatter", "cache", "numa",
                                         std::to_string(affinity().back())};
    for (const std::string& rule : rules)
      for (const int threads : {1, 2, 3, 5}) {
        const team all(threads);
        const std::vector<std::string> texts = pin_team(all, pinning::parse(rule));
        EXPECT_EQ(texts.size(), static_cast<std::size_t>(all.size()));
        EXPECT_EQ(affinities(all), pinning::parse(rule).cpus(this_machine(), all.size())) << rule;
        for (const std::string& text : texts) EXPECT_EQ(text.substr(0, 4), "core") << text;
        EXPECT_EQ(texts.front(), this_machine().binding_text());
      }
  });
}

TEST_F(pinned_team, keeps_its_places_when_it_grows_and_shrinks) {
  on_a_thread([] {
    const pinning rule = pinning::parse("compact");
    (void)pin_team(team(2), rule);
    for (const int threads : {4, 1, 2, 5, 3, 5}) {
      const team all(threads);
      EXPECT_EQ(affinities(all), rule.cpus(this_machine(), all.size())) << threads;
    }
  });
}

TEST_F(pinned_team, takes_its_threads_along_to_the_next_rule) {
  on_a_thread([] {
    (void)pin_team(team(3), pinning::parse(std::to_string(affinity().front())));
    const pinning next = pinning::parse(std::to_string(this_machine().usable_cpus().back().number));
    (void)pin_team(team::serial(), next);
    EXPECT_EQ(affinities(team(3)), next.cpus(this_machine(), team(3).size()));
  });
}

TEST_F(pinned_team, gets_all_cpus_back_by_the_rule_none) {
  on_a_thread([] {
    const std::vector<int> all_cpus = affinity();
    (void)pin_team(team(3), pinning::parse("compact"));
    (void)pin_team(team(3), pinning());
    for (const std::vector<int>& each : affinities(team(3))) EXPECT_EQ(each, all_cpus);
    (void)affinities(team(1));
    (void)affinities(team(2));
    for (const std::vector<int>& each : affinities(team(3))) EXPECT_EQ(each, all_cpus);
  });
}

TEST_F(pinned_team, is_left_as_it_is_by_the_rule_none) {
  on_a_thread([] {
    const std::vector<int> one{affinity().back()};
    this_machine().bind_this_thread_to_cpus(one);
    (void)pin_team(team::serial(), pinning());
    EXPECT_EQ(affinity(), one);
  });
}

TEST_F(pinned_team, stays_where_it_was_when_the_next_rule_fails) {
  on_a_thread([] {
    const pinning rule = pinning::parse(std::to_string(affinity().front()));
    (void)pin_team(team(3), rule);
    EXPECT_THROW(pin_team(team(3), pinning::parse("0,99999")), nearfar::topology_error);
    EXPECT_EQ(affinities(team(3)), rule.cpus(this_machine(), team(3).size()));
  });
}

TEST_F(pinned_team, may_get_another_rule_from_a_loop_that_it_runs) {
  on_a_thread([] {
    for (int round = 0; round < 50; ++round) {
      pin_team(team(12), pinning::parse("compact"));
      // A late member reads the rule that the loop began with.
      team(12).run([](team_member member) {
        if (member.index == 0) pin_team(team(2), pinning::parse("scatter"));
      });
    }
    EXPECT_EQ(affinity().size(), 1U);
  });
}

TEST_F(pinned_team, of_one_thread_says_nothing_about_those_of_another) {
  on_a_thread([] {
    const std::vector<int> all_cpus = affinity();
    std::thread([] { (void)pin_team(team(2), pinning::parse("compact")); }).join();
    for (const std::vector<int>& each : affinities(team(2))) EXPECT_EQ(each, all_cpus);
  });
}

}  // namespace
