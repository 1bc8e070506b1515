// Requests: operations that the program completes by a wait or a test.
#pragma once

#include "communicators.hpp"
#include "datatypes.hpp"
#include "rma.hpp"

namespace nearfar::program {

struct request {
  const char* call = "";  ///< that made it
  site made;
  bool is_persistent = false;
  bool is_active = true;
  MPI_Request handle = MPI_REQUEST_NULL;
  bool has_lagged = false;  ///< a test has told the rank less than there was

  [[nodiscard]] virtual bool is_complete() = 0;
  /// The running rank completes it. A result other than MPI_SUCCESS is that of the wait.
  [[nodiscard]] virtual int finish(MPI_Status& status) = 0;
  /// The bytes that `is_complete` depends on.
  virtual void touch(footprint&) {}
  /// Begins a persistent one again.
  virtual void start() {}
  virtual void cancel() {}
  /// The program waits for it or tests it, so that MPI must get on with it.
  virtual void want() {}
  /// Whether ranks are missing that have not called a collective yet.
  [[nodiscard]] virtual bool awaits_arrivals() { return false; }
  /// Whether MPI may tell the rank later than the request is complete here. Where a delivery completes it,
  /// the moment of the delivery is free already.
  [[nodiscard]] virtual bool may_lag() { return false; }
  /// Completes "waits for ".
  virtual void describe(std::string& to) const { to += call; }

 protected:
  ~request() = default;
};

[[nodiscard]] MPI_Request add_request(request& one);
/// A request that is complete from the beginning.
[[nodiscard]] MPI_Request completed_request();
[[nodiscard]] MPI_Request add_rma_request(rma_operation& one);
/// A fault if there is no such request.
[[nodiscard]] request& request_of(MPI_Request handle);

/// The status of what has nothing to tell.
void clear_status(MPI_Status& status, int source = MPI_ANY_SOURCE, int tag = MPI_ANY_TAG) noexcept;
void set_status_bytes(MPI_Status& status, std::size_t bytes) noexcept;
[[nodiscard]] std::size_t status_bytes(const MPI_Status& status) noexcept;

/// Whether the request is complete now, in a step of the search that leaves it as it is.
[[nodiscard]] bool look_at(MPI_Request handle);

/// Waits for a request that the call itself has made, and completes it.
[[nodiscard]] int complete_now(request& one, MPI_Status* status);

}  // namespace nearfar::program
