/// \file
/// An expression of whole vectors that has not been evaluated yet: the result of the operators of
/// numa_vector_arithmetic.hpp.
///
/// Source: T. Veldhuizen, "Expression templates", C++ Report 7 (5), 1995.
#pragma once

#include <algorithm>
#include <compare>
#include <complex>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nearfar/container/iterator_operators.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

namespace detail {

inline void require_same_size(std::size_t one, std::size_t other) {
  if (one == other) return;
  throw misuse("vectors of " + std::to_string(one) + " and " + std::to_string(other) +
               " elements cannot be combined");
}

// ---- functions of the index ------------------------------------------------------------------------------
// An evaluation computes these functions. They hold pointers and numbers only, so each thread has a copy in
// its registers.

template <typename T>
struct element_function {
  const T* elements = nullptr;
  const T& operator()(std::size_t i) const noexcept { return elements[i]; }
};

/// The same value for every index: a number by value, any other object by its address in the expression.
template <typename T>
struct constant_function {
  T value{};
  const T& operator()(std::size_t) const noexcept { return value; }
};
template <typename T>
  requires(!std::is_trivially_copyable_v<T>)
struct constant_function<T> {
  const T* value = nullptr;
  const T& operator()(std::size_t) const noexcept { return *value; }
};

template <typename T>
[[nodiscard]] constant_function<T> constant(const T& value) noexcept {
  if constexpr (std::is_trivially_copyable_v<T>) {
    return {value};
  } else {
    return {std::addressof(value)};
  }
}

/// Whether computing throws nothing, although the standard's complex numbers do not declare it.
template <typename T>
inline constexpr bool is_number = std::is_arithmetic_v<T>;
template <std::floating_point T>
inline constexpr bool is_number<std::complex<T>> = true;

/// Every step yields a T, as if it were stored in a vector of Ts: small integers, whose arithmetic is in int,
/// have the same value with and without a vector in between.
template <typename T, typename Operation, typename... Functions>
struct operation_function {
  std::tuple<Functions...> arguments{};
  T operator()(std::size_t i) const noexcept(
      is_number<T> ||
      (std::is_nothrow_invocable_v<const Functions&, std::size_t> &&
       ...&& noexcept(static_cast<T>(Operation()(std::declval<const Functions&>()(std::size_t{})...))))) {
    return std::apply(
        [i](const Functions&... argument) { return static_cast<T>(Operation()(argument(i)...)); }, arguments);
  }
};

// ---- operands --------------------------------------------------------------------------------------------

template <typename T>
class constant_operand {
 public:
  explicit constant_operand(const T& value) : value_(value) {}
  [[nodiscard]] constant_function<T> function() const noexcept { return constant(value_); }

 private:
  T value_;
};

/// A vector owned by others.
template <typename T, typename Allocator>
class vector_reference {
 public:
  explicit vector_reference(const numa_vector<T, Allocator>& vector) noexcept
      : vector_(std::addressof(vector)) {}
  [[nodiscard]] const numa_vector<T, Allocator>& leading() const noexcept { return *vector_; }
  [[nodiscard]] element_function<T> function() const noexcept { return {vector_->data()}; }
  [[nodiscard]] std::size_t size() const noexcept { return vector_->size(); }

 private:
  const numa_vector<T, Allocator>* vector_;
};

/// A vector that was a temporary.
template <typename T, typename Allocator>
class vector_kept {
 public:
  explicit vector_kept(numa_vector<T, Allocator>&& vector) noexcept : vector_(std::move(vector)) {}
  explicit vector_kept(const numa_vector<T, Allocator>&& vector) : vector_(vector) {}
  [[nodiscard]] const numa_vector<T, Allocator>& leading() const noexcept { return vector_; }
  [[nodiscard]] numa_vector<T, Allocator>& temporary() noexcept { return vector_; }
  [[nodiscard]] element_function<T> function() const noexcept { return {vector_.data()}; }
  [[nodiscard]] std::size_t size() const noexcept { return vector_.size(); }

 private:
  numa_vector<T, Allocator> vector_;
};

}  // namespace detail

/// `Operation` on the elements of vectors, numbers and other expressions, each at its index. It is evaluated
/// whenever its elements are needed: by `numa_vector`, which constructs or assigns them on their owners; by
/// in-place operators and `dot`; by any algorithm, since it is a random access range of values. The
/// evaluation runs once for each element and needs no memory.
///
/// It refers to named vectors, as a view does: they must live as long, and their values at evaluation count.
/// It keeps vectors that were temporaries, and numbers by value. So `auto e = x + make();` is valid as long
/// as `x` is, while `return 2 * local;` is not, if the function returns `auto`. A copy of an expression
/// copies the vectors that it keeps. Iterators are valid until it is moved or ends.
///
/// If the length of a vector has changed since, throws `misuse` before anything is written.
template <typename Operation, typename... Operands>
class [[nodiscard]] vector_expression {
  // The first vector from the left determines which threads work, and what memory the result has.
  static constexpr std::size_t leader =
      requires { std::declval<std::tuple_element_t<0, std::tuple<Operands...>>&>().leading(); } ? 0 : 1;
  using leading_operand = std::tuple_element_t<leader, std::tuple<Operands...>>;
  using leading_vector = std::remove_cvref_t<decltype(std::declval<leading_operand&>().leading())>;

 public:
  using value_type = typename leading_vector::value_type;
  using allocator_type = typename leading_vector::allocator_type;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using function_type = detail::operation_function<value_type, Operation,
                                                   decltype(std::declval<const Operands&>().function())...>;

  /// Called by the operators.
  explicit vector_expression(std::size_t size, Operands&&... operands)
      : size_(size), operands_(std::move(operands)...) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Computes one element. Checked builds throw `misuse` for an index that is not less than size().
  [[nodiscard]] value_type operator[](std::size_t index) const {
    if constexpr (checked_build) {
      if (index >= size_)
        throw misuse("element " + std::to_string(index) + " of an expression of " + std::to_string(size_));
    }
    return function()(index);
  }

  class const_iterator;
  using iterator = const_iterator;
  [[nodiscard]] const_iterator begin() const { return {function(), 0}; }
  [[nodiscard]] const_iterator end() const { return {function(), size_}; }

  /// The expression as a function of the index, as fast as one written by hand. Throws `misuse` if the length
  /// of a vector has changed.
  [[nodiscard]] function_type function() const {
    return std::apply(
        [this](const Operands&... operand) {
          (require_length_of(operand), ...);
          return function_type{{operand.function()...}};
        },
        operands_);
  }

  /// The first vector from the left, whose owners work.
  [[nodiscard]] const leading_vector& leading() const noexcept {
    return std::get<leader>(operands_).leading();
  }

  /// The allocator of a new vector that holds the result: that of the first vector from the left.
  [[nodiscard]] allocator_type get_allocator() const {
    return std::allocator_traits<allocator_type>::select_on_container_copy_construction(
        leading().get_allocator());
  }

  /// The first vector from the left if it was a temporary; the result may take its memory.
  [[nodiscard]] leading_vector& temporary() noexcept
    requires requires(leading_operand& operand) { operand.temporary(); }
  {
    return std::get<leader>(operands_).temporary();
  }

 private:
  template <typename Operand>
  void require_length_of([[maybe_unused]] const Operand& operand) const {
    if constexpr (requires { operand.size(); }) detail::require_same_size(size_, operand.size());
  }

  std::size_t size_;
  std::tuple<Operands...> operands_;
};

/// Random access; a reference is a value, computed each time.
template <typename Operation, typename... Operands>
class vector_expression<Operation, Operands...>::const_iterator
    : public detail::iterator_operators<const_iterator> {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // since references are values
  using value_type = typename vector_expression::value_type;
  using difference_type = std::ptrdiff_t;
  using reference = value_type;
  using pointer = void;

  const_iterator() = default;
  const_iterator(const function_type& function, std::size_t index) : function_(function), index_(index) {}

  [[nodiscard]] value_type operator*() const { return function_(index_); }

 private:
  /// \cond
  friend struct detail::iterator_access;
  /// \endcond

  void advance(std::ptrdiff_t n) noexcept { index_ += static_cast<std::size_t>(n); }
  [[nodiscard]] std::size_t place() const noexcept { return index_; }

  function_type function_{};
  std::size_t index_ = 0;
};

namespace detail {

template <typename T, typename Allocator>
numa_vector<T, Allocator> vector_like(const numa_vector<T, Allocator>&);  // also of a class derived from it
template <typename Operation, typename... Operands>
vector_expression<Operation, Operands...> vector_like(const vector_expression<Operation, Operands...>&);

/// Operands of expressions: vectors and expressions.
template <typename V>
concept vector_operand = requires(const std::remove_cvref_t<V>& v) { detail::vector_like(v); };

template <vector_operand V>
using vector_type = decltype(detail::vector_like(std::declval<const std::remove_cvref_t<V>&>()));

template <vector_operand V>
using element_type = typename vector_type<V>::value_type;

template <typename V, typename T>
concept vector_operand_of = vector_operand<V> && std::same_as<element_type<V>, T>;

/// The vector whose owners run the loops.
template <typename T, typename Allocator>
[[nodiscard]] const numa_vector<T, Allocator>& leading_of(const numa_vector<T, Allocator>& v) noexcept {
  return v;
}
template <typename Operation, typename... Operands>
[[nodiscard]] const auto& leading_of(const vector_expression<Operation, Operands...>& e) noexcept {
  return e.leading();
}

template <typename T, typename Allocator>
[[nodiscard]] element_function<T> function_of(const numa_vector<T, Allocator>& v) noexcept {
  return {v.data()};
}
template <typename Operation, typename... Operands>
[[nodiscard]] auto function_of(const vector_expression<Operation, Operands...>& e) {
  return e.function();
}

template <typename T>
[[nodiscard]] constant_operand<T> operand_of(constant_operand<T>&& value) {
  return std::move(value);
}
template <typename T, typename Allocator>
[[nodiscard]] vector_reference<T, Allocator> operand_of(const numa_vector<T, Allocator>& v) noexcept {
  return vector_reference<T, Allocator>(v);
}
template <typename T, typename Allocator>
[[nodiscard]] vector_kept<T, Allocator> operand_of(numa_vector<T, Allocator>&& v) noexcept {
  return vector_kept<T, Allocator>(std::move(v));
}
template <typename T, typename Allocator>
[[nodiscard]] vector_kept<T, Allocator> operand_of(const numa_vector<T, Allocator>&& v) {
  return vector_kept<T, Allocator>(std::move(v));
}
template <typename Operation, typename... Operands>
[[nodiscard]] vector_expression<Operation, Operands...> operand_of(
    const vector_expression<Operation, Operands...>& e) {
  return e;
}
template <typename Operation, typename... Operands>
[[nodiscard]] vector_expression<Operation, Operands...> operand_of(
    vector_expression<Operation, Operands...>&& e) {
  return std::move(e);
}

/// The expression of an operation on such operands, of `size` elements each.
template <typename Operation, typename... Operands>
[[nodiscard]] auto expression(std::size_t size, Operands&&... operands) {
  return vector_expression<Operation, decltype(operand_of(std::forward<Operands>(operands)))...>(
      size, operand_of(std::forward<Operands>(operands))...);
}

}  // namespace detail

/// Whether all elements are equal; on the calling thread alone, up to the first difference.
template <detail::vector_operand A, detail::vector_operand B>
  requires std::same_as<detail::element_type<A>, detail::element_type<B>> &&
           (detail::is_vector_expression<A> || detail::is_vector_expression<B>) &&
           std::equality_comparable<detail::element_type<A>>
[[nodiscard]] bool operator==(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace nearfar
