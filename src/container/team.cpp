#include "nearfar/container/team.hpp"

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "pins.hpp"
#endif

// ThreadSanitizer cannot see into the OpenMP runtime. So this file is compiled without it, and tells it that
// the threads begin after what the caller did before, and that the caller goes on after what all threads did.
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

namespace {

/// The child of a process that had threads has only the calling one, but GCC's OpenMP still counts on its
/// thread pool and waits for it for ever. The program cannot ask whether a pool existed, only whether threads
/// did.
class forks {
 public:
  forks() noexcept { pthread_atfork(before, nullptr, in_child); }

  [[nodiscard]] static bool lost_threads() noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static void before() noexcept {
    std::error_code error;
    int threads = 0;
    for (std::filesystem::directory_iterator task("/proc/self/task", error), none; !error && task != none;
         task.increment(error))
      ++threads;
    // If the number of threads cannot be read, running alone is safe.
    had_threads_ = error || threads != 1;
  }
  static void in_child() noexcept {
    if (had_threads_) lost_.store(true, std::memory_order_relaxed);
  }

  static inline thread_local bool had_threads_ = false;
  static inline std::atomic<bool> lost_{false};
};
const forks watched_forks;

[[nodiscard]] bool must_be_alone() noexcept { return omp_get_level() != 0 || forks::lost_threads(); }

/// Number of threads that OpenMP gives to a caller that asks for `asked` threads, if it may not give fewer.
/// `asked` is 0 for as many as OpenMP likes.
[[nodiscard]] int threads_given(int asked) noexcept {
  if (omp_get_max_active_levels() < 1) return 1;
  return std::clamp(asked == 0 ? omp_get_max_threads() : asked, 1, std::max(omp_get_thread_limit(), 1));
}

/// While an object of this class lives, OpenMP gives as many threads as are asked for, so that a schedule can
/// be computed before the region starts.
class all_threads {
 public:
  all_threads() noexcept : was_dynamic_(omp_get_dynamic() != 0) {
    if (was_dynamic_) omp_set_dynamic(0);
  }
  all_threads(const all_threads&) = delete;
  all_threads& operator=(const all_threads&) = delete;
  ~all_threads() {
    if (was_dynamic_) omp_set_dynamic(1);
  }

 private:
  bool was_dynamic_;
};

/// The exception of the member with the lowest index that threw.
class first_exception {
 public:
  /// Call this inside a handler.
  void keep(int member) noexcept {
    const std::lock_guard lock(mutex_);
    if (thrown_ && member > thrower_) return;
    thrown_ = std::current_exception();
    thrower_ = member;
  }
  void throw_again() {
    if (thrown_) std::rethrow_exception(std::move(thrown_));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
  int thrower_ = 0;
};

/// State that the threads of a region share.
struct region {
  first_exception thrown{};
  // ThreadSanitizer orders the start and the end by these addresses.
  char begun = 0;
  char ended = 0;
};

}  // namespace

void detail::run_on_team(int threads, const team_task& task) {
  if (must_be_alone()) return task({});
  const std::shared_ptr<const detail::pin_plan> plan = detail::plan_of_this_thread();
  const detail::pin_plan* const pins = plan.get();
  const int given = threads_given(threads);
  if (given == 1) {
    detail::keep_pinned(pins, 0);
    return task({});
  }
  const all_threads none_less;
  region here;
  region* const shared = &here;
  NEARFAR_ORDER_BEFORE(&shared->begun);
  // Everything is passed by value, because each address that a thread had to follow would cost it the
  // transfer of a cache line. The values fill two lines. They are vectors, because GCC passes an array or a
  // class by its address even here.
  constexpr std::size_t third = sizeof(task.held) / 3;
  using vector [[gnu::vector_size(third)]] = team_task::word;
  vector x;
  vector y;
  vector z;
  std::memcpy(&x, &task.held[0], third);
  std::memcpy(&y, &task.held[team_task::words / 3], third);
  std::memcpy(&z, &task.held[team_task::words / 3 * 2], third);
  const auto call = task.call;
#pragma omp parallel num_threads(given) default(none) firstprivate(call, pins, shared, x, y, z)
  {
    NEARFAR_ORDER_AFTER(&shared->begun);
    const team_member member{omp_get_thread_num(), omp_get_num_threads()};
    detail::keep_pinned(pins, member.index);
    const vector held[]{x, y, z};  // NOLINT(*-avoid-c-arrays)
    try {
      call(&held, member);
    } catch (...) {
      shared->thrown.keep(member.index);
    }
    NEARFAR_ORDER_BEFORE(&shared->ended);
  }
  NEARFAR_ORDER_AFTER(&here.ended);
  here.thrown.throw_again();
}

int team::size() const noexcept { return must_be_alone() ? 1 : threads_given(threads_); }

bool openmp_available() noexcept { return true; }

#else

void detail::run_on_team(int, const team_task& task) { task({}); }

int team::size() const noexcept { return 1; }

bool openmp_available() noexcept { return false; }

#endif

}  // namespace nearfar
