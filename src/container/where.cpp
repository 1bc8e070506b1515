#include "nearfar/container/where.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/pages.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar {

namespace {

constexpr std::size_t word_bits = 64;

}  // namespace

page_owners::page_owners(const void* data, std::size_t bytes)
    : bytes_(bytes),
      before_(reinterpret_cast<std::uintptr_t>(data) % page_size()),
      pages_(bytes == 0 ? 0 : (before_ + bytes - 1) / page_size() + 1),
      domains_(this_machine().numa_domains()),
      words_(static_cast<std::size_t>(domains_) / word_bits + 1),
      owned_(pages_ * words_) {}

void page_owners::add(std::size_t first, std::size_t last, int domain) {
  if (first > last || last > bytes_)
    throw misuse("bytes " + std::to_string(first) + " to " + std::to_string(last) + " are not among the " +
                 std::to_string(bytes_) + " of this memory");
  if (domain < unknown_domain || domain >= domains_)
    throw misuse("the machine has no NUMA domain " + std::to_string(domain));
  if (first == last) return;
  const auto number = static_cast<std::size_t>(domain - unknown_domain);
  const std::size_t end = (before_ + last - 1) / page_size();
  for (std::size_t page = (before_ + first) / page_size(); page <= end; ++page)
    owned_[page * words_ + number / word_bits] |= std::uint64_t{1} << number % word_bits;
}

bool page_owners::bit(std::size_t page, std::size_t number) const noexcept {
  return (owned_[page * words_ + number / word_bits] >> number % word_bits & 1U) != 0;
}

bool page_owners::known(std::size_t page) const noexcept {
  if (bit(page, 0)) return false;
  const auto words = owned_.begin() + static_cast<std::ptrdiff_t>(page * words_);
  return std::any_of(words, words + static_cast<std::ptrdiff_t>(words_),
                     [](std::uint64_t word) { return word != 0; });
}

bool page_owners::has(std::size_t page, int domain) const noexcept {
  return domain >= 0 && domain < domains_ && bit(page, static_cast<std::size_t>(domain - unknown_domain));
}

page_report judge(const page_locations& found, const page_owners& owners) {
  if (found.domains.size() != owners.pages())
    throw misuse("the owners belong to other memory: they have " + std::to_string(owners.pages()) +
                 " pages, not " + std::to_string(found.domains.size()));
  page_report report{.located = true, .pages = owners.pages()};
  report.on_domain.resize(static_cast<std::size_t>(owners.domains()));
  for (std::size_t page = 0; page < owners.pages(); ++page) {
    const int domain = found.domains[page];
    if (domain == untouched_page) {
      ++report.untouched;
    } else if (domain < 0) {
      ++report.unknown;
    } else {
      ++report.on_domain[static_cast<std::size_t>(domain)];
      if (owners.known(page)) {
        ++report.judged;
        report.right += static_cast<std::size_t>(owners.has(page, domain));
      }
    }
  }
  return report;
}

page_report where(const void* data, std::size_t bytes, const page_owners& owners) {
  const std::optional<page_locations> found = locate_pages(data, bytes);
  return found ? judge(*found, owners) : page_report{.pages = owners.pages()};
}

page_report where(const void* data, std::size_t bytes) {
  return where(data, bytes, page_owners(data, bytes));
}

page_report detail::where_scheduled(const void* data, std::size_t element_bytes, std::size_t elements,
                                    std::size_t scheduled, const team& threads, std::size_t chunk) {
  const std::vector<int> domains = domains_of(threads);
  const static_schedule schedule(scheduled, static_cast<int>(domains.size()), chunk);
  page_owners owners(data, elements * element_bytes);
  for (int member = 0; member < schedule.threads(); ++member)
    schedule.for_each_block(member, [&](index_range block) {
      const std::size_t first = std::min(block.first, elements);
      const std::size_t last = std::min(block.last, elements);
      owners.add(first * element_bytes, last * element_bytes, domains[static_cast<std::size_t>(member)]);
    });
  return where(data, elements * element_bytes, owners);
}

std::vector<int> domains_of(const team& threads) {
  // The first member throws any exception before the other members try.
  (void)this_thread_domain();
  std::vector<int> domains(static_cast<std::size_t>(threads.size()), unknown_domain);
  int members = 1;
  threads.run([&](team_member member) {
    if (member.index == 0) members = member.size;
    domains[static_cast<std::size_t>(member.index)] = this_thread_domain();
  });
  domains.resize(static_cast<std::size_t>(members));
  return domains;
}

}  // namespace nearfar
