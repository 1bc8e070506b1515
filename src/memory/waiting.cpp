#include "nearfar/memory/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

std::string awaited::text() const {
  if (!rank) return what;
  return what + (*rank == any_rank ? std::string(" of any rank") : " of rank " + std::to_string(*rank));
}

ongoing_wait after_look_at_clock(ongoing_wait current, int rank, std::chrono::nanoseconds limit) {
  using time_point = std::chrono::steady_clock::time_point;
  constexpr std::chrono::nanoseconds longest_between_looks = std::chrono::seconds(1);
  const time_point present = std::chrono::steady_clock::now();
  if (current.last_look != time_point())
    current.lasted += std::min<std::chrono::nanoseconds>(present - current.last_look, longest_between_looks);
  current.last_look = present;
  if (current.lasted != std::chrono::nanoseconds::zero() && current.lasted >= limit)
    throw stalled(rank, current.what.text(), current.lasted);
  return current;
}

}  // namespace nearfar
