/// \file
/// Communicators and windows that free themselves. Freeing is collective. So while an exception unwinds this
/// rank alone, handles are leaked instead of waiting for the other ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nearfar/language.hpp"

namespace nearfar::mpi {

/// False when MPI has ended, and while an exception is in flight.
[[nodiscard]] bool may_free_collectively();

/// A communicator of nearfar's own. MPI returns errors on it, so that nearfar can throw them.
class communicator {
 public:
  communicator() = default;
  communicator(communicator&& other) noexcept : handle_(std::exchange(other.handle_, MPI_COMM_NULL)) {}
  communicator& operator=(communicator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~communicator();
  /// Prevents it from being freed.
  void leak() noexcept { handle_ = MPI_COMM_NULL; }

  /// The same ranks in the same order, without the attributes. Collective over `original`.
  static communicator duplicate(MPI_Comm original);
  /// The ranks that share physical memory. Collective.
  static communicator shared_memory(MPI_Comm original);
  /// The ranks of one `colour`, in the order of `original`. Collective.
  static communicator split(MPI_Comm original, int colour);

  [[nodiscard]] MPI_Comm get() const noexcept { return handle_; }
  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// One int of each rank, in rank order. Collective.
  [[nodiscard]] std::vector<int> gather_to_all(const std::vector<int>& mine) const;

 private:
  void return_errors();

  MPI_Comm handle_ = MPI_COMM_NULL;
};

/// An info object that lives for one call.
class info {
 public:
  info();
  info(const info&) = delete;
  info& operator=(const info&) = delete;
  ~info();
  void set(const char* key, const char* value);
  [[nodiscard]] MPI_Info get() const noexcept { return handle_; }

 private:
  MPI_Info handle_ = MPI_INFO_NULL;
};

/// A window, freed collectively with its last owner. Displacements are in bytes.
class window {
 public:
  window() = default;
  window(window&& other) noexcept
      : handle_(std::exchange(other.handle_, MPI_WIN_NULL)),
        base_(other.base_),
        displacement_(other.displacement_),
        open_(std::exchange(other.open_, false)) {}
  window& operator=(window&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(base_, other.base_);
    std::swap(displacement_, other.displacement_);
    std::swap(open_, other.open_);
    return *this;
  }
  ~window();
  /// Prevents it from being freed.
  void leak() noexcept { handle_ = MPI_WIN_NULL; }
  /// Frees it, whether or not an exception is on its way. Collective.
  void free() noexcept;

  /// Allocates separate memory for each rank; the ranks may be on different nodes. Collective.
  static window allocate(MPI_Comm comm, std::size_t bytes);
  /// Allocates memory that the ranks of `comm`, all on one node, can also load and store. Each rank's part is
  /// separate, on pages of its own, which keeps MPICH from misplacing writes and lets the owner touch its
  /// part first. MPI does not promise an alignment, so one slot more is allocated, and everything here refers
  /// to the aligned part. Collective.
  static window allocate_shared(MPI_Comm comm, std::size_t bytes);
  /// Gives one-sided access to existing memory. Collective.
  static window create(MPI_Comm comm, std::byte* base, std::size_t bytes);

  /// Opens the one passive-target epoch in which all far operations happen.
  void open();
  /// The address at which the part of `rank` of the window's communicator is mapped here. Only after
  /// `allocate_shared`.
  [[nodiscard]] std::byte* part_of(int rank) const;
  /// True if the owner's loads see what others put without a copy in between.
  [[nodiscard]] bool is_unified() const;

  [[nodiscard]] MPI_Win get() const noexcept { return handle_; }
  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  /// Displacement of `base()` in the window, which may differ from rank to rank.
  [[nodiscard]] int displacement() const noexcept { return displacement_; }

 private:
  void return_errors();

  MPI_Win handle_ = MPI_WIN_NULL;
  std::byte* base_ = nullptr;
  int displacement_ = 0;
  bool open_ = false;
};

/// Frees the windows in MPI_Finalize, those of the least `order` first, or never if there is no memory to
/// keep them. For a world that a rank has left: nobody can wait for that rank before MPI_Finalize, and some
/// libraries crash there if windows are left. All ranks of the windows call this with as many, in the same
/// order. Not collective.
void free_at_end_of_mpi(std::uint64_t order, std::vector<window> left) noexcept;

}  // namespace nearfar::mpi
