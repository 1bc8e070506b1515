#include "cache_lines.hpp"

namespace nearfar::simulation {

namespace {

constexpr std::size_t bits = 64;

/// Number of words for the copies of one line: one bit for each rank of the largest node.
std::size_t copy_words(const locality& where) {
  std::size_t most = 1;
  for (int node = 0; node < where.groups(level::node); ++node)
    most = std::max(most, where.members(level::node, node).size());
  return (most + bits - 1) / bits;
}

/// The group of `rank` at a level. Where the group is not known, a group of the rank's own that no other rank
/// shares.
int known_group(const locality& where, level at, int rank) {
  return where.known(at, rank) ? where.group(at, rank) : -1 - rank;
}

}  // namespace

cache_lines::cache_lines(const locality& where, const costs& of, std::size_t bytes, random_stream& random)
    : random_(&random),
      jitter_(of.near_jitter),
      lines_per_rank_(bytes / cache_line),
      hit_(of.hit),
      readers_at_once_(of.readers_at_once),
      move_(of.move),
      groups_(index(where.size())),
      word_of_(index(where.size())),
      bit_of_(index(where.size())),
      words_per_line_(copy_words(where)),
      lines_(lines_per_rank_ * index(where.size())),
      copies_(lines_per_rank_ * index(where.size()) * words_per_line_) {
  for (int node = 0; node < where.groups(level::node); ++node) {
    std::size_t position = 0;
    for (const int rank : where.members(level::node, node)) {
      word_of_[index(rank)] = static_cast<std::uint32_t>(position / bits);
      bit_of_[index(rank)] = std::uint64_t{1} << position % bits;
      ++position;
      groups& its = groups_[index(rank)];
      its.core = known_group(where, level::core, rank);
      its.cache = known_group(where, level::cache, rank);
      its.numa = known_group(where, level::numa, rank);
      // A package whose NUMA domains are not known counts as one domain.
      if (!where.known(level::numa, rank) && where.known(level::package, rank))
        its.numa = -1 - where.size() - where.group(level::package, rank);
    }
  }
}

}  // namespace nearfar::simulation
