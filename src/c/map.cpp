#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nearfar.h"
#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/map/distributed_map.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "src/c/call.hpp"
#include "src/c/world.hpp"

using nearfar::c::with_mpi;

/// A map of keys and values whose sizes are known only at run time.
struct nearfar_map {
  using visitor = std::function<void(const void* key, const void* value)>;

  nearfar_map() = default;
  nearfar_map(const nearfar_map&) = delete;
  nearfar_map& operator=(const nearfar_map&) = delete;
  virtual ~nearfar_map() = default;

  virtual bool find(const void* key, void* value) = 0;
  virtual nearfar::insert_result insert(const void* key, const void* value) = 0;
  virtual nearfar::update_result update(const void* key, const void* value) = 0;
  virtual bool erase(const void* key, void* value) = 0;
  virtual void visit_local(const visitor& visit) = 0;
  [[nodiscard]] virtual std::size_t size() = 0;
  [[nodiscard]] virtual std::size_t capacity() const = 0;
  [[nodiscard]] virtual int owner(const void* key) const = 0;
};

namespace {

template <std::size_t Bytes>
using bytes = std::array<std::byte, Bytes>;

/// Keys and values occupy the first bytes of the table's keys and values. The remaining bytes are zero.
template <std::size_t KeyBytes, std::size_t ValueBytes>
class map_of final : public nearfar_map {
 public:
  map_of(nearfar_world& w, std::size_t key_bytes, std::size_t value_bytes, std::size_t entries)
      : in_(w), key_bytes_(key_bytes), value_bytes_(value_bytes), map_(w.of, {.cells = entries}) {}

  bool find(const void* key, void* value) override { return copied(map_.find(key_at(key)), value); }
  nearfar::insert_result insert(const void* key, const void* value) override {
    return map_.insert(key_at(key), value_at(value));
  }
  nearfar::update_result update(const void* key, const void* value) override {
    return map_.update(key_at(key), value_at(value));
  }
  bool erase(const void* key, void* value) override { return copied(map_.erase(key_at(key)), value); }
  void visit_local(const visitor& visit) override {
    map_.for_each(
        [&](const bytes<KeyBytes>& key, const bytes<ValueBytes>& value) { visit(key.data(), value.data()); });
  }
  [[nodiscard]] std::size_t size() override { return map_.size(); }
  [[nodiscard]] std::size_t capacity() const override { return map_.capacity(); }
  [[nodiscard]] int owner(const void* key) const override { return map_.owner(key_at(key)); }

 private:
  [[nodiscard]] bytes<KeyBytes> key_at(const void* from) const {
    bytes<KeyBytes> key{};
    std::memcpy(key.data(), from, key_bytes_);
    return key;
  }
  [[nodiscard]] bytes<ValueBytes> value_at(const void* from) const {
    bytes<ValueBytes> value{};
    std::memcpy(value.data(), from, value_bytes_);
    return value;
  }
  bool copied(const std::optional<bytes<ValueBytes>>& found, void* to) const {
    if (found && to != nullptr) std::memcpy(to, found->data(), value_bytes_);
    return found.has_value();
  }

  nearfar::c::resident in_;
  std::size_t key_bytes_;
  std::size_t value_bytes_;
  nearfar::distributed_map<nearfar::mpi::world, bytes<KeyBytes>, bytes<ValueBytes>> map_;
};

/// Makes a map with the smallest value type that holds `value_bytes`.
template <std::size_t KeyBytes>
std::unique_ptr<nearfar_map> make_of_key(nearfar_world& w, std::size_t key_bytes, std::size_t value_bytes,
                                         std::size_t entries) {
  if (value_bytes <= 8) return std::make_unique<map_of<KeyBytes, 8>>(w, key_bytes, value_bytes, entries);
  if (value_bytes <= 64) return std::make_unique<map_of<KeyBytes, 64>>(w, key_bytes, value_bytes, entries);
  return std::make_unique<map_of<KeyBytes, NEARFAR_MAP_MAX_VALUE_BYTES>>(w, key_bytes, value_bytes, entries);
}

std::unique_ptr<nearfar_map> make(nearfar_world& w, std::size_t key_bytes, std::size_t value_bytes,
                                  std::size_t entries) {
  // Compares arguments before any check that only some ranks might fail.
  nearfar::expect_alike(w.of, "a nearfar_map",
                        {{"key_bytes", static_cast<std::int64_t>(key_bytes)},
                         {"value_bytes", static_cast<std::int64_t>(value_bytes)}});
  if (key_bytes < 1 || key_bytes > NEARFAR_MAP_MAX_KEY_BYTES || value_bytes < 1 ||
      value_bytes > NEARFAR_MAP_MAX_VALUE_BYTES)
    throw nearfar::misuse("keys of a map have 1 to " + std::to_string(NEARFAR_MAP_MAX_KEY_BYTES) +
                          " bytes and values 1 to " + std::to_string(NEARFAR_MAP_MAX_VALUE_BYTES) + ", not " +
                          std::to_string(key_bytes) + " and " + std::to_string(value_bytes));
  if (key_bytes <= 8) return make_of_key<8>(w, key_bytes, value_bytes, entries);
  return make_of_key<NEARFAR_MAP_MAX_KEY_BYTES>(w, key_bytes, value_bytes, entries);
}

nearfar_status found(bool there) { return there ? NEARFAR_SUCCESS : NEARFAR_NOT_FOUND; }

nearfar_status status_of(nearfar::insert_result result) {
  switch (result) {
    case nearfar::insert_result::inserted:
      return NEARFAR_SUCCESS;
    case nearfar::insert_result::exists:
      return NEARFAR_EXISTS;
    case nearfar::insert_result::full:
      return NEARFAR_FULL;
  }
  return NEARFAR_ERROR_INTERNAL;
}

nearfar_status status_of(nearfar::update_result result) {
  switch (result) {
    case nearfar::update_result::updated:
      return NEARFAR_SUCCESS;
    case nearfar::update_result::absent:
      return NEARFAR_NOT_FOUND;
    case nearfar::update_result::full:
      return NEARFAR_FULL;
  }
  return NEARFAR_ERROR_INTERNAL;
}

}  // namespace

nearfar_status nearfar_map_create(nearfar_world* world, size_t key_bytes, size_t value_bytes, size_t entries,
                                  nearfar_map** map) {
  return nearfar::c::create(__func__, world, map, "the place for the map", [&](nearfar_world& w) {
    return make(w, key_bytes, value_bytes, entries).release();
  });
}

nearfar_status nearfar_map_destroy(nearfar_map** map) { return nearfar::c::destroy(__func__, map); }

nearfar_status nearfar_map_find(nearfar_map* map, const void* key, void* value) {
  if (key == nullptr) return nearfar::c::fail_by_null(__func__, "the key");
  if (value == nullptr) return nearfar::c::fail_by_null(__func__, "the place for the value");
  return with_mpi(__func__, map, [&](nearfar_map& of) { return found(of.find(key, value)); });
}

nearfar_status nearfar_map_insert(nearfar_map* map, const void* key, const void* value) {
  if (key == nullptr) return nearfar::c::fail_by_null(__func__, "the key");
  if (value == nullptr) return nearfar::c::fail_by_null(__func__, "the value");
  return with_mpi(__func__, map, [&](nearfar_map& of) { return status_of(of.insert(key, value)); });
}

nearfar_status nearfar_map_update(nearfar_map* map, const void* key, const void* value) {
  if (key == nullptr) return nearfar::c::fail_by_null(__func__, "the key");
  if (value == nullptr) return nearfar::c::fail_by_null(__func__, "the value");
  return with_mpi(__func__, map, [&](nearfar_map& of) { return status_of(of.update(key, value)); });
}

nearfar_status nearfar_map_erase(nearfar_map* map, const void* key, void* value) {
  if (key == nullptr) return nearfar::c::fail_by_null(__func__, "the key");
  return with_mpi(__func__, map, [&](nearfar_map& of) { return found(of.erase(key, value)); });
}

nearfar_status nearfar_map_visit_local(nearfar_map* map, void (*visit)(const void*, const void*, void*),
                                       void* context) {
  if (visit == nullptr) return nearfar::c::fail_by_null(__func__, "the function to call");
  return with_mpi(__func__, map, [&](nearfar_map& of) {
    of.visit_local([&](const void* key, const void* value) { visit(key, value, context); });
    return NEARFAR_SUCCESS;
  });
}

nearfar_status nearfar_map_size(nearfar_map* map, size_t* size) {
  return with_mpi(__func__, map, [&](nearfar_map& of) {
    // Calls size() even without a place for the result, because the other ranks wait for this rank's share.
    const std::size_t all = of.size();
    if (size == nullptr) return nearfar::c::fail_by_null("nearfar_map_size", "the place for the size");
    *size = all;
    return NEARFAR_SUCCESS;
  });
}

nearfar_status nearfar_map_capacity(const nearfar_map* map, size_t* capacity) {
  return nearfar::c::get(__func__, map, capacity, [](const nearfar_map& of) { return of.capacity(); });
}

nearfar_status nearfar_map_owner(const nearfar_map* map, const void* key, int* rank) {
  if (key == nullptr) return nearfar::c::fail_by_null(__func__, "the key");
  return nearfar::c::get(__func__, map, rank, [&](const nearfar_map& of) { return of.owner(key); });
}
