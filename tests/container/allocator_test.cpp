#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <scoped_allocator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_resource.hpp"
#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/memory/pages.hpp"
#include "tests/container/alignment.hpp"

namespace {

using nearfar::numa_allocator;
using nearfar::numa_resource;
using nearfar::page_placement;
using nearfar::page_policy;
using nearfar::page_size;
using nearfar::placed_from_bytes;
using nearfar::static_schedule;
using nearfar::team;
using nearfar::team_member;
using nearfar::test::is_aligned;

// ---- the thread that touches each page -------------------------------------------------------------------

thread_local int this_member = -1;

// Pages without access rights until the first access, whose thread is recorded.
class watched_pages {
 public:
  explicit watched_pages(std::size_t pages)
      : memory_(mmap(nullptr, pages * page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        members_(pages) {
    for (auto& member : members_) member = nobody;
    current = this;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) { current->touched(info->si_addr); };
    sigaction(SIGSEGV, &action, &before_);
  }
  watched_pages(const watched_pages&) = delete;
  watched_pages& operator=(const watched_pages&) = delete;
  ~watched_pages() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(memory_, members_.size() * page_size());
  }

  static constexpr int nobody = -2;

  [[nodiscard]] void* memory() const { return memory_; }
  [[nodiscard]] int member(std::size_t page) const { return members_[page]; }

 private:
  void touched(void* address) {
    const auto page = static_cast<std::size_t>(static_cast<std::byte*>(address) - begin()) / page_size();
    if (page >= members_.size()) {
      sigaction(SIGSEGV, &before_, nullptr);  // another fault, which will come again
      return;
    }
    members_[page] = this_member;
    mprotect(begin() + page * page_size(), page_size(), PROT_READ | PROT_WRITE);
  }
  [[nodiscard]] std::byte* begin() const { return static_cast<std::byte*>(memory_); }

  static inline watched_pages* current = nullptr;
  void* memory_;
  std::vector<std::atomic<int>> members_;
  struct sigaction before_ {};
};

// `touch` has to touch pages with this many items for this many threads.
template <typename Touch>
void expect_touched_by_owners(std::size_t items, std::size_t item_bytes, int threads, std::size_t chunk,
                              const Touch& touch) {
  const std::size_t pages = (items * item_bytes + page_size() - 1) / page_size();
  int size = 0;
  team(threads).run([&](team_member member) {
    this_member = member.index;
    if (member.index == 0) size = member.size;
  });
  const watched_pages watched(pages);
  touch(watched.memory());
  const static_schedule schedule(items, size, chunk);
  for (std::size_t page = 0; page < pages; ++page) {
    ASSERT_EQ(watched.member(page), schedule.owner(page * page_size() / item_bytes))
        << "page " << page << " of " << items << " items of " << item_bytes << ", " << threads
        << " threads, chunk " << chunk;
  }
}

void expect_touched_by_owners(std::size_t items, std::size_t item_bytes, int threads, std::size_t chunk) {
  expect_touched_by_owners(items, item_bytes, threads, chunk, [&](void* memory) {
    nearfar::detail::touch_pages(memory, items, item_bytes, team(threads), chunk);
  });
}

TEST(touch_pages, leaves_each_page_to_the_owner_of_the_item_that_it_begins_in) {
  for (const int threads : {1, 2, 3})
    for (const std::size_t chunk : {0U, 1U, 100U, 512U, 5000U}) {
      expect_touched_by_owners(40 * page_size() / 8, 8, threads, chunk);
      expect_touched_by_owners(40 * page_size() / 8 - 5, 8, threads, chunk);
      expect_touched_by_owners(1000, 152, threads, chunk);
    }
  expect_touched_by_owners(7, 3 * page_size() + 8, 3, 0);
  expect_touched_by_owners(1, 5 * page_size(), 3, 0);
  expect_touched_by_owners(1, 1, 3, 0);
}

// ---- numa_allocator: the standard's requirements ----------------------------------------------------------

using doubles = numa_allocator<double>;
using chunks = numa_allocator<double, 512>;
using traits = std::allocator_traits<chunks>;

static_assert(std::is_same_v<traits::value_type, double>);
static_assert(std::is_same_v<traits::pointer, double*>);
static_assert(std::is_same_v<traits::rebind_alloc<char>, numa_allocator<char, 512>>);
static_assert(traits::is_always_equal::value);
static_assert(traits::propagate_on_container_move_assignment::value);
static_assert(traits::propagate_on_container_swap::value);
static_assert(!traits::propagate_on_container_copy_assignment::value);
static_assert(chunks::chunk == 512 && doubles::chunk == 0);
static_assert(std::is_nothrow_default_constructible_v<doubles>);
static_assert(std::is_nothrow_copy_constructible_v<doubles> && std::is_nothrow_copy_assignable_v<doubles>);
static_assert(std::is_nothrow_move_constructible_v<doubles> && std::is_nothrow_swappable_v<doubles>);
static_assert(std::is_nothrow_constructible_v<numa_allocator<char, 512>, const chunks&>);
static_assert(!std::is_constructible_v<numa_allocator<char, 8>, const chunks&>);

const page_placement interleaved{.policy = page_policy::interleave};

TEST(numa_allocator, hands_team_and_placement_on_to_copies_and_rebound_ones) {
  const chunks allocator(team(3), interleaved);
  const numa_allocator<char, 512> rebound(allocator);
  const auto selected = traits::select_on_container_copy_construction(allocator);
  EXPECT_EQ(rebound.team(), team(3));
  EXPECT_EQ(rebound.placement(), interleaved);
  EXPECT_EQ(selected.team(), team(3));
  EXPECT_EQ(selected.placement(), interleaved);
  EXPECT_TRUE(rebound == allocator);
  std::vector<double, chunks> vector(10, 1.0, allocator);
  const auto moved(std::move(vector));
  EXPECT_EQ(moved.get_allocator().placement(), interleaved);
  // NOLINTNEXTLINE(bugprone-use-after-move): an allocator is the same after a move
  EXPECT_EQ(vector.get_allocator().placement(), interleaved);
  EXPECT_EQ(chunks().team(), team());
  EXPECT_EQ(chunks().placement(), page_placement{});
}

TEST(numa_allocator, gives_usable_memory_of_every_size) {
  const doubles allocator(team(2));
  for (const std::size_t n : {0U, 1U, 31U, 32U, 33U, 511U, 512U, 8191U, 8192U, 8193U, 100'000U}) {
    double* const p = allocator.allocate(n);
    ASSERT_NE(p, nullptr);
    std::fill_n(p, n, 1.0);
    EXPECT_EQ(std::count(p, p + n, 1.0), static_cast<std::ptrdiff_t>(n));
    doubles().deallocate(p, n);  // any equal allocator gives it back
  }
}

template <typename T>
void expect_aligned(std::size_t n, std::size_t alignment) {
  const numa_allocator<T> allocator(team(2));
  T* const p = allocator.allocate(n);
  EXPECT_TRUE(is_aligned(p, alignment)) << n << " elements aligned to " << alignof(T);
  std::uninitialized_value_construct_n(p, n);
  allocator.deallocate(p, n);
}

struct alignas(128) line_pair {
  std::array<char, 128> bytes{};
};
struct alignas(4096) page_of_bytes {
  std::array<char, 4096> bytes{};
};
struct alignas(16384) more_than_a_page {
  std::array<char, 16384> bytes{};
};

TEST(numa_allocator, aligns_over_aligned_types_whether_placed_or_not) {
  for (const std::size_t n : {1U, 3U, 40U, 1000U}) {
    expect_aligned<line_pair>(n, 128);
    expect_aligned<page_of_bytes>(n, 4096);
    expect_aligned<more_than_a_page>(n, 16384);
  }
  expect_aligned<double>(32, 64);
}

TEST(numa_allocator, begins_with_a_page_when_chunked) {
  for (const std::size_t n : {1U, 10U, 512U, 5000U, 100'000U}) {
    const numa_allocator<double, 8> allocator(team(2));
    std::array<double*, 3> arrays{};
    for (double*& array : arrays) {
      array = allocator.allocate(n);
      EXPECT_TRUE(is_aligned(array, page_size()));
    }
    for (double* array : arrays) allocator.deallocate(array, n);
  }
}

TEST(numa_allocator, refuses_sizes_that_overflow) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(static_cast<void>(doubles().allocate(most)), std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(doubles().allocate(most / sizeof(double) + 2)), std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(doubles().allocate(doubles::max_size() + 1)), std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(chunks().allocate_untouched(most / 4)), std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(doubles().allocate(doubles::max_size())), std::bad_alloc);
}

TEST(numa_allocator, touches_all_pages_of_large_arrays_unless_told_not_to) {
  const doubles allocator(team(3));
  const std::size_t n = 10 * placed_from_bytes / sizeof(double) + 17;
  const std::size_t bytes = n * sizeof(double);
  double* const touched = allocator.allocate(n);
  double* const untouched = allocator.allocate_untouched(n);
  EXPECT_TRUE(std::all_of(touched, touched + n, [](double x) { return x == 0; }));
  const auto with_touch = nearfar::locate_pages(touched, bytes);
  const auto without = nearfar::locate_pages(untouched, bytes);
  if (with_touch && without) {
    EXPECT_EQ(std::ranges::count(with_touch->domains, nearfar::untouched_page), 0);
    EXPECT_EQ(std::ranges::count(without->domains, nearfar::untouched_page), std::ssize(without->domains));
  } else {
    EXPECT_FALSE(nearfar::placement_problems().empty());
  }
  allocator.deallocate(touched, n);
  allocator.deallocate(untouched, n);
}

TEST(numa_allocator, has_pages_touched_by_its_team_and_chunk) {
  const std::size_t n = 40 * page_size() / sizeof(double) + 3;
  expect_touched_by_owners(n, sizeof(double), 3, 512,
                           [&](void* memory) { chunks(team(3)).touch(static_cast<double*>(memory), n); });
  expect_touched_by_owners(n, sizeof(double), 2, 0,
                           [&](void* memory) { doubles(team(2)).touch(static_cast<double*>(memory), n); });
}

TEST(numa_allocator, takes_domains_that_are_not_there_for_an_error_when_it_maps) {
  const doubles nowhere(team(2), {.policy = page_policy::bind, .domains = {12345}});
  EXPECT_ANY_THROW(static_cast<void>(nowhere.allocate(placed_from_bytes)));
  double* const small = nowhere.allocate(8);
  nowhere.deallocate(small, 8);
}

TEST(numa_allocator, binds_and_interleaves_what_it_maps) {
  for (const page_policy policy : {page_policy::bind, page_policy::interleave}) {
    for (const bool huge_pages : {false, true}) {
      const numa_allocator<double, 512> allocator(
          team(2), {.policy = policy, .domains = {0}, .huge_pages = huge_pages});
      std::vector<double, numa_allocator<double, 512>> values(400'000, 1.5, allocator);
      EXPECT_EQ(std::count(values.begin(), values.end(), 1.5), 400'000);
      if (const auto where = nearfar::locate_pages(values.data(), 400'000 * sizeof(double))) {
        // On a machine that is only described, the domains of existing pages are unknown.
        const auto here = where->domains.front() == nearfar::unknown_domain ? nearfar::unknown_domain : 0;
        EXPECT_EQ(std::ranges::count(where->domains, here), std::ssize(where->domains));
      }
    }
  }
}

// ---- with containers of the standard library
// ---------------------------------------------------------------

TEST(numa_allocator, serves_the_containers_of_the_standard_library) {
  const numa_allocator<int> allocator(team(2));
  std::vector<int, numa_allocator<int>> vector(100'000, 1, allocator);
  for (int i = 0; i < 100'000; ++i) vector.push_back(i);
  EXPECT_EQ(vector[199'999], 99'999);
  EXPECT_EQ(vector.get_allocator().team(), team(2));

  std::deque<int, numa_allocator<int, 16>> deque(10'000, 3);
  deque.push_front(4);
  EXPECT_EQ(deque.front() + deque.back(), 7);

  std::list<int, numa_allocator<int>> list(allocator);
  std::map<int, std::string, std::less<>, numa_allocator<std::pair<const int, std::string>>> map(allocator);
  for (int i = 0; i < 100; ++i) {
    list.push_front(i);
    map.emplace(i, std::string(100, 'x'));
  }
  auto copy = map;
  map.clear();
  EXPECT_EQ(copy.size(), list.size());
  EXPECT_EQ(copy.get_allocator().team(), team(2));
}

TEST(numa_allocator, moves_along_with_a_container_but_is_not_assigned_with_a_copy) {
  using vector = std::vector<int, numa_allocator<int>>;
  const vector two(10, 1, numa_allocator<int>(team(2)));
  vector three(5, 2, numa_allocator<int>(team(3)));
  three = two;
  EXPECT_EQ(three.get_allocator().team(), team(3));
  vector four(5, 2, numa_allocator<int>(team(4)));
  const int* const data = four.data();
  three = std::move(four);
  EXPECT_EQ(three.get_allocator().team(), team(4));
  EXPECT_EQ(three.data(), data);
}

TEST(numa_allocator, reaches_inner_containers_through_a_scoped_adaptor) {
  using row = std::vector<double, numa_allocator<double>>;
  using adaptor = std::scoped_allocator_adaptor<numa_allocator<row>>;
  std::vector<row, adaptor> matrix(3, adaptor(numa_allocator<row>(team(3))));
  matrix.emplace_back(10, 1.0);
  for (const row& each : matrix) EXPECT_EQ(each.get_allocator().team(), team(3));
  EXPECT_EQ(matrix.back().size(), 10U);
}

TEST(numa_allocator, is_shared_by_threads_that_allocate_at_once) {
  const doubles allocator(team(2), interleaved);
  team(4).run([&](team_member member) {
    for (std::size_t round = 1; round < 20; ++round) {
      const std::size_t n = round * 1000 + static_cast<std::size_t>(member.index);
      const numa_allocator<float> mine(allocator);
      std::vector<float, numa_allocator<float>> values(n, 1.0F, mine);
      ASSERT_EQ(std::count(values.begin(), values.end(), 1.0F), static_cast<std::ptrdiff_t>(n));
    }
  });
}

// ---- numa_resource
// -----------------------------------------------------------------------------------------

TEST(numa_resource, serves_polymorphic_containers) {
  numa_resource resource(team(2), interleaved);
  EXPECT_EQ(resource.team(), team(2));
  EXPECT_EQ(resource.placement(), interleaved);
  std::pmr::vector<std::pmr::string> strings(&resource);
  for (int i = 0; i < 5000; ++i) strings.emplace_back(static_cast<std::size_t>(i % 100), 'x');
  EXPECT_EQ(strings.back().size(), 99U);
  EXPECT_EQ(strings.back().get_allocator().resource(), &resource);
  std::pmr::monotonic_buffer_resource buffer(1 << 20, &resource);
  const std::pmr::vector<double> values(50'000, 1.0, &buffer);
  EXPECT_EQ(std::count(values.begin(), values.end(), 1.0), 50'000);
}

TEST(numa_resource, gives_back_what_any_other_has_got) {
  numa_resource one(team(2));
  numa_resource other(team(3), interleaved);
  EXPECT_TRUE(one.is_equal(other));
  EXPECT_FALSE(one.is_equal(*std::pmr::new_delete_resource()));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, 10 * placed_from_bytes})
    for (const std::size_t alignment : {1U, 16U, 256U, 4096U, 16384U}) {
      void* const p = one.allocate(bytes, alignment);
      EXPECT_TRUE(is_aligned(p, alignment));
      std::fill_n(static_cast<char*>(p), bytes, 'x');
      other.deallocate(p, bytes, alignment);
    }
}

TEST(numa_resource, touches_the_pages_of_large_requests) {
  numa_resource resource(team(3));
  const std::size_t bytes = 10 * placed_from_bytes + 100;
  void* const p = resource.allocate(bytes);
  if (const auto where = nearfar::locate_pages(p, bytes)) {
    EXPECT_EQ(std::ranges::count(where->domains, nearfar::untouched_page), 0);
  } else {
    EXPECT_FALSE(nearfar::placement_problems().empty());
  }
  resource.deallocate(p, bytes);
}

TEST(numa_resource, refuses_what_no_memory_can_hold) {
  numa_resource resource;
  EXPECT_THROW(static_cast<void>(resource.allocate(std::numeric_limits<std::size_t>::max() / 2)),
               std::bad_alloc);
}

}  // namespace
