/// \file Checks of combined additions, in any world.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nearfar/checker/history.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/recorder.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/queue/combining_add.hpp"

namespace nearfar::testing {

/// `add(number)` returns the sum before the addition.
class fetch_add_specification {
 public:
  static constexpr int add = 0;

  [[nodiscard]] static std::string_view name(int /*method*/) noexcept { return "add"; }
  [[nodiscard]] bool apply(const checker::operation& what) {
    if (!what.may_return({sum_})) return false;
    sum_ += what.argument(0);
    return true;
  }
  [[nodiscard]] std::size_t hash() const noexcept { return sum_; }
  [[nodiscard]] friend bool operator==(const fetch_add_specification&,
                                       const fetch_add_specification&) = default;

 private:
  std::uint64_t sum_ = 0;
};

/// A word of rank 0, to which ranks add.
template <world W>
class combined_word {
 public:
  /// Collective.
  explicit combined_word(W& w) : words_(w), add_(w) {}

  [[nodiscard]] std::uint64_t fetch_add(std::uint64_t sum) {
    return add_(sum, [this](const std::uint64_t& all) {
      ++far_additions_;
      std::uint64_t before = 0;
      words_.fetch_add(0, &line::word, all, before);
      words_.flush(0);
      return before;
    });
  }
  /// Far additions by this rank, for itself and others.
  [[nodiscard]] std::int64_t far_additions() const noexcept { return far_additions_; }

 private:
  struct alignas(slot_bytes) line {
    far<std::uint64_t> word;
  };
  typename W::template far_segment<line> words_;
  combining_add<W> add_;
  std::int64_t far_additions_ = 0;
};

/// Many additions: each finds more than the same rank's addition before, and the last sum is the total.
/// Collective.
template <world W>
void expect_additions(W& w, int additions) {
  combined_word<W> word(w);
  const std::uint64_t number = static_cast<std::uint64_t>(w.rank()) + 1;
  std::uint64_t least = 0;
  std::int64_t wrong = 0;
  for (int i = 0; i < additions; ++i) {
    const std::uint64_t before = word.fetch_add(number);
    wrong += before < least ? 1 : 0;
    least = before + number;
  }
  w.barrier();
  EXPECT_EQ(wrong, 0);
  const auto ranks = static_cast<std::uint64_t>(w.size());
  EXPECT_EQ(word.fetch_add(0), ranks * (ranks + 1) / 2 * static_cast<std::uint64_t>(additions));
  w.barrier();
}

/// Collective.
template <world W>
void expect_linearizable_additions(W& w, int additions) {
  combined_word<W> word(w);
  checker::recorder<W> recording(w);
  for (int i = 0; i < additions; ++i) {
    const auto number = static_cast<std::uint64_t>(1 + w.rank() * additions + i);
    recording.call(0, fetch_add_specification::add, {number});
    recording.returned({word.fetch_add(number)});
  }
  w.barrier();
  const checker::verdict verdict = checker::linearizable(recording.gathered(), fetch_add_specification());
  EXPECT_EQ(verdict.is_linearizable, checker::linearizability::yes) << verdict.text;
}

}  // namespace nearfar::testing
