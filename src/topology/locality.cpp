#include "nearfar/topology/locality.hpp"

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/level.hpp"

namespace nearfar {

namespace {

/// "rank 4" or "ranks 0-3,7" for ascending, non-empty `ranks`.
std::string ranks_text(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    if (first > 0) {
      text += ',';
    }
    text += std::to_string(ranks[first]);
    if (last > first) {
      text += '-' + std::to_string(ranks[last]);
    }
    first = last + 1;
  }
  return text;
}

void check_place(const place& where, std::size_t rank) {
  if (where[index(level::node)] == unknown_id) {
    throw topology_error("rank " + std::to_string(rank) + " has no node: every rank's node must be known");
  }
  for (const level at : all_levels) {
    if (where[index(at)] < unknown_id) {
      throw topology_error("rank " + std::to_string(rank) + " has " + std::string(name(at)) + " id " +
                           std::to_string(where[index(at)]) + ": use ids from 0, or -1 for unknown");
    }
  }
}

}  // namespace

locality::locality(const std::vector<place>& places) {
  if (places.empty()) {
    throw topology_error("a locality needs at least one rank, got none: give one place per rank");
  }
  if (places.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw topology_error("a locality of " + std::to_string(places.size()) + " ranks: ranks must fit an int");
  }
  size_ = static_cast<int>(places.size());
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    check_place(places[rank], rank);
  }

  // The enclosing group and the raw id inside it identify a group. So one pair identifies the whole path if
  // the loop goes from the outermost level inwards. Ranks come in ascending order, which numbers the groups
  // by their lowest rank and sorts their members.
  std::vector<int> enclosing(places.size(), 0);
  for (const level at : all_levels) {
    tier& here = tiers_[index(at)];
    here.group_of.reserve(places.size());
    std::map<std::pair<int, int>, int> seen;
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      const int raw = places[rank][index(at)];
      const auto [entry, is_new] =
          seen.try_emplace({enclosing[rank], raw}, static_cast<int>(here.members.size()));
      if (is_new) {
        here.members.emplace_back();
        here.raw_id.push_back(raw);
      }
      here.group_of.push_back(entry->second);
      here.members[static_cast<std::size_t>(entry->second)].push_back(static_cast<int>(rank));
    }
    enclosing = here.group_of;
  }
}

locality locality::single_node(int ranks) {
  if (ranks < 1) {
    throw topology_error("a node of " + std::to_string(ranks) + " ranks: ask for at least 1 rank");
  }
  place somewhere;
  somewhere.fill(unknown_id);
  somewhere[index(level::node)] = 0;
  return locality(std::vector<place>(static_cast<std::size_t>(ranks), somewhere));
}

locality locality::with_islands(int nodes_per_island) const {
  if (nodes_per_island < 1) {
    throw topology_error("islands of " + std::to_string(nodes_per_island) +
                         " nodes: give an island at least 1 node");
  }
  std::vector<place> places(static_cast<std::size_t>(size_));
  for (int rank = 0; rank < size_; ++rank) {
    place& where = places[static_cast<std::size_t>(rank)];
    for (const level at : all_levels) {
      where[index(at)] = at_level(at).raw_id[static_cast<std::size_t>(group(at, rank))];
    }
    // Raw ids of nodes may be unique only inside the islands that the nodes are in now.
    where[index(level::node)] = group(level::node, rank);
    where[index(level::island)] = group(level::node, rank) / nodes_per_island;
  }
  return locality(places);
}

std::size_t locality::checked(int rank) const {
  if (rank < 0 || rank >= size_) {
    throw topology_error("no rank " + std::to_string(rank) + ": there are " + std::to_string(size_) +
                         " ranks, 0 to " + std::to_string(size_ - 1));
  }
  return static_cast<std::size_t>(rank);
}

int locality::groups(level at) const noexcept { return static_cast<int>(at_level(at).members.size()); }

int locality::group(level at, int rank) const { return at_level(at).group_of[checked(rank)]; }

std::span<const int> locality::members(level at, int group) const {
  if (group < 0 || group >= groups(at)) {
    throw topology_error("no " + std::string(name(at)) + " group " + std::to_string(group) + ": there are " +
                         std::to_string(groups(at)) + ", numbered from 0");
  }
  return at_level(at).members[static_cast<std::size_t>(group)];
}

const std::vector<int>& locality::members_around(level at, int rank) const {
  return at_level(at).members[static_cast<std::size_t>(group(at, rank))];
}

int locality::leader(level at, int rank) const { return members_around(at, rank).front(); }

bool locality::same(level at, int a, int b) const { return group(at, a) == group(at, b); }

bool locality::known(level at, int rank) const {
  return at_level(at).raw_id[static_cast<std::size_t>(group(at, rank))] != unknown_id;
}

std::optional<level> locality::nearest_common(int a, int b) const {
  std::optional<level> nearest;
  for (const level at : all_levels) {
    if (!same(at, a, b)) {
      break;  // groups nest: the ranks share no group further in
    }
    if (known(at, a)) {
      nearest = at;
    }
  }
  return nearest;
}

std::string locality::tree_text() const {
  std::vector<level> shown;
  for (const level at : all_levels) {
    const std::vector<int>& ids = at_level(at).raw_id;
    for (const int id : ids) {
      if (id != unknown_id) {
        shown.push_back(at);
        break;
      }
    }
  }
  std::string text;
  for (const std::vector<int>& outermost : at_level(shown.front()).members) {
    print_group(text, shown, outermost.front(), 0);
  }
  return text;
}

/// Adds the group of `rank` at the first of the `shown` levels, and everything inside it.
void locality::print_group(std::string& text, std::span<const level> shown, int rank,
                           std::size_t depth) const {
  const level at = shown.front();
  const std::vector<int>& ranks = members_around(at, rank);
  const int id = at_level(at).raw_id[static_cast<std::size_t>(group(at, rank))];
  text.append(2 * depth, ' ').append(name(at)).append(" ");
  text += id == unknown_id ? "unknown" : std::to_string(id);
  text += ": " + ranks_text(ranks) + '\n';
  const std::span<const level> inner = shown.subspan(1);
  if (inner.empty()) {
    return;
  }
  for (const int member : ranks) {
    if (leader(inner.front(), member) == member) {
      print_group(text, inner, member, depth + 1);
    }
  }
}

}  // namespace nearfar
