#include "operations.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

namespace nearfar::program {

namespace {

enum class known : std::uint8_t {
  sum,
  min,
  max,
  prod,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  minloc,
  maxloc,
  replace,
  no_op
};

struct predefined_operation {
  operation what;
  known which;
};

const std::array<predefined_operation, 14>& all() {
  static const std::array<predefined_operation, 14> list{{
      {{.name = "MPI_SUM", .handle = MPI_SUM}, known::sum},
      {{.name = "MPI_MIN", .handle = MPI_MIN}, known::min},
      {{.name = "MPI_MAX", .handle = MPI_MAX}, known::max},
      {{.name = "MPI_PROD", .handle = MPI_PROD}, known::prod},
      {{.name = "MPI_BAND", .handle = MPI_BAND}, known::band},
      {{.name = "MPI_BOR", .handle = MPI_BOR}, known::bor},
      {{.name = "MPI_BXOR", .handle = MPI_BXOR}, known::bxor},
      {{.name = "MPI_LAND", .handle = MPI_LAND}, known::land},
      {{.name = "MPI_LOR", .handle = MPI_LOR}, known::lor},
      {{.name = "MPI_LXOR", .handle = MPI_LXOR}, known::lxor},
      {{.name = "MPI_MINLOC", .handle = MPI_MINLOC}, known::minloc},
      {{.name = "MPI_MAXLOC", .handle = MPI_MAXLOC}, known::maxloc},
      {{.name = "MPI_REPLACE", .handle = MPI_REPLACE}, known::replace},
      {{.name = "MPI_NO_OP", .handle = MPI_NO_OP}, known::no_op},
  }};
  return list;
}

[[nodiscard]] known which(const operation& op) noexcept {
  for (const predefined_operation& one : all())
    if (one.what.handle == op.handle) return one.which;
  return known::no_op;
}

template <typename T>
[[nodiscard]] T arithmetic(known op, T a, T b) {
  // Sums of signed integers wrap round, as they do on every machine that has MPI.
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (op == known::sum) return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    if (op == known::prod)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
  switch (op) {
    case known::sum:
      return static_cast<T>(a + b);
    case known::prod:
      return static_cast<T>(a * b);
    case known::min:
      return b < a ? b : a;
    case known::max:
      return a < b ? b : a;
    case known::land:
      return static_cast<T>(a != T{} && b != T{});
    case known::lor:
      return static_cast<T>(a != T{} || b != T{});
    case known::lxor:
      return static_cast<T>((a != T{}) != (b != T{}));
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == known::band) return static_cast<T>(a & b);
    if (op == known::bor) return static_cast<T>(a | b);
    if (op == known::bxor) return static_cast<T>(a ^ b);
  }
  return b;
}

template <typename T>
void apply(known op, const std::byte* in, std::byte* inout) {
  T a{};
  T b{};
  std::memcpy(&a, in, sizeof a);
  std::memcpy(&b, inout, sizeof b);
  T result = b;
  if constexpr (std::is_class_v<T>)  // complex
    result = op == known::prod ? a * b : a + b;
  else
    result = arithmetic(op, a, b);
  std::memcpy(inout, &result, sizeof result);
}

template <typename Value, typename Index>
void apply_pair(known op, const std::byte* in, std::byte* inout) {
  struct pair {
    Value value;
    Index index;
  };
  pair a{};
  pair b{};
  std::memcpy(&a, in, sizeof a);
  std::memcpy(&b, inout, sizeof b);
  const bool is_better = op == known::minloc ? a.value < b.value : b.value < a.value;
  if (is_better || (a.value == b.value && a.index < b.index)) std::memcpy(inout, &a, sizeof a);
}

}  // namespace

const operation* operation_of(MPI_Op handle) {
  for (const predefined_operation& one : all())
    if (one.what.handle == handle) return &one.what;
  return reinterpret_cast<std::intptr_t>(handle) >= 0x1000 ? own().operations.find(handle) : nullptr;
}

const char* name_of(const operation* one) noexcept { return one == nullptr ? "none" : one->name; }
bool is_no_op(const operation* one) noexcept { return one != nullptr && one->handle == MPI_NO_OP; }
bool is_replace(const operation* one) noexcept { return one != nullptr && one->handle == MPI_REPLACE; }

bool is_defined_for(const operation& op, const basic_type& type) noexcept {
  using enum basic_type::family;
  if (op.function != nullptr) return true;
  const bool is_integer = type.is == signed_integer || type.is == unsigned_integer;
  switch (which(op)) {
    case known::replace:
    case known::no_op:
      return true;
    case known::sum:
    case known::prod:
      return is_integer || type.is == real || type.is == complex;
    case known::min:
    case known::max:
      return is_integer || type.is == real;
    case known::land:
    case known::lor:
    case known::lxor:
      return is_integer || type.is == logical;
    case known::band:
    case known::bor:
    case known::bxor:
      return is_integer || type.is == byte;
    case known::minloc:
    case known::maxloc:
      return type.is == pair;
  }
  return false;
}

void combine_element(const operation& op, int basic, const std::byte* in, std::byte* inout) {
  using enum basic_type::family;
  const basic_type& type = basic_at(basic);
  const known how = which(op);
  if (how == known::no_op) return;
  if (how == known::replace) {
    std::memcpy(inout, in, type.bytes);
    return;
  }
  switch (type.is) {
    case signed_integer:
      switch (type.bytes) {
        case 1:
          return apply<std::int8_t>(how, in, inout);
        case 2:
          return apply<std::int16_t>(how, in, inout);
        case 4:
          return apply<std::int32_t>(how, in, inout);
        default:
          return apply<std::int64_t>(how, in, inout);
      }
    case unsigned_integer:
    case logical:
    case byte:
    case none:
      switch (type.bytes) {
        case 1:
          return apply<std::uint8_t>(how, in, inout);
        case 2:
          return apply<std::uint16_t>(how, in, inout);
        case 4:
          return apply<std::uint32_t>(how, in, inout);
        default:
          return apply<std::uint64_t>(how, in, inout);
      }
    case real:
      switch (type.bytes) {
        case sizeof(float):
          return apply<float>(how, in, inout);
        case sizeof(double):
          return apply<double>(how, in, inout);
        default:
          return apply<long double>(how, in, inout);
      }
    case complex:
      switch (type.bytes) {
        case 2 * sizeof(float):
          return apply<std::complex<float>>(how, in, inout);
        case 2 * sizeof(double):
          return apply<std::complex<double>>(how, in, inout);
        default:
          return apply<std::complex<long double>>(how, in, inout);
      }
    case pair:
      switch (type.handle) {
        case 0x228:
          return apply_pair<float, int>(how, in, inout);
        case 0x229:
          return apply_pair<double, int>(how, in, inout);
        case 0x22a:
          return apply_pair<long, int>(how, in, inout);
        case 0x22c:
          return apply_pair<short, int>(how, in, inout);
        case 0x22d:
          return apply_pair<long double, int>(how, in, inout);
        case 0x230:
          return apply_pair<float, float>(how, in, inout);
        case 0x231:
          return apply_pair<double, double>(how, in, inout);
        default:
          return apply_pair<int, int>(how, in, inout);
      }
  }
}

void combine(const operation& op, const datatype& type, std::size_t count, std::byte* in, std::byte* inout) {
  if (op.function != nullptr) {
    // The function gets elements with their extent, so those of a type with gaps are spread first.
    int length = static_cast<int>(count);
    auto handle = reinterpret_cast<MPI_Datatype>(type.handle);
    if (type.is_contiguous()) {
      is_inside = true;
      op.function(in, inout, &length, &handle);
      is_inside = false;
      return;
    }
    const std::size_t bytes = count * static_cast<std::size_t>(type.extent);
    run_bytes a(bytes);
    run_bytes b(bytes);
    unpack(in, count * type.size, a.data() - type.lb, count, type);
    unpack(inout, count * type.size, b.data() - type.lb, count, type);
    is_inside = true;
    op.function(a.data() - type.lb, b.data() - type.lb, &length, &handle);
    is_inside = false;
    pack(b.data() - type.lb, count, type, inout);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    for (const element_run& run : type.map)
      for (std::size_t n = 0; n < run.count; ++n) {
        combine_element(op, run.basic, in, inout);
        in += basic_at(run.basic).bytes;
        inout += basic_at(run.basic).bytes;
      }
}

}  // namespace nearfar::program
