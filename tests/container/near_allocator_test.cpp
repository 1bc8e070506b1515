#include "nearfar/container/near_allocator.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nearfar/memory/pages.hpp"
#include "tests/container/alignment.hpp"

namespace {

using nearfar::near_allocator;
using nearfar::page_size;
using nearfar::test::is_aligned;

std::uintptr_t page_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) / page_size(); }

// Calls `body` on a thread of its own for each CPU that this process may use, one after the other.
void on_each_cpu(const std::function<void()>& body) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::thread([&] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
      body();
    }).join();
  }
}

// Each round gives most nodes of the round before back, so pools hand freed memory out again.
TEST(near_allocator, domains_never_share_a_page) {
  std::map<int, std::set<std::uintptr_t>> pages;
  std::list<std::string, near_allocator<std::string>> nodes;
  for (int round = 0; round < 5; ++round) {
    on_each_cpu([&] {
      const int domain = nearfar::this_thread_domain();
      for (int i = 0; i < 1000; ++i) pages[domain].insert(page_of(&nodes.emplace_back("a node")));
    });
    while (nodes.size() > 100) nodes.pop_front();
  }
  for (auto one = pages.begin(); one != pages.end(); ++one) {
    for (auto other = std::next(one); other != pages.end(); ++other) {
      for (const std::uintptr_t page : one->second)
        EXPECT_FALSE(other->second.contains(page)) << "domains " << one->first << " and " << other->first;
    }
  }
}

TEST(near_allocator, places_a_node_on_the_domain_of_the_thread_that_inserts_it) {
  std::deque<long, near_allocator<long>> numbers;
  on_each_cpu([&] {
    const int domain = nearfar::this_thread_domain();
    for (long i = 0; i < 2000; ++i) numbers.push_back(i);
    const auto places = nearfar::locate_pages(&numbers.back(), sizeof(long));
    if (!places) return;  // the system does not tell
    const int place = places->domains.front();
    EXPECT_TRUE(place == domain || place == nearfar::unknown_domain || domain == nearfar::unknown_domain)
        << "on " << place << ", inserted on " << domain;
  });
  EXPECT_EQ(numbers.size() % 2000, 0U);
}

TEST(near_allocator, touches_the_pages_before_it_returns) {
  const near_allocator<char> memory;
  const std::size_t bytes = 10 * page_size();
  char* const large = memory.allocate(bytes);
  const auto places = nearfar::locate_pages(large, bytes);
  if (places) {
    for (const int domain : places->domains) EXPECT_NE(domain, nearfar::untouched_page);
  }
  memory.deallocate(large, bytes);
}

TEST(near_allocator, serves_all_containers_of_nodes) {
  std::map<int, std::string, std::less<>, near_allocator<std::pair<const int, std::string>>> tree;
  std::unordered_map<int, int, std::hash<int>, std::equal_to<>, near_allocator<std::pair<const int, int>>>
      table;
  for (int i = 0; i < 1000; ++i) {
    tree[i] = std::to_string(i);
    table[i] = i;
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(tree.at(i), std::to_string(table.at(i)));
  }
}

struct alignas(256) wide {
  char bytes[256];
};

TEST(near_allocator, keeps_alignments) {
  const near_allocator<wide> memory;
  std::vector<wide*> all;
  for (std::size_t n = 1; n < 50; ++n) all.push_back(memory.allocate(n));
  for (std::size_t n = 1; n < 50; ++n) {
    EXPECT_TRUE(is_aligned(all[n - 1], 256));
    memory.deallocate(all[n - 1], n);
  }
}

TEST(near_allocator, refuses_what_no_array_can_be) {
  const near_allocator<long> memory;
  EXPECT_THROW((void)memory.allocate(std::numeric_limits<std::size_t>::max() / sizeof(long)),
               std::bad_array_new_length);
  EXPECT_THROW((void)memory.allocate(std::numeric_limits<std::ptrdiff_t>::max() / sizeof(long)),
               std::bad_alloc);
}

// Threads insert into and take from lists of others; each node's text tells whether two nodes share memory.
TEST(near_allocator, any_thread_gives_back_what_another_has_taken) {
  using list = std::list<std::pair<int, std::string>, near_allocator<std::pair<int, std::string>>>;
  constexpr int threads = 4;
  constexpr int steps = 5000;
  std::vector<list> mailboxes(threads);
  std::vector<std::atomic_flag> busy(threads);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> team;
  for (int me = 0; me < threads; ++me) {
    team.emplace_back([&, me] {
      std::mt19937 random(static_cast<unsigned>(me));
      for (int step = 0; step < steps; ++step) {
        const std::size_t box = random() % threads;
        while (busy[box].test_and_set(std::memory_order_acquire)) std::this_thread::yield();
        if (random() % 2 == 0 || mailboxes[box].empty()) {
          mailboxes[box].emplace_back(step, std::to_string(step));
        } else {
          const auto [number, text] = mailboxes[box].front();
          mailboxes[box].pop_front();
          if (std::to_string(number) != text) ++wrong;
        }
        busy[box].clear(std::memory_order_release);
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
