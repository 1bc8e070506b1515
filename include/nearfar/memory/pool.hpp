/// \file
/// Lends the elements of an array and takes them back.
#pragma once

#include <cstddef>
#include <numeric>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

/// Lends this rank's elements of a world's `far_array` or `near_array`, by index: the nodes of a queue that
/// grows, say. Local: it communicates with nobody, and which elements other ranks still refer to is for the
/// algorithm to know, as is what they hold when they are lent anew.
///
/// An element that has been given back belongs to nobody. The model checker takes an access of it, by any
/// rank, for a fault, and the world of threads for an error under AddressSanitizer; the others cannot know.
template <typename World, typename Array>
class pool {
 public:
  /// All elements of this rank are there to be taken. World and array must outlive the pool.
  pool(World& w, const Array& array, std::source_location site = std::source_location::current())
      : world_(&w), array_(&array), there_(array.count()), is_taken_(array.count()) {
    std::iota(there_.rbegin(), there_.rend(), std::size_t{0});
    for (const std::size_t index : there_) tell_given_back(index, site);
  }
  pool(World& w, const Array&& array, std::source_location site = std::source_location::current()) = delete;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// The elements are the array's again.
  ~pool() {
    if constexpr (requires { array_->world_has_ended(); })
      if (array_->world_has_ended()) return;  // misuse that the world has told of
    for (const std::size_t index : there_) tell_taken(index);
  }

  /// The index of an element that the caller has from here on, or nothing if all are taken: the one that was
  /// given back last, so that a stale reference to it shows soon.
  [[nodiscard]] std::optional<std::size_t> take() {
    if (there_.empty()) return std::nullopt;
    const std::size_t index = there_.back();
    there_.pop_back();
    is_taken_[index] = true;
    tell_taken(index);
    return index;
  }

  /// Throws `misuse` in checked builds if the element is not taken, or is none.
  void give_back(std::size_t index, std::source_location site = std::source_location::current()) {
    if constexpr (checked_build)
      if (index >= is_taken_.size() || !is_taken_[index])
        throw misuse("element " + std::to_string(index) + " was given back to a pool of " +
                     std::to_string(is_taken_.size()) + " that has not lent it");
    is_taken_[index] = false;
    there_.push_back(index);
    tell_given_back(index, site);
  }

 private:
  void tell_taken(std::size_t index) { world_->taken(array_->own_element(index), Array::element_bytes); }
  void tell_given_back(std::size_t index, const std::source_location& site) {
    world_->given_back(array_->own_element(index), Array::element_bytes, site);
  }

  World* world_;
  const Array* array_;
  std::vector<std::size_t> there_;  // the next to be taken at the end
  std::vector<bool> is_taken_;
};

}  // namespace nearfar
