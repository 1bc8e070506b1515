/// \file
/// Turns calls of C into calls of C++: checks handles, and turns exceptions into statuses and messages.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "nearfar.h"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::c {

/// Stores the message for `nearfar_last_message()` and returns the status.
nearfar_status fail(nearfar_status status, const char* function, const std::string& what) noexcept;

/// Stores the message of the exception being handled and returns its status.
nearfar_status fail_by_exception(const char* function) noexcept;

/// Reports that the argument `name` is NULL, which is not allowed.
nearfar_status fail_by_null(const char* function, const char* name) noexcept;

/// Set when MPI_Finalize begins.
extern std::atomic<bool> mpi_is_over;

nearfar_status fail_by_no_mpi(const char* function) noexcept;

/// Returns what `run` returns, or the status of the exception that it throws.
template <typename Run>
nearfar_status guarded(const char* function, const Run& run) noexcept {
  try {
    return run();
  } catch (...) {
    return fail_by_exception(function);
  }
}

/// Returns `run(handle)`. None of these arguments may be NULL, and no exception leaves this function.
template <typename Handle, typename Run>
nearfar_status with(const char* function, Handle* handle, const Run& run) noexcept {
  if (handle == nullptr) [[unlikely]]
    return fail_by_null(function, "the handle");
  return guarded(function, [&] { return run(*handle); });
}

/// The same for an object that lives in a world, and so at most as long as MPI.
template <typename Handle, typename Run>
nearfar_status with_mpi(const char* function, Handle* handle, const Run& run) noexcept {
  if (mpi_is_over.load(std::memory_order_relaxed)) [[unlikely]]
    return fail_by_no_mpi(function);
  return with(function, handle, run);
}

/// Stores the result of a function that cannot fail by itself.
template <typename Handle, typename Result, typename Get>
nearfar_status get(const char* function, Handle* handle, Result* result, const Get& value) noexcept {
  if (result == nullptr) [[unlikely]]
    return fail_by_null(function, "the place for the result");
  return with(function, handle, [&](Handle& of) {
    *result = value(of);
    return NEARFAR_SUCCESS;
  });
}

/// Destroys `**handle` and sets the owner's pointer to NULL. `check(**handle)` throws if the object may not
/// be destroyed.
template <typename Handle, typename Check>
nearfar_status destroy(const char* function, Handle** handle, const Check& check) noexcept {
  if (handle == nullptr || *handle == nullptr) [[unlikely]]
    return fail_by_null(function, "the handle");
  return guarded(function, [&] {
    check(**handle);
    delete *handle;
    *handle = nullptr;
    return NEARFAR_SUCCESS;
  });
}
template <typename Handle>
nearfar_status destroy(const char* function, Handle** handle) noexcept {
  return destroy(function, handle, [](const Handle&) {});
}

/// Throws `misuse` for a negative time.
[[nodiscard]] std::chrono::nanoseconds checked_timeout(std::int64_t timeout_ns);

/// How long a call waits: not at all, for a limited time, or for ever.
class patience {
 public:
  static constexpr patience none() { return {kind::none, 0}; }
  static constexpr patience for_ever() { return {kind::for_ever, 0}; }
  static constexpr patience of(std::int64_t timeout_ns) { return {kind::limited, timeout_ns}; }

  /// Calls the operation in the form that fits and returns its result. Throws `misuse` for a negative time.
  template <typename Try, typename Wait, typename WaitFor>
  auto run(const Try& at_once, const Wait& wait, const WaitFor& wait_for) const {
    switch (kind_) {
      case kind::none:
        return at_once();
      case kind::for_ever:
        return wait();
      case kind::limited:
        break;
    }
    return wait_for(checked_timeout(timeout_ns_));
  }

 private:
  enum class kind : std::uint8_t { none, for_ever, limited };
  constexpr patience(kind of, std::int64_t timeout_ns) : kind_(of), timeout_ns_(timeout_ns) {}

  kind kind_;
  std::int64_t timeout_ns_;
};

[[nodiscard]] nearfar_status status_of(queue_status status) noexcept;

}  // namespace nearfar::c
