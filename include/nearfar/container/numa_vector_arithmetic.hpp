/// \file
/// Arithmetic with whole vectors, in parallel on the threads that own the elements.
///
/// Operators whose result would be a new vector return a `vector_expression` instead: `y += 0.5 * x` and `y =
/// a + 2.0 * b - c` are one loop each over all elements, without temporary vectors, run by the owners of the
/// elements of `y`. An expression that is assigned or converted to a `numa_vector` becomes one. An expression
/// may be part of another, and every algorithm takes it as a range. All operands have the same type of
/// elements; their allocators may differ.
///
/// Operands may be the same vector, also the one on the left, since each element is computed from those at
/// its index. Numbers are passed by value, so that a factor may be an element of the vector. A compiler may
/// fuse a product and a sum, as in any loop.
///
/// Combining vectors of different lengths throws `misuse`, in all builds: nothing is written, and no
/// temporary is consumed. If element operations of an in-place operation throw, elements have old or new
/// values; an assignment leaves the vector as it was.
///
/// By default there is no product of two vectors by `*`, whose meaning differs between fields: use `hadamard`
/// or `dot`. With `using namespace nearfar::scalar_product`, `x * y` is `dot(x, y)`, as in the source.
///
/// Cost: one loop on the team of the vector on the left.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.3.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/owned_elements.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/container/vector_expression.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

namespace detail {

/// Whether a T can be made from the result of an operation on two Ts, or on one.
template <typename T, typename Operation>
concept has_binary = requires(const T& x, const T& y) { T(Operation()(x, y)); };
template <typename T, typename Operation>
concept has_unary = requires(const T& x) { T(Operation()(x)); };

template <typename Operation, typename A, typename B>
[[nodiscard]] auto expression_of_two(A&& a, B&& b) {
  require_same_size(a.size(), b.size());
  return expression<Operation>(a.size(), std::forward<A>(a), std::forward<B>(b));
}

template <typename T>
void add_product(T& sum, const T& a, const T& b) {
  if constexpr (std::is_arithmetic_v<T>) {
    sum = static_cast<T>(sum + a * b);  // arithmetic on small integers is in int
  } else {
    sum += a * b;
  }
}

/// Returns `sum` plus all x(i) * y(i). A function of its own, with all arguments by value and a loop over
/// counted blocks, so that GCC keeps the sums in registers, as many side by side as they hold. With the
/// condition `i + lanes <= part.last` GCC stores each sum each time, which takes four times as long.
template <typename T, typename X, typename Y>
[[gnu::noinline]] T with_products(T sum, const X x, const Y y, const index_range part) {
  std::size_t first = part.first;
  if constexpr (std::is_arithmetic_v<T>) {
    constexpr std::size_t lanes = 8;
    const std::size_t blocks = part.size() / lanes;
    T sums[lanes]{};
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t i = first + block * lanes + lane;
        add_product<T>(sums[lane], x(i), y(i));
      }
    }
    for (const T& lane_sum : sums) sum = static_cast<T>(sum + lane_sum);
    first += blocks * lanes;
  }
  for (std::size_t i = first; i < part.last; ++i) add_product<T>(sum, x(i), y(i));
  return sum;
}

}  // namespace detail

// ---- in place --------------------------------------------------------------------------------------------

template <typename T, typename A, detail::vector_operand_of<T> B>
  requires requires(T& x, const T& y) { x += y; }
numa_vector<T, A>& operator+=(numa_vector<T, A>& a, const B& b) {
  detail::require_same_size(a.size(), b.size());
  detail::combine_each(a, detail::function_of(b), [](T& x, auto&& y) { x += std::forward<decltype(y)>(y); });
  return a;
}

template <typename T, typename A, detail::vector_operand_of<T> B>
  requires requires(T& x, const T& y) { x -= y; }
numa_vector<T, A>& operator-=(numa_vector<T, A>& a, const B& b) {
  detail::require_same_size(a.size(), b.size());
  detail::combine_each(a, detail::function_of(b), [](T& x, auto&& y) { x -= std::forward<decltype(y)>(y); });
  return a;
}

// By value, because the factor may be an element of the vector.
template <typename T, typename A>
  requires requires(T& x, const T& y) { x *= y; }
numa_vector<T, A>& operator*=(numa_vector<T, A>& a, std::type_identity_t<T> factor) {
  detail::combine_each(a, detail::constant(factor), [](T& x, const T& y) { x *= y; });
  return a;
}

template <typename T, typename A>
  requires requires(T& x, const T& y) { x /= y; }
numa_vector<T, A>& operator/=(numa_vector<T, A>& a, std::type_identity_t<T> divisor) {
  detail::combine_each(a, detail::constant(divisor), [](T& x, const T& y) { x /= y; });
  return a;
}

// ---- expressions -----------------------------------------------------------------------------------------

template <detail::vector_operand A, detail::vector_operand_of<detail::element_type<A>> B>
  requires detail::has_binary<detail::element_type<A>, std::plus<>>
[[nodiscard]] auto operator+(A&& a, B&& b) {
  return detail::expression_of_two<std::plus<>>(std::forward<A>(a), std::forward<B>(b));
}

template <detail::vector_operand A, detail::vector_operand_of<detail::element_type<A>> B>
  requires detail::has_binary<detail::element_type<A>, std::minus<>>
[[nodiscard]] auto operator-(A&& a, B&& b) {
  return detail::expression_of_two<std::minus<>>(std::forward<A>(a), std::forward<B>(b));
}

/// The elementwise product.
template <detail::vector_operand A, detail::vector_operand_of<detail::element_type<A>> B>
  requires detail::has_binary<detail::element_type<A>, std::multiplies<>>
[[nodiscard]] auto hadamard(A&& a, B&& b) {
  return detail::expression_of_two<std::multiplies<>>(std::forward<A>(a), std::forward<B>(b));
}

template <detail::vector_operand A>
  requires detail::has_unary<detail::element_type<A>, std::negate<>>
[[nodiscard]] auto operator-(A&& a) {
  return detail::expression<std::negate<>>(a.size(), std::forward<A>(a));
}

template <detail::vector_operand A>
  requires detail::has_binary<detail::element_type<A>, std::multiplies<>>
[[nodiscard]] auto operator*(const detail::element_type<A>& factor, A&& a) {
  return detail::expression<std::multiplies<>>(a.size(), detail::constant_operand(factor),
                                               std::forward<A>(a));
}

template <detail::vector_operand A>
  requires detail::has_binary<detail::element_type<A>, std::multiplies<>>
[[nodiscard]] auto operator*(A&& a, const detail::element_type<A>& factor) {
  return detail::expression<std::multiplies<>>(a.size(), std::forward<A>(a),
                                               detail::constant_operand(factor));
}

template <detail::vector_operand A>
  requires detail::has_binary<detail::element_type<A>, std::divides<>>
[[nodiscard]] auto operator/(A&& a, const detail::element_type<A>& divisor) {
  return detail::expression<std::divides<>>(a.size(), std::forward<A>(a), detail::constant_operand(divisor));
}

// ---- with a number as result -----------------------------------------------------------------------------

/// The sum of a[i] * b[i], beginning with T(); nothing is conjugated. Either operand may be an expression.
///
/// Each owner of the first vector from the left sums up its part, and these sums are added in the order of
/// the owners. The same vectors therefore give the same result to the last bit, as long as capacity and
/// number of threads are the same. For numbers, an owner keeps several sums, which a processor can add in
/// parallel.
template <detail::vector_operand A, detail::vector_operand_of<detail::element_type<A>> B>
  requires requires(detail::element_type<A>& sum, const detail::element_type<A>& x) { sum += x * x; }
[[nodiscard]] detail::element_type<A> dot(const A& a, const B& b) {
  using T = detail::element_type<A>;
  detail::require_same_size(a.size(), b.size());
  const auto& leading = detail::leading_of(a);
  using allocator = typename std::remove_cvref_t<decltype(leading)>::allocator_type;
  struct alignas(cache_line) partial {
    T sum{};
  };
  const std::size_t capacity = leading.capacity();
  const team threads = detail::element_owners<allocator>::loop_team(leading.get_allocator(), capacity);
  std::vector<partial> of_members(static_cast<std::size_t>(threads.size()));
  threads.run([x = detail::function_of(a), y = detail::function_of(b), capacity, size = a.size(),
               sums = of_members.data()](team_member member) {
    T sum{};
    detail::for_each_part<detail::chunk_of<allocator>()>(member, capacity, {0, size}, [&](index_range part) {
      sum = detail::with_products<T>(std::move(sum), x, y, part);
    });
    sums[member.index].sum = std::move(sum);
  });
  T all{};
  for (partial& of_member : of_members) all += of_member.sum;
  return all;
}

/// For programs in which `*` of two vectors means their scalar product. In a namespace that has an
/// `operator*` of its own, a program writes `using nearfar::scalar_product::operator*;` there.
namespace scalar_product {

/// `dot(a, b)`.
template <detail::vector_operand A, detail::vector_operand_of<detail::element_type<A>> B>
  requires requires(const A& a, const B& b) { nearfar::dot(a, b); }
[[nodiscard]] detail::element_type<A> operator*(A&& a, B&& b) {
  return nearfar::dot(a, b);
}

}  // namespace scalar_product

}  // namespace nearfar
