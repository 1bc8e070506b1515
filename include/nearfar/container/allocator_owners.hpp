/// \file
/// The owners of an allocator's memory, as the allocator names them: their team and their blocks.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <type_traits>

#include "nearfar/container/numa_resource.hpp"
#include "nearfar/container/team.hpp"

namespace nearfar::detail {

/// The team for which an allocator places memory; all threads if it does not say.
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

/// Elements per block of one thread; 0 if each thread has one block, or if the allocator does not say.
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

}  // namespace nearfar::detail
