/// \file
/// Communicators and windows that free themselves. Freeing is collective, so while an exception passes
/// through this rank alone, handles are leaked rather than waited for.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "nearfar/core/layout.hpp"
#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::mpi {

/// False when MPI has ended, and while an exception is on its way.
[[nodiscard]] inline bool may_free_collectively() { return std::uncaught_exceptions() == 0 && is_active(); }

/// A communicator of nearfar's own; errors return, so that they can be thrown.
class communicator {
 public:
  communicator() = default;
  communicator(communicator&& other) noexcept : handle_(std::exchange(other.handle_, MPI_COMM_NULL)) {}
  communicator& operator=(communicator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~communicator() {
    if (handle_ != MPI_COMM_NULL && may_free_collectively()) MPI_Comm_free(&handle_);
  }

  /// Collective over `original`.
  static communicator duplicate(MPI_Comm original) {
    communicator result;
    check(MPI_Comm_dup(original, &result.handle_), "MPI_Comm_dup");
    result.return_errors();
    return result;
  }
  /// The ranks that share physical memory. Collective.
  static communicator shared_memory(MPI_Comm original) {
    communicator result;
    check(MPI_Comm_split_type(original, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &result.handle_),
          "MPI_Comm_split_type");
    result.return_errors();
    return result;
  }
  /// The ranks of one `colour`, in the order of `original`. Collective.
  static communicator split(MPI_Comm original, int colour) {
    communicator result;
    check(MPI_Comm_split(original, colour, 0, &result.handle_), "MPI_Comm_split");
    result.return_errors();
    return result;
  }

  [[nodiscard]] MPI_Comm get() const noexcept { return handle_; }
  [[nodiscard]] int rank() const {
    int result = 0;
    check(MPI_Comm_rank(handle_, &result), "MPI_Comm_rank");
    return result;
  }
  [[nodiscard]] int size() const {
    int result = 0;
    check(MPI_Comm_size(handle_, &result), "MPI_Comm_size");
    return result;
  }
  /// One int of each rank, in rank order. Collective.
  [[nodiscard]] std::vector<int> gather_to_all(const std::vector<int>& mine) const {
    const int count = static_cast<int>(mine.size());
    std::vector<int> result(mine.size() * static_cast<std::size_t>(size()));
    check(MPI_Allgather(mine.data(), count, MPI_INT, result.data(), count, MPI_INT, handle_),
          "MPI_Allgather");
    return result;
  }

 private:
  void return_errors() {
    check(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }

  MPI_Comm handle_ = MPI_COMM_NULL;
};

/// An info object for the length of one call.
class info {
 public:
  info() { check(MPI_Info_create(&handle_), "MPI_Info_create"); }
  info(const info&) = delete;
  info& operator=(const info&) = delete;
  ~info() { MPI_Info_free(&handle_); }
  void set(const char* key, const char* value) { check(MPI_Info_set(handle_, key, value), "MPI_Info_set"); }
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
  ~window() {
    if (handle_ == MPI_WIN_NULL || !may_free_collectively()) return;
    if (open_) MPI_Win_unlock_all(handle_);
    MPI_Win_free(&handle_);
  }

  /// Memory of its own for each rank; the ranks may be on different nodes. Collective.
  static window allocate(MPI_Comm comm, std::size_t bytes) {
    window result;
    check(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &result.base_,
                           &result.handle_),
          "MPI_Win_allocate");
    result.return_errors();
    return result;
  }
  /// Memory that the ranks of `comm`, all on one node, can also load and store. Each rank's part is separate,
  /// on pages of its own, which keeps MPICH from misplacing writes and lets the owner touch its part first.
  /// MPI does not promise how it is aligned, so one slot more is taken, and everything here speaks of the
  /// aligned part. Collective.
  static window allocate_shared(MPI_Comm comm, std::size_t bytes) {
    window result;
    info separate;
    separate.set("alloc_shared_noncontig", "true");
    check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + slot_bytes), 1, separate.get(), comm,
                                  &result.base_, &result.handle_),
          "MPI_Win_allocate_shared");
    result.displacement_ = misalignment(result.base_);
    result.base_ += result.displacement_;
    result.return_errors();
    return result;
  }
  /// One-sided access to memory that exists already. Collective.
  static window create(MPI_Comm comm, std::byte* base, std::size_t bytes) {
    window result;
    result.base_ = base;
    check(MPI_Win_create(base, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &result.handle_),
          "MPI_Win_create");
    result.return_errors();
    return result;
  }

  /// Opens the one passive-target epoch in which all far operations happen.
  void open() {
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_), "MPI_Win_lock_all");
    open_ = true;
  }
  /// Where the part of `rank` of the window's communicator is mapped here; only after `allocate_shared`.
  [[nodiscard]] std::byte* part_of(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    std::byte* result = nullptr;
    check(MPI_Win_shared_query(handle_, rank, &bytes, &unit, &result), "MPI_Win_shared_query");
    return result + misalignment(result);
  }
  /// True when the owner's loads see what others put without a copy between the two.
  [[nodiscard]] bool is_unified() const {
    int* model = nullptr;
    int found = 0;
    check(MPI_Win_get_attr(handle_, MPI_WIN_MODEL, static_cast<void*>(&model), &found), "MPI_Win_get_attr");
    return found != 0 && *model == MPI_WIN_UNIFIED;
  }

  [[nodiscard]] MPI_Win get() const noexcept { return handle_; }
  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  /// Displacement of `base()` in the window, which may differ from rank to rank.
  [[nodiscard]] int displacement() const noexcept { return displacement_; }

 private:
  /// Bytes to the next slot boundary.
  [[nodiscard]] static int misalignment(const std::byte* address) noexcept {
    return static_cast<int>(-reinterpret_cast<std::uintptr_t>(address) % slot_bytes);
  }
  void return_errors() {
    check(MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  }

  MPI_Win handle_ = MPI_WIN_NULL;
  std::byte* base_ = nullptr;
  int displacement_ = 0;
  bool open_ = false;
};

}  // namespace nearfar::mpi
