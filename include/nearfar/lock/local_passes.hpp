/// \file
/// The limit that keeps hierarchical locks fair between nodes.
#pragma once

#include <chrono>

#include "nearfar/core/language.hpp"

namespace nearfar {

/// Passes in a row within a node, as in the evaluations of A. Uffmann's master thesis, LMU Munich, 2022,
/// section 5.4.2.
inline constexpr int published_local_passes = 50;
/// The most that fits into a status byte beside "waiting".
inline constexpr int most_local_passes = 254;
/// Handing over between nodes then takes a twentieth of the time where it costs 15 times as much as within
/// one, as on the machine of the thesis, and with 50 a quarter; docs/findings.md has the curve. What another
/// node waits for is so many critical sections: if these are long, take fewer.
inline constexpr int default_max_local_passes = most_local_passes;

/// Time for which a node may keep the lock while others wait, where time limits its turns: on the machine of
/// the thesis about as long as the default number of passes takes.
inline constexpr std::chrono::nanoseconds default_max_turn{50'000};

/// `limit`, if it is one; otherwise throws `misuse`. Of exclusive locks 1 is the least; writers of
/// reader-writer locks may have none.
[[nodiscard]] int checked_local_passes(int limit, int least = 1);

/// `longest`, if it is not negative; otherwise throws `misuse`.
[[nodiscard]] std::chrono::nanoseconds checked_turn(std::chrono::nanoseconds longest);

}  // namespace nearfar
