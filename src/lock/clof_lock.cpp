#include "nearfar/lock/clof_lock.hpp"

#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::detail {

namespace {

std::vector<tree_level> with_nodes(int max_local_passes, const std::vector<tree_level>& inside) {
  std::vector<tree_level> result{{.at = level::node, .max_passes = checked_local_passes(max_local_passes)}};
  result.insert(result.end(), inside.begin(), inside.end());
  return result;
}

}  // namespace

std::vector<tree_level> levels_of_composition(const locality& where, std::size_t locks, int max_local_passes,
                                              const lock_tree& inside) {
  const std::vector<tree_level>& chosen = checked_inside_nodes(inside, where).levels();
  if (chosen.size() >= locks)
    throw misuse("a clof_lock with " + std::to_string(locks) + " near locks has none left for level " +
                 std::string(name(chosen[locks - 1].at)) +
                 ": give it fewer levels inside nodes than near locks");
  return with_nodes(max_local_passes, chosen);
}

std::vector<tree_level> levels_of_composition(const locality& where, std::size_t locks,
                                              int max_local_passes) {
  std::vector<tree_level> chosen = lock_tree::inside_nodes(where, max_local_passes).levels();
  if (chosen.size() >= locks) chosen.resize(locks - 1);
  return with_nodes(max_local_passes, chosen);
}

near_seat seat_in(const locality& where, int rank, const std::vector<tree_level>& levels, std::size_t depth) {
  if (depth >= levels.size()) return {.owner = rank, .participant = rank};
  const bool is_last = depth + 1 == levels.size();
  return {.owner = where.leader(levels[depth].at, rank),
          .participant = is_last ? rank : where.leader(levels[depth + 1].at, rank)};
}

}  // namespace nearfar::detail
