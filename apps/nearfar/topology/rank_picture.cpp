#include "apps/nearfar/topology/rank_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "apps/nearfar/shared/xml_text.hpp"
#include "nearfar/topology/level.hpp"

namespace nearfar::command {

namespace {

// Pixels.
constexpr int rank_width = 40;
constexpr int rank_height = 24;
constexpr int gap = 6;
constexpr int head = 18;  ///< for the name of a box

/// From the outside in. Colours of lstopo's kind: told apart without colour by where they are.
constexpr std::array<std::string_view, level_count> colours{"#f4f4f4", "#dcdcdc", "#e6e6b8", "#ffffff",
                                                            "#bebebe"};

struct box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  int rank = -1;  ///< of a box without boxes inside
  std::string name{};
  std::string_view colour{};
  std::vector<box> inside{};
};

/// In rows, about as wide as they are high together.
void lay_out(box& of, bool is_named) {
  const int top = is_named ? head : gap;
  double area = 0;
  int widest = 0;
  for (const box& each : of.inside) {
    area += static_cast<double>(each.width + gap) * (each.height + gap);
    widest = std::max(widest, each.width);
  }
  constexpr double aspect = 2;
  const int limit = std::max(widest, static_cast<int>(std::sqrt(area * aspect)));
  int x = gap;
  int y = top;
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
}

/// The boxes of these ranks, from `levels.front()` inwards.
std::vector<box> boxes_of(const locality& of, std::span<const int> ranks, std::span<const level> levels) {
  std::vector<box> result;
  if (levels.empty()) {
    for (const int rank : ranks) result.push_back({.width = rank_width, .height = rank_height, .rank = rank});
    return result;
  }
  const level at = levels.front();
  const auto inner = levels.subspan(1);
  const bool is_known = std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return of.known(at, rank); });
  const bool is_all = of.members(at, of.group(at, ranks.front())).size() == ranks.size();
  if (at != level::node && (!is_known || is_all)) return boxes_of(of, ranks, inner);
  for (const int rank : ranks) {
    if (of.leader(at, rank) != rank) continue;
    const int group = of.group(at, rank);
    box one{.name = fmt::format("{} {}", name(at), group), .colour = colours[index(at)]};
    one.inside = boxes_of(of, of.members(at, group), inner);
    lay_out(one, true);
    // Room for the name.
    constexpr int letter = 7;
    one.width = std::max(one.width, 2 * gap + letter * static_cast<int>(one.name.size()));
    result.push_back(std::move(one));
  }
  return result;
}

void draw(const box& of, int left, int top, const std::function<std::string(int)>& title_of,
          std::string& to) {
  const int x = left + of.left;
  const int y = top + of.top;
  const bool is_rank = of.rank >= 0;
  to += fmt::format(R"(<g><rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="#404040"/>)", x, y,
                    of.width, of.height, is_rank ? "#2f6fab" : of.colour);
  if (is_rank)
    to += fmt::format(
        R"(<title>{}</title><text x="{}" y="{}" text-anchor="middle" fill="#ffffff">{}</text></g>)",
        xml_escaped(title_of(of.rank)), x + of.width / 2, y + of.height / 2 + 4, of.rank);
  else
    to += fmt::format(R"(<text x="{}" y="{}">{}</text></g>)", x + gap, y + head - gap + 1, of.name);
  to += '\n';
  for (const box& each : of.inside) draw(each, x, y, title_of, to);
}

}  // namespace

std::string rank_picture(const locality& of, const std::string& title,
                         const std::function<std::string(int)>& title_of) {
  box all;
  std::vector<int> ranks(static_cast<std::size_t>(of.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
  all.inside = boxes_of(of, ranks, all_levels);
  lay_out(all, true);
  constexpr int letter = 7;
  const int width = std::max(all.width, 2 * gap + letter * static_cast<int>(title.size()));
  std::string result = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2}\" y=\"{3}\">{4}</text>\n",
      width, all.height, gap, head - gap + 1, xml_escaped(title));
  for (const box& each : all.inside) draw(each, 0, 0, title_of, result);
  return result + "</svg>\n";
}

}  // namespace nearfar::command
