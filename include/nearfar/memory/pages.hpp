/// \file
/// Memory by pages: fresh pages on the NUMA domains that are asked for, and the kernel's word on where each
/// page really is.
///
/// A page gets its place when it is written for the first time: by default on the domain of the thread that
/// writes (first touch). Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007,
/// sections 1.5.2 and 2.1.
///
/// All of this works without NUMA, and where the system forbids its calls, as many containers do: memory is
/// then placed by first touch, nothing fails, and `placement_problems()` says what was refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "nearfar/core/language.hpp"

namespace nearfar {

/// Size of a page of the system in bytes; a power of two.
[[nodiscard]] std::size_t page_size() noexcept;

/// Who decides which NUMA domain a page is on.
enum class page_policy {
  first_touch,  ///< the thread that writes to it first
  bind,         ///< the given domains, others only once these are full
  interleave,   ///< the given domains in turn, page by page
};

/// Where pages are to be. A domain is a logical id of hwloc, as in a `place`: 0 to numa_domains() - 1.
struct page_placement {
  page_policy policy = page_policy::first_touch;
  /// At least one for `bind`; for `interleave` none means all; `first_touch` has no use for any.
  std::vector<int> domains{};
  /// Asks the kernel for 2 MiB pages (transparent huge pages). It gives them where it has them; a huge page
  /// is on one domain as a whole. Without this the system's default holds.
  bool huge_pages = false;

  [[nodiscard]] friend bool operator==(const page_placement&, const page_placement&) = default;
};

/// Maps `bytes` > 0 bytes of fresh pages, which read as zero and have no place before they are written. The
/// address is a multiple of the page size, of 2 MiB with `huge_pages`.
///
/// Throws `std::bad_alloc` if the system has not that much memory, `topology_error` for a domain that the
/// machine does not have or a `bind` without any, `misuse` for 0 bytes. A placement that the system refuses
/// is no error: see `placement_problems()`. Any thread may call it at any time. Cost: one to three system
/// calls, and one page fault for each page when it is touched. The first call that names domains also
/// discovers the machine, which takes milliseconds.
[[nodiscard]] void* map_pages(std::size_t bytes, const page_placement& placement = {});

/// Gives back what `map_pages(bytes, ...)` returned, whatever the placement was.
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// What the system refused so far in this process, one line each, each once, in the order of appearance;
/// empty as long as all went well. Any thread may call it at any time.
[[nodiscard]] std::vector<std::string> placement_problems();

/// A NUMA domain that is not known.
inline constexpr int unknown_domain = -1;

/// In place of a domain: a page that nobody has written to yet, or one that is swapped out.
inline constexpr int untouched_page = -2;

/// The NUMA domain of the CPU that the calling thread runs on at this moment; `unknown_domain` if the machine
/// does not tell. A thread that is not bound may be on another one right after. Cost: some ten nanoseconds;
/// the first call discovers the machine and may throw `topology_error`.
///
/// If the environment describes another machine (see `hardware`), the domain of the PU that has the CPU's
/// number modulo pus() there, so that code for several domains can be tried on a machine with one.
[[nodiscard]] int this_thread_domain();

/// Where consecutive pages are.
struct page_locations {
  std::size_t page_bytes = 0;
  /// For each page its domain, `untouched_page` or `unknown_domain`. The first page is that of the first
  /// byte asked for.
  std::vector<int> domains{};
};

/// Asks the kernel where the pages that hold the `bytes` bytes from `data` are. The memory must be mapped and
/// is not touched. Nothing if the system does not say, which `placement_problems()` then mentions; pages that
/// are there are on `unknown_domain` if the environment describes another machine. Any thread may call it at
/// any time. Cost: a system call for some thousand pages, and about 0.1 µs for each page.
[[nodiscard]] std::optional<page_locations> locate_pages(const void* data, std::size_t bytes);

}  // namespace nearfar
