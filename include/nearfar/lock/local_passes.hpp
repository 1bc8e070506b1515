/// \file
/// The limits on passes within a node that keep hierarchical locks fair between nodes.
#pragma once

#include <chrono>

#include "nearfar/language.hpp"

namespace nearfar {

/// Passes in a row within a node, as in the evaluations of A. Uffmann's master thesis, LMU Munich, 2022,
/// section 5.4.2.
inline constexpr int published_local_passes = 50;
/// The most that fits into a status byte beside "waiting".
inline constexpr int most_local_passes = 254;
/// Where handing over between nodes costs 15 times as much as within one, as on the machine of the thesis,
/// hand-overs between nodes then take a twentieth of the time, and with 50 passes a quarter; docs/findings.md
/// has the curve. Another node waits for as many critical sections as there are passes, so choose fewer if
/// these are long.
inline constexpr int default_max_local_passes = most_local_passes;

/// The time for which a node may keep the lock while others wait, where time limits its turns. On the machine
/// of the thesis the default number of passes takes about as long.
inline constexpr std::chrono::nanoseconds default_max_turn{50'000};

/// Returns `limit` if it is within range; otherwise throws `misuse`. `least` is 1 for exclusive locks;
/// writers of reader-writer locks may have no passes.
[[nodiscard]] int checked_local_passes(int limit, int least = 1);

/// Returns `longest` if it is not negative; otherwise throws `misuse`.
[[nodiscard]] std::chrono::nanoseconds checked_turn(std::chrono::nanoseconds longest);

}  // namespace nearfar
