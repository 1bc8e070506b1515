/// \file
/// Whether the world in which an object lives has ended.
#pragma once

#include <utility>

#include "nearfar/core/checks.hpp"

namespace nearfar::detail {

/// Whether objects that live in the world can ask whether it has ended: they throw in checked builds. Worlds
/// of hardware can.
template <typename W>
concept tells_its_end = requires(const W& w) { w.lifetime()->expect_world(); };

/// Whether the world of an object has ended, for worlds that can tell. The size is the same in checked and
/// other builds.
template <typename W>
class life_of {
 public:
  explicit life_of(const W& /*w*/) {}
  void expect_world() const noexcept {}
  [[nodiscard]] bool has_ended() const noexcept { return false; }
};
template <tells_its_end W>
class life_of<W> {
 public:
  explicit life_of(const W& w) : lifetime_(w.lifetime()) {}
  void expect_world() const {
    if constexpr (checked_build) lifetime_->expect_world();
  }
  [[nodiscard]] bool has_ended() const noexcept { return lifetime_->world_has_ended(); }

 private:
  decltype(std::declval<const W&>().lifetime()) lifetime_;
};

}  // namespace nearfar::detail
