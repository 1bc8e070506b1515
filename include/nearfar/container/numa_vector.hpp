/// \file
/// A contiguous array whose elements are constructed, processed and destroyed by the threads that own them.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.3.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "nearfar/container/allocator_owners.hpp"
#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/owned_elements.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

template <typename Operation, typename... Operands>
class vector_expression;

namespace detail {

template <typename>
inline constexpr bool is_vector_expression = false;
template <typename Operation, typename... Operands>
inline constexpr bool is_vector_expression<vector_expression<Operation, Operands...>> = true;

/// An expression of numa_vector_arithmetic.hpp whose elements are of type T.
template <typename E, typename T>
concept expression_of = is_vector_expression<std::remove_cvref_t<E>> &&
                        std::same_as<typename std::remove_cvref_t<E>::value_type, T>;

/// Calls operation(element, function(i)) for all elements of a vector, each on its owner.
template <typename Vector, typename Function, typename Operation>
void combine_each(Vector& to, const Function& function, const Operation& operation) {
  to.for_each_block([data = to.data(), function, operation](index_range block) {
    // The thread's own copy, so that the compiler need not reload it after every store.
    const Function mine = function;
    // Unrolled; otherwise its speed varies by a fifth with the position of its code in the cache lines.
#pragma GCC unroll 4
    for (std::size_t i = block.first; i < block.last; ++i) operation(data[i], mine(i));
  });
}

template <typename Vector, typename Function>
void assign_each(Vector& to, const Function& function) {
  combine_each(
      to, function,
      []<typename T>(T& element, auto&& value) noexcept(std::is_nothrow_assignable_v<T&, decltype(value)>) {
        element = std::forward<decltype(value)>(value);
      });
}

}  // namespace detail

/// A `std::vector` for numerical work on machines whose memory is near to some threads and far from others.
/// It is contiguous, and its iterators are pointers. Its elements are constructed and destroyed in parallel,
/// so that what they allocate themselves is also near the thread that works on them.
/// `numa_vector_arithmetic.hpp` provides arithmetic with whole vectors, on the threads that own the elements.
///
/// Owners. Element i belongs to thread `schedule().owner(i)`, which is `static_schedule(capacity(), team,
/// chunk)` with the team and chunk of the allocator (all threads and no chunk if it has no such members). As
/// long as size() is capacity(), each thread of a loop under OpenMP's `schedule(static)` with the same number
/// of threads accesses only its own elements. That holds after construction, assignment, resize(),
/// shrink_to_fit() and redistribute(), but not after push_back(), reserve(), pop_back() and clear(). If
/// size() and capacity() differ, the blocks lie elsewhere, and the calling thread constructs elements that
/// are pushed into spare room. A call of redistribute() restores the owners. Moving elements does not move
/// what they allocated; a copy of the vector is near throughout.
///
/// Loops over trivial elements of less than `placed_from_bytes` in all, which nobody places, run on the
/// calling thread alone.
///
/// Elements: constructors, destructors and assignments run on several threads at once, as do `construct` and
/// `destroy` of the allocator. With `std::pmr`, elements that use the allocator need a resource that supports
/// this: the loops are parallel if the resource is a `numa_resource`, and serial otherwise.
///
/// Exceptions: an operation that throws destroys all elements that it constructed. Construction, copy
/// assignment, assign, resize, reserve, push_back, emplace_back, redistribute and shrink_to_fit leave the
/// vector as it was (strong guarantee), unless elements can only be moved and moving throws. More elements
/// than max_size() throw `std::length_error`; lack of memory throws `std::bad_alloc`.
///
/// Several threads may read a vector at once. A thread that writes must be alone, unless the others access
/// different elements.
///
/// Not provided from `std::vector`: insert and erase, which cannot keep elements with their owners, and the
/// specialisation for bool. Pointers of the allocator must be plain pointers.
///
/// Cost: constructing or assigning n elements takes at most 2 parallel regions and one pass over the memory.
/// Every operation that changes capacity() also moves (or, if moving may throw, copies) every element once
/// and destroys the old ones, in 2 more regions.
template <typename T, typename Allocator = numa_allocator<T>>
class numa_vector {
  using traits = std::allocator_traits<Allocator>;

  static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                "numa_vector<T> needs an object type T that is neither const nor volatile");
  static_assert(std::is_same_v<typename traits::value_type, T>,
                "numa_vector<T, Allocator> needs an allocator of T");
  static_assert(std::is_same_v<typename traits::pointer, T*>,
                "numa_vector needs an allocator whose pointers are plain pointers");

 public:
  using value_type = T;
  using allocator_type = Allocator;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  /// Elements per block of one thread; 0: one block per thread.
  static constexpr std::size_t chunk = detail::chunk_of<Allocator>();

  // ---- construction --------------------------------------------------------------------------------------

  numa_vector() noexcept(std::is_nothrow_default_constructible_v<Allocator>)
    requires std::default_initializable<Allocator>
  = default;

  explicit numa_vector(const Allocator& allocator) noexcept : allocator_(allocator) {}

  /// `count` value-initialised elements: zeros for numbers.
  explicit numa_vector(std::size_t count, const Allocator& allocator = Allocator()) : allocator_(allocator) {
    build(count, std::is_trivial_v<T>, owners().value_initialised());
  }

  numa_vector(std::size_t count, const T& value, const Allocator& allocator = Allocator())
      : allocator_(allocator) {
    build(count, std::is_trivially_copyable_v<T>, owners().copies_of(value));
  }

  /// Copies of the elements from `first` to `last`. All threads use copies of a forward iterator at once;
  /// each walks from `first` to its blocks. The calling thread constructs the elements of an input iterator
  /// and then places them.
  template <std::input_iterator Iterator>
  numa_vector(Iterator first, Iterator last, const Allocator& allocator = Allocator())
      : allocator_(allocator) {
    if constexpr (std::contiguous_iterator<Iterator> &&
                  std::is_same_v<std::remove_cv_t<std::iter_value_t<Iterator>>, T>) {
      build(static_cast<std::size_t>(last - first), std::is_trivially_copyable_v<T>,
            owners().copies_from(std::to_address(first)));
    } else if constexpr (std::forward_iterator<Iterator>) {
      build(static_cast<std::size_t>(std::ranges::distance(first, last)), std::is_trivially_copyable_v<T>,
            [this, at = first, index = std::size_t{0}](T* element, std::size_t i) mutable {
              std::ranges::advance(at, static_cast<std::iter_difference_t<Iterator>>(i - index));
              index = i;
              traits::construct(allocator_, element, *at);
            });
    } else {
      numa_vector all(allocator);
      for (; first != last; ++first) all.emplace_back(*first);
      all.shrink_to_fit();
      exchange_elements(all);
    }
  }

  numa_vector(std::initializer_list<T> values, const Allocator& allocator = Allocator())
      : numa_vector(values.begin(), values.end(), allocator) {}

  numa_vector(const numa_vector& other)
      : numa_vector(other.begin(), other.end(),
                    traits::select_on_container_copy_construction(other.allocator_)) {}

  numa_vector(const numa_vector& other, const std::type_identity_t<Allocator>& allocator)
      : numa_vector(other.begin(), other.end(), allocator) {}

  /// A copy in memory of another kind.
  template <typename Other>
    requires(!std::same_as<Other, Allocator>)
  explicit numa_vector(const numa_vector<T, Other>& other, const Allocator& allocator = Allocator())
      : numa_vector(other.begin(), other.end(), allocator) {}

  /// Takes the memory and leaves `other` empty. Constant cost.
  numa_vector(numa_vector&& other) noexcept : allocator_(std::move(other.allocator_)) {
    exchange_elements(other);
  }

  /// Takes the memory if `allocator` can deallocate it, else moves the elements. Leaves `other` empty.
  numa_vector(numa_vector&& other,
              const std::type_identity_t<Allocator>& allocator) noexcept(traits::is_always_equal::value)
      : allocator_(allocator) {
    if (can_give_back(other)) {
      exchange_elements(other);
    } else {
      build(other.size_, std::is_trivially_copyable_v<T>, owners().moves_from(other.data_));
      other.clear();
    }
  }

  /// The owner of element i constructs it from `function(i)`; several threads call `function` at once.
  template <typename Function>
    requires std::constructible_from<T, std::invoke_result_t<const Function&, std::size_t>>
  [[nodiscard]] static numa_vector generate(std::size_t count, const Function& function,
                                            const Allocator& allocator = Allocator()) {
    numa_vector result(allocator);
    result.build_from(count, function);
    return result;
  }

  /// The result of an expression; each element is constructed by its owner. The vector has the allocator of
  /// the first vector from the left, and takes its memory if that vector was a temporary.
  template <detail::expression_of<T> Expression>
  explicit(!std::same_as<typename std::remove_cvref_t<Expression>::allocator_type, Allocator>)
      // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): of expressions only
      numa_vector(Expression&& expression)
      : allocator_(allocator_for<Expression>(expression)) {
    if constexpr (takes_memory_of<Expression>) {
      detail::assign_each(expression.temporary(), expression.function());
      exchange_elements(expression.temporary());
    } else {
      build_from(expression.size(), expression.function());
    }
  }

  template <detail::expression_of<T> Expression>
  numa_vector(const Expression& expression, const Allocator& allocator) : allocator_(allocator) {
    build_from(expression.size(), expression.function());
  }

  ~numa_vector() { release(); }

  // ---- assignment ----------------------------------------------------------------------------------------

  /// Assigns elements in place if the sizes match and assigning cannot throw. Otherwise places the vector
  /// anew, with the allocator of `other` if it propagates on copy assignment.
  numa_vector& operator=(const numa_vector& other) {
    if (this == &other) return *this;
    if constexpr (traits::propagate_on_container_copy_assignment::value) {
      if (can_give_back(other) && assign_in_place(other.data_, other.size_)) {
        allocator_ = other.allocator_;
      } else {
        numa_vector copied(other, other.allocator_);
        exchange_elements(copied);
        using std::swap;
        swap(allocator_, copied.allocator_);
      }
    } else if (!assign_in_place(other.data_, other.size_)) {
      numa_vector copied(other, allocator_);
      exchange_elements(copied);
    }
    return *this;
  }

  /// Takes the memory, at constant cost, if the allocator propagates or can deallocate it. Otherwise moves
  /// the elements into its own memory.
  numa_vector& operator=(numa_vector&& other) noexcept(
      // NOLINTNEXTLINE(performance-noexcept-move-constructor): like every container's
      traits::propagate_on_container_move_assignment::value || traits::is_always_equal::value) {
    if (this == &other) return *this;
    if constexpr (traits::propagate_on_container_move_assignment::value) {
      release();
      allocator_ = std::move(other.allocator_);
      exchange_elements(other);
    } else {
      numa_vector moved(std::move(other), allocator_);
      exchange_elements(moved);
    }
    return *this;
  }

  /// Copies elements from memory of another kind, in place as above. Keeps its own allocator.
  template <typename Other>
    requires(!std::same_as<Other, Allocator>)
  numa_vector& operator=(const numa_vector<T, Other>& other) {
    if (!assign_in_place(other.data(), other.size())) assign(other.begin(), other.end());
    return *this;
  }

  /// Evaluates an expression, which may read this vector, with this vector's owners and without extra memory:
  /// in place as above, if its operations are those of numbers or declared `noexcept`. Otherwise places the
  /// vector anew, so that it is unchanged if an operation throws. Keeps its own allocator.
  template <detail::expression_of<T> Expression>
  numa_vector& operator=(const Expression& expression) {
    const auto function = expression.function();
    if constexpr (std::is_nothrow_invocable_v<decltype(function), std::size_t> &&
                  std::is_nothrow_move_assignable_v<T>) {
      if (expression.size() == size_ && size_ == capacity_) {
        detail::assign_each(*this, function);
        return *this;
      }
    }
    numa_vector result(expression, allocator_);
    exchange_elements(result);
    return *this;
  }

  numa_vector& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end());
    return *this;
  }

  void assign(std::size_t count, const T& value) {
    if constexpr (std::is_nothrow_copy_assignable_v<T>) {
      if (count == size_ && size_ == capacity_) {
        // The value may be an element, which its owner writes while others read it.
        const T copied(value);
        for_each_block([data = data_, &copied](index_range block) {
          // A number in a register, which the compiler need not reload after every store.
          std::conditional_t<std::is_trivially_copyable_v<T>, const T, const T&> one = copied;
          for (std::size_t i = block.first; i < block.last; ++i) data[i] = one;
        });
        return;
      }
    }
    numa_vector values(count, value, allocator_);
    exchange_elements(values);
  }

  /// The range may be part of this vector.
  template <std::input_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    numa_vector values(first, last, allocator_);
    exchange_elements(values);
  }

  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  // ---- elements ------------------------------------------------------------------------------------------

  /// Checked builds throw `misuse` for an index that is not less than size().
  [[nodiscard]] T& operator[](std::size_t index) { return data_[checked(index)]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return data_[checked(index)]; }

  /// Throws `std::out_of_range` for an index that is not less than size().
  [[nodiscard]] T& at(std::size_t index) {
    return index < size_ ? data_[index] : throw std::out_of_range(wrong_index(index));
  }
  [[nodiscard]] const T& at(std::size_t index) const {
    return index < size_ ? data_[index] : throw std::out_of_range(wrong_index(index));
  }

  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }

  [[nodiscard]] iterator begin() noexcept { return data_; }
  [[nodiscard]] const_iterator begin() const noexcept { return data_; }
  [[nodiscard]] iterator end() noexcept { return data_ + size_; }
  [[nodiscard]] const_iterator end() const noexcept { return data_ + size_; }
  [[nodiscard]] const_iterator cbegin() const noexcept { return begin(); }
  [[nodiscard]] const_iterator cend() const noexcept { return end(); }
  [[nodiscard]] reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  [[nodiscard]] const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  [[nodiscard]] reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  [[nodiscard]] const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  [[nodiscard]] const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  [[nodiscard]] const_reverse_iterator crend() const noexcept { return rend(); }

  // ---- owners --------------------------------------------------------------------------------------------

  [[nodiscard]] Allocator get_allocator() const noexcept { return allocator_; }

  /// The threads on which loops over this vector run.
  [[nodiscard]] nearfar::team team() const { return detail::team_of<T>(allocator_); }

  /// The owners of all elements, and of the spare room: covers capacity() elements.
  [[nodiscard]] static_schedule schedule() const { return {capacity_, team().size(), chunk}; }

  /// Calls `body(index_range)` for all blocks of elements, each on its owner. Exceptions as in `team::run`.
  template <typename Body>
  void for_each_block(Body&& body) const {
    if (size_ == 0) return;
    using call = detail::thread_call<Body, index_range>;
    detail::element_owners<Allocator>::loop_team(allocator_, capacity_)
        .run([capacity = capacity_, size = size_, mine = call{body}](team_member member) {
          detail::for_each_part<chunk>(member, capacity, {0, size}, mine);
        });
  }

  /// Places memory and elements anew, as in a fresh vector of this size, for the current team.
  void redistribute() { reallocate(size_, size_); }

  // ---- size ----------------------------------------------------------------------------------------------

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t max_size() const noexcept {
    return detail::element_owners<Allocator>::max_size(allocator_);
  }

  /// Places the vector anew for `count` elements, unless that is its capacity. New elements are
  /// value-initialised.
  void resize(std::size_t count) { resize_with(count, owners().value_initialised()); }

  /// The same; new elements are copies of `value`, which may be an element of this vector.
  void resize(std::size_t count, const T& value) { resize_with(count, owners().copies_of(value)); }

  /// Makes room for `count` elements, placed as those of a vector of `count` elements.
  void reserve(std::size_t count) {
    if (count > capacity_) reallocate(count, size_);
  }

  /// Places the vector anew for its size if there is spare room.
  void shrink_to_fit() {
    if (capacity_ != size_) reallocate(size_, size_);
  }

  /// Destroys all elements and keeps their room.
  void clear() noexcept {
    owners().destroy(data_, capacity_, {0, size_});
    size_ = 0;
  }

  /// Amortised constant cost: the capacity doubles when it is used up. The calling thread constructs elements
  /// in spare room. The value may be an element of this vector.
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }

  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size_ < capacity_) {
      traits::construct(allocator_, data_ + size_, std::forward<Arguments>(arguments)...);
      ++size_;
    } else {
      storage grown(allocator_, grown_capacity(), false);
      // First, because the arguments may refer to elements that are about to be moved.
      traits::construct(allocator_, grown.data + size_, std::forward<Arguments>(arguments)...);
      grown.built = {size_, size_ + 1};
      grown.build_before(owners().moves_from(data_));
      take(grown);
    }
    return data_[size_ - 1];
  }

  void pop_back() {
    traits::destroy(allocator_, data_ + checked(size_ - 1));
    --size_;
  }

  /// Constant cost. Allocators must propagate or be equal; otherwise checked builds throw `misuse`.
  void swap(numa_vector& other) noexcept(traits::propagate_on_container_swap::value ||
                                         traits::is_always_equal::value) {
    if constexpr (traits::propagate_on_container_swap::value) {
      using std::swap;
      swap(allocator_, other.allocator_);
    } else if constexpr (checked_build && !traits::is_always_equal::value) {
      if (!can_give_back(other)) throw misuse("vectors whose allocators differ cannot be swapped");
    }
    exchange_elements(other);
  }

  friend void swap(numa_vector& one, numa_vector& other) noexcept(noexcept(one.swap(other))) {
    one.swap(other);
  }

 private:
  using storage = detail::owned_block<Allocator>;

  [[nodiscard]] detail::element_owners<Allocator> owners() noexcept {
    return detail::element_owners<Allocator>(allocator_);
  }

  // ---- memory --------------------------------------------------------------------------------------------

  template <typename Make>
  void build(std::size_t count, bool written_at_once, const Make& make) {
    storage fresh(allocator_, count, written_at_once);
    fresh.build({0, count}, make);
    take(fresh);
  }

  template <typename Function>
  void build_from(std::size_t count, const Function& function) {
    using result = std::invoke_result_t<const Function&, std::size_t>;
    constexpr bool is_nothrow = std::is_nothrow_invocable_v<const Function&, std::size_t> &&
                                detail::element_owners<Allocator>::template constructs_nothrow<result>;
    build(count, std::is_trivially_copyable_v<T>,
          [this, function](T* element, std::size_t i) noexcept(is_nothrow) {
            traits::construct(allocator_, element, function(i));
          });
  }

  // Whether a vector made from an expression takes the memory of the temporary with which the expression
  // begins.
  template <typename Expression>
  static constexpr bool takes_memory_of =
      std::is_move_assignable_v<T> && requires(std::remove_reference_t<Expression>& expression) {
        requires !std::is_lvalue_reference_v<Expression>;
        { expression.temporary() } -> std::same_as<numa_vector&>;
      };

  template <typename Expression>
  [[nodiscard]] static Allocator allocator_for(const std::remove_cvref_t<Expression>& expression) {
    if constexpr (!std::same_as<typename std::remove_cvref_t<Expression>::allocator_type, Allocator>) {
      return Allocator();
    } else if constexpr (takes_memory_of<Expression>) {
      return expression.leading().get_allocator();
    } else {
      return expression.get_allocator();
    }
  }

  // Exchanges this vector's elements and memory with those of a block.
  void take(storage& other) noexcept {
    const std::size_t had = size_;
    size_ = other.built.last;
    other.built = {0, had};
    std::swap(data_, other.data);
    std::swap(capacity_, other.capacity);
  }

  void release() noexcept {
    storage nothing(allocator_, 0, true);
    take(nothing);
  }

  void exchange_elements(numa_vector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  // Moves the first `count` elements to new memory.
  void reallocate(std::size_t capacity, std::size_t count) {
    storage fresh(allocator_, capacity, std::is_trivially_copyable_v<T> && capacity == count);
    fresh.build({0, count}, owners().moves_from(data_));
    take(fresh);
  }

  template <typename Make>
  void resize_with(std::size_t count, const Make& make) {
    if (count == capacity_) {
      owners().construct(data_, capacity_, {size_, count}, make);
      size_ = count;
    } else if (count <= size_) {
      reallocate(count, count);
    } else {
      storage fresh(allocator_, count, false);
      // First, because the value to copy may be an element that is about to be moved.
      fresh.build({size_, count}, make);
      fresh.build_before(owners().moves_from(data_));
      take(fresh);
    }
  }

  [[nodiscard]] std::size_t grown_capacity() const {
    const std::size_t most = max_size();
    if (size_ == most) throw std::length_error("numa_vector: more elements than max_size()");
    const std::size_t least = std::max<std::size_t>(1, cache_line / sizeof(T));
    return size_ > most / 2 ? most : std::max(least, 2 * size_);
  }

  [[nodiscard]] bool assign_in_place(const T* elements, std::size_t count) {
    if constexpr (std::is_nothrow_copy_assignable_v<T>) {
      if (count != size_ || size_ != capacity_) return false;
      for_each_block([data = data_, elements](index_range block) {
        // std::copy, since for bytes it is memmove, which is up to twice as fast in the caches as a loop.
        std::copy(elements + block.first, elements + block.last, data + block.first);
      });
      return true;
    } else {
      return false;
    }
  }

  [[nodiscard]] bool can_give_back(const numa_vector& other) const noexcept {
    if constexpr (traits::is_always_equal::value) {
      return true;
    } else {
      return allocator_ == other.allocator_;
    }
  }

  // ---- checks --------------------------------------------------------------------------------------------

  [[nodiscard]] std::string wrong_index(std::size_t index) const {
    return "element " + std::to_string(index) + " of a numa_vector of " + std::to_string(size_);
  }

  [[nodiscard]] std::size_t checked(std::size_t index) const {
    if constexpr (checked_build) {
      if (index >= size_) throw misuse(size_ == 0 ? "element of an empty numa_vector" : wrong_index(index));
    }
    return index;
  }

  [[no_unique_address]] Allocator allocator_{};
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

template <std::input_iterator Iterator, typename Allocator = numa_allocator<std::iter_value_t<Iterator>>>
numa_vector(Iterator, Iterator, Allocator = Allocator())
    -> numa_vector<std::iter_value_t<Iterator>, Allocator>;

template <typename Operation, typename... Operands>
numa_vector(vector_expression<Operation, Operands...>)
    -> numa_vector<typename vector_expression<Operation, Operands...>::value_type,
                   typename vector_expression<Operation, Operands...>::allocator_type>;

namespace pmr {

/// A vector whose memory a `std::pmr::memory_resource` places, a `numa_resource` for instance.
template <typename T>
using numa_vector = nearfar::numa_vector<T, std::pmr::polymorphic_allocator<T>>;

}  // namespace pmr

// ---- comparison ------------------------------------------------------------------------------------------
// On the calling thread alone, up to the first difference.

template <typename T, typename A, typename B>
  requires std::equality_comparable<T>
[[nodiscard]] bool operator==(const numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Lexicographic; for types without `<=>`, by `<`.
template <typename T, typename A, typename B>
  requires std::three_way_comparable<T> || requires(const T& x, const T& y) {
    { x < y } -> std::convertible_to<bool>;
  }
[[nodiscard]] auto operator<=>(const numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(),
                                                [](const T& x, const T& y) {
                                                  if constexpr (std::three_way_comparable<T>) {
                                                    return x <=> y;
                                                  } else {
                                                    return x < y   ? std::weak_ordering::less
                                                           : y < x ? std::weak_ordering::greater
                                                                   : std::weak_ordering::equivalent;
                                                  }
                                                });
}

}  // namespace nearfar
