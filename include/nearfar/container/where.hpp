/// \file
/// Asks the kernel where the pages of a container are, and compares this with where its owners run.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 2.1, which can
/// only infer the place of pages from how fast they are.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

/// Where pages are, and how many of them are right. Pages are those of the system, even if several form a
/// huge one.
struct page_report {
  /// Whether the kernel told where the pages are. If not, all members below except `pages` are zero or empty.
  bool located = false;
  std::size_t pages = 0;
  std::size_t untouched = 0;  ///< never written
  std::size_t unknown = 0;    ///< touched, on an unknown domain
  /// Pages on each NUMA domain, by its logical id.
  std::vector<std::size_t> on_domain{};
  /// Pages on a known domain whose owners are on known domains.
  std::size_t judged = 0;
  /// Judged pages that are on the domain of an owner.
  std::size_t right = 0;

  /// right / judged; nothing if no page could be judged. Always 1 with a single NUMA domain.
  [[nodiscard]] std::optional<double> share() const noexcept {
    if (judged == 0) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(judged);
  }

  [[nodiscard]] friend bool operator==(const page_report&, const page_report&) = default;
};

/// On which domains the pages of a piece of memory may rightly be: those of the owners of their bytes.
class page_owners {
 public:
  /// For the pages that hold the `bytes` bytes from `data` on; they have no owners yet. May throw what
  /// `this_machine()` throws.
  page_owners(const void* data, std::size_t bytes);

  /// Declares that bytes `first` to `last` - 1, counted from `data`, have an owner on `domain`, which may be
  /// `unknown_domain`. Throws `misuse` beyond the memory, or for a domain that the machine does not have.
  void add(std::size_t first, std::size_t last, int domain);

  [[nodiscard]] std::size_t pages() const noexcept { return pages_; }

  /// Number of NUMA domains of the machine.
  [[nodiscard]] int domains() const noexcept { return domains_; }

  /// Whether a page has owners, and all their domains are known.
  [[nodiscard]] bool known(std::size_t page) const noexcept;

  /// Whether a page has an owner on `domain`.
  [[nodiscard]] bool has(std::size_t page, int domain) const noexcept;

 private:
  [[nodiscard]] bool bit(std::size_t page, std::size_t number) const noexcept;

  std::size_t bytes_;
  std::size_t before_;  // bytes of the first page before the memory
  std::size_t pages_;
  int domains_;
  std::size_t words_;                 // for each page
  std::vector<std::uint64_t> owned_;  // bit 0: by an owner on an unknown domain; bit d + 1: on domain d
};

/// Compares where pages are with where their owners are. A page is right if it is on the domain of any of its
/// owners, since it cannot be on those of all. Throws `misuse` if the numbers of pages differ.
[[nodiscard]] page_report judge(const page_locations& found, const page_owners& owners);

/// Asks where the `bytes` bytes from `data` on are, and judges. Does not touch the memory. Any thread may
/// call it. Cost: that of `locate_pages`.
[[nodiscard]] page_report where(const void* data, std::size_t bytes, const page_owners& owners);

/// The same without owners: no page is judged.
[[nodiscard]] page_report where(const void* data, std::size_t bytes);

/// The NUMA domain on which each member of a team runs at this moment; `unknown_domain` if that is not known.
/// It stays true only for bound threads: see `pin_team`. Cost: one parallel region.
[[nodiscard]] std::vector<int> domains_of(const team& threads);

namespace detail {

/// For `elements` elements, the first of `scheduled` elements owned by `static_schedule(scheduled, threads,
/// chunk)`.
[[nodiscard]] page_report where_scheduled(const void* data, std::size_t element_bytes, std::size_t elements,
                                          std::size_t scheduled, const team& threads, std::size_t chunk);

/// A contiguous container whose allocator knows the owners, such as `numa_vector`, or a `std::vector` with
/// `numa_allocator`. They own parts of its capacity.
template <typename Container>
concept placed_container = std::ranges::contiguous_range<Container> && requires(const Container& all) {
  { all.capacity() } -> std::convertible_to<std::size_t>;
  { all.get_allocator().team() } -> std::convertible_to<team>;
  { Container::allocator_type::chunk } -> std::convertible_to<std::size_t>;
};

template <typename Container>
concept segmented_container = requires(const Container& all, std::size_t segment) {
  { all.segments() } -> std::convertible_to<std::size_t>;
  { all.team() } -> std::convertible_to<team>;
  std::as_bytes(all.segment(segment));
};

}  // namespace detail

/// Where the elements of an array or vector are. The owners are the members of `threads` by `static_schedule`
/// with this chunk.
template <std::ranges::contiguous_range Range>
  requires std::ranges::sized_range<Range> && (!detail::segmented_container<Range>)
[[nodiscard]] page_report where(const Range& range, const team& threads, std::size_t chunk = 0) {
  const std::size_t size = std::ranges::size(range);
  return detail::where_scheduled(std::ranges::data(range), sizeof(std::ranges::range_value_t<Range>), size,
                                 size, threads, chunk);
}

/// Where the elements of a container are that knows its owners: the members of its allocator's team.
template <detail::placed_container Container>
[[nodiscard]] page_report where(const Container& container) {
  return detail::where_scheduled(container.data(), sizeof(typename Container::value_type), container.size(),
                                 container.capacity(), container.get_allocator().team(),
                                 Container::allocator_type::chunk);
}

/// Where segments are. The owners are the members of `threads` by `static_schedule`. Pages of the padding
/// between segments also count, and have no owner.
template <detail::segmented_container Container>
[[nodiscard]] page_report where(const Container& container, const team& threads) {
  std::size_t segments = container.segments();
  const auto bytes_of = [&](std::size_t i) { return std::as_bytes(container.segment(i)); };
  while (segments > 0 && bytes_of(segments - 1).empty()) --segments;
  if (segments == 0) return where(nullptr, 0);
  const std::byte* const begin = bytes_of(0).data();
  const auto last = bytes_of(segments - 1);
  const auto bytes = static_cast<std::size_t>(last.data() + last.size() - begin);
  const std::vector<int> domains = domains_of(threads);
  const static_schedule schedule(container.segments(), static_cast<int>(domains.size()));
  page_owners owners(begin, bytes);
  for (std::size_t i = 0; i < segments; ++i) {
    const auto first = static_cast<std::size_t>(bytes_of(i).data() - begin);
    owners.add(first, first + bytes_of(i).size(), domains[static_cast<std::size_t>(schedule.owner(i))]);
  }
  return where(begin, bytes, owners);
}

/// The same for the members of the container's team.
template <detail::segmented_container Container>
[[nodiscard]] page_report where(const Container& container) {
  return where(container, container.team());
}

}  // namespace nearfar
