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

/// Lends this rank's elements of a world's `far_array` or `near_array`, by index, for example the nodes of a
/// queue that grows. Local: it does not communicate. The algorithm must know which elements other ranks still
/// refer to, and what elements contain when they are lent again.
///
/// No rank may access an element that has been given back. The model checker reports an access by any rank as
/// a fault, and the world of threads reports it as an error under AddressSanitizer; the other worlds cannot
/// detect it.
template <typename World, typename Array>
class pool {
 public:
  /// At first all elements of this rank can be taken. World and array must outlive the pool.
  pool(World& w, const Array& array, std::source_location site = std::source_location::current())
      : world_(&w), array_(&array), there_(array.count()), is_taken_(array.count()) {
    std::iota(there_.rbegin(), there_.rend(), std::size_t{0});
    for (const std::size_t index : there_) tell_given_back(index, site);
  }
  pool(World& w, const Array&& array, std::source_location site = std::source_location::current()) = delete;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// Returns the elements to the array.
  ~pool() {
    if constexpr (requires { array_->world_has_ended(); })
      if (array_->world_has_ended()) return;  // misuse that the world has already reported
    for (const std::size_t index : there_) tell_taken(index);
  }

  /// Takes an element and returns its index, or nothing if all are taken. Takes the element that was given
  /// back last, so that a stale reference to it shows soon.
  [[nodiscard]] std::optional<std::size_t> take() {
    if (there_.empty()) return std::nullopt;
    const std::size_t index = there_.back();
    there_.pop_back();
    is_taken_[index] = true;
    tell_taken(index);
    return index;
  }

  /// Gives the element back. Throws `misuse` in checked builds if it is not taken, or does not exist.
  void give_back(std::size_t index, std::source_location site = std::source_location::current()) {
    if constexpr (checked_build)
      if (index >= is_taken_.size() || !is_taken_[index])
        throw misuse("element " + std::to_string(index) + " was given back to a pool of " +
                     std::to_string(is_taken_.size()) + " elements, which has not lent it");
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
  std::vector<std::size_t> there_;  // the next to be taken is at the end
  std::vector<bool> is_taken_;
};

}  // namespace nearfar
