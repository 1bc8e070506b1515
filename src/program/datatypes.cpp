#include "datatypes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <cwchar>

#include "hooks.hpp"

namespace nearfar::program {

namespace {

using enum basic_type::family;

constexpr std::array<basic_type, 52> basics{{
    {0x201, "MPI_AINT", sizeof(MPI_Aint), signed_integer},
    {0x202, "MPI_COUNT", sizeof(MPI_Count), signed_integer},
    {0x203, "MPI_OFFSET", sizeof(MPI_Offset), signed_integer},
    {0x207, "MPI_PACKED", 1, byte},
    {0x208, "MPI_SHORT", sizeof(short), signed_integer},
    {0x209, "MPI_INT", sizeof(int), signed_integer},
    {0x20a, "MPI_LONG", sizeof(long), signed_integer},
    {0x20b, "MPI_LONG_LONG", sizeof(long long), signed_integer},
    {0x20c, "MPI_UNSIGNED_SHORT", sizeof(short), unsigned_integer},
    {0x20d, "MPI_UNSIGNED", sizeof(int), unsigned_integer},
    {0x20e, "MPI_UNSIGNED_LONG", sizeof(long), unsigned_integer},
    {0x20f, "MPI_UNSIGNED_LONG_LONG", sizeof(long long), unsigned_integer},
    {0x210, "MPI_FLOAT", sizeof(float), real},
    {0x212, "MPI_C_FLOAT_COMPLEX", 2 * sizeof(float), complex},
    {0x213, "MPI_CXX_FLOAT_COMPLEX", 2 * sizeof(float), complex},
    {0x214, "MPI_DOUBLE", sizeof(double), real},
    {0x216, "MPI_C_DOUBLE_COMPLEX", 2 * sizeof(double), complex},
    {0x217, "MPI_CXX_DOUBLE_COMPLEX", 2 * sizeof(double), complex},
    {0x218, "MPI_LOGICAL", sizeof(int), logical},
    {0x219, "MPI_INTEGER", sizeof(int), signed_integer},
    {0x21a, "MPI_REAL", sizeof(float), real},
    {0x21b, "MPI_COMPLEX", 2 * sizeof(float), complex},
    {0x21c, "MPI_DOUBLE_PRECISION", sizeof(double), real},
    {0x21d, "MPI_DOUBLE_COMPLEX", 2 * sizeof(double), complex},
    {0x21e, "MPI_CHARACTER", 1, none},
    {0x220, "MPI_LONG_DOUBLE", sizeof(long double), real},
    {0x224, "MPI_C_LONG_DOUBLE_COMPLEX", 2 * sizeof(long double), complex},
    {0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", 2 * sizeof(long double), complex},
    {0x228, "MPI_FLOAT_INT", 8, pair},
    {0x229, "MPI_DOUBLE_INT", 16, pair},
    {0x22a, "MPI_LONG_INT", 16, pair},
    {0x22b, "MPI_2INT", 8, pair},
    {0x22c, "MPI_SHORT_INT", 8, pair},
    {0x22d, "MPI_LONG_DOUBLE_INT", 32, pair},
    {0x230, "MPI_2REAL", 8, pair},
    {0x231, "MPI_2DOUBLE_PRECISION", 16, pair},
    {0x232, "MPI_2INTEGER", 8, pair},
    {0x238, "MPI_C_BOOL", 1, logical},
    {0x239, "MPI_CXX_BOOL", 1, logical},
    {0x23c, "MPI_WCHAR", sizeof(wchar_t), none},
    {0x240, "MPI_INT8_T", 1, signed_integer},
    {0x241, "MPI_UINT8_T", 1, unsigned_integer},
    {0x243, "MPI_CHAR", 1, none},
    {0x244, "MPI_SIGNED_CHAR", 1, signed_integer},
    {0x245, "MPI_UNSIGNED_CHAR", 1, unsigned_integer},
    {0x247, "MPI_BYTE", 1, byte},
    {0x248, "MPI_INT16_T", 2, signed_integer},
    {0x249, "MPI_UINT16_T", 2, unsigned_integer},
    {0x250, "MPI_INT32_T", 4, signed_integer},
    {0x251, "MPI_UINT32_T", 4, unsigned_integer},
    {0x258, "MPI_INT64_T", 8, signed_integer},
    {0x259, "MPI_UINT64_T", 8, unsigned_integer},
}};

[[nodiscard]] datatype* make_predefined(std::intptr_t handle) {
  for (std::size_t i = 0; i < basics.size(); ++i) {
    if (basics[i].handle != handle || handle == 0) continue;
    auto* const one = make_for_run<datatype>();
    one->name = basics[i].name;
    one->handle = handle;
    one->size = basics[i].bytes;
    one->extent = one->true_ub = static_cast<std::intptr_t>(basics[i].bytes);
    one->is_committed = one->is_predefined = true;
    one->combiner = MPI_COMBINER_NAMED;
    one->map.push_back({0, static_cast<int>(i), 1});
    return one;
  }
  return nullptr;
}

}  // namespace

const basic_type& basic_at(int index) noexcept { return basics[static_cast<std::size_t>(index)]; }

datatype* type_of(MPI_Datatype handle) {
  const auto value = reinterpret_cast<std::intptr_t>(handle);
  if (value >= 0x1000) return own().types.find(handle);
  run_map<std::intptr_t, datatype*>& made = own().predefined_types;
  if (const auto known = made.find(value); known != made.end()) return known->second;
  datatype* const one = make_predefined(value);
  if (one != nullptr) made.emplace(value, one);
  return one;
}

MPI_Datatype add_type(datatype* made) {
  made->made = self().here();
  const MPI_Datatype handle = own().types.add(made);
  made->handle = reinterpret_cast<std::intptr_t>(handle);
  return handle;
}

const datatype& usable_type(MPI_Datatype handle) {
  const datatype* const one = type_of(handle);
  if (one == nullptr)
    fail("argument", handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL is no datatype to communicate with"
                                                 : "the datatype does not exist, or was freed");
  if (!one->is_committed)
    fail("argument", "the datatype is not committed", nullptr,
         "A datatype must be committed before it is used in communication (MPI 4.1, section 5.1.9)");
  return *one;
}

void pack(const void* from, std::size_t count, const datatype& type, std::byte* to) {
  for_each_piece(from, count, type, [&](std::uintptr_t at, std::size_t bytes, int) {
    std::memcpy(to, reinterpret_cast<const void*>(at), bytes);
    to += bytes;
  });
}

std::size_t unpack(const std::byte* from, std::size_t bytes, void* to, std::size_t count,
                   const datatype& type) {
  std::size_t done = 0;
  for_each_piece(to, count, type, [&](std::uintptr_t at, std::size_t size, int) {
    const std::size_t n = std::min(size, bytes - done);
    std::memcpy(reinterpret_cast<void*>(at), from + done, n);
    done += n;
  });
  return done;
}

int only_basic(const datatype& type) noexcept {
  if (type.map.empty()) return -1;
  const int first = type.map[0].basic;
  for (const element_run& one : type.map)
    if (one.basic != first) return -1;
  return first;
}

bool have_same_signature(const datatype& a, std::size_t count_a, const datatype& b, std::size_t count_b) {
  if (a.size * count_a == 0 || b.size * count_b == 0) return true;
  const int basic_a = only_basic(a);
  const int basic_b = only_basic(b);
  if (basic_a >= 0 && basic_b >= 0)
    return basic_a == basic_b || basic_at(basic_a).is == byte || basic_at(basic_b).is == byte;
  // Two mixtures, element by element, as far as the shorter one goes.
  std::size_t at_a = 0;
  std::size_t at_b = 0;
  std::size_t left_a = a.map[0].count;
  std::size_t left_b = b.map[0].count;
  const std::size_t runs_a = a.map.size() * count_a;
  const std::size_t runs_b = b.map.size() * count_b;
  while (at_a < runs_a && at_b < runs_b) {
    const element_run& one = a.map[at_a % a.map.size()];
    const element_run& other = b.map[at_b % b.map.size()];
    if (one.basic != other.basic && basic_at(one.basic).is != byte && basic_at(other.basic).is != byte)
      return false;
    if (basic_at(one.basic).is == byte || basic_at(other.basic).is == byte) return true;
    const std::size_t both = std::min(left_a, left_b);
    left_a -= both;
    left_b -= both;
    if (left_a == 0 && ++at_a < runs_a) left_a = a.map[at_a % a.map.size()].count;
    if (left_b == 0 && ++at_b < runs_b) left_b = b.map[at_b % b.map.size()].count;
  }
  return true;
}

void access_buffer(const void* base, std::size_t count, const datatype& type, bool is_write) {
  for_each_piece(base, count, type, [&](std::uintptr_t at, std::size_t bytes, int) {
    access_memory(reinterpret_cast<const void*>(at), bytes, is_write, nullptr);
  });
}

void hold_buffer(rank& of, const void* base, std::size_t count, const datatype& type, bool is_written,
                 std::uint64_t owner) {
  for_each_piece(base, count, type, [&](std::uintptr_t at, std::size_t bytes, int) {
    hold_buffer(of, reinterpret_cast<const void*>(at), bytes, is_written, owner);
  });
}

}  // namespace nearfar::program
