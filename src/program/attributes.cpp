// Attributes of communicators, windows and datatypes.
#include <cstring>

#include "infos.hpp"
#include "windows.hpp"

namespace nearfar::program {

struct key_value {
  // One of these pairs, by the kind of object.
  MPI_Comm_copy_attr_function* copy_comm = nullptr;
  MPI_Comm_delete_attr_function* delete_comm = nullptr;
  MPI_Win_delete_attr_function* delete_win = nullptr;
  MPI_Type_copy_attr_function* copy_type = nullptr;
  MPI_Type_delete_attr_function* delete_type = nullptr;
  void* extra = nullptr;
  int number = 0;
};

namespace {

constexpr int first_key = 1000;

[[nodiscard]] key_value* key_of(int number) {
  const auto index = static_cast<std::size_t>(number - first_key);
  key_value* const one = number >= first_key && index < own().keys.size() ? own().keys[index] : nullptr;
  return one;
}

[[nodiscard]] int add_key(key_value one) {
  one.number = first_key + static_cast<int>(own().keys.size());
  own().keys.push_back(make_for_run<key_value>(one));
  return one.number;
}

int call_delete(const key_value& key, MPI_Comm of, void* value) {
  return key.delete_comm == nullptr ? MPI_SUCCESS : key.delete_comm(of, key.number, value, key.extra);
}
int call_delete(const key_value& key, MPI_Win of, void* value) {
  return key.delete_win == nullptr ? MPI_SUCCESS : key.delete_win(of, key.number, value, key.extra);
}

template <typename Handle>
int delete_one(const attribute& one, Handle of) {
  is_inside = true;
  const int code = call_delete(*one.key, of, one.value);
  is_inside = false;
  return code;
}

template <typename Handle>
int set(run_vector<attribute>& all, Handle of, int key, void* value) {
  key_value* const which = key_of(key);
  if (which == nullptr)
    return error_of(mpi().world, MPI_ERR_KEYVAL, "the key of an attribute does not exist, or was freed");
  for (attribute& one : all)
    if (one.key == which) {
      if (const int code = delete_one(one, of); code != MPI_SUCCESS) return code;
      one.value = value;
      return MPI_SUCCESS;
    }
  all.push_back({which, value});
  return MPI_SUCCESS;
}

int get(const run_vector<attribute>& all, int key, void* to, int* flag) {
  *flag = 0;
  const key_value* const which = key_of(key);
  if (which == nullptr)
    return error_of(mpi().world, MPI_ERR_KEYVAL, "the key of an attribute does not exist, or was freed");
  for (const attribute& one : all)
    if (one.key == which) {
      *flag = 1;
      std::memcpy(to, &one.value, sizeof one.value);
    }
  return MPI_SUCCESS;
}

template <typename Handle>
int remove(run_vector<attribute>& all, Handle of, int key) {
  for (auto one = all.begin(); one != all.end(); ++one)
    if (one->key == key_of(key)) {
      const int code = delete_one(*one, of);
      if (code == MPI_SUCCESS) all.erase(one);
      return code;
    }
  return error_of(mpi().world, MPI_ERR_KEYVAL, "the object has no such attribute");
}

/// The value of a predefined attribute lasts as long as the execution.
template <typename T>
void give_value(void* to, T value) {
  T* const kept = make_for_run<T>(value);
  std::memcpy(to, &kept, sizeof kept);
}

[[nodiscard]] int get_of_communicator(MPI_Comm comm, int key, void* attribute_val, int* flag) {
  communicator& of = communicator_of(comm);
  *flag = 1;
  switch (key) {
    case MPI_TAG_UB:
      give_value(attribute_val, 0x7fffffff);
      return MPI_SUCCESS;
    case MPI_WTIME_IS_GLOBAL:
      give_value(attribute_val, 0);
      return MPI_SUCCESS;
    case MPI_HOST:
      give_value(attribute_val, MPI_PROC_NULL);
      return MPI_SUCCESS;
    case MPI_IO:
      give_value(attribute_val, MPI_ANY_SOURCE);
      return MPI_SUCCESS;
    case MPI_LASTUSEDCODE:
      give_value(attribute_val, MPI_ERR_LASTCODE);
      return MPI_SUCCESS;
    case MPI_UNIVERSE_SIZE:
      give_value(attribute_val, run().ranks());
      return MPI_SUCCESS;
    case MPI_APPNUM:
      *flag = 0;
      return MPI_SUCCESS;
    default:
      return get(of.mine().attributes, key, attribute_val, flag);
  }
}

}  // namespace

template <typename Handle>
void delete_attributes(run_vector<attribute>& all, Handle of) {
  while (!all.empty()) {
    const attribute last = all.back();
    all.pop_back();
    delete_one(last, of);
  }
}
template void delete_attributes(run_vector<attribute>&, MPI_Comm);
template void delete_attributes(run_vector<attribute>&, MPI_Win);

int copy_attributes(communicator& from, MPI_Comm old_handle, communicator& to) {
  for (const attribute& one : from.mine().attributes) {
    if (one.key->copy_comm == MPI_COMM_NULL_COPY_FN) continue;
    void* value = one.value;
    int flag = 1;
    if (one.key->copy_comm != MPI_COMM_DUP_FN) {
      is_inside = true;
      const int code =
          one.key->copy_comm(old_handle, one.key->number, one.key->extra, one.value, &value, &flag);
      is_inside = false;
      if (code != MPI_SUCCESS) return code;
    }
    if (flag != 0) to.mine().attributes.push_back({one.key, value});
  }
  return MPI_SUCCESS;
}

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                           MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                           void* extra_state) {
  NEARFAR_MPI_CALL(MPI_Comm_create_keyval);
  *comm_keyval =
      add_key({.copy_comm = comm_copy_attr_fn, .delete_comm = comm_delete_attr_fn, .extra = extra_state});
  return MPI_SUCCESS;
}

int MPI_Win_create_keyval(MPI_Win_copy_attr_function*, MPI_Win_delete_attr_function* win_delete_attr_fn,
                          int* win_keyval, void* extra_state) {
  NEARFAR_MPI_CALL(MPI_Win_create_keyval);
  *win_keyval = add_key({.delete_win = win_delete_attr_fn, .extra = extra_state});
  return MPI_SUCCESS;
}

int MPI_Comm_free_keyval(int* comm_keyval) {
  NEARFAR_MPI_CALL(MPI_Comm_free_keyval);
  *comm_keyval = MPI_KEYVAL_INVALID;  // attributes keep it
  return MPI_SUCCESS;
}

int MPI_Win_free_keyval(int* win_keyval) {
  NEARFAR_MPI_CALL(MPI_Win_free_keyval);
  *win_keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  NEARFAR_MPI_CALL(MPI_Comm_set_attr);
  return set(communicator_of(comm).mine().attributes, comm, comm_keyval, attribute_val);
}

int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  NEARFAR_MPI_CALL(MPI_Comm_get_attr);
  return get_of_communicator(comm, comm_keyval, attribute_val, flag);
}

int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  NEARFAR_MPI_CALL(MPI_Comm_delete_attr);
  return remove(communicator_of(comm).mine().attributes, comm, comm_keyval);
}

int MPI_Win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  NEARFAR_MPI_CALL(MPI_Win_set_attr);
  return set(window_of(win).mine().attributes, win, win_keyval, attribute_val);
}

int MPI_Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  NEARFAR_MPI_CALL(MPI_Win_get_attr);
  window& of = window_of(win);
  *flag = 1;
  switch (win_keyval) {
    case MPI_WIN_BASE:
      std::memcpy(attribute_val, &of.mine().base, sizeof of.mine().base);
      return MPI_SUCCESS;
    case MPI_WIN_SIZE:
      give_value(attribute_val, of.mine().bytes);
      return MPI_SUCCESS;
    case MPI_WIN_DISP_UNIT:
      give_value(attribute_val, of.mine().unit);
      return MPI_SUCCESS;
    case MPI_WIN_CREATE_FLAVOR:
      give_value(attribute_val, of.flavour);
      return MPI_SUCCESS;
    case MPI_WIN_MODEL:
      give_value(attribute_val, of.model);
      return MPI_SUCCESS;
    default:
      return get(of.mine().attributes, win_keyval, attribute_val, flag);
  }
}

int MPI_Win_delete_attr(MPI_Win win, int win_keyval) {
  NEARFAR_MPI_CALL(MPI_Win_delete_attr);
  return remove(window_of(win).mine().attributes, win, win_keyval);
}

// Older names of the same functions.

int MPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                      void* extra_state) {
  NEARFAR_MPI_CALL(MPI_Keyval_create);
  *keyval = add_key({.copy_comm = copy_fn, .delete_comm = delete_fn, .extra = extra_state});
  return MPI_SUCCESS;
}

int MPI_Keyval_free(int* keyval) {
  NEARFAR_MPI_CALL(MPI_Keyval_free);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int MPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  NEARFAR_MPI_CALL(MPI_Attr_put);
  return set(communicator_of(comm).mine().attributes, comm, keyval, attribute_val);
}

int MPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  NEARFAR_MPI_CALL(MPI_Attr_get);
  return get_of_communicator(comm, keyval, attribute_val, flag);
}

int MPI_Attr_delete(MPI_Comm comm, int keyval) {
  NEARFAR_MPI_CALL(MPI_Attr_delete);
  return remove(communicator_of(comm).mine().attributes, comm, keyval);
}
}
