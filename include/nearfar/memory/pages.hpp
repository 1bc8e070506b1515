/// \file
/// Page-wise memory: fresh pages on chosen NUMA domains, and the kernel's report of where each page really
/// is.
///
/// A page gets its place when it is first written: by default on the domain of the thread that writes (first
/// touch). Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, sections 1.5.2
/// and 2.1.
///
/// All of this also works without NUMA, and where the system forbids its calls, as in many containers. Memory
/// is then placed by first touch, nothing fails, and `placement_problems()` says what was refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "nearfar/language.hpp"

namespace nearfar {

/// Size of a page of the system in bytes; a power of two.
[[nodiscard]] std::size_t page_size() noexcept;

/// The rule that decides which NUMA domain a page is on.
enum class page_policy {
  first_touch,  ///< the thread that writes to it first
  bind,         ///< the given domains, other domains only once these are full
  interleave,   ///< the given domains in turn, page by page
};

/// Where pages should be. A domain is a logical id of hwloc, as in a `place`: 0 to numa_domains() - 1.
struct page_placement {
  page_policy policy = page_policy::first_touch;
  /// At least one for `bind`. For `interleave` an empty list means all domains. `first_touch` ignores it.
  std::vector<int> domains{};
  /// Asks the kernel for 2 MiB pages (transparent huge pages), which it provides where it has them. A huge
  /// page is on one domain as a whole. If false, the system's default applies.
  bool huge_pages = false;

  [[nodiscard]] friend bool operator==(const page_placement&, const page_placement&) = default;
};

/// Maps `bytes` > 0 bytes of fresh pages, which read as zero and have no place before they are written. The
/// address is a multiple of the page size, of 2 MiB with `huge_pages`.
///
/// Throws `std::bad_alloc` if the system does not have enough memory, `topology_error` for a domain that the
/// machine does not have or for `bind` without a domain, `misuse` for 0 bytes. A placement that the system
/// refuses is not an error: see `placement_problems()`. Any thread may call it at any time. Cost: one to
/// three system calls, and one page fault for each page when it is touched. The first call that names domains
/// also discovers the machine, which takes milliseconds.
[[nodiscard]] void* map_pages(std::size_t bytes, const page_placement& placement = {});

/// Unmaps what `map_pages(bytes, ...)` returned, whatever the placement was.
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// The requests that the system has refused so far in this process: one line for each problem, without
/// repetition, in the order of appearance. Empty if the system has refused nothing. Any thread may call it at
/// any time.
[[nodiscard]] std::vector<std::string> placement_problems();

/// Stands for an unknown NUMA domain.
inline constexpr int unknown_domain = -1;

/// Stands in place of a domain for a page that has not been written yet, or is swapped out.
inline constexpr int untouched_page = -2;

/// The NUMA domain of the CPU on which the calling thread runs at this moment; `unknown_domain` if the
/// machine does not tell. A thread that is not bound may move to another domain right after. Cost: some ten
/// nanoseconds; the first call discovers the machine and may throw `topology_error`.
///
/// If the environment describes another machine (see `hardware`), this is the domain of that machine's PU
/// with the CPU's number modulo pus(), so that code for several domains can be tried on a machine with one.
[[nodiscard]] int this_thread_domain();

/// The places of consecutive pages.
struct page_locations {
  std::size_t page_bytes = 0;
  /// The domain of each page, or `untouched_page` or `unknown_domain`. The first page is that of the first
  /// byte asked for.
  std::vector<int> domains{};
};

/// Asks the kernel for the places of the pages that hold the `bytes` bytes from `data`. The memory must be
/// mapped and is not touched. Empty if the system does not tell, which `placement_problems()` then mentions.
/// If the environment describes another machine, pages that exist are on `unknown_domain`. Any thread may
/// call it at any time. Cost: a system call for some thousand pages, and about 0.1 µs for each page.
[[nodiscard]] std::optional<page_locations> locate_pages(const void* data, std::size_t bytes);

}  // namespace nearfar
