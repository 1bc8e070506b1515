#include "nearfar/memory/pool.hpp"

#include <gtest/gtest.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <source_location>
#include <utility>
#include <vector>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/threads/world.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace nearfar::testing {
namespace {

struct node {
  far<std::uint64_t> next;
  far_object<std::uint32_t> payload;
};

/// Remembers the notes about elements.
struct telling {
  bool gives_back = false;
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
  friend auto operator<=>(const telling&, const telling&) = default;
};
struct listening_world {
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  std::multiset<telling> told{};
  unsigned line = 0;

  /// The notes since the last call.
  std::multiset<telling> told_now() { return std::exchange(told, {}); }

  void taken(const std::byte* from, std::size_t bytes) { told.insert({false, from - memory.data(), bytes}); }
  void given_back(const std::byte* from, std::size_t bytes, std::source_location site) {
    told.insert({true, from - memory.data(), bytes});
    line = site.line();
  }
};
struct array_of_four {
  static constexpr std::size_t element_bytes = 16;
  [[nodiscard]] static std::size_t count() { return 4; }
  [[nodiscard]] std::byte* own_element(std::size_t index) const { return w->memory.data() + 16 * index; }
  listening_world* w;
};

TEST(pool, lends_each_element_once) {
  listening_world w;
  const array_of_four array{&w};
  pool lending(w, array);
  std::set<std::size_t> taken;
  for (int i = 0; i < 4; ++i) taken.insert(lending.take().value());
  EXPECT_EQ(taken, (std::set<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(lending.take(), std::nullopt);
  lending.give_back(2);
  EXPECT_EQ(lending.take(), 2);
  EXPECT_EQ(lending.take(), std::nullopt);
}

// A pool's memory must outlive the pool.
static_assert(
    std::constructible_from<pool<listening_world, array_of_four>, listening_world&, array_of_four&>);
static_assert(
    !std::constructible_from<pool<listening_world, array_of_four>, listening_world&, array_of_four>);

TEST(pool, lends_first_what_it_got_back_last) {
  listening_world w;
  const array_of_four array{&w};
  pool lending(w, array);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(lending.take());
  for (const std::size_t index : {1U, 0U, 2U}) lending.give_back(index);
  EXPECT_EQ(lending.take(), 2);
  EXPECT_EQ(lending.take(), 0);
  EXPECT_EQ(lending.take(), 1);
  EXPECT_EQ(lending.take(), 3);
}

TEST(pool, tells_the_world) {
  const auto all = [](bool gives_back) {
    return std::multiset<telling>{
        {gives_back, 0, 16}, {gives_back, 16, 16}, {gives_back, 32, 16}, {gives_back, 48, 16}};
  };
  listening_world w;
  const array_of_four array{&w};
  {
    pool lending(w, array);
    EXPECT_EQ(w.told_now(), all(true)) << "nobody has any";
    const std::size_t index = lending.take().value();
    const auto offset = static_cast<std::ptrdiff_t>(16 * index);
    EXPECT_EQ(w.told_now(), (std::multiset<telling>{{false, offset, 16}}));
    const unsigned before = std::source_location::current().line();
    lending.give_back(index);
    EXPECT_EQ(w.told_now(), (std::multiset<telling>{{true, offset, 16}}));
    EXPECT_EQ(w.line, before + 1) << "where it is said to have been given back";
    EXPECT_EQ(lending.take(), index);
    EXPECT_EQ(w.told_now(), (std::multiset<telling>{{false, offset, 16}}));
    lending.give_back(index);
    EXPECT_EQ(w.told_now().size(), 1U);
  }
  EXPECT_EQ(w.told_now(), all(false)) << "the array has all again";
}

TEST(pool, takes_back_only_what_it_has_lent) {
  if constexpr (!checked_build) return;
  listening_world w;
  const array_of_four array{&w};
  pool lending(w, array);
  const std::size_t index = lending.take().value();
  w.told_now();
  EXPECT_THROW(lending.give_back(index + 1), misuse);
  EXPECT_THROW(lending.give_back(4), misuse);
  lending.give_back(index);
  EXPECT_THROW(lending.give_back(index), misuse);
  EXPECT_EQ(w.told_now().size(), 1U) << "what is refused is not told";
  EXPECT_EQ(lending.take(), index);
  EXPECT_NE(lending.take(), index) << "lent twice";
}

/// Whether AddressSanitizer, if in use, knows that no rank has the element.
template <typename Array>
bool is_known_to_be_forbidden(const Array& array, std::size_t index) {
#ifdef __SANITIZE_ADDRESS__
  const std::byte* const begin = array.own_element(index);
  return __asan_address_is_poisoned(begin) != 0 &&
         __asan_address_is_poisoned(begin + Array::element_bytes - 1) != 0 &&
         (index == 0 || __asan_address_is_poisoned(begin - 1) == 0);
#else
  static_cast<void>(array.own_element(index));
  return true;
#endif
}
template <typename Array>
bool is_allowed(const Array& array, std::size_t index) {
#ifdef __SANITIZE_ADDRESS__
  return __asan_region_is_poisoned(array.own_element(index), Array::element_bytes) == nullptr;
#else
  static_cast<void>(array.own_element(index));
  return true;
#endif
}

template <typename Array>
void expect_elements_to_be_lent(threads::world& w) {
  // Each round uses the same memory, which goes back to the world while some of it is in the pool.
  for (int round = 0; round < 3; ++round) {
    Array array(w, 8);
    for (std::size_t index = 0; index < 8; ++index) EXPECT_TRUE(is_allowed(array, index));
    std::optional<pool<threads::world, Array>> lending_of_all(std::in_place, w, array);
    auto& lending = *lending_of_all;
    std::vector<std::size_t> mine;
    for (int i = 0; i < 5; ++i) mine.push_back(lending.take().value());
    for (const std::size_t index : mine) EXPECT_TRUE(is_allowed(array, index));
    lending.give_back(mine[1]);
    lending.give_back(mine[3]);
    EXPECT_TRUE(is_known_to_be_forbidden(array, mine[1]));
    EXPECT_TRUE(is_known_to_be_forbidden(array, mine[3]));
    EXPECT_TRUE(is_allowed(array, mine[2]));
    EXPECT_EQ(lending.take(), mine[3]);
    EXPECT_TRUE(is_allowed(array, mine[3]));
    if (round == 2) lending_of_all.reset();
    for (std::size_t index = 0; index < 8 && round == 2; ++index) EXPECT_TRUE(is_allowed(array, index));
  }
}

TEST(pool, lends_elements_of_the_world_of_threads) {
  threads::run(2, [](threads::world& w) {
    struct cells {
      threads::world::near<std::uint64_t> flag;
      threads::world::plain<std::uint64_t> value;
    };
    expect_elements_to_be_lent<threads::world::far_array<node>>(w);
    expect_elements_to_be_lent<threads::world::near_array<cells>>(w);
  });
}

// A stack of nodes, of which each rank has only two. The pool exists so that nodes are used again.
TEST(pool, lets_nodes_come_round_again) {
  threads::run(2, [](threads::world& w) {
    threads::world::far_array<node> nodes(w, 2);
    pool lending(w, nodes);
    for (std::uint64_t round = 1; round <= 100; ++round) {
      const std::size_t index = lending.take().value();
      const element mine{w.rank(), index};
      EXPECT_EQ(nodes.read_direct(mine, &node::next), round - 1) << "the node that was given back last";
      nodes.write_direct(mine, &node::next, round);
      lending.give_back(index);
    }
    w.barrier();
  });
}

}  // namespace
}  // namespace nearfar::testing
