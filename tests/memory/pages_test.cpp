#include "nearfar/memory/pages.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"
#include "tests/forbidden_calls.hpp"

namespace {

using nearfar::page_locations;
using nearfar::page_placement;
using nearfar::page_policy;
using nearfar::page_size;
using nearfar::this_machine;
using nearfar::untouched_page;

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Pages that its destructor gives back.
class mapped {
 public:
  explicit mapped(std::size_t bytes, const page_placement& placement = {})
      : bytes_(bytes), data_(static_cast<unsigned char*>(nearfar::map_pages(bytes, placement))) {}
  mapped(const mapped&) = delete;
  mapped& operator=(const mapped&) = delete;
  ~mapped() { nearfar::unmap_pages(data_, bytes_); }

  [[nodiscard]] unsigned char* data() const { return data_; }
  [[nodiscard]] std::optional<page_locations> locate() const { return nearfar::locate_pages(data_, bytes_); }
  void touch() const { std::memset(data_, 1, bytes_); }

 private:
  std::size_t bytes_;
  unsigned char* data_;
};

std::size_t problems_with(std::string_view text) {
  const std::vector<std::string> all = nearfar::placement_problems();
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const std::string& each) { return each.find(text) != std::string::npos; }));
}

/// Number of mapped pages in the process's address space.
std::size_t mapped_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages;
}

#define SKIP_UNLESS_KERNEL_TELLS(found) \
  if (!(found)) GTEST_SKIP() << "the kernel does not say where pages are: " << problems_with("move_pages")

TEST(pages, are_fresh_aligned_and_zero) {
  for (const bool huge : {false, true})
    for (const std::size_t bytes : {std::size_t{1}, page_size(), 3 * huge_page + 5}) {
      const mapped memory(bytes, {.huge_pages = huge});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (huge ? huge_page : page_size()), 0U);
      EXPECT_EQ(std::count(memory.data(), memory.data() + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
      memory.touch();
    }
}

TEST(pages, are_given_back_whole) {
  constexpr std::size_t rounds = 100;
  for (const bool huge : {false, true}) {
    const std::size_t before = mapped_pages();
    // Neighbours of odd sizes, so that few start at a multiple of 2 MiB by chance.
    std::vector<std::unique_ptr<mapped>> all;
    std::size_t pages = 0;
    for (std::size_t round = 1; round <= rounds; pages += round, ++round)
      all.push_back(std::make_unique<mapped>(round * page_size() - 1, page_placement{.huge_pages = huge}));
    for (const auto& each : all) each->touch();
    // Sanitizers and the C library map some memory of their own.
    constexpr std::size_t slack = 4096;
    EXPECT_LT(mapped_pages(), before + pages + slack) << huge;
    all.clear();
    EXPECT_LT(mapped_pages(), before + slack) << huge;
  }
}

TEST(pages, of_no_or_of_impossible_size_are_refused) {
  for (const bool huge : {false, true}) {
    const page_placement placement{.huge_pages = huge};
    EXPECT_THROW((void)nearfar::map_pages(0, placement), nearfar::misuse);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    for (const std::size_t bytes :
         {most, most - page_size(), most - huge_page, most / 2, std::size_t{1} << 60})
      EXPECT_THROW((void)nearfar::map_pages(bytes, placement), std::bad_alloc) << bytes;
  }
}

TEST(pages, on_domains_that_are_not_there_are_the_callers_error) {
  const int count = this_machine().numa_domains();
  for (const page_policy policy : {page_policy::bind, page_policy::interleave})
    for (const int domain : {-1, count}) {
      try {
        (void)nearfar::map_pages(1, {.policy = policy, .domains = {0, domain}});
        FAIL() << domain;
      } catch (const nearfar::topology_error& problem) {
        EXPECT_EQ(std::string(problem.what()), "no NUMA domain " + std::to_string(domain) +
                                                   ": the machine has " + std::to_string(count) +
                                                   ", numbered from 0");
      }
    }
  EXPECT_THROW((void)nearfar::map_pages(1, {.policy = page_policy::bind}), nearfar::topology_error);
}

TEST(pages, have_no_place_before_they_are_written) {
  constexpr std::size_t bytes = 4 * huge_page;
  const mapped memory(bytes);
  const std::optional<page_locations> fresh = memory.locate();
  SKIP_UNLESS_KERNEL_TELLS(fresh);
  EXPECT_EQ(fresh->page_bytes, page_size());
  EXPECT_EQ(fresh->domains, std::vector<int>(bytes / page_size(), untouched_page));

  // A read alone gives a page no place.
  EXPECT_EQ(std::count(memory.data(), memory.data() + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
  EXPECT_EQ(memory.locate()->domains, std::vector<int>(bytes / page_size(), untouched_page));

  memory.data()[huge_page] = 1;
  const std::vector<int> one = memory.locate()->domains;
  EXPECT_EQ(one.front(), untouched_page);
  EXPECT_EQ(one.back(), untouched_page);
  EXPECT_NE(one[huge_page / page_size()], untouched_page);

  memory.touch();
  const std::vector<int> all = memory.locate()->domains;
  for (const int domain : all) {
    ASSERT_GE(domain, 0);
    ASSERT_LT(domain, this_machine().numa_domains());
  }
}

TEST(pages, are_those_that_hold_the_bytes_asked_for) {
  const std::size_t page = page_size();
  const mapped memory(4 * page);
  memory.data()[page] = 1;
  const auto count = [&](std::size_t first, std::size_t bytes) {
    return nearfar::locate_pages(memory.data() + first, bytes)->domains.size();
  };
  SKIP_UNLESS_KERNEL_TELLS(memory.locate());
  EXPECT_EQ(count(0, 0), 0U);
  EXPECT_EQ(count(0, 1), 1U);
  EXPECT_EQ(count(page - 1, 1), 1U);
  EXPECT_EQ(count(page - 1, 2), 2U);
  EXPECT_EQ(count(page - 1, page + 2), 3U);
  EXPECT_EQ(count(page, 3 * page), 3U);
  EXPECT_GE(nearfar::locate_pages(memory.data() + 2 * page - 1, 1)->domains.at(0), 0);
}

TEST(pages, are_on_the_domains_they_are_bound_to) {
  const std::size_t bytes = 64 * page_size();
  for (int domain = 0; domain < this_machine().numa_domains(); ++domain) {
    const mapped memory(bytes, {.policy = page_policy::bind, .domains = {domain}});
    memory.touch();
    const std::optional<page_locations> found = memory.locate();
    SKIP_UNLESS_KERNEL_TELLS(found);
    if (problems_with("bind") == 0) {
      EXPECT_EQ(found->domains, std::vector<int>(64, domain));
    }
  }
}

TEST(pages, go_round_the_domains_they_are_interleaved_over) {
  const int domains = this_machine().numa_domains();
  const std::size_t pages = 64 * static_cast<std::size_t>(domains);
  const mapped memory(pages * page_size(), {.policy = page_policy::interleave});
  memory.touch();
  const std::optional<page_locations> found = memory.locate();
  SKIP_UNLESS_KERNEL_TELLS(found);
  if (problems_with("interleave") == 0) {
    for (int domain = 0; domain < domains; ++domain)
      EXPECT_EQ(std::count(found->domains.begin(), found->domains.end(), domain), 64) << domain;
  }
}

TEST(pages, that_are_first_touched_are_on_the_domain_of_the_thread) {
  const std::size_t bytes = 64 * page_size();
  for (const nearfar::usable_cpu& each : this_machine().usable_cpus()) {
    std::thread([&] {
      this_machine().bind_this_thread_to_cpus(std::vector<int>{each.number});
      const int here = each.where[nearfar::index(nearfar::level::numa)];
      EXPECT_EQ(nearfar::this_thread_domain(), here) << "CPU " << each.number;
      const mapped memory(bytes);
      memory.touch();
      const std::optional<page_locations> found = memory.locate();
      SKIP_UNLESS_KERNEL_TELLS(found);
      EXPECT_EQ(found->domains, std::vector<int>(64, here));
    }).join();
  }
}

TEST(pages, work_where_the_system_forbids_placement_and_say_so_once) {
  std::string skipped;
  std::thread([&] {
    if (!nearfar::testing::forbid_placement_calls()) {
      skipped = std::string("seccomp is not permitted here: ") + std::strerror(errno);
      return;
    }
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread)
      threads.emplace_back([] {
        for (int round = 0; round < 3; ++round) {
          const mapped bound(3 * page_size(), {.policy = page_policy::bind, .domains = {0}});
          const mapped spread(3 * page_size(), {.policy = page_policy::interleave});
          for (const mapped* each : {&bound, &spread}) {
            each->touch();
            EXPECT_EQ(each->data()[3 * page_size() - 1], 1);
            EXPECT_EQ(each->locate(), std::nullopt);
          }
        }
      });
    for (std::thread& thread : threads) thread.join();
  }).join();
  if (!skipped.empty()) GTEST_SKIP() << skipped;
  EXPECT_EQ(problems_with("cannot bind memory to NUMA domains: Operation not permitted"), 1U);
  EXPECT_EQ(problems_with("cannot interleave memory over NUMA domains: Operation not permitted"), 1U);
  EXPECT_EQ(problems_with("does not say where pages are: move_pages: Operation not permitted"), 1U);
}

/// Calls `body(cpu)` on each CPU that the calling thread may use.
template <typename Body>
void on_each_cpu(Body body) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    body(cpu);
  }
}

// For a process of its own, in which this_machine() is made again.
[[noreturn]] void end_process() {
  std::fflush(nullptr);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

void describe_machine(const char* text) {
  setenv("HWLOC_SYNTHETIC", text, 1);
  unsetenv("HWLOC_XMLFILE");
}

[[noreturn]] void use_two_described_domains() {
  describe_machine("numa:2 core:1 pu:1");
  EXPECT_EQ(this_machine().numa_domains(), 2);
  on_each_cpu([](int cpu) { EXPECT_EQ(nearfar::this_thread_domain(), cpu % 2); });

  const mapped memory(page_size(), {.policy = page_policy::bind, .domains = {1}});
  EXPECT_EQ(problems_with("the topology is not this machine's"), 1U);
  EXPECT_THROW((void)nearfar::map_pages(1, {.policy = page_policy::bind, .domains = {2}}),
               nearfar::topology_error);
  if (const auto fresh = memory.locate()) {
    EXPECT_EQ(fresh->domains, std::vector<int>{untouched_page});
    memory.touch();
    EXPECT_EQ(memory.locate()->domains, std::vector<int>{nearfar::unknown_domain});
    EXPECT_EQ(problems_with("the environment's description does not show"), 1U);
  }
  end_process();
}

[[noreturn]] void use_one_described_cpu() {
  describe_machine("pu:1");
  on_each_cpu([](int) { EXPECT_EQ(nearfar::this_thread_domain(), 0); });
  end_process();
}

// The first call discovers the machine, here from a thread that may use one CPU.
[[noreturn]] void ask_from_a_bound_thread_first() {
  on_each_cpu(
      [](int cpu) { EXPECT_NE(nearfar::this_thread_domain(), nearfar::unknown_domain) << "CPU " << cpu; });
  end_process();
}

TEST(pages, know_the_domain_of_every_cpu_if_a_bound_thread_asks_first) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask_from_a_bound_thread_first(), testing::ExitedWithCode(0), "");
}

TEST(pages, on_a_machine_that_is_only_described_take_its_code_paths) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use_two_described_domains(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(use_one_described_cpu(), testing::ExitedWithCode(0), "");
}

}  // namespace
