// Windows: how they are made, what they say of themselves, and how they end.
#include "windows.hpp"

#include <algorithm>
#include <cstring>

#include "hooks.hpp"
#include "infos.hpp"
#include "rma.hpp"

namespace nearfar::program {

window& window_of(MPI_Win handle) {
  window* const one = own().windows.find(handle);
  if (one == nullptr)
    fail("argument",
         handle == MPI_WIN_NULL ? "MPI_WIN_NULL is no window" : "the window does not exist, or was freed");
  return *one;
}

namespace {

void set_ordering(window& of, MPI_Info info) {
  const char* const value = info_value(info, "accumulate_ordering");
  if (value == nullptr) return;
  of.orders_rar = std::strstr(value, "rar") != nullptr;
  of.orders_raw = std::strstr(value, "raw") != nullptr;
  of.orders_war = std::strstr(value, "war") != nullptr;
  of.orders_waw = std::strstr(value, "waw") != nullptr;
}

/// The hints that are in use.
[[nodiscard]] info_object& hints_of(window_part& part) {
  if (part.hints != nullptr) return *part.hints;
  part.hints = new_kept_info();
  for (const char* const key : {"no_locks", "same_size", "same_disp_unit"})
    set_info(*part.hints, key, "false");
  set_info(*part.hints, "accumulate_ordering", "rar,raw,war,waw");
  set_info(*part.hints, "accumulate_ops", "same_op_no_op");
  return *part.hints;
}

/// Keeps the hints that the standard names. Another key is ignored, as MPI permits.
void keep_hints(window& of, window_part& part, MPI_Info info) {
  if (info == MPI_INFO_NULL) return;
  for (const char* const key : {"no_locks", "accumulate_ordering", "accumulate_ops", "same_size",
                                "same_disp_unit", "alloc_shared_noncontig"})
    if (const char* const value = info_value(info, key); value != nullptr)
      set_info(hints_of(part), key, value);
  if (info_is(info, "accumulate_ops", "any_op")) of.any_operation = true;
  set_ordering(of, info);
}

/// Makes the window that all ranks of the communicator ask for. `fill` sets the part of the running rank.
template <typename Fill>
[[nodiscard]] int make_window(const char* name, int flavour, MPI_Comm comm, MPI_Info info, MPI_Win* win,
                              Fill fill) {
  communicator& in = communicator_of(comm);
  if (in.is_inter) return error_of(&in, MPI_ERR_COMM, "a window needs an intracommunicator");
  const auto share = [&](collective& one) {
    if (one.result == nullptr) {
      auto* const made = make_for_run<window>();
      made->number = static_cast<int>(mpi().windows.size());
      made->of = make_communicator(in.members);
      made->flavour = flavour;
      made->any_operation = run().how().grants_mixed_accumulates;
      made->parts.resize(in.members.size());
      for (window_part& part : made->parts) {
        part.locks.assign(in.members.size(), epoch_kind::none);
        part.as_origin.resize(in.members.size());
      }
      mpi().windows.push_back(made);
      one.result = made;
    }
    return static_cast<window*>(one.result);
  };
  window* made = nullptr;
  collective& one = arrive(in, name, -1, 0, "", [&](contribution&) {});
  made = share(one);
  window_part& mine = made->mine();
  mine.made = self().here();
  fill(*made, mine);
  keep_hints(*made, mine, info);
  await(one, in.everybody());
  // The parts of others are known now.
  await(arrive(in, name, -1, 1, "phase", [](contribution&) {}), in.everybody());
  *win = own().windows.add(made);
  return MPI_SUCCESS;
}

[[nodiscard]] void* fresh_memory(MPI_Aint bytes) {
  void* const memory = self().memory.allocate(static_cast<std::size_t>(std::max<MPI_Aint>(bytes, 1)), 64);
  if (memory == nullptr) fail("argument", "no memory for a window of " + std::to_string(bytes) + " bytes");
  return memory;
}

[[nodiscard]] bool is_open(const window_part& part) noexcept {
  const bool is_locked = std::any_of(part.locks.begin(), part.locks.end(),
                                     [](epoch_kind one) { return one != epoch_kind::none; });
  return is_locked || part.has_lock_all || part.is_started || part.is_posted ||
         (part.is_fenced && part.has_used_fence);
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  NEARFAR_MPI_CALL(MPI_Win_create);
  if (size < 0) return error_of(&communicator_of(comm), MPI_ERR_SIZE, "the size of the window is negative");
  if (disp_unit <= 0)
    return error_of(&communicator_of(comm), MPI_ERR_DISP, "the displacement unit is not positive");
  return make_window("MPI_Win_create", MPI_WIN_FLAVOR_CREATE, comm, info, win,
                     [&](window&, window_part& mine) {
                       mine.base = static_cast<std::byte*>(base);
                       mine.bytes = size;
                       mine.unit = disp_unit;
                       watch(base, static_cast<std::size_t>(size));
                     });
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                     MPI_Win* win) {
  NEARFAR_MPI_CALL(MPI_Win_allocate);
  if (size < 0) return error_of(&communicator_of(comm), MPI_ERR_SIZE, "the size of the window is negative");
  if (disp_unit <= 0)
    return error_of(&communicator_of(comm), MPI_ERR_DISP, "the displacement unit is not positive");
  return make_window("MPI_Win_allocate", MPI_WIN_FLAVOR_ALLOCATE, comm, info, win,
                     [&](window&, window_part& mine) {
                       mine.base = static_cast<std::byte*>(fresh_memory(size));
                       mine.bytes = size;
                       mine.unit = disp_unit;
                       watch(mine.base, static_cast<std::size_t>(size));
                       std::memcpy(baseptr, &mine.base, sizeof mine.base);
                     });
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                            MPI_Win* win) {
  NEARFAR_MPI_CALL(MPI_Win_allocate_shared);
  communicator& in = communicator_of(comm);
  if (size < 0) return error_of(&in, MPI_ERR_SIZE, "the size of the window is negative");
  for (const int member : in.members)
    if (node_of(member) != node_of(self().number))
      return error_of(
          &in, MPI_ERR_RMA_SHARED,
          "ranks of several nodes cannot share memory: split the communicator by MPI_COMM_TYPE_SHARED",
          "MPI 4.1, section 12.2.3");
  // The first rank provides the memory of all, one part after the other, once it knows their sizes.
  collective& sizes =
      arrive(in, "MPI_Win_allocate_shared", -1, 2, "phase", [&](contribution& mine) { mine.number = size; });
  await(sizes, in.everybody());
  const bool is_first = in.members[0] == self().number;
  if (is_first) {
    MPI_Aint all = 0;
    for (const int member : in.members) all += sizes.of(member).number;
    sizes.result = fresh_memory(all);
  }
  synchronise(in, "MPI_Win_allocate_shared");
  auto* at = static_cast<std::byte*>(sizes.result);
  for (const int member : in.members) {
    if (member == self().number) break;
    at += sizes.of(member).number;
  }
  const int result = make_window("MPI_Win_allocate_shared", MPI_WIN_FLAVOR_SHARED, comm, info, win,
                                 [&](window&, window_part& mine) {
                                   mine.base = at;
                                   mine.bytes = size;
                                   mine.unit = disp_unit;
                                   watch(at, static_cast<std::size_t>(size));
                                 });
  std::memcpy(baseptr, &at, sizeof at);
  return result;
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  NEARFAR_MPI_CALL(MPI_Win_create_dynamic);
  return make_window("MPI_Win_create_dynamic", MPI_WIN_FLAVOR_DYNAMIC, comm, info, win,
                     [](window&, window_part&) {});
}

int MPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  NEARFAR_MPI_CALL(MPI_Win_attach);
  window& at = window_of(win);
  if (at.flavour != MPI_WIN_FLAVOR_DYNAMIC)
    return error_of(&at, MPI_ERR_RMA_FLAVOR,
                    "memory can be attached to a window of MPI_Win_create_dynamic only");
  if (size < 0) return error_of(&at, MPI_ERR_SIZE, "the size is negative");
  auto* const begin = static_cast<std::byte*>(base);
  for (const window_part::region& one : at.mine().attached)
    if (!one.is_detached && begin < one.begin + one.bytes && one.begin < begin + size)
      return error_of(&at, MPI_ERR_RMA_ATTACH, "the memory overlaps with what is attached already",
                      "MPI 4.1, section 12.2.4");
  at.mine().attached.push_back({begin, size, self().now(), self().here(), false});
  watch(base, static_cast<std::size_t>(size));
  return MPI_SUCCESS;
}

int MPI_Win_detach(MPI_Win win, const void* base) {
  NEARFAR_MPI_CALL(MPI_Win_detach);
  window& at = window_of(win);
  run_vector<window_part::region>& all = at.mine().attached;
  const auto one = std::find_if(all.begin(), all.end(), [&](const window_part::region& r) {
    return r.begin == base && !r.is_detached;
  });
  if (one == all.end()) return error_of(&at, MPI_ERR_RMA_ATTACH, "no memory is attached at this address");
  unwatch(one->begin, static_cast<std::size_t>(one->bytes));
  one->is_detached = true;
  one->where = self().here();
  return MPI_SUCCESS;
}

int MPI_Win_free(MPI_Win* win) {
  NEARFAR_MPI_CALL(MPI_Win_free);
  window& at = window_of(*win);
  window_part& mine = at.mine();
  if (is_open(mine)) {
    const char* const what = mine.is_posted    ? "its exposure epoch has no MPI_Win_wait"
                             : mine.is_started ? "its access epoch has no MPI_Win_complete"
                             : mine.is_fenced && mine.has_used_fence
                                 ? "operations since the last MPI_Win_fence are not complete"
                                 : "it holds a lock";
    return error_of(&at, MPI_ERR_RMA_SYNC, std::string("the rank frees a window in an epoch: ") + what,
                    "The window may be freed only after the rank has completed all its involvement in RMA "
                    "(MPI 4.1, section 12.2.5)");
  }
  synchronise(*at.of, "MPI_Win_free");
  delete_attributes(mine.attributes, *win);
  if (at.flavour != MPI_WIN_FLAVOR_DYNAMIC) unwatch(mine.base, static_cast<std::size_t>(mine.bytes));
  for (const window_part::region& one : mine.attached)
    if (!one.is_detached) unwatch(one.begin, static_cast<std::size_t>(one.bytes));
  if (at.flavour == MPI_WIN_FLAVOR_ALLOCATE) self().memory.release(mine.base);
  mine.is_freed = true;
  own().windows.remove(*win);
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
  NEARFAR_MPI_CALL(MPI_Win_shared_query);
  window& at = window_of(win);
  if (at.flavour != MPI_WIN_FLAVOR_SHARED && at.flavour != MPI_WIN_FLAVOR_ALLOCATE)
    return error_of(&at, MPI_ERR_RMA_FLAVOR, "the window has no shared memory");
  const window_part* part = nullptr;
  if (rank == MPI_PROC_NULL) {
    for (const window_part& one : at.parts)
      if (part == nullptr && one.bytes > 0) part = &one;
    if (part == nullptr) part = &at.parts[0];
  } else if (rank >= 0 && static_cast<std::size_t>(rank) < at.parts.size()) {
    part = &at.part(rank);
  } else {
    return error_of(&at, MPI_ERR_RANK, "the window has no rank " + std::to_string(rank));
  }
  *size = part->bytes;
  *disp_unit = part->unit;
  std::byte* const base = part->bytes == 0 ? nullptr : part->base;
  std::memcpy(baseptr, &base, sizeof base);
  return MPI_SUCCESS;
}

int MPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  NEARFAR_MPI_CALL(MPI_Win_get_group);
  *group = add_group(window_of(win).of->members);
  return MPI_SUCCESS;
}

int MPI_Win_get_info(MPI_Win win, MPI_Info* info_used) {
  NEARFAR_MPI_CALL(MPI_Win_get_info);
  *info_used = copy_info(hints_of(window_of(win).mine()));
  return MPI_SUCCESS;
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
  NEARFAR_MPI_CALL(MPI_Win_set_info);
  window& at = window_of(win);
  keep_hints(at, at.mine(), info);
  synchronise(*at.of, "MPI_Win_set_info");
  return MPI_SUCCESS;
}

int MPI_Win_set_name(MPI_Win win, const char* win_name) {
  NEARFAR_MPI_CALL(MPI_Win_set_name);
  std::strncpy(window_of(win).mine().name, win_name, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}

int MPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  NEARFAR_MPI_CALL(MPI_Win_get_name);
  std::strcpy(win_name, window_of(win).mine().name);
  *resultlen = static_cast<int>(std::strlen(win_name));
  return MPI_SUCCESS;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info, void* baseptr) {
  NEARFAR_MPI_CALL(MPI_Alloc_mem);
  void* const memory = self().memory.allocate(static_cast<std::size_t>(std::max<MPI_Aint>(size, 1)), 64);
  if (memory == nullptr)
    return error_of(mpi().world, MPI_ERR_NO_MEM, "no memory for " + std::to_string(size) + " bytes");
  std::memcpy(baseptr, &memory, sizeof memory);
  return MPI_SUCCESS;
}

int MPI_Free_mem(void* base) {
  NEARFAR_MPI_CALL(MPI_Free_mem);
  if (base == nullptr) return MPI_SUCCESS;
  if (!self().memory.is_block(base))
    return error_of(mpi().world, MPI_ERR_BASE, "the memory is not of MPI_Alloc_mem, or was freed");
  end_memory(base, self().memory.size_of(base), "frees", nullptr);
  self().memory.release(base);
  return MPI_SUCCESS;
}
}
