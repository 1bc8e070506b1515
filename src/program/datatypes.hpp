// Datatypes: maps of basic elements, in the order in which they travel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "mpi_state.hpp"

namespace nearfar::program {

/// The datatypes of C, from which all others are made. Names that mean the same representation are one here,
/// so that MPI_INT and MPI_INT32_T are still different: MPI takes them for different datatypes.
struct basic_type {
  std::intptr_t handle = 0;
  const char* name = "";
  std::size_t bytes = 0;
  enum class family : std::uint8_t {
    none,
    signed_integer,
    unsigned_integer,
    real,
    complex,
    logical,
    byte,
    pair
  } is = family::none;
};

/// Equal basic elements that are neighbours.
struct element_run {
  std::intptr_t offset = 0;
  int basic = 0;  ///< index of the basic type
  std::size_t count = 0;
};

struct datatype {
  std::string_view name;
  std::intptr_t handle = 0;
  std::size_t size = 0;
  std::intptr_t lb = 0;
  std::intptr_t extent = 0;
  std::intptr_t true_lb = 0;
  std::intptr_t true_ub = 0;
  run_vector<element_run> map;
  bool is_committed = false;
  bool is_predefined = false;
  bool is_freed = false;
  site made;
  // How it was made, for MPI_Type_get_envelope and MPI_Type_get_contents.
  int combiner = 0;
  run_vector<int> integers;
  run_vector<MPI_Aint> addresses;
  run_vector<MPI_Datatype> types;

  [[nodiscard]] bool is_contiguous() const noexcept {
    return map.size() <= 1 && (map.empty() || map[0].offset == 0) &&
           extent == static_cast<std::intptr_t>(size);
  }
};

[[nodiscard]] const basic_type& basic_at(int index) noexcept;
/// The datatype of a handle, of the running rank. Null if there is no such datatype.
[[nodiscard]] datatype* type_of(MPI_Datatype handle);
/// Reports a datatype that cannot be used in communication.
[[nodiscard]] const datatype& usable_type(MPI_Datatype handle);
[[nodiscard]] MPI_Datatype add_type(datatype* made);

/// Calls `action(begin, bytes, basic)` with the contiguous pieces of `count` elements at `base`, in their
/// order.
template <typename Action>
void for_each_piece(const void* base, std::size_t count, const datatype& type, Action action) {
  auto at = reinterpret_cast<std::uintptr_t>(base);
  if (type.is_contiguous() && !type.map.empty()) {
    action(at, count * type.size, type.map[0].basic);
    return;
  }
  for (std::size_t i = 0; i < count; ++i, at += static_cast<std::uintptr_t>(type.extent))
    for (const element_run& one : type.map)
      action(at + static_cast<std::uintptr_t>(one.offset), one.count * basic_at(one.basic).bytes, one.basic);
}

using run_bytes = run_vector<std::byte>;

/// Copies the elements one after the other.
void pack(const void* from, std::size_t count, const datatype& type, std::byte* to);
/// Copies as many bytes as there are, at most those of `count` elements. Returns how many.
std::size_t unpack(const std::byte* from, std::size_t bytes, void* to, std::size_t count,
                   const datatype& type);

/// The only basic type in it, or -1.
[[nodiscard]] int only_basic(const datatype& type) noexcept;
/// Whether the elements of `a`, repeated, are those of `b`, repeated. Bytes go with everything.
[[nodiscard]] bool have_same_signature(const datatype& a, std::size_t count_a, const datatype& b,
                                       std::size_t count_b);

/// The program's memory is read or written by MPI now.
void access_buffer(const void* base, std::size_t count, const datatype& type, bool is_write);
/// The buffer belongs to an operation from now on.
void hold_buffer(rank& of, const void* base, std::size_t count, const datatype& type, bool is_written,
                 std::uint64_t owner);

}  // namespace nearfar::program
