// Objects of several words, and plain cells: the cost of their bytes, and that each value is read and written
// at one moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

constexpr std::size_t lines = 8;
using large = std::array<std::uint64_t, lines * cache_line / sizeof(std::uint64_t)>;
constexpr std::int64_t bytes_beyond_a_word = sizeof(large) - sizeof(std::uint64_t);

struct small {
  std::array<char, 5> bytes;
};
struct odd {
  std::array<unsigned char, 13> bytes;
};

struct alignas(slot_bytes) shared_objects {
  far_object<large> first;
  alignas(slot_bytes) far_object<large> second;
  alignas(slot_bytes) far_object<small> little;
  alignas(slot_bytes) far_object<odd> uneven;
};

large all_of(std::uint64_t value) {
  large result{};
  result.fill(value);
  return result;
}

/// The value in all words; a torn object has none.
std::uint64_t value_of(const large& object) {
  EXPECT_EQ(std::set(object.begin(), object.end()).size(), 1U);
  return object.front();
}

struct object_case {
  distance how_far;
  executor by;
};

class object_costs : public ::testing::TestWithParam<object_case> {
 protected:
  static constexpr transfer_cost sample{.overhead = 10, .latency = 200, .service = 3000, .completion = 40000};
  static constexpr std::int64_t of_a_word = 10 + 200 + 3000 + 40000;

  /// Spans of a put and a get with their flushes, from rank 0 to a rank at the distance.
  template <typename V>
  static std::array<std::int64_t, 2> spans(far_object<V> shared_objects::*field) {
    const auto [how_far, by] = GetParam();
    machine on = free_machine();
    on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 100, .same_numa = 0, .same_node = 0};
    on.near.lines_at_once = 4;
    on.network.per_byte = 2;
    for (const transfer kind : {transfer::put, transfer::get}) {
      on.cost(how_far, kind) = sample;
      on.cost(how_far, kind).by = by;
    }
    const int to = how_far == distance::self ? 0 : how_far == distance::node ? 1 : 2;
    std::array<std::int64_t, 2> result{};
    run(on, placed("node:2 core:2", 4), [&, field = field, to = to](world& w) {
      world::far_segment<shared_objects> objects(w);
      if (w.rank() == 0) {
        V value{};
        result[1] = span_of(w, [&] {
          objects.get(to, field, value);
          objects.flush(to);
        });
        result[0] = span_of(w, [&] {
          objects.put(to, field, value);
          objects.flush(to);
        });
      }
      w.barrier();
    });
    return result;
  }

  /// The cost of the bytes beyond a word.
  static std::array<std::int64_t, 2> expected() {
    const auto [how_far, by] = GetParam();
    constexpr std::int64_t wire = 2 * bytes_beyond_a_word;
    constexpr std::int64_t copying = lines - 1;
    if (by == executor::nic) return {wire, wire};
    if (by == executor::target) {
      const std::int64_t sent = how_far == distance::remote ? wire : 0;
      return {sent + copying, sent + copying};
    }
    // Stores wait for no line: the transfer of the owner's copies is over before the service is.
    if (how_far == distance::self) return {lines, lines};
    // Four lines are in flight at once, each begun 1 ns after the one before.
    return {lines, 100 + 100 + 3};
  }
};

INSTANTIATE_TEST_SUITE_P(all, object_costs,
                         ::testing::Values(object_case{distance::self, executor::origin},
                                           object_case{distance::self, executor::nic},
                                           object_case{distance::self, executor::target},
                                           object_case{distance::node, executor::origin},
                                           object_case{distance::node, executor::nic},
                                           object_case{distance::node, executor::target},
                                           object_case{distance::remote, executor::nic},
                                           object_case{distance::remote, executor::target}));

TEST_P(object_costs, grow_with_the_bytes) {
  const auto [put, get] = spans(&shared_objects::first);
  EXPECT_EQ(put, of_a_word + expected()[0]);
  EXPECT_EQ(get, of_a_word + expected()[1]);
}

TEST_P(object_costs, of_a_word_or_less_are_those_of_a_word) {
  const auto [put, get] = spans(&shared_objects::little);
  const auto [how_far, by] = GetParam();
  const bool in_place = by == executor::origin;
  EXPECT_EQ(put, of_a_word + (in_place ? 1 : 0));
  EXPECT_EQ(get, of_a_word + (!in_place ? 0 : how_far == distance::self ? 1 : 100));
}

TEST(objects, that_leave_a_node_take_turns_by_their_bytes) {
  machine on = free_machine();
  on.network.injection_gap = 100;
  on.network.per_byte = 1;
  on.cost(distance::remote, transfer::put).latency = 1000;
  on.cost(distance::remote, transfer::get) = {0, 1000, 0, 10, executor::nic};
  std::array<std::int64_t, 4> puts{};
  std::array<std::int64_t, 4> gets{};
  run(on, placed("node:2 core:2", 4), [&](world& w) {
    world::far_segment<shared_objects> objects(w);
    const auto rank = static_cast<std::size_t>(w.rank());
    const auto field = w.rank() % 2 == 0 ? &shared_objects::first : &shared_objects::second;
    large value{};
    w.barrier();
    if (w.rank() < 2)
      puts[rank] = span_of(w, [&] {
        objects.put(2, field, value);
        objects.flush(2);
      });
    w.barrier();
    if (w.rank() >= 2)
      gets[rank] = span_of(w, [&] {
        objects.get(0, field, value);
        objects.flush(0);
      });
    w.barrier();
  });
  EXPECT_EQ(puts[0], 1000 + bytes_beyond_a_word);
  EXPECT_EQ(puts[1], 1000 + 100 + 2 * bytes_beyond_a_word);
  // The requests are short. The answers leave the node that was asked: the second request gets there 100 ns
  // after the first.
  EXPECT_EQ(gets[2], 1000 + bytes_beyond_a_word + 10);
  EXPECT_EQ(gets[3], 1000 + 2 * bytes_beyond_a_word + 10);
}

TEST(objects, in_place_cost_the_lines_that_they_cover) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 100, .same_numa = 0, .same_node = 0};
  for (const auto& [at_once, expected] : {std::pair(1U, 800), std::pair(4U, 203), std::pair(100U, 107)}) {
    on.near.lines_at_once = at_once;
    run(on, placed("node:1 core:2", 2), [&, expected = expected](world& w) {
      world::far_segment<shared_objects> objects(w);
      if (w.rank() == 0) return;
      const auto read = [&] { (void)objects.read_direct(0, &shared_objects::first); };
      const auto write = [&] { objects.write_direct(0, &shared_objects::first, all_of(1)); };
      EXPECT_EQ(span_of(w, read), expected);
      EXPECT_EQ(span_of(w, read), lines);
      EXPECT_EQ(span_of(w, [&] { (void)objects.read_direct(0, &shared_objects::little); }), 100);
      EXPECT_EQ(span_of(w, write), lines);
      w.delay(nanoseconds(1000));
      // Only this rank has the lines now, and the owner has to fetch them for its read.
      EXPECT_EQ(span_of(w, write), lines);
    });
  }
}

TEST(objects, that_an_interface_has_written_are_in_no_core) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 5, .same_cache = 30, .same_numa = 50, .same_node = 100};
  for (const executor by : {executor::nic, executor::target}) {
    on.cost(distance::remote, transfer::put).by = by;
    run(on, placed("node:2 core:1", 2), [&](world& w) {
      world::far_segment<shared_objects> objects(w);
      const large value = all_of(1);
      if (w.rank() == 1) {
        objects.put(0, &shared_objects::first, value);
        objects.flush(0);
      }
      w.barrier();
      if (w.rank() == 0) {
        EXPECT_EQ(span_of(w, [&] { (void)objects.read_direct(0, &shared_objects::first); }),
                  by == executor::nic ? 50 + lines - 1 : lines);
      }
    });
  }
}

TEST(objects, are_never_torn) {
  for (const std::string spec : {"node:2 core:2", "node:1 core:4"})
    for (const executor by : {executor::nic, executor::target}) {
      std::set<std::uint64_t> seen;
      run(plain_machine(by), placed(spec, 4), [&](world& w) {
        world::far_segment<shared_objects> objects(w);
        large value{};
        for (std::uint64_t round = 0; round < 200; ++round) {
          switch (w.rank()) {
            case 0:
              seen.insert(value_of(objects.read_direct(0, &shared_objects::first)));
              w.delay(nanoseconds(70));
              break;
            case 1:
              objects.write_direct(0, &shared_objects::first, all_of(round));
              w.delay(nanoseconds(110));
              break;
            case 2:
              value = all_of(1000 + round);
              objects.put(0, &shared_objects::first, value);
              objects.flush(0);
              break;
            default:
              objects.get(0, &shared_objects::first, value);
              objects.flush(0);
              seen.insert(value_of(value));
          }
        }
        w.barrier();
      });
      EXPECT_GT(seen.size(), 50U);
    }
}

TEST(objects, are_put_as_they_were_when_the_put_was_issued) {
  for (const std::string spec : {"node:2 core:1", "node:1 core:2"})
    run(plain_machine(), placed(spec, 2), [](world& w) {
      world::far_segment<shared_objects> objects(w);
      if (w.rank() == 0) {
        large value = all_of(3);
        objects.put(1, &shared_objects::first, value);
        value = all_of(4);
        objects.flush(1);
      }
      w.barrier();
      if (w.rank() == 1) {
        EXPECT_EQ(value_of(objects.read_direct(1, &shared_objects::first)), 3U);
      }
    });
}

TEST(objects, that_are_got_are_poison_until_the_flush_of_their_target) {
  for (const std::string spec : {"node:2 core:1", "node:1 core:2"})
    run(plain_machine(), placed(spec, 2), [](world& w) {
      world::far_segment<shared_objects> objects(w);
      odd mine{};
      for (std::size_t i = 0; i < mine.bytes.size(); ++i) mine.bytes[i] = static_cast<unsigned char>(i + 1);
      objects.write_direct(w.rank(), &shared_objects::uneven, mine);
      w.barrier();
      if (w.rank() == 0) {
        struct {
          odd value{};
          std::array<unsigned char, 3> behind{7, 7, 7};
        } got;
        objects.get(1, &shared_objects::uneven, got.value);
        w.delay(nanoseconds(100000));
        const auto* poisoned = reinterpret_cast<const unsigned char*>(&poison);
        for (std::size_t i = 0; i < got.value.bytes.size(); ++i)
          EXPECT_EQ(got.value.bytes[i], poisoned[i % sizeof poison]);
        objects.flush(1);
        EXPECT_EQ(got.value.bytes, mine.bytes);
        EXPECT_EQ(got.behind, (std::array<unsigned char, 3>{7, 7, 7}));
      }
      w.barrier();
    });
}

TEST(objects, must_be_within_the_ranks_memory) {
  run(free_machine(), placed("node:2 core:1", 2), [](world& w) {
    if (w.rank() == 0) return;
    engine::substrate& ranks = w.substrate();
    large value{};
    engine::operation read{.what = engine::action::read_direct,
                           .target = 1,
                           .word = reinterpret_cast<std::uint64_t*>(ranks.memory(1) + ranks.bytes()) - 8,
                           .result = &value,
                           .bytes = cache_line};
    ranks.perform(read);
    read.bytes += 1;
    EXPECT_THROW(ranks.perform(read), misuse);
    // Also by an interface, whose time of arrival no rank could tell.
    read.what = engine::action::get;
    read.target = 0;
    EXPECT_THROW(ranks.issue(read), misuse);
  });
}

TEST(objects, that_change_are_progress_and_those_that_stay_are_none) {
  for (const bool changes : {true, false}) {
    const auto body = [&](world& w) {
      world::far_segment<shared_objects> objects(w);
      for (std::uint64_t round = 1; round < 3000; ++round)
        objects.write_direct(0, &shared_objects::first, all_of(changes ? round : 0));
    };
    const std::string text = deadlock_text(1, "node:1", body, {.most_fruitless = 1000});
    EXPECT_EQ(text.find("keep reading") == std::string::npos, changes) << text;
  }
}

struct alignas(cache_line) plain_cells {
  world::plain<large> value{};
  alignas(cache_line) world::near<std::uint64_t> awaited{};
  world::plain<std::uint64_t> neighbour{};
};

TEST(plain_cells, cost_the_lines_that_they_cover) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 100, .same_numa = 0, .same_node = 0};
  on.near.lines_at_once = 4;
  run(on, placed("node:1 core:2", 2), [&](world& w) {
    world::near_segment<plain_cells> cells(w);
    auto& value = cells.at(0).value;
    if (w.rank() == 1) {
      EXPECT_EQ(span_of(w, [&] { EXPECT_EQ(value_of(value.load()), 0U); }), 203);
      EXPECT_EQ(span_of(w, [&] { (void)value.load(); }), lines);
      EXPECT_EQ(span_of(w, [&] { value.store(all_of(5)); }), lines);
    }
    w.delay(nanoseconds(10000));
    w.barrier();
    if (w.rank() == 0) {
      EXPECT_EQ(span_of(w, [&] { EXPECT_EQ(value_of(value.load()), 5U); }), 203);
    }
  });
}

TEST(plain_cells, take_their_line_from_who_polls_a_neighbour) {
  machine on = free_machine();
  on.near = {.hit = 1, .atomic = 0, .same_core = 0, .same_cache = 100, .same_numa = 0, .same_node = 0};
  run(on, placed("node:1 core:2", 2), [&](world& w) {
    world::near_segment<plain_cells> cells(w);
    plain_cells& mine = cells.at(0);
    if (w.rank() == 1) {
      w.await(mine.awaited, [](std::uint64_t value) { return value != 0; });
      return;
    }
    w.delay(nanoseconds(10000));
    mine.neighbour.store(1);
    w.delay(nanoseconds(10000));
    // Its polls have brought the line back.
    EXPECT_EQ(span_of(w, [&] { mine.awaited.fetch_add(1, relaxed); }), 100);
  });
}

TEST(plain_cells, are_accessed_in_the_order_of_time) {
  // The first rank in virtual time finds the line at its owner.
  machine on = free_machine();
  on.near = {.hit = 0, .atomic = 50, .same_core = 0, .same_cache = 100, .same_numa = 0, .same_node = 0};
  run(on, placed("node:1 core:3", 3), [&](world& w) {
    world::near_segment<plain_cells> cells(w);
    if (w.rank() == 0) return;
    if (w.rank() == 1) cells.at(1).awaited.fetch_add(1, relaxed);
    if (w.rank() == 2) w.delay(nanoseconds(20));
    EXPECT_EQ(span_of(w, [&] { (void)cells.at(0).neighbour.load(); }), w.rank() == 2 ? 100 : 170);
  });
}

TEST(plain_cells, that_are_only_read_are_no_progress) {
  const std::string text = deadlock_text(1, "node:1",
                                         [](world& w) {
                                           world::near_segment<plain_cells> cells(w);
                                           while (cells.at(0).neighbour.load() == 0) {
                                           }
                                         },
                                         {.most_fruitless = 1000});
  EXPECT_NE(text.find("keep reading"), std::string::npos) << text;
}

TEST(memory_of_pools, costs_nothing_to_take_or_to_give_back) {
  run(plain_machine(), placed("node:1", 1), [](world& w) {
    world::far_segment<shared_objects> objects(w);
    EXPECT_EQ(span_of(w,
                      [&] {
                        w.taken(objects.own_element(0), cache_line);
                        w.given_back(objects.own_element(0), cache_line);
                      }),
              0);
    world::maybe_torn<large> read;
    objects.read_direct(0, &shared_objects::first, read);
    EXPECT_EQ(span_of(w, [&] { EXPECT_EQ(value_of(read.confirmed()), 0U); }), 0);
  });
}

}  // namespace
}  // namespace nearfar::simulation::testing
