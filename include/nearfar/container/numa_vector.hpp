/// \file
/// A contiguous array whose elements are constructed, worked on and destroyed by the threads that own them.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.3.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_resource.hpp"
#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

namespace detail {

// The team that an allocator places memory for.
template <typename T, typename Allocator>
[[nodiscard]] team team_of(const Allocator& allocator) {
  if constexpr (requires {
                  { allocator.team() } -> std::convertible_to<team>;
                }) {
    return allocator.team();
  } else if constexpr (requires { allocator.outer_allocator(); }) {
    return team_of<T>(allocator.outer_allocator());
  } else if constexpr (requires {
                         { allocator.resource() } -> std::convertible_to<std::pmr::memory_resource*>;
                       }) {
    if (const auto* placing = dynamic_cast<const numa_resource*>(allocator.resource())) {
      return placing->team();
    }
    // Not every resource can serve several elements at once.
    return std::uses_allocator_v<T, Allocator> ? team::serial() : team();
  } else {
    return {};
  }
}

template <typename Allocator>
[[nodiscard]] constexpr std::size_t chunk_of() {
  if constexpr (requires { std::integral_constant<std::size_t, Allocator::chunk>{}; }) {
    return Allocator::chunk;
  } else if constexpr (requires { typename Allocator::outer_allocator_type; }) {
    return chunk_of<typename Allocator::outer_allocator_type>();
  } else {
    return 0;
  }
}

inline void require_same_size(std::size_t one, std::size_t other) {
  if (one == other) return;
  throw misuse("vectors of " + std::to_string(one) + " and " + std::to_string(other) +
               " elements cannot be combined");
}

}  // namespace detail

/// What `std::vector` is, for numerical work on machines whose memory is near for some threads and far for
/// others: contiguous, its iterators pointers, its elements constructed and destroyed in parallel, so that
/// also what they allocate themselves lies near the thread that works on them; with arithmetic that runs
/// where the elements are.
///
/// Owners. Element i belongs to thread `schedule().owner(i)`, which is `static_schedule(capacity(), team,
/// chunk)` with the team and chunk of the allocator (all threads and none if it has no such members). As long
/// as size() is capacity(), a loop under OpenMP's `schedule(static)` with the same number of threads meets
/// only elements of its own. That holds after construction, assignment, resize(), shrink_to_fit() and
/// redistribute(), not after push_back(), reserve(), pop_back() and clear(): with an odd capacity the blocks
/// are somewhere else, and elements that are pushed into spare room are constructed by the calling thread.
/// redistribute() puts that right. Moving elements does not move what they allocated; a copy of the vector
/// is near throughout.
///
/// Loops over trivial elements of less than `placed_from_bytes` in all, which nobody places, run on the
/// calling thread alone.
///
/// Elements: constructors, destructors and assignments run on several threads at once, and so do `construct`
/// and `destroy` of the allocator. With `std::pmr` and elements that use the allocator, which need a resource
/// that stands this, the loops are parallel if the resource is a `numa_resource` and serial otherwise.
///
/// Exceptions: an operation that throws leaves no element behind that it constructed. Construction, copy
/// assignment, assign, resize, reserve, push_back, emplace_back, redistribute and shrink_to_fit leave the
/// vector as it was (strong guarantee), unless elements can only be moved and moving throws. Arithmetic in
/// place whose element operations throw leaves elements with old or new values. More elements than max_size()
/// are a `std::length_error`, no memory is a `std::bad_alloc`.
///
/// Threads may read one vector at once; whoever writes must be alone, but for different elements.
///
/// Left out of `std::vector`: insert and erase, which cannot keep elements with their owners, and the
/// specialisation for bool. Pointers of the allocator must be plain pointers.
///
/// Cost: n elements constructed or assigned are at most 2 parallel regions and one pass over the memory; all
/// that changes capacity() also moves (or, if moving may throw, copies) every element once and destroys the
/// old ones, in 2 regions more.
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

  /// Elements of a block that one thread owns; 0 for one block a thread.
  static constexpr std::size_t chunk = detail::chunk_of<Allocator>();

  // ---- construction --------------------------------------------------------------------------------------

  numa_vector() noexcept(std::is_nothrow_default_constructible_v<Allocator>)
    requires std::default_initializable<Allocator>
  = default;

  explicit numa_vector(const Allocator& allocator) noexcept : allocator_(allocator) {}

  /// `count` value-initialised elements: zeros, for numbers.
  explicit numa_vector(std::size_t count, const Allocator& allocator = Allocator()) : allocator_(allocator) {
    build(count, std::is_trivial_v<T>, value_initialised());
  }

  numa_vector(std::size_t count, const T& value, const Allocator& allocator = Allocator())
      : allocator_(allocator) {
    build(count, std::is_trivially_copyable_v<T>, copies_of(value));
  }

  /// Copies of what `first` to `last` show. Copies of a forward iterator are used by all threads at once,
  /// each of which walks from `first` to its blocks; elements of an input iterator are constructed by the
  /// calling thread and then placed.
  template <std::input_iterator Iterator>
  numa_vector(Iterator first, Iterator last, const Allocator& allocator = Allocator())
      : allocator_(allocator) {
    if constexpr (std::contiguous_iterator<Iterator> &&
                  std::is_same_v<std::remove_cv_t<std::iter_value_t<Iterator>>, T>) {
      build(static_cast<std::size_t>(last - first), std::is_trivially_copyable_v<T>,
            copies_from(std::to_address(first)));
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

  /// A copy with memory of another kind.
  template <typename Other>
    requires(!std::same_as<Other, Allocator>)
  explicit numa_vector(const numa_vector<T, Other>& other, const Allocator& allocator = Allocator())
      : numa_vector(other.begin(), other.end(), allocator) {}

  /// Takes the memory; `other` is empty then. Constant cost.
  numa_vector(numa_vector&& other) noexcept : allocator_(std::move(other.allocator_)) {
    exchange_elements(other);
  }

  /// Takes the memory if `allocator` can give it back, else moves the elements; `other` is empty then.
  numa_vector(numa_vector&& other,
              const std::type_identity_t<Allocator>& allocator) noexcept(traits::is_always_equal::value)
      : allocator_(allocator) {
    if (can_give_back(other)) {
      exchange_elements(other);
    } else {
      build(other.size_, std::is_trivially_copyable_v<T>, moves_from(other.data_));
      other.clear();
    }
  }

  /// Element i is constructed from `function(i)` by its owner; several threads call at once.
  template <typename Function>
    requires std::constructible_from<T, std::invoke_result_t<const Function&, std::size_t>>
  [[nodiscard]] static numa_vector generate(std::size_t count, const Function& function,
                                            const Allocator& allocator = Allocator()) {
    numa_vector result(allocator);
    constexpr bool is_nothrow = std::is_nothrow_invocable_v<const Function&, std::size_t> &&
                                constructs_nothrow<std::invoke_result_t<const Function&, std::size_t>>;
    result.build(count, std::is_trivially_copyable_v<T>,
                 [&result, function](T* element, std::size_t i) noexcept(is_nothrow) {
                   traits::construct(result.allocator_, element, function(i));
                 });
    return result;
  }

  ~numa_vector() { release(); }

  // ---- assignment ----------------------------------------------------------------------------------------

  /// Elements are assigned in place if there are as many and that cannot throw, else the vector is placed
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

  /// Takes the memory if the allocator moves along or can give it back, at constant cost; else moves the
  /// elements into memory of its own.
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

  /// Copies elements from memory of another kind, in place as above; the own allocator stays.
  template <typename Other>
    requires(!std::same_as<Other, Allocator>)
  numa_vector& operator=(const numa_vector<T, Other>& other) {
    if (!assign_in_place(other.data(), other.size())) assign(other.begin(), other.end());
    return *this;
  }

  numa_vector& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end());
    return *this;
  }

  void assign(std::size_t count, const T& value) {
    if constexpr (std::is_nothrow_copy_assignable_v<T>) {
      if (count == size_ && size_ == capacity_) {
        // The value may be an element, which its owner writes while others read.
        const T copied(value);
        combine_with_one(copied, [](T& a, const T& b) { a = b; });
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

  /// The threads that loops over this vector run on.
  [[nodiscard]] nearfar::team team() const { return detail::team_of<T>(allocator_); }

  /// Who owns which element, and which spare room: covers capacity() elements.
  [[nodiscard]] static_schedule schedule() const { return {capacity_, team().size(), chunk}; }

  /// Calls `body(index_range)` for all blocks of elements, each on its owner. Exceptions as in `team::run`.
  template <typename Body>
  void for_each_block(const Body& body) const {
    if (size_ == 0) return;
    loop_team(capacity_).run([&](team_member member) { for_each_part(member, capacity_, {0, size_}, body); });
  }

  /// Places memory and elements anew, as a fresh vector of this size has them, for the team as it is now.
  void redistribute() { reallocate(size_, size_); }

  // ---- size ----------------------------------------------------------------------------------------------

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t max_size() const noexcept {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
    return std::min<std::size_t>(most, traits::max_size(allocator_));
  }

  /// Places the vector anew for `count` elements, unless it has just that capacity; new ones are
  /// value-initialised.
  void resize(std::size_t count) { resize_with(count, value_initialised()); }

  /// The same; new elements are copies of `value`, which may be an element of this vector.
  void resize(std::size_t count, const T& value) { resize_with(count, copies_of(value)); }

  /// Makes room for `count` elements, placed as a vector of `count` elements is.
  void reserve(std::size_t count) {
    if (count > capacity_) reallocate(count, size_);
  }

  /// Places the vector anew for its size if there is spare room.
  void shrink_to_fit() {
    if (capacity_ != size_) reallocate(size_, size_);
  }

  /// Destroys all elements; their room remains.
  void clear() noexcept {
    destroy(data_, capacity_, {0, size_});
    size_ = 0;
  }

  /// Amortised constant cost: the capacity doubles when it is used up. Into spare room, the calling thread
  /// constructs. The value may be an element of this vector.
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }

  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size_ < capacity_) {
      traits::construct(allocator_, data_ + size_, std::forward<Arguments>(arguments)...);
      ++size_;
    } else {
      storage grown(*this, grown_capacity(), false);
      // First, because the arguments may be parts of the elements that are to be moved.
      traits::construct(allocator_, grown.data + size_, std::forward<Arguments>(arguments)...);
      grown.built = {size_, size_ + 1};
      grown.build_before(moves_from(data_));
      take(grown);
    }
    return data_[size_ - 1];
  }

  void pop_back() {
    traits::destroy(allocator_, data_ + checked(size_ - 1));
    --size_;
  }

  /// Constant cost. Allocators that neither move along nor are equal are a `misuse`, thrown in checked
  /// builds.
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

  // ---- arithmetic in place -------------------------------------------------------------------------------
  // In parallel on the owners of this vector's elements. Vectors of different lengths are a `misuse`, in all
  // builds. Operands may be the same vector.

  template <typename Other>
    requires requires(T& a, const T& b) { a += b; }
  numa_vector& operator+=(const numa_vector<T, Other>& other) {
    return combine(other, [](T& a, const T& b) { a += b; });
  }

  template <typename Other>
    requires requires(T& a, const T& b) { a -= b; }
  numa_vector& operator-=(const numa_vector<T, Other>& other) {
    return combine(other, [](T& a, const T& b) { a -= b; });
  }

  // By value, because the factor may be an element of this vector.
  numa_vector& operator*=(T factor)
    requires requires(T& a, const T& b) { a *= b; }
  {
    return combine_with_one(factor, [](T& a, const T& b) { a *= b; });
  }

  numa_vector& operator/=(T divisor)
    requires requires(T& a, const T& b) { a /= b; }
  {
    return combine_with_one(divisor, [](T& a, const T& b) { a /= b; });
  }

  /// The sum of (*this)[i] * other[i], beginning with T(); nothing is conjugated.
  ///
  /// The sum of each owner comes first, then these in order of the owners, so that the same vectors give the
  /// same result to the last bit as long as capacity and number of threads are the same. For numbers an owner
  /// keeps several sums at a time, which a processor can add at once.
  template <typename Other>
    requires requires(T& sum, const T& a, const T& b) { sum += a * b; }
  [[nodiscard]] T dot(const numa_vector<T, Other>& other) const {
    detail::require_same_size(size_, other.size());
    struct alignas(cache_line) partial {
      T sum{};
    };
    const nearfar::team threads = loop_team(capacity_);
    std::vector<partial> of_members(static_cast<std::size_t>(threads.size()));
    threads.run([&, a = data_, b = other.data()](team_member member) {
      T sum{};
      for_each_part(member, capacity_, {0, size_}, [&](index_range part) {
        std::size_t i = part.first;
        if constexpr (std::is_arithmetic_v<T>) {
          constexpr std::size_t lanes = 8;
          T sums[lanes]{};
          for (; i + lanes <= part.last; i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane)
              add_product(sums[lane], a[i + lane], b[i + lane]);
          }
          for (const T& lane_sum : sums) sum = static_cast<T>(sum + lane_sum);
        }
        for (; i < part.last; ++i) add_product(sum, a[i], b[i]);
      });
      of_members[static_cast<std::size_t>(member.index)].sum = std::move(sum);
    });
    T all{};
    for (partial& of_member : of_members) all += of_member.sum;
    return all;
  }

 private:
  // Memory that is not the vector's yet, or no longer, with the elements that are constructed in it.
  struct storage {
    numa_vector& owner;
    T* data = nullptr;
    std::size_t capacity = 0;
    index_range built{};

    // The pages need no touch of their own if constructors write to each at once.
    storage(numa_vector& vector, std::size_t count, bool written_at_once) : owner(vector), capacity(count) {
      if (count == 0) return;
      if (count > owner.max_size()) throw std::length_error("numa_vector: more elements than max_size()");
      if constexpr (requires { owner.allocator_.allocate_untouched(count); }) {
        if (written_at_once) {
          data = owner.allocator_.allocate_untouched(count);
          return;
        }
      }
      data = traits::allocate(owner.allocator_, count);
    }
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    ~storage() {
      if (data == nullptr) return;
      owner.destroy(data, capacity, built);
      traits::deallocate(owner.allocator_, data, capacity);
    }

    template <typename Make>
    void build(index_range range, const Make& make) {
      owner.construct(data, capacity, range, make);
      built = {range.first, built.empty() ? range.last : built.last};
    }

    // All before those that are there.
    template <typename Make>
    void build_before(const Make& make) {
      build({0, built.first}, make);
    }
  };

  // The part of a loop over `range` that is the member's, `capacity` elements being placed.
  template <typename Body>
  static void for_each_part(team_member member, std::size_t capacity, index_range range, const Body& body) {
    static_schedule(capacity, member.size, chunk).for_each_block(member.index, [&](index_range mine) {
      mine = {std::max(mine.first, range.first), std::min(mine.last, range.last)};
      if (mine.first < mine.last) body(mine);
    });
  }

  [[nodiscard]] nearfar::team loop_team(std::size_t capacity) const {
    if (std::is_trivial_v<T> && capacity * sizeof(T) < placed_from_bytes) return nearfar::team::serial();
    return team();
  }

  // ---- making elements -----------------------------------------------------------------------------------
  // Objects that construct element i at an address.

  template <typename... Arguments>
  static constexpr bool constructs_nothrow =
      std::is_nothrow_constructible_v<T, Arguments...> &&
      !requires(Allocator& allocator, T* element, Arguments&&... arguments) {
        allocator.construct(element, std::forward<Arguments>(arguments)...);
      };

  [[nodiscard]] auto value_initialised() {
    return [this](T* element, std::size_t) noexcept(constructs_nothrow<>) {
      traits::construct(allocator_, element);
    };
  }

  [[nodiscard]] auto copies_of(const T& value) {
    return [this, &value](T* element, std::size_t) noexcept(constructs_nothrow<const T&>) {
      traits::construct(allocator_, element, value);
    };
  }

  [[nodiscard]] auto copies_from(const T* elements) {
    return [this, elements](T* element, std::size_t i) noexcept(constructs_nothrow<const T&>) {
      traits::construct(allocator_, element, elements[i]);
    };
  }

  // Copies where moving might throw halfway.
  [[nodiscard]] auto moves_from(T* elements) {
    using argument = decltype(std::move_if_noexcept(*elements));
    return [this, elements](T* element, std::size_t i) noexcept(constructs_nothrow<argument>) {
      traits::construct(allocator_, element, std::move_if_noexcept(elements[i]));
    };
  }

  // Constructs the elements of a range, each on its owner, in ascending order within a thread. If one throws,
  // all that were constructed are destroyed.
  template <typename Make>
  void construct(T* data, std::size_t capacity, index_range range, const Make& make) {
    if (range.empty()) return;
    const nearfar::team threads = loop_team(capacity);
    if constexpr (std::is_nothrow_invocable_v<Make&, T*, std::size_t> &&
                  std::is_nothrow_copy_constructible_v<Make>) {
      threads.run([&](team_member member) {
        for_each_part(member, capacity, range, [data, mine = make](index_range block) {
          for (std::size_t i = block.first; i < block.last; ++i) mine(data + i, i);
        });
      });
    } else {
      struct alignas(cache_line) progress {
        std::size_t made = 0;
      };
      std::vector<progress> of_members(static_cast<std::size_t>(threads.size()));
      int members = 1;
      try {
        threads.run([&](team_member member) {
          if (member.index == 0) members = member.size;
          Make mine = make;
          std::size_t& made = of_members[static_cast<std::size_t>(member.index)].made;
          for_each_part(member, capacity, range, [&](index_range block) {
            for (std::size_t i = block.first; i < block.last; ++i) {
              mine(data + i, i);
              ++made;
            }
          });
        });
      } catch (...) {
        for (int index = 0; index < members; ++index) {
          std::size_t left = of_members[static_cast<std::size_t>(index)].made;
          for_each_part({index, members}, capacity, range, [&](index_range block) {
            for (std::size_t i = block.first; i < block.last && left > 0; ++i, --left) {
              traits::destroy(allocator_, data + i);
            }
          });
        }
        throw;
      }
    }
  }

  void destroy(T* data, std::size_t capacity, index_range range) noexcept {
    constexpr bool is_nothing = std::is_trivially_destructible_v<T> &&
                                !requires(Allocator& allocator, T* element) { allocator.destroy(element); };
    if constexpr (!is_nothing) {
      if (range.empty()) return;
      loop_team(capacity).run([&](team_member member) {
        for_each_part(member, capacity, range, [&](index_range block) {
          for (std::size_t i = block.first; i < block.last; ++i) traits::destroy(allocator_, data + i);
        });
      });
    }
  }

  // ---- memory --------------------------------------------------------------------------------------------

  template <typename Make>
  void build(std::size_t count, bool written_at_once, const Make& make) {
    storage fresh(*this, count, written_at_once);
    fresh.build({0, count}, make);
    take(fresh);
  }

  // Makes a block this vector's, and what the vector had the block's.
  void take(storage& other) noexcept {
    const std::size_t had = size_;
    size_ = other.built.last;
    other.built = {0, had};
    std::swap(data_, other.data);
    std::swap(capacity_, other.capacity);
  }

  void release() noexcept {
    storage nothing(*this, 0, true);
    take(nothing);
  }

  void exchange_elements(numa_vector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  // Moves the first `count` elements to new memory.
  void reallocate(std::size_t capacity, std::size_t count) {
    storage fresh(*this, capacity, std::is_trivially_copyable_v<T> && capacity == count);
    fresh.build({0, count}, moves_from(data_));
    take(fresh);
  }

  template <typename Make>
  void resize_with(std::size_t count, const Make& make) {
    if (count == capacity_) {
      construct(data_, capacity_, {size_, count}, make);
      size_ = count;
    } else if (count <= size_) {
      reallocate(count, count);
    } else {
      storage fresh(*this, count, false);
      // First, because the value to copy may be one of the elements that are to be moved.
      fresh.build({size_, count}, make);
      fresh.build_before(moves_from(data_));
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
        for (std::size_t i = block.first; i < block.last; ++i) data[i] = elements[i];
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

  // ---- arithmetic ----------------------------------------------------------------------------------------

  template <typename Other, typename Operation>
  numa_vector& combine(const numa_vector<T, Other>& other, const Operation& operation) {
    detail::require_same_size(size_, other.size());
    for_each_block([data = data_, from = other.data(), &operation](index_range block) {
      for (std::size_t i = block.first; i < block.last; ++i) operation(data[i], from[i]);
    });
    return *this;
  }

  template <typename Operation>
  numa_vector& combine_with_one(const T& operand, const Operation& operation) {
    for_each_block([data = data_, &operand, &operation](index_range block) {
      // A number in a register, which the compiler need not load again after every store.
      std::conditional_t<std::is_trivially_copyable_v<T>, const T, const T&> one = operand;
      for (std::size_t i = block.first; i < block.last; ++i) operation(data[i], one);
    });
    return *this;
  }

  static void add_product(T& sum, const T& a, const T& b) {
    if constexpr (std::is_arithmetic_v<T>) {
      sum = static_cast<T>(sum + a * b);  // small integers are calculated with as int
    } else {
      sum += a * b;
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

/// Lexicographic; of types that know no `<=>`, with `<`.
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

// ---- arithmetic with a new vector as result --------------------------------------------------------------
// It has the allocator, and so the owners, of the vector on the left, whose memory it takes if that is a
// temporary. Vectors of different lengths are a `misuse`, in all builds.

namespace detail {

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

}  // namespace detail

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

/// The same as a.dot(b).
template <typename T, typename A, typename B>
  requires requires(T& sum, const T& x, const T& y) { sum += x * y; }
[[nodiscard]] T dot(const numa_vector<T, A>& a, const numa_vector<T, B>& b) {
  return a.dot(b);
}

}  // namespace nearfar
