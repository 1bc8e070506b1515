#include "nearfar/topology/spec.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../core/words.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

using detail::counted;

namespace {

constexpr std::string_view separators = " \t\r\n,";
constexpr std::string_view example = "write it like \"node:2 numa:2 core:4\"";

/// User text for a one-line message: quoted, shortened, without control characters.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string shown(text.substr(0, longest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      '?');
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

/// Number of characters to insert, delete or replace to turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// The level name that a misspelt word most likely meant; nothing if no name is close.
std::optional<level> nearest_level(std::string_view word) {
  constexpr std::size_t longest_guessed = 32;
  if (word.size() > longest_guessed) {
    return std::nullopt;
  }
  std::string lower(word);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  std::optional<level> nearest;
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (const level at : all_levels) {
    const std::size_t distance = edit_distance(lower, name(at));
    // A word with more than half of the name wrong is no misspelling.
    if (distance < best && distance <= name(at).size() / 2) {
      best = distance;
      nearest = at;
    }
  }
  return nearest;
}

level parse_level(std::string_view word) {
  if (const std::optional<level> at = level_from_name(word)) {
    return *at;
  }
  std::string message = "topology level " + quoted(word) + " is unknown; ";
  if (const std::optional<level> meant = nearest_level(word)) {
    message += "did you mean '" + std::string(name(*meant)) + "'? ";
  }
  message += "levels are";
  for (const level at : all_levels) {
    message += (at == all_levels.front() ? " " : ", ") + std::string(name(at));
  }
  throw topology_error(message);
}

int parse_count(std::string_view text, level at) {
  const std::string where = "topology level '" + std::string(name(at)) + "'";
  const std::string range = "from 1 to " + std::to_string(topology_spec::max_count);
  if (text.empty()) {
    throw topology_error(where + " has no count: write " + std::string(name(at)) + ":N with N " + range);
  }
  int count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, count);
  if (problem == std::errc::invalid_argument || stop != end) {
    throw topology_error(where + " has count " + quoted(text) + ", not a whole number: use a number " +
                         range);
  }
  if (problem == std::errc::result_out_of_range || count < 1 || count > topology_spec::max_count) {
    throw topology_error(where + " has count " + quoted(text) + ", out of range: use a number " + range);
  }
  return count;
}

}  // namespace

topology_spec topology_spec::parse(std::string_view text) {
  topology_spec spec;
  std::optional<level> previous;
  for (std::size_t start = text.find_first_not_of(separators); start != std::string_view::npos;
       start = text.find_first_not_of(separators, start)) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    const std::string_view item = text.substr(start, end - start);
    start = end;

    const std::size_t mark = std::min(item.find_first_of(":="), item.size());
    const level at = parse_level(item.substr(0, mark));
    if (spec.count(at) != 0) {
      throw topology_error("topology " + quoted(text) + " names level '" + std::string(name(at)) +
                           "' twice: name each level once");
    }
    if (previous && at < *previous) {
      throw topology_error("topology " + quoted(text) + " has '" + std::string(name(at)) + "' inside '" +
                           std::string(name(*previous)) + "': name outer levels first, '" +
                           std::string(name(at)) + "' before '" + std::string(name(*previous)) + "'");
    }
    const int count = parse_count(item.substr(std::min(mark + 1, item.size())), at);
    if (count > std::numeric_limits<int>::max() / spec.places_) {
      throw topology_error("topology " + quoted(text) + " has more than " +
                           std::to_string(std::numeric_limits<int>::max()) + " places: use smaller counts");
    }
    spec.counts_[index(at)] = count;
    spec.places_ *= count;
    previous = at;
  }
  if (!previous) {
    throw topology_error("topology is empty: " + std::string(example));
  }
  return spec;
}

level topology_spec::innermost() const noexcept {
  level found = level::node;
  for (const level at : all_levels) {
    if (count(at) != 0 && at > found) {
      found = at;
    }
  }
  return found;
}

locality topology_spec::place(int ranks) const {
  const std::string self = "topology '" + to_string() + "'";
  if (ranks < 1) {
    throw topology_error(self + " cannot hold " + counted(ranks, "rank") + ": ask for at least 1 rank");
  }
  const int nodes = std::max(count(level::island), 1) * std::max(count(level::node), 1);
  if (ranks < nodes) {
    throw topology_error(self + " has " + counted(nodes, "node") + ", too many for " +
                         counted(ranks, "rank") + ": ask for at least " + counted(nodes, "rank") +
                         " or fewer nodes");
  }
  if (count(level::core) != 0 && ranks > places_) {
    throw topology_error(self + " has " + counted(places_, "core") + ", too few for " +
                         counted(ranks, "rank") + ": ask for at most " + counted(places_, "rank") +
                         " or more cores");
  }

  nearfar::place somewhere;
  somewhere.fill(unknown_id);
  std::vector<nearfar::place> places(static_cast<std::size_t>(ranks), somewhere);
  // Ends of the groups of the enclosing level, as ranks. A group starts where the previous one ends.
  std::vector<std::size_t> outer_ends{places.size()};
  for (const level at : all_levels) {
    if (at > innermost()) {
      break;
    }
    if (at == level::island && count(at) == 0) {
      continue;
    }
    const auto parts = static_cast<std::size_t>(std::max(count(at), 1));
    std::vector<std::size_t> ends;
    std::size_t rank = 0;
    for (const std::size_t outer_end : outer_ends) {
      const std::size_t share = (outer_end - rank) / parts;
      const std::size_t larger = (outer_end - rank) % parts;
      for (std::size_t part = 0; part < parts && rank < outer_end; ++part) {
        const std::size_t end = rank + share + (part < larger ? 1 : 0);
        for (; rank < end; ++rank) {
          places[rank][index(at)] = static_cast<int>(part);
        }
        ends.push_back(end);
      }
    }
    outer_ends = std::move(ends);
  }
  return locality(places);
}

std::string topology_spec::to_string() const {
  std::string text;
  for (const level at : all_levels) {
    if (count(at) != 0) {
      text += (text.empty() ? "" : " ") + std::string(name(at)) + ":" + std::to_string(count(at));
    }
  }
  return text;
}

}  // namespace nearfar
