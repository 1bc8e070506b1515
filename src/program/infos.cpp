#include "infos.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace nearfar::program {

struct info_object {
  struct entry {
    char key[MPI_MAX_INFO_KEY];
    char value[MPI_MAX_INFO_VAL];
  };
  run_vector<entry> entries;

  [[nodiscard]] entry* find(const char* key) {
    const auto one = std::find_if(entries.begin(), entries.end(),
                                  [&](const entry& e) { return std::strcmp(e.key, key) == 0; });
    return one == entries.end() ? nullptr : &*one;
  }
};

namespace {

[[nodiscard]] info_object& info_of(MPI_Info handle) {
  if (handle == MPI_INFO_ENV) {
    static info_object none;
    return none;
  }
  info_object* const one = own().infos.find(handle);
  if (one == nullptr) fail("argument", "the info object does not exist, or was freed");
  return *one;
}

}  // namespace

MPI_Info new_info() { return own().infos.add(make_for_run<info_object>()); }

info_object* new_kept_info() { return make_for_run<info_object>(); }
MPI_Info copy_info(const info_object& of) { return own().infos.add(make_for_run<info_object>(of)); }

void set_info(MPI_Info info, const char* key, const char* value) { set_info(info_of(info), key, value); }

void set_info(info_object& of, const char* key, const char* value) {
  info_object::entry* one = of.find(key);
  if (one == nullptr) {
    of.entries.emplace_back();
    one = &of.entries.back();
    std::memset(one, 0, sizeof *one);
    std::strncpy(one->key, key, MPI_MAX_INFO_KEY - 1);
  }
  std::memset(one->value, 0, sizeof one->value);
  std::strncpy(one->value, value, MPI_MAX_INFO_VAL - 1);
}

const char* info_value(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return nullptr;
  const info_object::entry* const one = info_of(info).find(key);
  return one == nullptr ? nullptr : one->value;
}

bool info_is(MPI_Info info, const char* key, const char* value) {
  if (info == MPI_INFO_NULL) return false;
  const info_object::entry* const one = info_of(info).find(key);
  return one != nullptr && std::strcmp(one->value, value) == 0;
}

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Info_create(MPI_Info* info) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_create);
  *info = new_info();
  return MPI_SUCCESS;
}

int MPI_Info_set(MPI_Info info, const char* key, const char* value) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_set);
  set_info(info, key, value);
  return MPI_SUCCESS;
}

int MPI_Info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_get);
  const auto* const one = info_of(info).find(key);
  *flag = one != nullptr ? 1 : 0;
  if (one == nullptr) return MPI_SUCCESS;
  // Programs give a buffer that has room for the value alone.
  const std::size_t bytes = std::min(std::strlen(one->value), static_cast<std::size_t>(valuelen));
  std::memcpy(value, one->value, bytes);
  value[bytes] = '\0';
  return MPI_SUCCESS;
}

int MPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_get_string);
  const auto* const one = info_of(info).find(key);
  *flag = one != nullptr ? 1 : 0;
  if (one == nullptr) return MPI_SUCCESS;
  const int needed = static_cast<int>(std::strlen(one->value)) + 1;
  if (*buflen > 0) {
    std::strncpy(value, one->value, static_cast<std::size_t>(*buflen));
    value[*buflen - 1] = '\0';
  }
  *buflen = needed;
  return MPI_SUCCESS;
}

int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_get_valuelen);
  const auto* const one = info_of(info).find(key);
  *flag = one != nullptr ? 1 : 0;
  if (one != nullptr) *valuelen = static_cast<int>(std::strlen(one->value));
  return MPI_SUCCESS;
}

int MPI_Info_get_nkeys(MPI_Info info, int* nkeys) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_get_nkeys);
  *nkeys = static_cast<int>(info_of(info).entries.size());
  return MPI_SUCCESS;
}

int MPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_get_nthkey);
  auto& of = info_of(info);
  if (n < 0 || static_cast<std::size_t>(n) >= of.entries.size())
    return error_of(mpi().world, MPI_ERR_ARG, "the info has no such key");
  std::strcpy(key, of.entries[static_cast<std::size_t>(n)].key);
  return MPI_SUCCESS;
}

int MPI_Info_delete(MPI_Info info, const char* key) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_delete);
  auto& of = info_of(info);
  const auto* const one = of.find(key);
  if (one == nullptr)
    return error_of(mpi().world, MPI_ERR_INFO_NOKEY, "the info has no key '" + std::string(key) + "'");
  of.entries.erase(of.entries.begin() + (one - of.entries.data()));
  return MPI_SUCCESS;
}

int MPI_Info_dup(MPI_Info info, MPI_Info* newinfo) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_dup);
  *newinfo = own().infos.add(make_for_run<info_object>(info_of(info)));
  return MPI_SUCCESS;
}

int MPI_Info_free(MPI_Info* info) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Info_free);
  static_cast<void>(info_of(*info));
  own().infos.remove(*info);
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}
}
