#include "nearfar/container/team.hpp"

#ifdef _OPENMP
#include <omp.h>

#include <memory>

#include "pins.hpp"
#endif

// ThreadSanitizer cannot see into the OpenMP runtime. So this file is compiled without it, and tells it that
// threads begin after what the caller did before, and that the caller goes on after what all threads did.
#ifdef NEARFAR_TSAN
#include <sanitizer/tsan_interface.h>
#define NEARFAR_ORDER_BEFORE(object) __tsan_release(object)
#define NEARFAR_ORDER_AFTER(object) __tsan_acquire(object)
#else
#define NEARFAR_ORDER_BEFORE(object) static_cast<void>(object)
#define NEARFAR_ORDER_AFTER(object) static_cast<void>(object)
#endif

namespace nearfar {

#ifdef _OPENMP

void detail::run_on_team(int threads, void (*body)(void*, team_member), void* context) {
  if (omp_in_parallel() != 0) return body(context, {});
  const std::shared_ptr<const detail::pin_plan> plan = detail::plan_of_this_thread();
  const detail::pin_plan* const pins = plan.get();
  // For ThreadSanitizer: the start and the end of the region.
  char marks[2] = {};  // NOLINT(*-avoid-c-arrays)
  char* const begun = &marks[0];
  char* const ended = &marks[1];
  NEARFAR_ORDER_BEFORE(begun);
  // By value: each address that a thread had to follow would cost it the transfer of a cache line.
#pragma omp parallel num_threads(threads == 0 ? omp_get_max_threads() : threads) default(none) \
    firstprivate(body, context, pins, begun, ended)
  {
    NEARFAR_ORDER_AFTER(begun);
    const team_member member{omp_get_thread_num(), omp_get_num_threads()};
    if (pins != nullptr) detail::keep_pinned(*pins, member.index);
    body(context, member);
    NEARFAR_ORDER_BEFORE(ended);
  }
  NEARFAR_ORDER_AFTER(ended);
}

int team::size() const noexcept {
  if (omp_in_parallel() != 0) return 1;
  return threads_ == 0 ? omp_get_max_threads() : threads_;
}

bool openmp_available() noexcept { return true; }

#else

void detail::run_on_team(int, void (*body)(void*, team_member), void* context) { body(context, {}); }

int team::size() const noexcept { return 1; }

bool openmp_available() noexcept { return false; }

#endif

}  // namespace nearfar
