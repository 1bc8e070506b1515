// The doctor's checks of far atomics, alone and mixed.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/doctor/tools.hpp"

namespace nearfar::command::doctor {

namespace {

/// Spreads a value over 64 bits, so that sums over sets of values tell the sets apart. 0 stays 0.
std::uint64_t spread(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
  return value ^ value >> 31U;
}

constexpr unsigned rank_shift = 40;

/// The operations of a rank on the shared word. Every value that goes into a word must come out once or be
/// there at the end.
struct tally {
  std::uint64_t operations = 0;
  std::uint64_t went_in = 0;   ///< sum of `spread`
  std::uint64_t came_out = 0;  ///< likewise

  void exchanged(std::uint64_t in, std::uint64_t out) {
    went_in += spread(in);
    came_out += spread(out);
  }
};

/// All ranks do `step(word, token, tally)` at once, with a token that no step had before; it returns what it
/// found in the word.
template <typename Step>
finding conserves(const examination& e, Step step, outcome if_lost = outcome::fail) {
  shared_word word(e);
  tally mine;
  const std::uint64_t mine_met = hammer(e, [&](std::uint64_t k) {
    ++mine.operations;
    const std::uint64_t before = step(word, to_word(e.rank()) << rank_shift | k, mine);
    return before != 0 && before >> rank_shift != to_word(e.rank());
  });
  e.barrier();
  const std::uint64_t left = e.is_target() ? spread(word.read()) : 0;
  const std::uint64_t operations = e.sum(mine.operations);
  const std::uint64_t met = e.sum(mine_met);
  if (e.sum(mine.went_in - mine.came_out - left) != 0)
    return {if_lost, fmt::format("{} by {} ranks at once lost or doubled values", operations, e.size())};
  if (met == 0) return never_met();
  return {outcome::ok, fmt::format("{} by {} ranks at once, {} met another rank's value, none was lost",
                                   operations, e.size(), met)};
}

/// Nothing if compare-and-swap can be tried.
std::optional<finding> unless_it_crashes(const examination& e) {
  if (!refusal(e, e.one_node())) return std::nullopt;
  return finding{outcome::skip, "not tried, as it would crash", "see 'known faults'"};
}

}  // namespace

finding atomic_swap(examination& e) {
  return conserves(e, [](shared_word& word, std::uint64_t token, tally& mine) {
    const std::uint64_t before = word.swap(token);
    mine.exchanged(token, before);
    return before;
  });
}

finding atomic_fetch_add(examination& e) {
  shared_word word(e);
  const increments seen = increments::of(
      e, [&] { return word.fetch_add(1); }, [&] { return e.is_target() ? word.read() : 0; });
  if (seen.counted == seen.done && seen.sum_of_results != seen.done * (seen.done - 1) / 2)
    return {outcome::fail,
            fmt::format("{} increments were counted, but their results were wrong", seen.done)};
  return seen.judge(outcome::fail);
}

finding atomic_compare_and_swap(examination& e) {
  if (auto skipped = unless_it_crashes(e)) return *skipped;
  std::uint64_t expected = 0;
  return conserves(e, [&](shared_word& word, std::uint64_t token, tally& mine) {
    const std::uint64_t before = word.compare_and_swap(expected, token);
    if (before == expected) mine.exchanged(token, before);
    expected = before == expected ? token : before;
    return before;
  });
}

/// The tail of a queue lock: enter by swap, leave by compare-and-swap if nobody came behind. That these are
/// atomic among themselves is more than MPI promises by default (accumulate_ops=same_op_no_op), and what
/// every queue lock relies on.
finding atomic_tail(examination& e) {
  if (auto skipped = unless_it_crashes(e)) return *skipped;
  return conserves(e, [](shared_word& tail, std::uint64_t token, tally& mine) {
    const std::uint64_t before = tail.swap(token);
    mine.exchanged(token, before);
    const std::uint64_t at_exit = tail.compare_and_swap(token, nobody);
    if (at_exit == token) mine.exchanged(nobody, token);
    return at_exit == token ? before : at_exit;
  });
}

/// The same with a sum between, on which nothing of nearfar relies.
finding atomic_mixture(examination& e) {
  if (auto skipped = unless_it_crashes(e)) return *skipped;
  // Beside the counts of `hammer` and below the ranks of the tokens.
  static constexpr std::uint64_t summand = std::uint64_t{1} << 24U;
  return conserves(
      e,
      [](shared_word& word, std::uint64_t token, tally& mine) {
        const std::uint64_t before = word.swap(token);
        mine.exchanged(token, before);
        const std::uint64_t added_to = word.fetch_add(summand);
        mine.exchanged(added_to + summand, added_to);
        const std::uint64_t expected = token + summand;
        const std::uint64_t at_exit = word.compare_and_swap(expected, nobody);
        if (at_exit == expected) mine.exchanged(nobody, expected);
        return at_exit == expected ? before : at_exit;
      },
      outcome::warn);
}

}  // namespace nearfar::command::doctor
