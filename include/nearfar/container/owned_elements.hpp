/// \file
/// Elements that the threads that own them construct and destroy, in memory that an allocator places. The
/// basis of containers of such elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/allocator_owners.hpp"
#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar::detail {

/// The member's part of a loop over `range`, in memory placed for `capacity` elements.
template <std::size_t Chunk, typename Body>
void for_each_part(team_member member, std::size_t capacity, index_range range, const Body& body) {
  static_schedule(capacity, member.size, Chunk).for_each_block(member.index, [&](index_range mine) {
    mine = {std::max(mine.first, range.first), std::min(mine.last, range.last)};
    if (mine.first < mine.last) body(mine);
  });
}

/// Number of elements that a member of a team has constructed. Outside the template, so that a list of these
/// is one type for all kinds of elements.
struct alignas(cache_line) construction_progress {
  std::size_t made = 0;
};

/// The owners of elements of `Allocator`, which run loops over the elements, and construct and destroy them.
template <typename Allocator>
class element_owners {
  using traits = std::allocator_traits<Allocator>;
  using T = typename traits::value_type;

 public:
  static constexpr std::size_t chunk = chunk_of<Allocator>();

  explicit element_owners(Allocator& allocator) noexcept : allocator_(&allocator) {}

  /// The team for loops over `capacity` elements: the calling thread alone if nobody places them.
  [[nodiscard]] static team loop_team(const Allocator& allocator, std::size_t capacity) {
    if (std::is_trivial_v<T> && capacity * sizeof(T) < placed_from_bytes) return team::serial();
    return team_of<T>(allocator);
  }

  [[nodiscard]] static std::size_t max_size(const Allocator& allocator) noexcept {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
    return std::min<std::size_t>(most, traits::max_size(allocator));
  }

  // Function objects that construct element i at an address.

  template <typename... Arguments>
  static constexpr bool constructs_nothrow =
      std::is_nothrow_constructible_v<T, Arguments...> &&
      !requires(Allocator& allocator, T* element, Arguments&&... arguments) {
        allocator.construct(element, std::forward<Arguments>(arguments)...);
      };

  [[nodiscard]] auto value_initialised() const {
    return [allocator = allocator_](T* element, std::size_t) noexcept(constructs_nothrow<>) {
      traits::construct(*allocator, element);
    };
  }

  [[nodiscard]] auto copies_of(const T& value) const {
    return [allocator = allocator_, &value](T* element, std::size_t) noexcept(constructs_nothrow<const T&>) {
      traits::construct(*allocator, element, value);
    };
  }

  [[nodiscard]] auto copies_from(const T* elements) const {
    return [allocator = allocator_, elements](T* element, std::size_t i) noexcept(
               constructs_nothrow<const T&>) { traits::construct(*allocator, element, elements[i]); };
  }

  /// Copies if moving might throw halfway.
  [[nodiscard]] auto moves_from(T* elements) const {
    using argument = decltype(std::move_if_noexcept(*elements));
    return
        [allocator = allocator_, elements](T* element, std::size_t i) noexcept(constructs_nothrow<argument>) {
          traits::construct(*allocator, element, std::move_if_noexcept(elements[i]));
        };
  }

  /// Constructs the elements of a range, each on its owner, in ascending order within a thread. If one
  /// throws, destroys all that were constructed.
  template <typename Make>
  void construct(T* data, std::size_t capacity, index_range range, const Make& make) const {
    if (range.empty()) return;
    const team threads = loop_team(*allocator_, capacity);
    if constexpr (std::is_nothrow_invocable_v<Make&, T*, std::size_t> &&
                  std::is_nothrow_copy_constructible_v<Make>) {
      threads.run([&](team_member member) {
        for_each_part<chunk>(member, capacity, range, [data, mine = make](index_range block) {
          for (std::size_t i = block.first; i < block.last; ++i) mine(data + i, i);
        });
      });
    } else {
      std::vector<construction_progress> of_members(static_cast<std::size_t>(threads.size()));
      int members = 1;
      try {
        threads.run([&](team_member member) {
          if (member.index == 0) members = member.size;
          Make mine = make;
          std::size_t& made = of_members[static_cast<std::size_t>(member.index)].made;
          for_each_part<chunk>(member, capacity, range, [&](index_range block) {
            for (std::size_t i = block.first; i < block.last; ++i) {
              mine(data + i, i);
              ++made;
            }
          });
        });
      } catch (...) {
        destroy_made(data, capacity, range, {of_members.data(), static_cast<std::size_t>(members)});
        throw;
      }
    }
  }

  /// Destroys the elements of a range, each on its owner.
  void destroy(T* data, std::size_t capacity, index_range range) const noexcept {
    constexpr bool is_nothing = std::is_trivially_destructible_v<T> &&
                                !requires(Allocator& allocator, T* element) { allocator.destroy(element); };
    if constexpr (!is_nothing) {
      if (range.empty()) return;
      loop_team(*allocator_, capacity).run([&](team_member member) {
        for_each_part<chunk>(member, capacity, range, [&](index_range block) {
          for (std::size_t i = block.first; i < block.last; ++i) traits::destroy(*allocator_, data + i);
        });
      });
    }
  }

 private:
  // Destroys what each member has constructed of a range. Separate from construct(), which is compiled for
  // each way to construct an element.
  void destroy_made(T* data, std::size_t capacity, index_range range,
                    std::span<const construction_progress> of_members) const noexcept {
    const auto members = static_cast<int>(of_members.size());
    for (int index = 0; index < members; ++index) {
      std::size_t left = of_members[static_cast<std::size_t>(index)].made;
      for_each_part<chunk>({index, members}, capacity, range, [&](index_range block) {
        for (std::size_t i = block.first; i < block.last && left > 0; ++i, --left) {
          traits::destroy(*allocator_, data + i);
        }
      });
    }
  }

  Allocator* allocator_;
};

/// Memory that does not yet, or no longer, belong to a container, with the elements constructed in it: the
/// range `built`, which is destroyed with the block.
template <typename Allocator>
struct owned_block {
  using traits = std::allocator_traits<Allocator>;
  using T = typename traits::value_type;

  Allocator& allocator;
  T* data = nullptr;
  std::size_t capacity = 0;
  index_range built{};

  /// With `written_at_once`, constructors write to every page at once, so the pages are not touched before.
  /// Throws `std::length_error` for more than max_size() elements.
  owned_block(Allocator& source, std::size_t count, bool written_at_once)
      : allocator(source), capacity(count) {
    if (count == 0) return;
    if (count > element_owners<Allocator>::max_size(allocator))
      throw std::length_error("numa_vector: more elements than max_size()");
    if constexpr (requires { allocator.allocate_untouched(count); }) {
      if (written_at_once) {
        data = allocator.allocate_untouched(count);
        return;
      }
    }
    data = traits::allocate(allocator, count);
  }
  owned_block(const owned_block&) = delete;
  owned_block& operator=(const owned_block&) = delete;
  ~owned_block() {
    if (data == nullptr) return;
    element_owners(allocator).destroy(data, capacity, built);
    traits::deallocate(allocator, data, capacity);
  }

  template <typename Make>
  void build(index_range range, const Make& make) {
    element_owners(allocator).construct(data, capacity, range, make);
    built = {range.first, built.empty() ? range.last : built.last};
  }

  /// Constructs all elements before the existing ones.
  template <typename Make>
  void build_before(const Make& make) {
    build({0, built.first}, make);
  }
};

}  // namespace nearfar::detail
