/// \file
/// Arithmetic with whole vectors, in parallel where their elements are.
///
/// Vectors of different lengths are a `misuse`, in all builds. Operands may be the same vector. Operations in
/// place run on the owners of the elements of the vector on the left. A new vector has its allocator, and so
/// its owners, and takes its memory if it is a temporary. An operation in place whose element operations
/// throw leaves elements with old or new values.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.3.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/owned_elements.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

namespace detail {

inline void require_same_size(std::size_t one, std::size_t other) {
  if (one == other) return;
  throw misuse("vectors of " + std::to_string(one) + " and " + std::to_string(other) +
               " elements cannot be combined");
}

// operation(a[i], b[i]) for all elements.
template <typename T, typename A, typename B, typename Operation>
numa_vector<T, A>& combine(numa_vector<T, A>& a, const numa_vector<T, B>& b, const Operation& operation) {
  require_same_size(a.size(), b.size());
  a.for_each_block([to = a.data(), from = b.data(), &operation](index_range block) {
    for (std::size_t i = block.first; i < block.last; ++i) operation(to[i], from[i]);
  });
  return a;
}

// operation(a[i], operand) for all elements.
template <typename T, typename A, typename Operation>
numa_vector<T, A>& combine_with_one(numa_vector<T, A>& a, const T& operand, const Operation& operation) {
  a.for_each_block([to = a.data(), &operand, &operation](index_range block) {
    // A number in a register, which the compiler need not load again after every store.
    std::conditional_t<std::is_trivially_copyable_v<T>, const T, const T&> one = operand;
    for (std::size_t i = block.first; i < block.last; ++i) operation(to[i], one);
  });
  return a;
}

// operation(a[i]), or operation(a[i], b[i]...) with arrays as long as `a`.
template <typename T, typename A, typename Operation, typename... Pointers>
[[nodiscard]] numa_vector<T, A> generate_from(const numa_vector<T, A>& a, Operation operation,
                                              Pointers... others) {
  constexpr bool is_nothrow = std::is_nothrow_invocable_v<const Operation&, const T&, decltype(*others)...>;
  return numa_vector<T, A>::generate(
      a.size(),
      [=, elements = a.data()](std::size_t i) noexcept(is_nothrow) {
        return operation(elements[i], others[i]...);
      },
      std::allocator_traits<A>::select_on_container_copy_construction(a.get_allocator()));
}

template <typename T>
void add_product(T& sum, const T& a, const T& b) {
  if constexpr (std::is_arithmetic_v<T>) {
    sum = static_cast<T>(sum + a * b);  // small integers are calculated with as int
  } else {
    sum += a * b;
  }
}

}  // namespace detail

// ---- in place --------------------------------------------------------------------------------------------

template <typename T, typename A, typename B>
  requires requires(T& x, const T& y) { x += y; }
numa_vector<T, A>& operator+=(numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  return detail::combine(a, b, [](T& x, const T& y) { x += y; });
}

template <typename T, typename A, typename B>
  requires requires(T& x, const T& y) { x -= y; }
numa_vector<T, A>& operator-=(numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  return detail::combine(a, b, [](T& x, const T& y) { x -= y; });
}

// By value, because the factor may be an element of the vector.
template <typename T, typename A>
  requires requires(T& x, const T& y) { x *= y; }
numa_vector<T, A>& operator*=(numa_vector<T, A>& a, std::type_identity_t<T> factor) {
  return detail::combine_with_one(a, factor, [](T& x, const T& y) { x *= y; });
}

template <typename T, typename A>
  requires requires(T& x, const T& y) { x /= y; }
numa_vector<T, A>& operator/=(numa_vector<T, A>& a, std::type_identity_t<T> divisor) {
  return detail::combine_with_one(a, divisor, [](T& x, const T& y) { x /= y; });
}

// ---- with a new vector as result -------------------------------------------------------------------------

template <typename T, typename A, typename B>
  requires requires(const T& x, const T& y) { T(x + y); }
[[nodiscard]] numa_vector<T, A> operator+(const numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  detail::require_same_size(a.size(), b.size());
  return detail::generate_from(
      a, [](const T& x, const T& y) noexcept(noexcept(x + y)) { return x + y; }, b.data());
}

template <typename T, typename A, typename B>
  requires requires(T& x, const T& y) { x += y; }
[[nodiscard]] numa_vector<T, A> operator+(numa_vector<T, A>&& a, const numa_vector<T, B>& b) {
  return std::move(a += b);
}

template <typename T, typename A, typename B>
  requires requires(const T& x, const T& y) { T(x - y); }
[[nodiscard]] numa_vector<T, A> operator-(const numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  detail::require_same_size(a.size(), b.size());
  return detail::generate_from(
      a, [](const T& x, const T& y) noexcept(noexcept(x - y)) { return x - y; }, b.data());
}

template <typename T, typename A, typename B>
  requires requires(T& x, const T& y) { x -= y; }
[[nodiscard]] numa_vector<T, A> operator-(numa_vector<T, A>&& a, const numa_vector<T, B>& b) {
  return std::move(a -= b);
}

template <typename T, typename A>
  requires requires(const T& x) { T(-x); }
[[nodiscard]] numa_vector<T, A> operator-(const numa_vector<T, A>& a) {
  return detail::generate_from(a, [](const T& x) noexcept(noexcept(-x)) { return -x; });
}

template <typename T, typename A>
  requires requires(const T& x, const T& y) { T(x * y); }
[[nodiscard]] numa_vector<T, A> operator*(const std::type_identity_t<T>& factor, const numa_vector<T, A>& a) {
  return detail::generate_from(a, [factor](const T& x) noexcept(noexcept(x * x)) { return factor * x; });
}

template <typename T, typename A>
  requires requires(const T& x, const T& y) { T(x * y); }
[[nodiscard]] numa_vector<T, A> operator*(const numa_vector<T, A>& a, const std::type_identity_t<T>& factor) {
  return detail::generate_from(a, [factor](const T& x) noexcept(noexcept(x * x)) { return x * factor; });
}

template <typename T, typename A>
  requires requires(T& x, const T& y) { x *= y; }
[[nodiscard]] numa_vector<T, A> operator*(numa_vector<T, A>&& a, const std::type_identity_t<T>& factor) {
  return std::move(a *= factor);
}

template <typename T, typename A>
  requires requires(const T& x, const T& y) { T(x / y); }
[[nodiscard]] numa_vector<T, A> operator/(const numa_vector<T, A>& a,
                                          const std::type_identity_t<T>& divisor) {
  return detail::generate_from(a, [divisor](const T& x) noexcept(noexcept(x / x)) { return x / divisor; });
}

template <typename T, typename A>
  requires requires(T& x, const T& y) { x /= y; }
[[nodiscard]] numa_vector<T, A> operator/(numa_vector<T, A>&& a, const std::type_identity_t<T>& divisor) {
  return std::move(a /= divisor);
}

// ---- with a number as result -----------------------------------------------------------------------------

/// The sum of a[i] * b[i], beginning with T(); nothing is conjugated.
///
/// The sum of each owner comes first, then these in order of the owners, so that the same vectors give the
/// same result to the last bit as long as capacity and number of threads are the same. For numbers an owner
/// keeps several sums at a time, which a processor can add at once.
template <typename T, typename A, typename B>
  requires requires(T& sum, const T& x, const T& y) { sum += x * y; }
[[nodiscard]] T dot(const numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  detail::require_same_size(a.size(), b.size());
  struct alignas(cache_line) partial {
    T sum{};
  };
  const std::size_t capacity = a.capacity();
  const team threads = detail::element_owners<A>::loop_team(a.get_allocator(), capacity);
  std::vector<partial> of_members(static_cast<std::size_t>(threads.size()));
  threads.run([&, x = a.data(), y = b.data(), size = a.size()](team_member member) {
    T sum{};
    detail::for_each_part<detail::chunk_of<A>()>(member, capacity, {0, size}, [&](index_range part) {
      std::size_t i = part.first;
      if constexpr (std::is_arithmetic_v<T>) {
        constexpr std::size_t lanes = 8;
        T sums[lanes]{};
        for (; i + lanes <= part.last; i += lanes) {
          for (std::size_t lane = 0; lane < lanes; ++lane)
            detail::add_product(sums[lane], x[i + lane], y[i + lane]);
        }
        for (const T& lane_sum : sums) sum = static_cast<T>(sum + lane_sum);
      }
      for (; i < part.last; ++i) detail::add_product(sum, x[i], y[i]);
    });
    of_members[static_cast<std::size_t>(member.index)].sum = std::move(sum);
  });
  T all{};
  for (partial& of_member : of_members) all += of_member.sum;
  return all;
}

}  // namespace nearfar
