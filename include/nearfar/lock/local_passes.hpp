/// \file
/// The limit that keeps hierarchical locks fair between nodes.
#pragma once

namespace nearfar {

/// Passes in a row within a node, as in the evaluations of A. Uffmann's master thesis, LMU Munich, 2022,
/// section 5.4.2.
inline constexpr int default_max_local_passes = 50;
/// The most that fits into a status byte beside "waiting".
inline constexpr int most_local_passes = 254;

/// `limit`, if it is one; otherwise throws `misuse`.
[[nodiscard]] int checked_local_passes(int limit);

}  // namespace nearfar
