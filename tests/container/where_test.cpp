#include "nearfar/container/where.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/pages.hpp"
#include "nearfar/topology/hardware.hpp"

namespace {

using nearfar::page_owners;
using nearfar::page_report;
using nearfar::page_size;
using nearfar::team;
using nearfar::unknown_domain;
using nearfar::where;

/// Pages that its destructor gives back.
class mapped {
 public:
  explicit mapped(std::size_t pages)
      : bytes_(pages * page_size()), data_(static_cast<std::byte*>(nearfar::map_pages(bytes_))) {}
  mapped(const mapped&) = delete;
  mapped& operator=(const mapped&) = delete;
  ~mapped() { nearfar::unmap_pages(data_, bytes_); }

  [[nodiscard]] std::byte* page(std::size_t number) const { return data_ + number * page_size(); }
  void touch(std::size_t first, std::size_t last) const { std::fill(page(first), page(last), std::byte{1}); }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

std::size_t domains() { return static_cast<std::size_t>(nearfar::this_machine().numa_domains()); }

/// Checks that hold for every report on any machine.
void expect_consistent(const page_report& report) {
  EXPECT_LE(report.right, report.judged);
  if (report.located) {
    const std::size_t known =
        std::accumulate(report.on_domain.begin(), report.on_domain.end(), std::size_t{0});
    EXPECT_EQ(report.on_domain.size(), domains());
    EXPECT_EQ(report.pages, report.untouched + report.unknown + known);
    EXPECT_LE(report.judged, known);
  } else {
    EXPECT_EQ(report, (page_report{.pages = report.pages}));
  }
}

#define SKIP_UNLESS_PAGES_ARE_FOUND()                                                  \
  if (!nearfar::locate_pages(nullptr, 1) || !nearfar::this_machine().is_this_system()) \
  GTEST_SKIP() << "the kernel does not say where pages are, or the machine is only described"

TEST(page_owners, are_those_of_all_bytes_of_a_page) {
  const std::size_t page = page_size();
  const int last = nearfar::this_machine().numa_domains() - 1;
  const mapped memory(4);
  page_owners owners(memory.page(0) + page / 2, 3 * page);  // half a page, two pages, half a page
  EXPECT_EQ(owners.pages(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(owners.known(i));

  owners.add(0, page / 2, 0);
  EXPECT_TRUE(owners.has(0, 0));
  EXPECT_TRUE(owners.known(0));
  EXPECT_FALSE(owners.known(1));
  owners.add(page / 2 - 1, page / 2 + 1, last);
  EXPECT_TRUE(owners.has(0, 0));
  EXPECT_TRUE(owners.has(0, last));
  EXPECT_TRUE(owners.has(1, last));
  EXPECT_FALSE(owners.known(2));
  owners.add(5 * page / 2, 3 * page, 0);
  EXPECT_FALSE(owners.known(2));
  EXPECT_TRUE(owners.has(3, 0));
  owners.add(page, page, 0);
  EXPECT_EQ(owners.has(1, 0), last == 0) << "no byte, no owner";
  EXPECT_FALSE(owners.has(0, last + 1));
  EXPECT_FALSE(owners.has(0, unknown_domain));
}

TEST(page_owners, of_whom_one_is_unknown_are_not_known) {
  page_owners owners(nullptr, page_size());
  owners.add(0, 1, unknown_domain);
  EXPECT_FALSE(owners.known(0));
  owners.add(1, 2, 0);
  EXPECT_FALSE(owners.known(0));
  EXPECT_TRUE(owners.has(0, 0));
}

TEST(page_owners, beyond_the_memory_or_the_machine_are_refused) {
  page_owners owners(nullptr, 10);
  EXPECT_THROW(owners.add(0, 11, 0), nearfar::misuse);
  EXPECT_THROW(owners.add(3, 2, 0), nearfar::misuse);
  EXPECT_THROW(owners.add(0, 1, -2), nearfar::misuse);
  EXPECT_THROW(owners.add(0, 1, nearfar::this_machine().numa_domains()), nearfar::misuse);
  EXPECT_EQ(page_owners(nullptr, 0).pages(), 0U);
}

TEST(where, counts_what_was_touched_and_what_was_not) {
  SKIP_UNLESS_PAGES_ARE_FOUND();
  const mapped memory(8);
  memory.touch(0, 3);
  const page_report report = where(memory.page(0), 8 * page_size());
  expect_consistent(report);
  EXPECT_TRUE(report.located);
  EXPECT_EQ(report.pages, 8U);
  EXPECT_EQ(report.untouched, 5U);
  EXPECT_EQ(report.unknown, 0U);
  EXPECT_EQ(report.judged, 0U);
  EXPECT_EQ(report.share(), std::nullopt);
}

TEST(where, judges_pages_by_their_owners) {
  const std::size_t page = page_size();
  const int last = nearfar::this_machine().numa_domains() - 1;
  page_owners owners(nullptr, 8 * page);
  owners.add(0, page, 0);             // page 0: domain 0
  owners.add(page - 1, 3 * page, 0);  // pages 1 and 2: both
  owners.add(page, 3 * page, last);
  owners.add(3 * page, 4 * page, last);            // page 3: the last
  owners.add(4 * page, 5 * page, unknown_domain);  // page 4: not known; pages 5 and 6: no owner
  owners.add(7 * page, 8 * page, 0);               // page 7: domain 0, but not touched
  const page_report report = nearfar::judge(
      {.page_bytes = page, .domains = {last, 0, last, 0, 0, 0, unknown_domain, nearfar::untouched_page}},
      owners);
  expect_consistent(report);
  EXPECT_EQ(report.pages, 8U);
  EXPECT_EQ(report.untouched, 1U);
  EXPECT_EQ(report.unknown, 1U);
  EXPECT_EQ(report.judged, 4U);
  // On a machine with one domain, that domain is the right one.
  EXPECT_EQ(report.on_domain.front(), last == 0 ? 6U : 4U);
  EXPECT_EQ(report.right, last == 0 ? 4U : 2U);
  EXPECT_EQ(report.share(), last == 0 ? 1.0 : 0.5);
}

TEST(where, refuses_the_owners_of_other_memory) {
  EXPECT_THROW(
      (void)nearfar::judge({.page_bytes = page_size(), .domains = {0, 0}}, page_owners(nullptr, page_size())),
      nearfar::misuse);
}

TEST(where, knows_the_pages_and_owners_of_every_container) {
  const std::size_t per_page = page_size() / sizeof(double);
  const std::size_t n = 100 * per_page;
  const team threads(2);
  const std::vector<double> plain(n);
  const std::vector<double, nearfar::numa_allocator<double>> placed(n, threads);
  const nearfar::numa_vector<double, nearfar::numa_allocator<double, 64>> chunked(
      n, nearfar::numa_allocator<double, 64>(threads));
  const nearfar::segmented_array<double> segments(3, n, {}, threads);
  const nearfar::segmented_array<double> dense(7, n, {.page_aligned = false}, threads);
  const nearfar::segmented_array<double, nearfar::padded_layout> apart(3, n, {}, threads);
  std::vector<page_report> reports{where(plain, threads), where(plain, threads, 64), where(placed),
                                   where(chunked),        where(segments),           where(dense),
                                   where(apart)};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    SCOPED_TRACE(i);
    expect_consistent(reports[i]);
    EXPECT_GE(reports[i].pages, 100U);
    EXPECT_LE(reports[i].pages, 103U);
    EXPECT_EQ(reports[i].untouched, 0U) << "all elements are there";
    if (reports[i].located && nearfar::this_machine().is_this_system()) {
      EXPECT_EQ(reports[i].judged, reports[i].pages) << "a page without an owner";
    }
  }
}

TEST(where, goes_by_the_elements_and_not_by_spare_room) {
  const std::size_t per_page = page_size() / sizeof(double);
  nearfar::numa_vector<double> vector(10 * per_page, nearfar::numa_allocator<double>(team(2)));
  vector.reserve(1000 * per_page);
  const page_report report = where(vector);
  expect_consistent(report);
  EXPECT_LE(report.pages, 11U);
}

TEST(where, has_nothing_to_say_of_nothing) {
  const page_report none = where(std::span<int>(), team(2));
  EXPECT_EQ(none.pages, 0U);
  EXPECT_EQ(none.share(), std::nullopt);
  EXPECT_EQ(where(nearfar::segmented_array<int>()).pages, 0U);
  EXPECT_EQ(where(nearfar::segmented_array<int>(3, 0)).pages, 0U);
  EXPECT_EQ(where(nearfar::segmented_array<int>(5, 2)).pages, 1U) << "less than a cache line";
  const nearfar::segmented_array<int, nearfar::padded_layout> apart(5, 2);
  EXPECT_EQ(where(apart).pages, 2U) << "three segments are empty";
  EXPECT_EQ(where(nearfar::numa_vector<int>()).pages, 0U);
}

TEST(where, counts_the_padding_between_segments_as_untouched) {
  SKIP_UNLESS_PAGES_ARE_FOUND();
  const std::size_t per_page = page_size() / sizeof(double);
  const nearfar::segmented_array<double, nearfar::padded_layout> array(4, 4 * per_page,
                                                                       {.padding = 2 * page_size()}, team(2));
  const page_report report = where(array);
  EXPECT_EQ(report.pages, 10U);
  EXPECT_EQ(report.untouched, 6U);
  EXPECT_EQ(report.judged, 4U);
}

TEST(where, asks_every_member_for_its_domain) {
  const std::vector<int> found = nearfar::domains_of(team(3));
  EXPECT_EQ(found.size(), static_cast<std::size_t>(team(3).size()));
  for (const int domain : found) {
    EXPECT_GE(domain, 0);
    EXPECT_LT(domain, nearfar::this_machine().numa_domains());
  }
}

}  // namespace
