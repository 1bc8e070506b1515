// Names of words in the form that their authors wrote.
#include "nearfar/engine/field_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nearfar/engine/world.hpp"
#include "nearfar/lock/mcs_lock.hpp"

namespace nearfar::engine {
namespace {

/// "owner: name@offset ..."
template <typename T>
std::string text() {
  std::string result = names_of<T>().owner + ":";
  for (const field_name& field : names_of<T>().fields)
    result += " " + std::string(field.name) + "@" + std::to_string(field.offset);
  return result;
}

struct alone {
  far<std::uint64_t> only;
};
struct pair_of {
  far<std::uint64_t> tail;
  far<std::int64_t> head;
};
struct alignas(slot_bytes) spread {
  far<std::uint64_t> tail;
  alignas(slot_bytes) far<std::uint64_t> next;
  far<std::uint64_t> granted;
};
struct four {
  far<std::uint64_t> a, b, c, d;
};
struct five {
  far<std::uint64_t> a, b, c, d, e;
};
struct six {
  far<std::uint64_t> first, second, third, fourth, fifth, sixth;
};
struct cells {
  near_cell<std::uint8_t> narrow{};
  near_cell<std::uint32_t> wider{};
  alignas(cache_line) near_cell<std::uint64_t> far_away{};
};

TEST(field_names, of_one_to_six_fields) {
  EXPECT_EQ(text<alone>(), "alone: only@0");
  EXPECT_EQ(text<pair_of>(), "pair_of: tail@0 head@8");
  EXPECT_EQ(text<spread>(), "spread: tail@0 next@64 granted@72");
  EXPECT_EQ(text<four>(), "four: a@0 b@8 c@16 d@24");
  EXPECT_EQ(text<five>(), "five: a@0 b@8 c@16 d@24 e@32");
  EXPECT_EQ(text<six>(), "six: first@0 second@8 third@16 fourth@24 fifth@32 sixth@40");
}

TEST(field_names, of_near_cells) {
  // Each field is a word of its own for the engine, however narrow.
  EXPECT_EQ(text<cells>(), "cells: narrow@0 wider@8 far_away@64");
}

/// Words that only the lock itself can name.
template <typename W, int Levels>
class some_lock {
 public:
  static std::string words_text() { return text<words>(); }
  static std::string cells_text() { return text<queue_cells>(); }

 private:
  struct alignas(slot_bytes) words {
    far<rank_word> tail;
    alignas(slot_bytes) far<rank_word> next_;
  };
  struct alignas(cache_line) queue_cells {
    typename W::template near<rank_word> queue{};
  };
};

TEST(field_names, of_private_structs_of_templates_are_named_after_the_template) {
  EXPECT_EQ((some_lock<world, 3>::words_text()), "some_lock: tail@0 next_@64");
  EXPECT_EQ((some_lock<world, 3>::cells_text()), "some_lock: queue@0");
  EXPECT_EQ((some_lock<world, 4>::words_text()), "some_lock: tail@0 next_@64");
}

TEST(field_names, are_made_once) { EXPECT_EQ(&names_of<pair_of>(), &names_of<pair_of>()); }

TEST(names, of_actions_differ) {
  std::vector<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(action::sum); ++i) {
    const std::string_view text = name(static_cast<action>(i));
    EXPECT_NE(text, "?");
    EXPECT_EQ(std::count(seen.begin(), seen.end(), text), 0) << text;
    seen.push_back(text);
  }
}

TEST(actions, are_of_one_kind_each_and_do_what_they_say) {
  for (int i = 0; i <= static_cast<int>(action::sum); ++i) {
    const auto what = static_cast<action>(i);
    EXPECT_EQ(int{is_near(what)} + int{is_direct(what)} + int{is_rma(what)}, 1) << name(what);
    EXPECT_TRUE(is_read(what) || is_write(what)) << name(what);
    const operation done{.what = what, .operand = 3, .expected = 5};
    EXPECT_TRUE(is_write(what) || result_of(done, 5) == 5) << name(what);
    EXPECT_TRUE(!is_write(what) || result_of(done, 5) != 5) << name(what);
  }
  EXPECT_EQ(result_of({.what = action::compare_and_swap, .operand = 3, .expected = 5}, 6), 6U);
  EXPECT_EQ(result_of({.what = action::compare_exchange, .operand = 3, .expected = 5}, 6), 6U);
  EXPECT_EQ(result_of({.what = action::add, .operand = 2, .mask = 0xFF}, 0xFF), 1U);
  EXPECT_EQ(result_of({.what = action::sum, .operand = 2}, ~std::uint64_t{0}), 1U);
}

}  // namespace
}  // namespace nearfar::engine
