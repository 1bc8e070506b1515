#include "nearfar/topology/hardware.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/cgroup.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace {

using nearfar::hardware;
using nearfar::level;
using nearfar::place;

/// Sets or unsets environment variables for one scope.
class environment {
 public:
  environment(const std::string& variable, const std::optional<std::string>& value) : variable_(variable) {
    if (const char* const before = std::getenv(variable.c_str())) {
      before_ = before;
    }
    set(value);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(variable_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(variable_.c_str());
    }
  }

  std::string variable_;
  std::optional<std::string> before_;
};

/// The environment describes no other machine.
class real_hardware : public testing::Test {
 private:
  environment xml_{"HWLOC_XMLFILE", std::nullopt};
  environment synthetic_{"HWLOC_SYNTHETIC", std::nullopt};
};

/// Two packages, each one NUMA domain of two caches of four cores of two PUs.
class synthetic_hardware : public testing::Test {
 private:
  environment xml_{"HWLOC_XMLFILE", std::nullopt};
  environment synthetic_{"HWLOC_SYNTHETIC", "pack:2 [numa] l3:2 core:4 pu:2"};
};

/// A directory that stands for "/", with the files that a test writes.
class cgroup : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("nearfar_cgroup_" + std::to_string(getpid()) + "_" +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void mount_v2(const std::string& shown = "/") const {
    write("proc/self/mountinfo",
          "22 1 8:1 / / rw - ext4 /dev/a rw\n"
          "30 22 0:26 " +
              shown + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void mount_v1(const std::string& shown = "/") const {
    write("proc/self/mountinfo",
          "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
          "32 31 0:29 " +
              shown + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  [[nodiscard]] std::optional<int> quota() const { return nearfar::cgroup_cpu_quota(root_); }

 private:
  std::filesystem::path root_;
};

std::vector<int> affinity() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<unsigned>(cpu), &mask)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

TEST_F(synthetic_hardware, is_not_this_system) {
  const hardware machine;
  EXPECT_FALSE(machine.is_this_system());
  EXPECT_EQ(machine.pus(), 32);
  EXPECT_EQ(machine.allowed_cores(), 0);
}

TEST_F(synthetic_hardware, every_pu_has_its_place) {
  const hardware machine;
  EXPECT_EQ(machine.place_of_pu(0), (place{-1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(machine.place_of_pu(1), (place{-1, 0, 0, 0, 0, 0}));  // the second hardware thread of core 0
  EXPECT_EQ(machine.place_of_pu(2), (place{-1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(machine.place_of_pu(8), (place{-1, 0, 0, 0, 1, 4}));
  EXPECT_EQ(machine.place_of_pu(16), (place{-1, 0, 1, 1, 2, 8}));
  EXPECT_EQ(machine.place_of_pu(31), (place{-1, 0, 1, 1, 3, 15}));
}

TEST_F(synthetic_hardware, places_make_a_locality) {
  const hardware machine;
  std::vector<place> places;
  for (int pu = 0; pu < machine.pus(); ++pu) {
    places.push_back(machine.place_of_pu(pu));
  }
  const nearfar::locality ranks(places);
  EXPECT_EQ(ranks.groups(level::node), 1);
  EXPECT_EQ(ranks.groups(level::package), 2);
  EXPECT_EQ(ranks.groups(level::numa), 2);
  EXPECT_EQ(ranks.groups(level::cache), 4);
  EXPECT_EQ(ranks.groups(level::core), 16);
  EXPECT_EQ(ranks.nearest_common(0, 7), level::cache);
  EXPECT_EQ(ranks.nearest_common(0, 8), level::numa);
  EXPECT_EQ(ranks.nearest_common(0, 16), level::node);
}

TEST_F(synthetic_hardware, parts_are_inside_each_other) {
  const environment with_memory("HWLOC_SYNTHETIC", "pack:2 [numa(memory=1GB)] l3:2 core:4 pu:2");
  std::vector<nearfar::machine_part> parts = hardware().parts();
  // The kind, how many are inside the last of the kind before, and the number of the last one.
  const std::vector<std::tuple<std::string, std::size_t, int>> chain{
      {"package", 2, 1}, {"numa", 1, 1}, {"L3", 2, 3}, {"core", 4, 15}, {"PU", 2, 31}};
  for (const auto& [kind, count, last] : chain) {
    ASSERT_EQ(parts.size(), count) << kind;
    EXPECT_EQ(parts.back().kind, kind);
    EXPECT_EQ(parts.back().number, last) << kind;
    EXPECT_EQ(parts.back().bytes != 0, kind == "numa" || kind == "L3") << kind;
    parts = std::vector(parts.back().inside);
  }
  EXPECT_TRUE(parts.empty());
}

TEST_F(synthetic_hardware, pus_that_are_not_there_are_an_error) {
  const hardware machine;
  EXPECT_THROW((void)machine.place_of_pu(-1), nearfar::topology_error);
  EXPECT_THROW((void)machine.place_of_pu(32), nearfar::topology_error);
}

TEST_F(synthetic_hardware, threads_have_no_place_and_cannot_be_bound) {
  const hardware machine;
  EXPECT_EQ(machine.this_thread_place(), (place{-1, 0, -1, -1, -1, -1}));
  try {
    machine.bind_this_thread_to_core(0);
    ADD_FAILURE() << "bound to a core of a machine that is not there";
  } catch (const nearfar::topology_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("HWLOC_SYNTHETIC"), std::string::npos) << problem.what();
  }
}

TEST_F(synthetic_hardware, the_process_still_has_its_real_cpus) {
  const hardware machine;
  EXPECT_GE(machine.allowed_cpus(), 1);
  EXPECT_LE(machine.allowed_cpus(), static_cast<int>(affinity().size()));
  EXPECT_EQ(machine.this_thread_binding().allowed_cpus, affinity());
  EXPECT_EQ(machine.binding_text().substr(0, 3), "CPU");
}

TEST_F(synthetic_hardware, the_summary_is_one_line) {
  EXPECT_EQ(hardware().summary(),
            "2 packages, 2 NUMA domains, 4 L3 caches of 16 MiB, 16 cores, 32 PUs (described by the "
            "environment, not "
            "this machine)");
}

TEST_F(synthetic_hardware, the_tree_nests_like_the_levels) {
  const environment small("HWLOC_SYNTHETIC",
                          "pack:2 [numa(memory=1073741824)] l3:1(size=8000000) core:2 pu:2");
  EXPECT_EQ(hardware().tree_text(),
            "package 0\n"
            "  numa 0: 1024 MiB\n"
            "    cache 0: L3, 8 MiB\n"
            "      core 0: CPUs 0-1\n"
            "      core 1: CPUs 2-3\n"
            "package 1\n"
            "  numa 1: 1024 MiB\n"
            "    cache 1: L3, 8 MiB\n"
            "      core 2: CPUs 4-5\n"
            "      core 3: CPUs 6-7\n");
}

TEST_F(synthetic_hardware, a_numa_domain_beside_another_kind_of_memory_is_one_domain) {
  const environment fast("HWLOC_SYNTHETIC", "pack:2 [numa] [numa] core:2 pu:1");
  const hardware machine;
  EXPECT_EQ(machine.place_of_pu(0)[nearfar::index(level::numa)], 0);
  EXPECT_EQ(machine.place_of_pu(1)[nearfar::index(level::numa)], 0);
  EXPECT_EQ(machine.place_of_pu(2)[nearfar::index(level::numa)], 2);
}

TEST_F(synthetic_hardware, the_l2_stands_in_where_there_is_no_l3) {
  const environment no_l3("HWLOC_SYNTHETIC", "pack:1 l2:2 core:2 pu:1");
  const hardware machine;
  EXPECT_EQ(machine.place_of_pu(1)[nearfar::index(level::cache)], 0);
  EXPECT_EQ(machine.place_of_pu(2)[nearfar::index(level::cache)], 1);
  EXPECT_NE(machine.summary().find("2 L2 caches"), std::string::npos) << machine.summary();
}

TEST_F(synthetic_hardware, levels_the_machine_does_not_show_are_unknown) {
  const environment bare("HWLOC_SYNTHETIC", "pu:4");
  const hardware machine;
  EXPECT_EQ(machine.place_of_pu(3), (place{-1, 0, -1, 0, -1, 3}));
  EXPECT_NE(machine.summary().find("4 cores, 4 PUs"), std::string::npos) << machine.summary();
  EXPECT_NE(machine.summary().find("no shared cache"), std::string::npos) << machine.summary();
}

TEST_F(synthetic_hardware, rubbish_is_an_error_and_not_the_real_machine) {
  const environment rubbish("HWLOC_SYNTHETIC", "rubbish:2");
  try {
    const hardware machine;
    ADD_FAILURE() << machine.summary();
  } catch (const nearfar::topology_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("HWLOC_SYNTHETIC='rubbish:2'"), std::string::npos)
        << problem.what();
  }
}

TEST_F(synthetic_hardware, a_missing_file_is_an_error) {
  const environment missing("HWLOC_XMLFILE", testing::TempDir() + "/nearfar_no_such_file.xml");
  EXPECT_THROW(hardware(), nearfar::topology_error);
}

TEST_F(synthetic_hardware, counts_domains_and_knows_the_smallest_last_level_cache) {
  EXPECT_EQ(hardware().numa_domains(), 2);
  const environment sizes("HWLOC_SYNTHETIC", "pack:1 l3:2(size=8000000) core:2 pu:1");
  EXPECT_EQ(hardware().last_level_cache_bytes(), 8000000U);
  EXPECT_EQ(hardware().numa_domains(), 1);
  const environment bare("HWLOC_SYNTHETIC", "pu:4");
  EXPECT_EQ(hardware().last_level_cache_bytes(), 0U);
}

TEST_F(synthetic_hardware, all_its_cpus_are_usable_in_the_order_of_the_machine) {
  const environment numbered("HWLOC_SYNTHETIC", "pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
  const hardware machine;
  const std::vector<nearfar::usable_cpu> cpus = machine.usable_cpus();
  ASSERT_EQ(cpus.size(), 8U);
  const std::vector<int> numbers{0, 4, 1, 5, 2, 6, 3, 7};
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    EXPECT_EQ(cpus[i].number, numbers[i]);
    EXPECT_EQ(cpus[i].where, machine.place_of_pu(static_cast<int>(i)));
  }
}

TEST_F(synthetic_hardware, can_neither_be_bound_to_nor_found_in_the_system) {
  const hardware machine;
  EXPECT_EQ(machine.domain_of_node(0), nearfar::unknown_id);
  int page = 0;
  for (const auto& act : std::vector<std::function<void()>>{
           [&] { machine.bind_this_thread_to_cpus(affinity()); },
           [&] { machine.bind_memory(&page, sizeof page, std::vector<int>{0}, false); }}) {
    try {
      act();
      ADD_FAILURE() << "acted on a machine that is not there";
    } catch (const nearfar::topology_error& problem) {
      EXPECT_NE(std::string(problem.what()).find("HWLOC_SYNTHETIC"), std::string::npos) << problem.what();
    }
  }
}

TEST_F(synthetic_hardware, can_be_moved) {
  hardware first;
  hardware second = std::move(first);
  EXPECT_EQ(second.pus(), 32);
  const environment small("HWLOC_SYNTHETIC", "pack:1 core:2 pu:1");
  second = hardware();
  EXPECT_EQ(second.pus(), 2);
}

TEST_F(real_hardware, counts_the_cpus_of_the_affinity_mask_and_the_quota) {
  const hardware machine;
  EXPECT_TRUE(machine.is_this_system());
  const int cpus = static_cast<int>(affinity().size());
  EXPECT_EQ(machine.allowed_cpus(), std::min(cpus, nearfar::cgroup_cpu_quota().value_or(cpus)));
  EXPECT_GE(machine.pus(), cpus);
  EXPECT_GE(machine.allowed_cores(), 1);
  EXPECT_LE(machine.allowed_cores(), cpus);
}

TEST_F(real_hardware, a_process_bound_to_one_cpu_may_use_one) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int last = affinity().back();
    CPU_SET(static_cast<unsigned>(last), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const hardware machine;
    EXPECT_EQ(machine.allowed_cpus(), 1);
    EXPECT_EQ(machine.allowed_cores(), 1);
    EXPECT_EQ(machine.this_thread_binding().allowed_cpus, std::vector<int>{last});
    EXPECT_TRUE(machine.this_thread_binding().bound_to_one_core);
    EXPECT_EQ(machine.binding_text().substr(0, 5), "core ");
  }).join();
}

TEST_F(real_hardware, binding_puts_each_thread_on_a_core_of_its_own) {
  const hardware machine;
  const std::vector<int> before = affinity();
  std::set<int> cores;
  std::set<int> cpus;
  for (int core = 0; core < machine.allowed_cores(); ++core) {
    std::thread([&] {
      machine.bind_this_thread_to_core(core);
      const nearfar::binding bound = machine.this_thread_binding();
      EXPECT_TRUE(bound.bound_to_one_core);
      EXPECT_EQ(bound.allowed_cpus, affinity());
      cpus.insert(bound.allowed_cpus.begin(), bound.allowed_cpus.end());
      const int id = machine.this_thread_place()[nearfar::index(level::core)];
      cores.insert(id);
      std::size_t threads_of_core = 0;
      for (int pu = 0; pu < machine.pus(); ++pu) {
        threads_of_core += machine.place_of_pu(pu)[nearfar::index(level::core)] == id ? 1U : 0U;
      }
      if (bound.allowed_cpus.size() == threads_of_core) {
        EXPECT_EQ(machine.binding_text(), "core " + std::to_string(id));
      } else {
        EXPECT_EQ(machine.binding_text().find("core " + std::to_string(id) + " (CPU"), 0U);
      }
    }).join();
  }
  EXPECT_EQ(cores.count(nearfar::unknown_id), 0U);
  EXPECT_EQ(cores.size(), static_cast<std::size_t>(machine.allowed_cores()));
  EXPECT_EQ(std::vector<int>(cpus.begin(), cpus.end()), before);
  EXPECT_EQ(affinity(), before) << "binding a thread must not touch its creator";
}

TEST_F(real_hardware, a_bound_thread_may_bind_to_another_core) {
  const hardware machine;
  std::thread([&] {
    for (int core = machine.allowed_cores() - 1; core >= 0; --core) {
      EXPECT_NO_THROW(machine.bind_this_thread_to_core(core));
    }
  }).join();
}

TEST_F(real_hardware, an_unbound_thread_has_no_core) {
  const hardware machine;
  if (machine.allowed_cores() < 2) {
    GTEST_SKIP() << "only one core to run on";
  }
  EXPECT_EQ(machine.this_thread_place()[nearfar::index(level::core)], nearfar::unknown_id);
  EXPECT_FALSE(machine.this_thread_binding().bound_to_one_core);
  EXPECT_EQ(machine.binding_text().substr(0, 6), "cores ");
}

TEST_F(real_hardware, binding_to_a_core_that_is_not_there_is_an_error) {
  const hardware machine;
  for (const int core : {-1, machine.allowed_cores()}) {
    try {
      machine.bind_this_thread_to_core(core);
      ADD_FAILURE() << "bound to core " << core;
    } catch (const nearfar::topology_error& problem) {
      const std::string message = problem.what();
      EXPECT_NE(message.find("core " + std::to_string(core)), std::string::npos) << message;
      EXPECT_NE(message.find("may use " + std::to_string(machine.allowed_cores())), std::string::npos)
          << message;
    }
  }
}

TEST_F(real_hardware, a_thread_is_bound_to_the_cpus_it_is_given) {
  const hardware machine;
  const std::vector<int> all = affinity();
  std::thread([&] {
    for (const std::vector<int>& chosen :
         {std::vector<int>{all.back()}, all, std::vector<int>{all.front()}}) {
      machine.bind_this_thread_to_cpus(chosen);
      EXPECT_EQ(affinity(), chosen);
    }
  }).join();
  EXPECT_EQ(affinity(), all);
}

TEST_F(real_hardware, binding_to_cpus_that_the_process_may_not_use_is_an_error) {
  std::thread([] {
    const std::vector<int> all = affinity();
    hardware().bind_this_thread_to_cpus(std::vector<int>{all.front()});
    const hardware machine;
    ASSERT_EQ(machine.usable_cpus().size(), 1U);
    EXPECT_EQ(machine.usable_cpus().front().number, all.front());
    for (const int cpu : {-1, all.back() + 1, all.size() > 1 ? all.back() : -7}) {
      try {
        machine.bind_this_thread_to_cpus(std::vector<int>{all.front(), cpu});
        ADD_FAILURE() << "bound to CPU " << cpu;
      } catch (const nearfar::topology_error& problem) {
        EXPECT_EQ(std::string(problem.what()), "cannot bind a thread to CPU " + std::to_string(cpu) +
                                                   ": this process may use CPU " +
                                                   std::to_string(all.front()));
      }
    }
    EXPECT_THROW(machine.bind_this_thread_to_cpus(std::vector<int>{}), nearfar::topology_error);
    EXPECT_EQ(affinity(), std::vector<int>{all.front()});
  }).join();
}

TEST_F(real_hardware, numbers_of_the_system_and_domains_are_told_apart) {
  const hardware machine;
  std::set<int> domains;
  for (int node = -1; node < 4096; ++node) {
    domains.insert(machine.domain_of_node(node));
  }
  EXPECT_EQ(domains.count(nearfar::unknown_id), 1U);
  EXPECT_EQ(domains.size(), static_cast<std::size_t>(machine.numa_domains()) + 1);
  EXPECT_EQ(*domains.rbegin(), machine.numa_domains() - 1);
}

TEST_F(real_hardware, memory_is_not_bound_to_domains_that_are_not_there) {
  const hardware machine;
  int page = 0;
  for (const std::vector<int>& domains :
       {std::vector<int>{}, std::vector<int>{-1}, std::vector<int>{0, machine.numa_domains()}}) {
    EXPECT_THROW(machine.bind_memory(&page, sizeof page, domains, true), nearfar::topology_error);
  }
}

TEST_F(real_hardware, there_is_one_machine_for_the_process) {
  std::set<const hardware*> seen;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      const hardware& machine = nearfar::this_machine();
      const std::lock_guard lock(mutex);
      seen.insert(&machine);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ((*seen.begin())->pus(), hardware().pus());
}

TEST_F(real_hardware, summary_and_tree_agree_on_the_cores) {
  const hardware machine;
  const std::string tree = machine.tree_text();
  int lines = 0;
  for (std::size_t at = tree.find("core "); at != std::string::npos; at = tree.find("core ", at + 1)) {
    ++lines;
  }
  EXPECT_NE(machine.summary().find(", " + std::to_string(lines) + " core"), std::string::npos)
      << machine.summary() << '\n'
      << tree;
  EXPECT_EQ(machine.summary().find('\n'), std::string::npos);
}

TEST_F(cgroup, no_files_mean_no_limit) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(cgroup, v2_quota_is_rounded_up) {
  mount_v2();
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 2);
  write("sys/fs/cgroup/job/cpu.max", "10000 100000\n");
  EXPECT_EQ(quota(), 1);
  write("sys/fs/cgroup/job/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4);
}

TEST_F(cgroup, v2_max_means_no_limit) {
  mount_v2();
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/job/cpu.max", "rubbish\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, v2_groups_around_limit_too) {
  mount_v2();
  write("proc/self/cgroup", "0::/slice/job/step\n");
  write("sys/fs/cgroup/slice/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/slice/job/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/slice/job/step/cpu.max", "500000 100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(cgroup, v2_in_a_container_the_mount_point_is_the_group) {
  mount_v2();
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(cgroup, v2_paths_start_at_the_group_that_is_mounted) {
  mount_v2("/docker/abc");
  write("proc/self/cgroup", "0::/docker/abc/inner\n");
  write("sys/fs/cgroup/inner/cpu.max", "500000 100000\n");
  EXPECT_EQ(quota(), 5);
}

TEST_F(cgroup, v1_quota_is_that_of_the_cpu_hierarchy) {
  mount_v1();
  write("proc/self/cgroup", "3:cpuset:/other\n2:cpu,cpuacct:/job\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpuset/job/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpuset/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, v1_in_a_container_that_sees_the_path_of_its_host) {
  mount_v1("/docker/abc");
  write("proc/self/cgroup", "2:cpu,cpuacct:/docker/abc\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "700000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  // The group is not the process's, although the host's path seems to lead there.
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 7);
}

}  // namespace
