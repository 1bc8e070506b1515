#include "src/c/call.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "nearfar.h"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/queue/queue_operations.hpp"

namespace nearfar::c {

namespace {

/// An array instead of a string, so that noting an error never allocates memory.
thread_local std::array<char, 1024> last_message{};

/// Replaces the C++ names of options by the names that callers of C know.
std::string in_words_of_c(std::string text) {
  constexpr std::string_view of_cpp = "nearfar::mpi::options::";
  for (std::size_t at = 0; (at = text.find(of_cpp, at)) != std::string::npos;)
    text.replace(at, of_cpp.size(), "nearfar_world_options.");
  return text;
}

void note(std::string_view function, std::string_view what) noexcept {
  char* to = last_message.data();
  std::size_t room = last_message.size() - 1;
  for (const std::string_view part : {function, std::string_view(": "), what}) {
    const std::size_t length = std::min(part.size(), room);
    to = std::copy_n(part.data(), length, to);
    room -= length;
  }
  *to = '\0';
}

}  // namespace

std::atomic<bool> mpi_is_over = false;

nearfar_status fail(nearfar_status status, const char* function, const std::string& what) noexcept {
  note(function, what);
  return status;
}

nearfar_status fail_by_exception(const char* function) noexcept {
  const auto failed = [function](nearfar_status status, const std::exception& problem) {
    try {
      note(function, in_words_of_c(problem.what()));
    } catch (...) {
      note(function, problem.what());
    }
    return status;
  };
  try {
    throw;
  } catch (const not_held& problem) {
    return failed(NEARFAR_ERROR_NOT_HELD, problem);
  } catch (const already_held& problem) {
    return failed(NEARFAR_ERROR_HELD, problem);
  } catch (const destroyed_while_held& problem) {
    return failed(NEARFAR_ERROR_HELD, problem);
  } catch (const destroyed_while_in_use& problem) {
    return failed(NEARFAR_ERROR_IN_USE, problem);
  } catch (const collective_mismatch& problem) {
    return failed(NEARFAR_ERROR_MISMATCH, problem);
  } catch (const misuse& problem) {
    return failed(NEARFAR_ERROR_ARGUMENT, problem);
  } catch (const topology_error& problem) {
    return failed(NEARFAR_ERROR_TOPOLOGY, problem);
  } catch (const transport_error& problem) {
    return failed(NEARFAR_ERROR_TRANSPORT, problem);
  } catch (const out_of_memory& problem) {
    return failed(NEARFAR_ERROR_NO_MEMORY, problem);
  } catch (const std::bad_alloc& problem) {
    return failed(NEARFAR_ERROR_NO_MEMORY, problem);
  } catch (const stalled& problem) {
    return failed(NEARFAR_ERROR_STALLED, problem);
  } catch (const mpi::mpi_error& problem) {
    return failed(NEARFAR_ERROR_MPI, problem);
  } catch (const std::exception& problem) {
    return failed(NEARFAR_ERROR_INTERNAL, problem);
  } catch (...) {
    note(function, "an exception of another library");
    return NEARFAR_ERROR_INTERNAL;
  }
}

nearfar_status fail_by_null(const char* function, const char* name) noexcept {
  std::array<char, 128> text{};
  const std::string_view said = name;
  const std::string_view end = " is NULL";
  std::size_t at = std::min(said.size(), text.size() - end.size());
  std::copy_n(said.data(), at, text.data());
  std::copy_n(end.data(), end.size(), text.data() + at);
  note(function, {text.data(), at + end.size()});
  return NEARFAR_ERROR_ARGUMENT;
}

nearfar_status fail_by_no_mpi(const char* function) noexcept {
  note(function,
       "MPI is not running: worlds are made and used after MPI_Init and destroyed before MPI_Finalize");
  return NEARFAR_ERROR_NO_MPI;
}

std::chrono::nanoseconds checked_timeout(std::int64_t timeout_ns) {
  if (timeout_ns < 0)
    throw misuse("a timeout of " + std::to_string(timeout_ns) +
                 " ns is in the past: give the nanoseconds from now on, 0 or more");
  return std::chrono::nanoseconds(timeout_ns);
}

nearfar_status status_of(queue_status status) noexcept {
  switch (status) {
    case queue_status::success:
      return NEARFAR_SUCCESS;
    case queue_status::empty:
      return NEARFAR_EMPTY;
    case queue_status::full:
      return NEARFAR_FULL;
    case queue_status::closed:
      return NEARFAR_CLOSED;
    case queue_status::timed_out:
      return NEARFAR_TIMED_OUT;
  }
  return NEARFAR_ERROR_INTERNAL;
}

}  // namespace nearfar::c

const char* nearfar_last_message(void) { return nearfar::c::last_message.data(); }

const char* nearfar_version(void) { return NEARFAR_VERSION; }

const char* nearfar_mpi_library(void) { return NEARFAR_MPI_NAME; }

const char* nearfar_error_text(int status) {
  switch (status) {
    case NEARFAR_SUCCESS:
      return "success";
    case NEARFAR_BUSY:
      return "another rank has the lock";
    case NEARFAR_TIMED_OUT:
      return "the time is over";
    case NEARFAR_EMPTY:
      return "the queue or channel is empty";
    case NEARFAR_FULL:
      return "the queue or channel is full";
    case NEARFAR_CLOSED:
      return "the channel was closed";
    case NEARFAR_NOT_FOUND:
      return "the map has no entry with this key";
    case NEARFAR_EXISTS:
      return "the map has an entry with this key already";
    case NEARFAR_ERROR_ARGUMENT:
      return "an argument is invalid";
    case NEARFAR_ERROR_NOT_HELD:
      return "the lock is not held that way by this rank";
    case NEARFAR_ERROR_HELD:
      return "the lock is held by this rank";
    case NEARFAR_ERROR_IN_USE:
      return "the world still has locks, queues or maps";
    case NEARFAR_ERROR_MISMATCH:
      return "the ranks do not make the same";
    case NEARFAR_ERROR_NO_MPI:
      return "MPI is not running";
    case NEARFAR_ERROR_MPI:
      return "a call of MPI failed";
    case NEARFAR_ERROR_TRANSPORT:
      return "this MPI installation or machine cannot do what nearfar needs";
    case NEARFAR_ERROR_TOPOLOGY:
      return "the topology cannot be read or does not fit the ranks";
    case NEARFAR_ERROR_NO_MEMORY:
      return "no memory is left";
    case NEARFAR_ERROR_STALLED:
      return "a wait was longer than the world's stall limit";
    case NEARFAR_ERROR_INTERNAL:
      return "an error inside the library";
    default:
      return "not a status of nearfar";
  }
}
