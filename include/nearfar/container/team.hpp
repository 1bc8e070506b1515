/// \file
/// The threads that carry out parallel loops over containers: an OpenMP team, or the caller alone.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, chapter 2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "nearfar/container/static_schedule.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

/// Index of a thread, and the number of threads.
struct team_member {
  int index = 0;  ///< 0 is the calling thread
  int size = 1;
};

namespace detail {

/// Whether threads may call a copy of a function that the caller gives away: it is plain data, and nobody can
/// inspect it after the call. `Body` is a reference if the caller keeps the function. (GCC 12 considers a
/// class with a mutable atomic in it, which cannot be copied, trivially copyable.)
template <typename Body, typename Argument>
inline constexpr bool is_plain_call =
    std::is_object_v<Body> && std::is_trivially_copyable_v<Body> && std::is_copy_constructible_v<Body> &&
    std::is_invocable_v<const Body&, Argument>;

/// A function that threads call: a copy if that will do, else the original in place.
template <typename Body, typename Argument>
struct thread_call {
  std::conditional_t<is_plain_call<Body, Argument>, std::remove_const_t<Body>, std::remove_reference_t<Body>&>
      body;
  void operator()(Argument argument) const { body(argument); }
};

/// A function of a team member, together with what it refers to if that is a few words. Threads get both by
/// value, in the cache lines that tell them where to start: each address that a thread has to follow to data
/// the caller has just written costs it a line transfer, some 0.1 µs.
class team_task {
 public:
  static constexpr std::size_t words = 12;
  using word = std::uintptr_t;

  /// `body` as the caller passes it: an lvalue is called in place.
  template <typename Body>
  [[nodiscard]] static team_task of(Body&& body) noexcept {
    using type = std::remove_reference_t<Body>;
    team_task result;
    if constexpr (is_plain_call<Body, team_member> && sizeof(type) <= words * sizeof(word) &&
                  alignof(type) <= alignof(word)) {
      using copy = std::remove_const_t<type>;
      std::memcpy(result.held.data(), std::addressof(body), sizeof(type));
      result.call = [](const void* object, team_member member) {
        (*static_cast<const copy*>(object))(member);
      };
    } else {
      using pointer = type*;
      const pointer address = std::addressof(body);
      std::memcpy(result.held.data(), &address, sizeof(void*));
      result.call = [](const void* object, team_member member) {
        (**static_cast<const pointer*>(object))(member);
      };
    }
    return result;
  }

  void operator()(team_member member) const { call(held.data(), member); }

  // The argument of `call` is at `held`, or at a copy of it.
  void (*call)(const void* object, team_member member) = nullptr;
  std::array<word, words> held{};
};

/// Calls `task(member)` on `threads` OpenMP threads, 0 for OpenMP's own choice, and returns when all have
/// returned. If calls throw, throws the exception of the member with the lowest index.
void run_on_team(int threads, const team_task& task);

}  // namespace detail

/// How many threads a parallel loop uses. A value that costs nothing to copy.
///
/// The threads are those of the OpenMP with which nearfar was built. For one calling thread, the nth member
/// is always the same system thread as long as OpenMP keeps its pool; first touch relies on that. GCC's
/// OpenMP ends the threads that a smaller team leaves over; `pin_team` says what stays with a member. The
/// caller's own `#pragma omp parallel` of the same compiler uses the same threads. Only nearfar's own source
/// is compiled with OpenMP; programs need no flag for it.
///
/// Without OpenMP (`openmp_available()` is false), and inside a parallel region, even of one thread, every
/// team is the calling thread alone: results are right, only serial. The same holds in a child after `fork`
/// whose parent had more than one thread, since GCC's OpenMP would wait there for threads that do not exist.
/// It does not hold after `exec`.
///
/// Cost: a team of one is a function call. Any other is one OpenMP parallel region, some microseconds.
class team {
 public:
  /// As many threads as OpenMP chooses when a loop starts: OMP_NUM_THREADS, `omp_set_num_threads`, else all
  /// processors.
  constexpr team() noexcept = default;

  /// That many threads, or as many as OMP_THREAD_LIMIT allows. Throws `misuse` if `threads` is less than 1.
  /// OMP_DYNAMIC has no effect on loops of teams: the owners are known before they start.
  constexpr explicit team(int threads) : threads_(threads) {
    if (threads < 1) throw misuse("a team has at least 1 thread");
  }

  /// The calling thread alone.
  [[nodiscard]] static constexpr team serial() noexcept {
    team alone;
    alone.threads_ = 1;
    return alone;
  }

  /// The number of threads of a loop that starts now; at least 1.
  [[nodiscard]] int size() const noexcept;

  /// Calls `body(team_member)` on every thread of the team and returns when all have returned. A named
  /// function is called in place; of a temporary that is plain data each thread may call a copy. If calls
  /// throw, rethrows the exception of the member with the lowest index; the others are lost.
  template <typename Body>
  void run(Body&& body) const {
    if (threads_ == 1)
      body(team_member{});
    else
      detail::run_on_team(threads_, detail::team_task::of(std::forward<Body>(body)));
  }

  /// Calls `body(index_range)` for all blocks of `static_schedule(size, threads, chunk)`, each on its owner.
  /// Exceptions as in `run`; a thread whose call throws skips its further blocks.
  template <typename Body>
  void for_each_block(std::size_t size, std::size_t chunk, Body&& body) const {
    using call = detail::thread_call<Body, index_range>;
    run([size, chunk, mine = call{body}](team_member member) {
      static_schedule(size, member.size, chunk).for_each_block(member.index, mine);
    });
  }

  [[nodiscard]] friend constexpr bool operator==(const team&, const team&) noexcept = default;

 private:
  int threads_ = 0;  // 0: as many as OpenMP chooses
};

/// Whether nearfar was built with OpenMP.
[[nodiscard]] bool openmp_available() noexcept;

}  // namespace nearfar
