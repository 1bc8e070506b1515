/// \file
/// The checks of `nearfar doctor`, and the means that they share.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/handles.hpp"
#include "nearfar/memory/mpi/transport.hpp"

namespace nearfar::command::doctor {

/// The outcome of a check, in the order of weight: of several ranks' outcomes the last one counts.
enum class outcome : std::uint8_t { ok, skip, warn, no_answer, fail };

/// The finding of one rank.
struct finding {
  outcome result = outcome::ok;
  std::string seen{};    ///< the measured value; empty on ranks that measured nothing
  std::string advice{};  ///< the cure; empty for the check's own cure
};

/// Another rank, or MPI, did not answer in time. MPI may do anything after that, so no check follows.
struct unanswered : error {
  using error::error;
};

/// Waits for a request without keeping the processor from ranks that have work to do. Throws `unanswered`
/// when `limit` has passed; the request is active then, and so must its buffers stay.
void complete(MPI_Request& request, std::chrono::seconds limit, MPI_Status* status = MPI_STATUS_IGNORE);

/// The ranks under examination, with communicators on which nothing is left from the checks before.
/// Constructing and destroying it is collective, as is every member below that says so.
class examination {
 public:
  examination(MPI_Comm comm, const mpi::processor_share& processors, bool quick);

  [[nodiscard]] const mpi::communicator& comm() const noexcept { return comm_; }
  [[nodiscard]] const mpi::communicator& node() const noexcept { return node_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool one_node() const { return node_.size() == size_; }
  [[nodiscard]] bool is_quick() const noexcept { return quick_; }
  [[nodiscard]] const mpi::processor_share& processors() const noexcept { return processors_; }

  /// The rank whose memory is operated on, and the one farthest from it: on another node if there are
  /// several.
  [[nodiscard]] bool is_target() const noexcept { return rank_ == 0; }
  [[nodiscard]] bool is_origin() const noexcept { return rank_ == size_ - 1; }

  /// How long a check may hammer.
  [[nodiscard]] std::chrono::milliseconds budget() const noexcept;

  /// Collective.
  void barrier() const;
  /// Sum over the ranks, modulo 2^64. Collective.
  [[nodiscard]] std::uint64_t sum(std::uint64_t mine) const { return reduce(mine, MPI_SUM); }
  /// Collective.
  [[nodiscard]] std::uint64_t largest(std::uint64_t mine) const { return reduce(mine, MPI_MAX); }

 private:
  [[nodiscard]] std::uint64_t reduce(std::uint64_t mine, MPI_Op operation) const;

  mpi::communicator comm_;
  mpi::communicator node_;
  int rank_;
  int size_;
  mpi::processor_share processors_;
  bool quick_;
};

/// One line of the doctor's table.
struct check {
  const char* name;
  int ranks_needed;
  finding (*run)(examination&);
  const char* cure;  ///< the advice for any outcome but ok, unless the finding has one
};

/// All checks in the order in which they run: checks that can bring MPI or the process down come last.
[[nodiscard]] std::span<const check> all_checks();

}  // namespace nearfar::command::doctor
