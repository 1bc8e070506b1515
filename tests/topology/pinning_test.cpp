#include "nearfar/topology/pinning.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"

namespace {

using nearfar::hardware;
using nearfar::pinning;

/// A machine as hwloc describes it. The environment is unchanged afterwards.
hardware described(const char* text) {
  const char* const before = std::getenv("HWLOC_SYNTHETIC");
  const std::optional<std::string> kept =
      before == nullptr ? std::nullopt : std::optional<std::string>(before);
  setenv("HWLOC_SYNTHETIC", text, 1);
  hardware machine;
  if (kept) {
    setenv("HWLOC_SYNTHETIC", kept->c_str(), 1);
  } else {
    unsetenv("HWLOC_SYNTHETIC");
  }
  return machine;
}

/// The single CPU of each thread.
std::vector<int> single(const std::vector<std::vector<int>>& sets) {
  std::vector<int> cpus;
  for (const std::vector<int>& set : sets) {
    EXPECT_EQ(set.size(), 1U);
    cpus.push_back(set.at(0));
  }
  return cpus;
}

using numbers = std::vector<int>;
using sets = std::vector<std::vector<int>>;

/// Two packages of two NUMA domains of two caches of two cores of two hardware threads. CPU 2 c + h is
/// hardware thread h of core c, caches have cores 0-1, 2-3, ..., domains 0-3, 4-7, ..., packages 0-7, 8-15.
constexpr const char* large = "pack:2 numa:2 l3:2 core:2 pu:2";

TEST(pinning, compact_goes_through_the_threads_of_a_core_and_then_to_the_next) {
  const hardware machine = described(large);
  EXPECT_EQ(single(pinning::parse("compact").cpus(machine, 6)), (numbers{0, 1, 2, 3, 4, 5}));
  const std::vector<int> all = single(pinning::parse("compact").cpus(machine, 34));
  EXPECT_EQ(all[31], 31);
  EXPECT_EQ(all[32], 0);
  EXPECT_EQ(all[33], 1);
}

TEST(pinning, compact_goes_by_the_machines_order_not_by_the_systems_numbers) {
  // The numbering of many servers: second hardware threads come after all first ones.
  const hardware machine = described("pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
  EXPECT_EQ(single(pinning::parse("compact").cpus(machine, 8)), (numbers{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(single(pinning::parse("scatter").cpus(machine, 8)), (numbers{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(pinning::parse("numa").cpus(machine, 1), (sets{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(pinning, scatter_shares_as_little_as_it_can) {
  const hardware machine = described(large);
  EXPECT_EQ(single(pinning::parse("scatter").cpus(machine, 33)),
            (numbers{0, 16, 8,  24, 4, 20, 12, 28,  // a cache each
                     2, 18, 10, 26, 6, 22, 14, 30,  // the second core of each cache
                     1, 17, 9,  25, 5, 21, 13, 29,  // second hardware threads
                     3, 19, 11, 27, 7, 23, 15, 31,  //
                     0}));
}

/// hwloc's attributes for an object of CPUs `first` to `last`.
std::string attributes(int first, int last) {
  static int objects = 0;
  char mask[16];
  std::snprintf(mask, sizeof mask, "0x%08x", (1U << (last + 1)) - (1U << first));
  const std::string set = mask;
  return " os_index=\"" + std::to_string(first) + "\" cpuset=\"" + set + "\" complete_cpuset=\"" + set +
         "\" nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"" + std::to_string(++objects) + "\"";
}

/// The XML of a core with CPUs `first` and the next.
std::string core_of_two(int first) {
  std::string text = "<object type=\"Core\"" + attributes(first, first + 1) + ">";
  for (const int cpu : {first, first + 1}) text += "<object type=\"PU\"" + attributes(cpu, cpu) + "/>";
  return text + "</object>";
}

TEST(pinning, scatter_takes_second_hardware_threads_last_in_packages_of_unequal_size) {
  // hwloc's short descriptions cannot express this machine: a package with CPUs 0-1, and one with 2-3 and
  // 4-5.
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("nearfar_unequal_" + std::to_string(getpid()) + ".xml");
  std::ofstream(file) << "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"
                      << "<topology version=\"2.0\"><object type=\"Machine\"" << attributes(0, 5)
                      << " allowed_cpuset=\"0x3f\" allowed_nodeset=\"0x1\"><object type=\"NUMANode\""
                      << attributes(0, 5) << "/><object type=\"Package\"" << attributes(0, 1) << ">"
                      << core_of_two(0) << "</object><object type=\"Package\"" << attributes(2, 5) << ">"
                      << core_of_two(2) << core_of_two(4) << "</object></object></topology>";
  setenv("HWLOC_XMLFILE", file.c_str(), 1);
  const hardware machine;
  unsetenv("HWLOC_XMLFILE");
  std::filesystem::remove(file);
  EXPECT_EQ(single(pinning::parse("compact").cpus(machine, 6)), (numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(single(pinning::parse("scatter").cpus(machine, 6)), (numbers{0, 2, 4, 1, 3, 5}));
}

TEST(pinning, cache_and_numa_give_all_cpus_of_one_group) {
  const hardware machine = described(large);
  EXPECT_EQ(pinning::parse("cache").cpus(machine, 3), (sets{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
  EXPECT_EQ(pinning::parse("cache").cpus(machine, 9).back(), (numbers{0, 1, 2, 3}));
  EXPECT_EQ(pinning::parse("numa").cpus(machine, 2),
            (sets{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}}));
  EXPECT_EQ(pinning::parse("numa").cpus(machine, 5).back(), (numbers{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(pinning, groups_that_the_machine_does_not_show_are_one) {
  const hardware machine = described("pu:4");
  EXPECT_EQ(pinning::parse("cache").cpus(machine, 2), (sets{{0, 1, 2, 3}, {0, 1, 2, 3}}));
  EXPECT_EQ(pinning::parse("numa").cpus(machine, 1), (sets{{0, 1, 2, 3}}));
  EXPECT_EQ(single(pinning::parse("scatter").cpus(machine, 5)), (numbers{0, 1, 2, 3, 0}));
}

TEST(pinning, a_list_is_taken_as_it_is_written_and_goes_round) {
  const hardware machine = described(large);
  EXPECT_EQ(single(pinning::parse("7,0,2,4-6").cpus(machine, 8)), (numbers{7, 0, 2, 4, 5, 6, 7, 0}));
  EXPECT_EQ(single(pinning::parse("3,3").cpus(machine, 2)), (numbers{3, 3}));
}

TEST(pinning, none_leaves_every_thread_alone) {
  const hardware machine = described(large);
  EXPECT_EQ(pinning::parse("none").cpus(machine, 2), (sets{{}, {}}));
  EXPECT_EQ(pinning(), pinning::parse("none"));
  EXPECT_TRUE(pinning().is_none());
  EXPECT_FALSE(pinning::parse("0").is_none());
  EXPECT_TRUE(pinning::parse("compact").cpus(machine, 0).empty());
}

TEST(pinning, cpus_that_are_not_there_are_an_error) {
  const hardware machine = described(large);
  try {
    (void)pinning::parse("0,32").cpus(machine, 1);
    FAIL();
  } catch (const nearfar::topology_error& problem) {
    EXPECT_STREQ(problem.what(), "cannot pin a thread to CPU 32: the machine described has no such CPU");
  }
}

TEST(pinning, is_written_as_it_is_read) {
  for (const char* text : {"none", "compact", "scatter", "cache", "numa", "0", "0,2,4-7", "7,0-2,9", "3,3"}) {
    const pinning parsed = pinning::parse(text);
    EXPECT_EQ(parsed.to_string(), text);
    EXPECT_EQ(pinning::parse(parsed.to_string()), parsed);
  }
  EXPECT_EQ(pinning::parse("4,5,6,8-8").to_string(), "4-6,8");
  EXPECT_NE(pinning::parse("0,1"), pinning::parse("1,0"));
}

TEST(pinning, that_cannot_be_read_is_an_error_of_one_line) {
  const auto message = [](const char* text) {
    try {
      (void)pinning::parse(text);
    } catch (const nearfar::topology_error& problem) {
      return std::string(problem.what());
    }
    return std::string("no error");
  };
  const std::string cure = "': write none, compact, scatter, cache, numa, or CPUs as in 0,2,4-7";
  for (const char* text : {"", "compct", "Compact", "0,", ",0", "0,,1", "-1", "1-", "-", "0-1-2", "4--5",
                           "0 1", "0x1", "+1", "99999999999999999999"})
    EXPECT_EQ(message(text), std::string("no pinning '") + text + cure);
  EXPECT_EQ(message("7-4"), "no pinning '7-4': the range 7-4 ends before it begins");
  EXPECT_EQ(message("0-2000000000"), "no pinning '0-2000000000': there is no CPU 2000000000");
}

TEST(pinning, uses_only_cpus_that_the_process_may_use) {
  const hardware machine;
  const std::vector<nearfar::usable_cpu> usable = machine.usable_cpus();
  ASSERT_FALSE(usable.empty());
  int last = 0;
  for (const char* text : {"compact", "scatter"}) {
    std::vector<int> used = single(pinning::parse(text).cpus(machine, static_cast<int>(usable.size())));
    for (const nearfar::usable_cpu& each : usable) {
      EXPECT_EQ(std::erase(used, each.number), 1) << text << ", CPU " << each.number;
      last = std::max(last, each.number);
    }
  }
  if (machine.is_this_system()) {
    EXPECT_THROW((void)pinning::parse(std::to_string(last + 1)).cpus(machine, 1), nearfar::topology_error);
  }
}

}  // namespace
