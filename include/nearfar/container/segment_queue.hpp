/// \file
/// Hands out segments to threads that ask, near ones first: a dynamic schedule that respects the placement.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 5.2, where it
/// is an outlook.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "nearfar/container/segmented_array.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

/// How threads go on when their own domain has no segment left.
enum class when_done {
  help,  ///< take segments of other domains
  stop,  ///< stop: for memory-bound work, which would only slow the others down
};

/// The numbers 0 to size - 1, each assigned to a NUMA domain, handed out to threads that ask, each number
/// once. Any number of threads may call all members at once; none blocks.
///
/// Cost: one atomic addition for each number, on a cache line that only the threads of its domain write as
/// long as they have work: with t threads asking in turn, one transfer of a line within the domain. A thread
/// that helps moves that line between domains. Finding a domain empty is a read.
class segment_queue {
 public:
  /// `domains[i]` is the domain of number i: any number, including `unknown_domain`.
  explicit segment_queue(std::span<const int> domains) {
    std::map<int, std::vector<std::size_t>> segments;
    for (std::size_t i = 0; i < domains.size(); ++i) segments[domains[i]].push_back(i);
    lists_ = std::vector<list>(segments.size());
    std::size_t next = 0;
    for (auto& [domain, all] : segments) {
      lists_[next].domain = domain;
      lists_[next++].segments = std::move(all);
    }
  }

  /// Returns the next number of this domain, in ascending order; if none is left, one of another domain, or
  /// nothing.
  [[nodiscard]] std::optional<std::size_t> take(int domain, when_done then = when_done::help) {
    const std::size_t own = find(domain);
    if (own != lists_.size())
      if (const auto segment = lists_[own].take()) return segment;
    if (then == when_done::stop) return std::nullopt;
    // The domain after this one first, so that helpers of different domains go different ways.
    for (std::size_t i = 0; i < lists_.size(); ++i)
      if (const auto segment = lists_[(own + 1 + i) % lists_.size()].take()) return segment;
    return std::nullopt;
  }

 private:
  struct alignas(cache_line) list {
    int domain = unknown_domain;
    std::vector<std::size_t> segments{};
    alignas(cache_line) std::atomic<std::size_t> taken{0};

    std::optional<std::size_t> take() noexcept {
      // Relaxed: only the assignment of segments matters here; joining the threads orders the work itself.
      if (taken.load(std::memory_order_relaxed) >= segments.size()) return std::nullopt;
      const std::size_t next = taken.fetch_add(1, std::memory_order_relaxed);
      return next < segments.size() ? std::optional(segments[next]) : std::nullopt;
    }
  };

  [[nodiscard]] std::size_t find(int domain) const noexcept {
    std::size_t i = 0;
    while (i < lists_.size() && lists_[i].domain != domain) ++i;
    return i;
  }

  std::vector<list> lists_;
};

/// Calls `body(span of elements, index)` exactly once for each segment of an array, with a dynamic schedule:
/// each thread of the team takes segments of the NUMA domain on which it runs until none is left, and then
/// does what `then` says. With `stop`, the calling thread at the end processes segments of domains on which
/// no thread of the team runs. For static schedules see `for_each`.
///
/// If a call throws, the others are still made; then the exception of the segment with the lowest index is
/// rethrown. Cost: as `segment_queue`, and a pass over all segments to set it up.
template <typename Array, typename Body>
void for_each_segment_dynamic(team threads, Array&& array, Body&& body, when_done then = when_done::help) {
  std::vector<int> domains(array.segments());
  for (std::size_t i = 0; i < domains.size(); ++i) domains[i] = array.domain(i);
  segment_queue queue(domains);
  std::mutex mutex;
  std::exception_ptr thrown;
  std::size_t thrower = 0;
  const auto work = [&](when_done after) {
    const int domain = this_thread_domain();
    while (const std::optional<std::size_t> segment = queue.take(domain, after)) {
      try {
        body(array.segment(*segment), *segment);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!thrown || *segment < thrower) {
          thrown = std::current_exception();
          thrower = *segment;
        }
      }
    }
  };
  threads.run([&](team_member) { work(then); });
  work(when_done::help);
  if (thrown) std::rethrow_exception(std::move(thrown));
}

template <typename Array, typename Body>
  requires(!std::convertible_to<Array, team>)
void for_each_segment_dynamic(Array&& array, Body&& body, when_done then = when_done::help) {
  for_each_segment_dynamic(team{}, array, body, then);
}

}  // namespace nearfar
