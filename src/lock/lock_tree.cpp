#include "nearfar/lock/lock_tree.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "nearfar/core/error.hpp"

namespace nearfar {

namespace {

tree_level parse_level(std::string_view text, int standard) {
  const std::size_t sign = text.find('=');
  const std::optional<level> at = level_from_name(text.substr(0, sign));
  if (!at)
    throw misuse("a lock's tree has levels island, node, package, numa, cache, core, not '" +
                 std::string(text.substr(0, sign)) + "'");
  tree_level result{.at = *at, .max_passes = standard};
  if (sign == std::string_view::npos) return result;
  const std::string_view number = text.substr(sign + 1);
  const char* const end = number.data() + number.size();
  const auto [last, problem] = std::from_chars(number.data(), end, result.max_passes);
  if (problem != std::errc() || last != end)
    throw misuse("the threshold of level " + std::string(name(*at)) + " must be a whole number, not '" +
                 std::string(number) + "'");
  return result;
}

std::vector<tree_level> parse_levels(const std::string& text, int standard) {
  std::vector<tree_level> levels;
  if (text.empty()) return levels;
  for (std::string_view rest = text;;) {
    const std::size_t end = rest.find('/');
    levels.push_back(parse_level(rest.substr(0, end), standard));
    if (end == std::string_view::npos) return levels;
    rest.remove_prefix(end + 1);
  }
}

/// Throws `misuse` unless the level's threshold fits into a byte.
void check_threshold(const tree_level& of) {
  if (of.max_passes < 1 || of.max_passes > most_local_passes)
    throw misuse("the threshold of level " + std::string(name(of.at)) + " must be 1 to " +
                 std::to_string(most_local_passes) + ", not " + std::to_string(of.max_passes));
}

/// Throws `misuse` unless the lock can have queues of that level inside a node, handed on in so often.
void check_inside_nodes(const tree_level& of) {
  if (of.at <= level::node)
    throw misuse("'" + std::string(name(of.at)) +
                 "' is no level inside a node: give this lock levels inside nodes only");
  check_threshold(of);
}

/// A rank of which it is not known where it is on a level.
std::optional<int> first_unknown(const locality& where, level at) {
  for (int rank = 0; rank < where.size(); ++rank)
    if (!where.known(at, rank)) return rank;
  return std::nullopt;
}

}  // namespace

lock_tree::lock_tree(int max_local_passes)
    : lock_tree(std::vector{tree_level{level::node, checked_local_passes(max_local_passes)}}) {}

lock_tree::lock_tree(std::initializer_list<tree_level> levels) : lock_tree(std::vector(levels)) {}

lock_tree::lock_tree(std::vector<tree_level> levels) : levels_(std::move(levels)) {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const auto& [at, passes] = levels_[i];
    if (i > 0 && index(levels_[i - 1].at) >= index(at))
      throw misuse("the levels of a lock's tree go from the outside in, each once: not " +
                   std::string(name(at)) + " after " + std::string(name(levels_[i - 1].at)));
    if (passes < 0 || passes > most_passes)
      throw misuse("the threshold of level " + std::string(name(at)) + " must be 0 to " +
                   std::to_string(most_passes) + ", not " + std::to_string(passes));
  }
}

lock_tree lock_tree::parse(const std::string& text) {
  return lock_tree(parse_levels(text, published_local_passes));
}

lock_tree lock_tree::parse_inside_nodes(const std::string& text, int max_passes) {
  std::vector<tree_level> levels = parse_levels(text, checked_local_passes(max_passes));
  // Before the tree's own check, whose thresholds may be larger.
  for (const tree_level& each : levels) check_inside_nodes(each);
  return lock_tree(std::move(levels));
}

lock_tree lock_tree::inside_nodes(const locality& where, int max_passes) {
  static_cast<void>(checked_local_passes(max_passes));
  std::vector<tree_level> levels;
  int elements = where.groups(level::node);
  for (const level at : all_levels) {
    const int inside = where.groups(at);
    if (at <= level::node || inside == elements || inside == where.size() || first_unknown(where, at))
      continue;
    levels.push_back({.at = at, .max_passes = max_passes});
    elements = inside;
  }
  return lock_tree(std::move(levels));
}

levels_around_nodes lock_tree::around_nodes(const locality& where, int max_passes) {
  levels_around_nodes result{.island = std::nullopt, .inside = inside_nodes(where, max_passes)};
  const int islands = where.groups(level::island);
  if (islands > 1 && islands < where.groups(level::node) && !first_unknown(where, level::island))
    result.island = tree_level{.at = level::island, .max_passes = max_passes};
  return result;
}

levels_around_nodes lock_tree::parse_around_nodes(const std::string& text, int max_passes) {
  std::vector<tree_level> levels = parse_levels(text, checked_local_passes(max_passes));
  std::optional<tree_level> island;
  if (!levels.empty() && levels.front().at == level::island) {
    island = levels.front();
    check_threshold(*island);
    levels.erase(levels.begin());
  }
  for (const tree_level& each : levels) {
    if (each.at == level::node) throw misuse("this lock has queues of nodes in any case: leave out 'node'");
    if (each.at == level::island)
      throw misuse("the levels of a lock's tree go from the outside in, each once: put 'island' first");
    check_threshold(each);
  }
  return {.island = island, .inside = lock_tree(std::move(levels))};
}

std::string lock_tree::text() const {
  std::string result;
  for (const auto& [at, passes] : levels_)
    result += (result.empty() ? "" : "/") + std::string(name(at)) + "=" + std::to_string(passes);
  return result;
}

lock_tree::named_levels lock_tree::arguments() const noexcept {
  named_levels result;
  for (const level at : all_levels) result[index(at)] = {name(at), -1};
  for (const auto& [at, passes] : levels_) result[index(at)].value = passes;
  return result;
}

lock_tree::named_levels lock_tree::arguments_of_nodes(int max_local_passes) noexcept {
  named_levels result = lock_tree(std::vector<tree_level>{}).arguments();
  result[index(level::node)].value = max_local_passes;
  return result;
}

namespace detail {

const lock_tree& checked_inside_nodes(const lock_tree& levels, const locality& where) {
  for (const tree_level& each : levels.levels()) {
    check_inside_nodes(each);
    if (const std::optional<int> rank = first_unknown(where, each.at))
      throw topology_error("the topology does not say which ranks share a '" + std::string(name(each.at)) +
                           "': that of rank " + std::to_string(*rank) + " is not known");
  }
  return levels;
}

const tree_level& checked_islands(const tree_level& of, const locality& where) {
  if (of.at != level::island)
    throw misuse("this lock has queues of islands above those of nodes, not of level '" +
                 std::string(name(of.at)) + "'");
  check_threshold(of);
  if (const std::optional<int> rank = first_unknown(where, of.at))
    throw topology_error("the topology does not say which nodes form an island: that of rank " +
                         std::to_string(*rank) + " is not known");
  return of;
}

}  // namespace detail

}  // namespace nearfar
