#include "nearfar/memory/mpi/handles.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "nearfar/core/layout.hpp"
#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::mpi {

namespace {

/// Bytes to the next slot boundary.
int misalignment(const std::byte* address) noexcept {
  return static_cast<int>(-reinterpret_cast<std::uintptr_t>(address) % slot_bytes);
}

/// Windows of worlds that ranks have left, in the order in which all ranks made the worlds. Ranks that freed
/// windows in different orders would wait for each other for ever.
struct left_windows {
  std::mutex mutex;
  std::map<std::uint64_t, std::vector<window>> of;
};

left_windows& all_left() {
  static auto& all = *new left_windows;  // outlives every other object's destructor
  return all;
}

extern "C" int free_left_windows(MPI_Comm, int, void*, void*) {
  left_windows& all = all_left();
  const std::lock_guard hold(all.mutex);
  for (auto& [order, windows] : all.of)
    for (window& each : windows) each.free();
  return MPI_SUCCESS;
}

}  // namespace

void free_at_end_of_mpi(std::uint64_t order, std::vector<window> left) noexcept {
  left_windows& all = all_left();
  try {
    const std::lock_guard hold(all.mutex);
    static const bool is_watching = (call_at_end_of_mpi(free_left_windows), true);
    static_cast<void>(is_watching);
    all.of.emplace(order, std::move(left));
  } catch (const std::exception&) {
    for (window& each : left) each.leak();
  }
}

bool may_free_collectively() { return std::uncaught_exceptions() == 0 && is_active(); }

communicator::~communicator() {
  if (handle_ != MPI_COMM_NULL && may_free_collectively()) MPI_Comm_free(&handle_);
}

communicator communicator::duplicate(MPI_Comm original) {
  communicator result;
  // MPI_Comm_dup would call the program's callbacks that copy attributes, and those that delete them at an
  // unknown time.
  MPI_Group ranks = MPI_GROUP_NULL;
  check(MPI_Comm_group(original, &ranks), "MPI_Comm_group");
  const int status = MPI_Comm_create(original, ranks, &result.handle_);
  MPI_Group_free(&ranks);
  check(status, "MPI_Comm_create");
  result.return_errors();
  return result;
}

communicator communicator::shared_memory(MPI_Comm original) {
  communicator result;
  check(MPI_Comm_split_type(original, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &result.handle_),
        "MPI_Comm_split_type");
  result.return_errors();
  return result;
}

communicator communicator::split(MPI_Comm original, int colour) {
  communicator result;
  check(MPI_Comm_split(original, colour, 0, &result.handle_), "MPI_Comm_split");
  result.return_errors();
  return result;
}

int communicator::rank() const {
  int result = 0;
  check(MPI_Comm_rank(handle_, &result), "MPI_Comm_rank");
  return result;
}

int communicator::size() const {
  int result = 0;
  check(MPI_Comm_size(handle_, &result), "MPI_Comm_size");
  return result;
}

std::vector<int> communicator::gather_to_all(const std::vector<int>& mine) const {
  const int count = static_cast<int>(mine.size());
  std::vector<int> result(mine.size() * static_cast<std::size_t>(size()));
  check(MPI_Allgather(mine.data(), count, MPI_INT, result.data(), count, MPI_INT, handle_), "MPI_Allgather");
  return result;
}

void communicator::return_errors() {
  check(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

info::info() { check(MPI_Info_create(&handle_), "MPI_Info_create"); }

info::~info() { MPI_Info_free(&handle_); }

void info::set(const char* key, const char* value) {
  check(MPI_Info_set(handle_, key, value), "MPI_Info_set");
}

window::~window() {
  if (handle_ != MPI_WIN_NULL && may_free_collectively()) free();
}

void window::free() noexcept {
  if (handle_ == MPI_WIN_NULL) return;
  if (open_) MPI_Win_unlock_all(handle_);
  MPI_Win_free(&handle_);
}

window window::allocate(MPI_Comm comm, std::size_t bytes) {
  window result;
  check(
      MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &result.base_, &result.handle_),
      "MPI_Win_allocate");
  result.return_errors();
  return result;
}

window window::allocate_shared(MPI_Comm comm, std::size_t bytes) {
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

window window::create(MPI_Comm comm, std::byte* base, std::size_t bytes) {
  window result;
  result.base_ = base;
  check(MPI_Win_create(base, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &result.handle_),
        "MPI_Win_create");
  result.return_errors();
  return result;
}

void window::open() {
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_), "MPI_Win_lock_all");
  open_ = true;
}

std::byte* window::part_of(int rank) const {
  MPI_Aint bytes = 0;
  int unit = 0;
  std::byte* result = nullptr;
  check(MPI_Win_shared_query(handle_, rank, &bytes, &unit, &result), "MPI_Win_shared_query");
  return result + misalignment(result);
}

bool window::is_unified() const {
  int* model = nullptr;
  int found = 0;
  check(MPI_Win_get_attr(handle_, MPI_WIN_MODEL, static_cast<void*>(&model), &found), "MPI_Win_get_attr");
  return found != 0 && *model == MPI_WIN_UNIFIED;
}

void window::return_errors() {
  check(MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
}

}  // namespace nearfar::mpi
