#include "apps/nearfar/topology/rank_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/shared/xml_text.hpp"
#include "nearfar/topology/level.hpp"

namespace nearfar::command {

namespace {

// Pixels.
constexpr int leaf_width = 48;
constexpr int leaf_height = 24;
constexpr int gap = 6;
constexpr int head = 18;  ///< for the name of a box
constexpr int letter = 7;

/// From the outside in. Colours of lstopo's kind: told apart without colour by where they are.
constexpr std::array<std::string_view, level_count> colours{"#dde6f0", "#f4f4f4", "#dcdcdc",
                                                            "#e6e6b8", "#ffffff", "#bebebe"};

struct box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  std::string name{};
  std::string tooltip{};
  std::string_view colour = "#ffffff";
  std::string_view ink = "#000000";
  std::vector<box> inside{};
};

int width_of(const std::string& text) { return 2 * gap + letter * static_cast<int>(text.size()); }

/// A box with nothing but its name.
box leaf(std::string name) {
  const int width = std::max(leaf_width, width_of(name));
  return {.width = width, .height = leaf_height, .name = std::move(name)};
}

/// In rows, about as wide as they are high together.
void lay_out(box& of) {
  double area = 0;
  int widest = 0;
  for (const box& each : of.inside) {
    area += static_cast<double>(each.width + gap) * (each.height + gap);
    widest = std::max(widest, each.width);
  }
  constexpr double aspect = 2;
  const int limit = std::max(widest, static_cast<int>(std::sqrt(area * aspect)));
  int x = gap;
  int y = head;
  int row = 0;
  for (box& each : of.inside) {
    if (x > gap && x + each.width > gap + limit) {
      x = gap;
      y += row + gap;
      row = 0;
    }
    each.left = x;
    each.top = y;
    x += each.width + gap;
    row = std::max(row, each.height);
    of.width = std::max(of.width, x);
  }
  of.height = y + row + gap;
  of.width = std::max(of.width, width_of(of.name));
}

/// The boxes of these ranks, from `levels.front()` inwards.
std::vector<box> boxes_of(const locality& of, std::span<const int> ranks, std::span<const level> levels,
                          const titles& said) {
  std::vector<box> result;
  if (levels.empty()) {
    for (const int rank : ranks) {
      result.push_back(leaf(std::to_string(rank)));
      result.back().tooltip = said.of_rank(rank);
      result.back().colour = "#2f6fab";
      result.back().ink = "#ffffff";
    }
    return result;
  }
  const level at = levels.front();
  const auto inner = levels.subspan(1);
  const bool is_known = std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return of.known(at, rank); });
  const bool is_all = of.members(at, of.group(at, ranks.front())).size() == ranks.size();
  if (at != level::node && (!is_known || is_all)) return boxes_of(of, ranks, inner, said);
  for (const int rank : ranks) {
    if (of.leader(at, rank) != rank) continue;
    const int group = of.group(at, rank);
    box one{.name = fmt::format("{} {}", name(at), group), .colour = colours[index(at)]};
    one.inside = boxes_of(of, of.members(at, group), inner, said);
    lay_out(one);
    result.push_back(std::move(one));
  }
  return result;
}

/// Whether two parts look the same but for their numbers.
bool is_alike(const machine_part& one, const machine_part& other) {
  return one.kind == other.kind && one.bytes == other.bytes &&
         std::ranges::equal(one.inside, other.inside, is_alike);
}

std::string size_text(std::size_t bytes) {
  constexpr double kib = 1024;
  const auto size = static_cast<double>(bytes);
  if (size < kib * kib) return fmt::format("{:.0f} KiB", size / kib);
  if (size < kib * kib * kib) return fmt::format("{:.4g} MiB", size / kib / kib);
  return fmt::format("{:.0f} GiB", size / kib / kib / kib);
}

std::string_view colour_of(const machine_part& of) {
  for (const level each : {level::package, level::numa, level::core})
    if (of.kind == name(each)) return colours[index(each)];
  return colours[index(level::cache)];
}

std::vector<box> boxes_of(std::span<const machine_part> parts);

box box_of(const machine_part& of) {
  const std::string size = of.bytes == 0 ? "" : ", " + size_text(of.bytes);
  box one = leaf(fmt::format("{} {}{}", of.kind, of.number, size));
  one.colour = colour_of(of);
  one.inside = boxes_of(of.inside);
  if (!one.inside.empty()) lay_out(one);
  return one;
}

/// Of more neighbours that are alike than this, the picture shows three.
constexpr std::size_t most_alike = 4;

std::vector<box> boxes_of(std::span<const machine_part> parts) {
  std::vector<box> result;
  while (!parts.empty()) {
    const auto end = std::ranges::find_if_not(
        parts, [&](const machine_part& each) { return is_alike(parts.front(), each); });
    const auto run = parts.first(static_cast<std::size_t>(end - parts.begin()));
    parts = parts.subspan(run.size());
    const bool has_room = run.size() <= most_alike;
    for (const machine_part& each : run.first(has_room ? run.size() : 2)) result.push_back(box_of(each));
    if (has_room) continue;
    result.push_back(leaf(fmt::format("{} more", run.size() - 3)));
    result.push_back(box_of(run.back()));
  }
  return result;
}

void draw(const box& of, int left, int top, std::string& to) {
  const int x = left + of.left;
  const int y = top + of.top;
  to += fmt::format(R"(<g><rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="#404040"/>)", x, y,
                    of.width, of.height, of.colour);
  if (!of.tooltip.empty()) to += fmt::format("<title>{}</title>", xml_escaped(of.tooltip));
  if (of.inside.empty())
    to += fmt::format(R"(<text x="{}" y="{}" text-anchor="middle" fill="{}">{}</text></g>)", x + of.width / 2,
                      y + of.height / 2 + 4, of.ink, xml_escaped(of.name));
  else
    to += fmt::format(R"(<text x="{}" y="{}">{}</text></g>)", x + gap, y + head - gap + 1,
                      xml_escaped(of.name));
  to += '\n';
  for (const box& each : of.inside) draw(each, x, y, to);
}

}  // namespace

std::string rank_picture(std::span<const machine_part> machine, const locality& of, const titles& said) {
  std::vector<int> ranks(static_cast<std::size_t>(of.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
  box hardware{.name = said.machine, .inside = boxes_of(machine)};
  box world{.name = said.ranks, .inside = boxes_of(of, ranks, all_levels, said)};
  int width = 0;
  int height = gap;
  std::string drawn;
  for (const auto& [id, part] : {std::pair("machine", &hardware), std::pair("ranks", &world)}) {
    lay_out(*part);
    drawn += fmt::format("<g id=\"{}\">\n", id);
    draw(*part, gap, height, drawn);
    drawn += "</g>\n";
    width = std::max(width, part->width + 2 * gap);
    height += part->height + gap;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "{2}</svg>\n",
      width, height, drawn);
}

}  // namespace nearfar::command
