#include "apps/nearfar/figures/claims.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace nearfar::command {

namespace {

/// Evidence that was measured.
struct weighed_evidence {
  bool holds = true;
  std::string text;
  double first_figure = 0;
};

bool is_kept(double smaller, double larger, const bound& of) {
  return smaller < larger || (of.may_be_equal && smaller <= larger);
}

std::optional<weighed_evidence> weigh(const evidence& what, const std::string& analysis,
                                      const finding_at& found) {
  weighed_evidence result;
  for (const bound& each : what.bounds) {
    const auto smaller = each.smaller.value(analysis, found);
    const auto larger = each.larger.value(analysis, found);
    if (!smaller || !larger) return std::nullopt;
    result.holds = result.holds && is_kept(*smaller, *larger, each);
  }
  fmt::dynamic_format_arg_store<fmt::format_context> figures;
  for (const quantity& each : what.figures) {
    const auto value = each.value(analysis, found);
    if (!value) return std::nullopt;
    if (&each == &what.figures.front()) result.first_figure = *value;
    figures.push_back(*value);
  }
  result.text = fmt::vformat(what.text, figures);
  std::vector<std::string> texts;
  for (const evidence& each : what.beside)
    if (const auto more = weigh(each, analysis, found)) {
      result.holds = result.holds && more->holds;
      texts.push_back(more->text);
    }
  result.text += fmt::format("{}", fmt::join(texts, ", "));
  return result;
}

std::vector<weighed_evidence> that_count(std::vector<weighed_evidence> measured, counting how) {
  if (measured.empty() || how == counting::all) return measured;
  if (how == counting::last) return {measured.back()};
  return {*std::ranges::max_element(measured, {}, &weighed_evidence::first_figure)};
}

}  // namespace

quantity quantity::in(std::string analysis) const {
  quantity result = *this;
  for (quantity& each : result.of_) each = each.in(analysis);
  result.where_.analysis = std::move(analysis);
  return result;
}

std::optional<double> quantity::value(const std::string& analysis, const finding_at& found) const {
  if (kind_ == kind::constant) return constant_;
  if (kind_ == kind::measured) {
    if (!where_.analysis.empty()) return found(where_, column_);
    place_found where = where_;
    where.analysis = analysis;
    return found(where, column_);
  }
  std::vector<double> of;
  for (const quantity& each : of_) {
    const auto value = each.value(analysis, found);
    if (!value) return std::nullopt;
    of.push_back(*value);
  }
  switch (kind_) {
    case kind::product:
      return of[0] * of[1];
    case kind::ratio:
      return of[1] == 0 ? std::nullopt : std::optional(of[0] / of[1]);
    case kind::difference:
      return of[0] - of[1];
    case kind::smallest:
      return *std::ranges::min_element(of);
    default:
      return *std::ranges::max_element(of);
  }
}

verdict_on_claim judge(const claim& what, const finding_at& found) {
  std::vector<weighed_evidence> measured;
  for (const evidence& each : what.of)
    if (auto one = weigh(each, what.analysis, found)) measured.push_back(std::move(*one));
  verdict_on_claim result{what.text, std::nullopt, ""};
  if (measured.empty()) return result;
  std::vector<std::string> texts;
  result.holds = true;
  for (const weighed_evidence& each : that_count(std::move(measured), what.counts)) {
    result.holds = *result.holds && each.holds;
    texts.push_back(each.text);
  }
  result.found = what.before + fmt::format("{}", fmt::join(texts, ", "));
  return result;
}

evidence takes_times(const quantity& one, const quantity& other, double times, const std::string& what) {
  return {{one >= times * other}, what + " {:.2f} ({:.0f} to {:.0f} ns)", {one / other, one, other}};
}

evidence in_order(const std::vector<named_quantity>& all, const std::string& unit) {
  evidence result;
  for (const named_quantity& each : all) {
    if (!result.figures.empty()) result.bounds.push_back(result.figures.back() < each.value);
    result.text += fmt::format("{}{} {{:.3g}}", result.text.empty() ? "" : ", ", each.name);
    result.figures.push_back(each.value);
  }
  // "100 %" is a unit, not a place for a figure.
  result.text += " " + unit;
  return result;
}

evidence within(const quantity& value, double low, double high, const std::string& text) {
  return {{low < value, value < high}, text, {value}};
}

std::vector<bound> are_alike(const quantity& one, const quantity& other, double by) {
  return {one < by * other, other < by * one};
}

}  // namespace nearfar::command
