/// \file
/// The claims of a publication, as data, and the one judge that compares a claim with the findings.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nearfar::command {

/// One configuration of an analysis, as far as it has to be told from others.
struct place_found {
  std::string analysis{};  ///< empty: that of the claim
  std::string object;
  int ranks = 0;
  std::map<std::string, std::int64_t> at{};  ///< values on axes, or of the object's parameters
  std::string scenario{};
};

/// The finding at a place, in a column: the median over repetitions, if it was measured.
using finding_at = std::function<std::optional<double>(const place_found& where, const std::string& column)>;

/// A number that is measured, or made of such numbers. It has no value if one of them was not measured.
class quantity {
 public:
  quantity(double constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor): in `2 * other`
  quantity(place_found where, std::string column)
      : kind_(kind::measured), where_(std::move(where)), column_(std::move(column)) {}

  friend quantity operator*(quantity one, quantity other) { return {kind::product, {one, other}}; }
  friend quantity operator/(quantity one, quantity other) { return {kind::ratio, {one, other}}; }
  friend quantity operator-(quantity one, quantity other) { return {kind::difference, {one, other}}; }
  /// The smallest and the largest.
  friend quantity smallest(std::vector<quantity> of) { return {kind::smallest, std::move(of)}; }
  friend quantity largest(std::vector<quantity> of) { return {kind::largest, std::move(of)}; }

  /// The same number in another analysis than the claim's.
  [[nodiscard]] quantity in(std::string analysis) const;
  [[nodiscard]] std::optional<double> value(const std::string& analysis, const finding_at& found) const;

 private:
  enum class kind : std::uint8_t { constant, measured, product, ratio, difference, smallest, largest };
  quantity(kind how, std::vector<quantity> of) : kind_(how), of_(std::move(of)) {}

  kind kind_ = kind::constant;
  double constant_ = 0;
  place_found where_;
  std::string column_;
  std::vector<quantity> of_;
};
// So that they are found for arguments in braces, too.
quantity smallest(std::vector<quantity> of);
quantity largest(std::vector<quantity> of);

/// That one quantity is smaller than another, or not larger.
struct bound {
  quantity smaller;
  quantity larger;
  bool may_be_equal = false;
};
inline bound operator<(quantity one, quantity other) { return {std::move(one), std::move(other)}; }
inline bound operator>(quantity one, quantity other) { return {std::move(other), std::move(one)}; }
inline bound operator>=(quantity one, quantity other) { return {std::move(other), std::move(one), true}; }

/// Bounds, and the figures as they are printed.
struct evidence {
  std::vector<bound> bounds;
  std::string text;  ///< for fmt, with a place for each of `figures`
  std::vector<quantity> figures;
  /// More of them, each of which counts if it was measured. Their texts follow.
  std::vector<evidence> beside{};
};

/// Which evidence of a claim counts.
enum class counting : std::uint8_t {
  all,       ///< all that was measured
  last,      ///< the last that was measured
  greatest,  ///< that whose first figure is the greatest
};

struct claim {
  std::string analysis;  ///< of quantities that name none
  std::string text;
  std::vector<evidence> of;
  counting counts = counting::all;
  std::string before{};  ///< the figures
};

/// Something that was claimed, or is aimed at, and what was found.
struct verdict_on_claim {
  std::string claim;
  std::optional<bool> holds;  ///< nothing: a number that it needs was not measured
  std::string found;          ///< the figures
};

[[nodiscard]] verdict_on_claim judge(const claim& what, const finding_at& found);

// ---- kinds of evidence
// -------------------------------------------------------------------------------------

/// Ratio: one takes at least `times` times as long as another.
[[nodiscard]] evidence takes_times(const quantity& one, const quantity& other, double times,
                                   const std::string& what = "ratio");

struct named_quantity {
  std::string name;
  quantity value;
};
/// Order: each is larger than the one before it.
[[nodiscard]] evidence in_order(const std::vector<named_quantity>& all, const std::string& unit = "ns");

/// Value in a range, without its ends.
[[nodiscard]] evidence within(const quantity& value, double low, double high, const std::string& text);
inline constexpr double any_high = std::numeric_limits<double>::infinity();
inline constexpr double any_low = -any_high;

/// Alike: they differ by a factor below `by`.
[[nodiscard]] std::vector<bound> are_alike(const quantity& one, const quantity& other, double by);

}  // namespace nearfar::command
