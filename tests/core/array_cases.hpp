/// \file Checks of arrays and objects for every world on real hardware. All are collective.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/topology/level.hpp"
#include "tests/lock/jitter.hpp"

namespace nearfar::testing {

/// Calls `body` on one rank after the other.
template <typename W, typename Body>
void in_turns(W& w, Body body) {
  for (int turn = 0; turn < w.size(); ++turn) {
    if (turn == w.rank()) body();
    w.barrier();
  }
}

template <typename W, typename Body>
void for_each_element(const W& w, std::size_t count, Body body) {
  for (int rank = 0; rank < w.size(); ++rank)
    for (std::size_t index = 0; index < count; ++index) body(element{rank, index});
}

template <typename W>
std::span<const int> node_mates(const W& w) {
  return w.locality().members(level::node, w.locality().group(level::node, w.rank()));
}

// ---- arrays of words --------------------------------------------------------------------------------------

/// Three words to an array of 72 bytes, so that elements share slots and cross them.
struct three_words {
  far<std::uint64_t> before;
  far<std::uint64_t> word;
  far<std::int64_t> after;
};

/// A mark names its writer and its place; never 0.
inline std::uint64_t mark_of(int from, element where) {
  return 1'000'000U * static_cast<std::uint64_t>(from + 1) +
         1000U * static_cast<std::uint64_t>(where.rank + 1) + where.index + 1;
}

template <typename W>
void expect_operations_reach_the_element(W& w, std::size_t count) {
  typename W::template far_array<three_words> first(w, count);
  typename W::template far_array<three_words> array(w, count);
  EXPECT_EQ(array.count(), count);
  constexpr auto field = &three_words::word;
  in_turns(w, [&] {
    for_each_element(w, count, [&](element where) {
      const std::uint64_t left_there = w.rank() == 0 ? 0 : mark_of(w.rank() - 1, where);
      const std::uint64_t mine = mark_of(w.rank(), where);
      const std::uint64_t one = 1;
      const std::uint64_t minus_one = ~std::uint64_t{0};
      std::uint64_t seen = 1;
      array.get(where, field, seen);
      array.flush(where.rank);
      EXPECT_EQ(seen, left_there);
      array.put(where, field, minus_one);
      array.flush(where.rank);
      array.swap(where, field, one, seen);
      array.flush(where.rank);
      EXPECT_EQ(seen, minus_one);
      array.fetch_add(where, field, minus_one, seen);
      array.flush(where.rank);
      EXPECT_EQ(seen, 1);
      const std::uint64_t zero = 0;
      array.compare_and_swap(where, field, zero, one, seen);
      array.flush(where.rank);
      EXPECT_EQ(seen, 0);
      array.accumulate(where, field, one, far_op::sum);
      array.flush(where.rank);
      array.fetch(where, field, seen);
      array.flush(where.rank);
      EXPECT_EQ(seen, 2);
      array.accumulate(where, field, mine, far_op::replace);
      array.flush(where.rank);
    });
  });
  for (const int rank : node_mates(w))
    for (std::size_t index = 0; index < count; ++index) {
      const element where{rank, index};
      EXPECT_EQ(array.read_direct(where, field), mark_of(w.size() - 1, where));
      for (const auto* each : {&first, &array}) {
        EXPECT_EQ(each->read_direct(where, &three_words::before), 0U) << rank << ", " << index;
        EXPECT_EQ(each->read_direct(where, &three_words::after), 0) << rank << ", " << index;
      }
      EXPECT_EQ(first.read_direct(where, field), 0U) << rank << ", " << index;
    }
  w.barrier();
  for (std::size_t index = 0; index < count; ++index)
    array.write_direct({w.rank(), index}, field, mark_of(7, {w.rank(), index}));
  w.barrier();
  for_each_element(w, count, [&](element where) {
    std::uint64_t seen = 0;
    array.get(where, field, seen);
    array.flush(where.rank);
    EXPECT_EQ(seen, mark_of(7, where));
  });
  std::uint64_t seen = 0;
  array.get(w.size() - 1, field, seen);
  array.flush(w.size() - 1);
  EXPECT_EQ(seen, mark_of(7, {w.size() - 1, 0})) << "a rank alone means its first element";
  w.barrier();
}

template <typename W>
struct two_cells {
  typename W::template near<std::uint64_t> wide;
  typename W::template near<std::uint8_t> narrow;
};

template <typename W>
void expect_near_elements_are_apart(W& w, std::size_t count) {
  using cells = two_cells<W>;
  typename W::template near_array<cells> first(w, count);
  typename W::template near_array<cells> array(w, count);
  EXPECT_EQ(array.count(), count);
  const auto mates = node_mates(w);
  for (const int rank : mates)
    for (std::size_t index = 0; index < count; ++index)
      EXPECT_EQ(array.at({rank, index}).wide.load(std::memory_order_acquire), 0U);
  w.barrier();
  for (const int rank : mates)
    for (std::size_t index = 0; index < count; ++index) {
      array.at({rank, index}).wide.fetch_add(mark_of(0, {rank, index}), std::memory_order_relaxed);
      array.at({rank, index}).narrow.fetch_add(1, std::memory_order_relaxed);
    }
  w.barrier();
  for (const int rank : mates)
    for (std::size_t index = 0; index < count; ++index) {
      const cells& there = array.at({rank, index});
      EXPECT_EQ(there.wide.load(std::memory_order_acquire), mates.size() * mark_of(0, {rank, index}));
      EXPECT_EQ(there.narrow.load(std::memory_order_acquire), mates.size());
      EXPECT_EQ(first.at({rank, index}).wide.load(std::memory_order_acquire), 0U);
    }
  EXPECT_EQ(&array.at(w.rank()), &array.at({w.rank(), 0}));
  w.barrier();
}

struct word_and_object {
  far<std::uint64_t> word;
  far_object<std::array<std::uint64_t, 2>> object;
  far_byte byte;
};

/// Checked builds only: other builds do not look.
template <typename W>
void expect_no_element_beyond_the_last(W& w) {
  typename W::template far_array<word_and_object> far(w, 2);
  const typename W::template near_array<two_cells<W>> near(w, 2);
  if constexpr (checked_build) {
    const std::uint64_t origin = 1;
    const std::uint8_t byte = 1;
    std::uint64_t result = 0;
    std::array<std::uint64_t, 2> object{};
    typename W::template maybe_torn<std::array<std::uint64_t, 2>> torn;
    constexpr auto word = &word_and_object::word;
    constexpr auto whole = &word_and_object::object;
    const auto any = [](std::uint64_t) { return true; };
    for (const std::size_t index : {std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
      const element where{w.rank(), index};
      EXPECT_THROW(far.put(where, word, origin), misuse);
      EXPECT_THROW(far.get(where, word, result), misuse);
      EXPECT_THROW(far.fetch(where, word, result), misuse);
      EXPECT_THROW(far.swap(where, word, origin, result), misuse);
      EXPECT_THROW(far.fetch_add(where, word, origin, result), misuse);
      EXPECT_THROW(far.compare_and_swap(where, word, origin, origin, result), misuse);
      EXPECT_THROW(far.accumulate(where, word, origin, far_op::sum), misuse);
      EXPECT_THROW(static_cast<void>(far.read_direct(where, word)), misuse);
      EXPECT_THROW(far.write_direct(where, word, origin), misuse);
      EXPECT_THROW(far.put(where, &word_and_object::byte, byte), misuse);
      EXPECT_THROW(static_cast<void>(far.read_direct(where, &word_and_object::byte)), misuse);
      EXPECT_THROW(far.write_direct(where, &word_and_object::byte, byte), misuse);
      EXPECT_THROW(far.put(where, whole, object), misuse);
      EXPECT_THROW(far.get(where, whole, object), misuse);
      EXPECT_THROW(far.get(where, whole, torn), misuse);
      EXPECT_THROW(static_cast<void>(far.read_direct(where, whole)), misuse);
      EXPECT_THROW(far.read_direct(where, whole, torn), misuse);
      EXPECT_THROW(far.write_direct(where, whole, object), misuse);
      EXPECT_THROW(w.await_direct(far, where, word, any), misuse);
      EXPECT_THROW(w.await_get(far, where, word, any), misuse);
      EXPECT_THROW(static_cast<void>(far.own_element(index)), misuse);
      EXPECT_THROW(static_cast<void>(near.at(where)), misuse);
      EXPECT_THROW(static_cast<void>(near.own_element(index)), misuse);
    }
    EXPECT_THROW(far.put({w.size(), 0}, word, origin), unreachable_rank);
    EXPECT_THROW(static_cast<void>(near.at({w.size(), 0})), unreachable_rank);
  }
  w.barrier();
}

/// The exception that `make` throws, which must be an `Error`.
template <typename Error, typename Make>
std::string text_of(Make make) {
  try {
    make();
  } catch (const Error& caught) {
    return caught.what();
  }
  ADD_FAILURE() << "nothing of the kind was thrown";
  return {};
}

/// The same on every rank. `far_option` and `near_option` name the options of the memory.
template <typename W>
void expect_bad_counts_are_refused(W& w, const std::string& far_option, const std::string& near_option) {
  using far_array = typename W::template far_array<three_words>;
  using near_array = typename W::template near_array<two_cells<W>>;
  text_of<misuse>([&] { far_array(w, 0); });
  text_of<misuse>([&] { near_array(w, 0); });
  for (const std::size_t count : {std::size_t{1} << 40U, std::numeric_limits<std::size_t>::max() / 24 + 2,
                                  std::numeric_limits<std::size_t>::max()}) {
    EXPECT_NE(text_of<out_of_memory>([&] { far_array(w, count); }).find("raise " + far_option),
              std::string::npos);
    EXPECT_NE(text_of<out_of_memory>([&] { near_array(w, count); }).find("raise " + near_option),
              std::string::npos);
  }
  if (w.size() > 1)
    for (const std::size_t others : {std::size_t{0}, std::size_t{11}}) {
      const std::size_t count = w.rank() == 0 ? 10 : others;
      EXPECT_NE(text_of<collective_mismatch>([&] { far_array(w, count); }).find("far memory"),
                std::string::npos);
      EXPECT_NE(text_of<collective_mismatch>([&] { near_array(w, count); }).find("near memory"),
                std::string::npos);
    }
  // The failed request keeps no memory, and everything works as before.
  expect_operations_reach_the_element(w, 2);
  expect_near_elements_are_apart(w, 2);
}

/// Makes and destroys more than the memory holds at once.
template <typename W>
void expect_memory_of_arrays_is_used_again(W& w, std::size_t bytes) {
  const std::size_t count = bytes / 2 / sizeof(three_words);
  for (int round = 0; round < 5; ++round) {
    typename W::template far_array<three_words> array(w, count);
    const element last{w.rank(), count - 1};
    EXPECT_EQ(array.read_direct(last, &three_words::after), 0);
    array.write_direct(last, &three_words::after, std::int64_t{-1});
  }
}

// ---- objects ----------------------------------------------------------------------------------------------

/// A value of `Bytes` bytes in units of `Unit`; each unit depends on the seed.
template <typename Unit, std::size_t Bytes>
struct pattern {
  std::array<Unit, Bytes / sizeof(Unit)> units;

  static pattern of(std::uint64_t seed) {
    pattern result{};
    for (std::size_t i = 0; i < result.units.size(); ++i)
      result.units[i] = static_cast<Unit>(seed * 0x9e37'79b9'7f4a'7c15U + i * 0x0101'0101'0101'0101U + 1);
    return result;
  }
  friend bool operator==(const pattern&, const pattern&) = default;
};

template <typename V>
struct object_between_words {
  far<std::uint64_t> before;
  far_object<V> object;
  far<std::uint64_t> after;
};

/// Room behind a result, which no operation may write to.
template <typename V>
struct guarded_result {
  V value{};
  std::array<char, 8> guard{'u', 'n', 't', 'o', 'u', 'c', 'h', '.'};
};

template <typename V, typename W>
void expect_objects_arrive_whole(W& w) {
  using elements = object_between_words<V>;
  constexpr std::size_t count = 3;
  constexpr auto field = &elements::object;
  constexpr std::uint64_t beside = 0xa5a5'5a5a'a5a5'5a5aU;
  typename W::template far_array<elements> array(w, count);
  for (std::size_t index = 0; index < count; ++index)
    for (const auto word : {&elements::before, &elements::after})
      array.write_direct({w.rank(), index}, word, beside);
  w.barrier();
  const auto expect_there = [&](element where, const V& expected) {
    guarded_result<V> whole;
    array.get(where, field, whole.value);
    typename W::template maybe_torn<V> torn;
    array.get(where, field, torn);
    array.flush(where.rank);
    EXPECT_EQ(whole.value, expected) << sizeof(V) << " bytes";
    EXPECT_EQ(whole.guard, guarded_result<V>{}.guard) << sizeof(V) << " bytes";
    EXPECT_EQ(torn.confirmed(), expected);
    EXPECT_EQ(torn.unconfirmed(), expected);
    for (const auto word : {&elements::before, &elements::after}) {
      std::uint64_t seen = 0;
      array.get(where, word, seen);
      array.flush(where.rank);
      EXPECT_EQ(seen, beside) << "beside " << sizeof(V) << " bytes";
    }
    if (!w.locality().same(level::node, w.rank(), where.rank)) return;
    EXPECT_EQ(array.read_direct(where, field), expected) << sizeof(V) << " bytes";
    array.read_direct(where, field, torn);
    EXPECT_EQ(torn.confirmed(), expected) << sizeof(V) << " bytes";
  };
  in_turns(w, [&] {
    for_each_element(w, count, [&](element where) {
      expect_there(where, w.rank() == 0 ? V{} : V::of(mark_of(w.rank() - 1, where)));
      const V mine = V::of(mark_of(w.rank(), where));
      array.put(where, field, mine);
      array.flush(where.rank);
      expect_there(where, mine);
    });
  });
  // Each rank of the node writes in place, and all of them see it.
  for (int turn = 0; turn < w.size(); ++turn) {
    const auto writes_to = [&](int rank) { return w.locality().same(level::node, turn, rank); };
    for (int rank = 0; rank < w.size(); ++rank)
      if (turn == w.rank() && writes_to(rank))
        array.write_direct({rank, 1}, field, V::of(mark_of(turn, {rank, 1}) + 1));
    w.barrier();
    for (int rank = 0; rank < w.size(); ++rank)
      if (writes_to(rank)) expect_there({rank, 1}, V::of(mark_of(turn, {rank, 1}) + 1));
    w.barrier();
  }
  for_each_element(w, count, [&](element where) {
    if (where.index != 1) expect_there(where, V::of(mark_of(w.size() - 1, where)));
  });
  if constexpr (checked_build) {
    for (int rank = 0; rank < w.size(); ++rank) {
      if (w.locality().same(level::node, w.rank(), rank)) continue;
      EXPECT_THROW(static_cast<void>(array.read_direct(rank, field)), unreachable_rank);
      EXPECT_THROW(array.write_direct(rank, field, V{}), unreachable_rank);
    }
  }
  w.barrier();
}

template <typename W>
void expect_objects_of_all_sizes_arrive_whole(W& w) {
  expect_objects_arrive_whole<pattern<std::uint8_t, 1>>(w);
  expect_objects_arrive_whole<pattern<std::uint8_t, 4>>(w);
  expect_objects_arrive_whole<pattern<std::uint32_t, 4>>(w);
  expect_objects_arrive_whole<pattern<std::uint64_t, 8>>(w);
  expect_objects_arrive_whole<pattern<std::uint32_t, 12>>(w);
  expect_objects_arrive_whole<pattern<std::uint8_t, 16>>(w);
  expect_objects_arrive_whole<pattern<std::uint64_t, 16>>(w);
  expect_objects_arrive_whole<pattern<std::uint64_t, 40>>(w);
  expect_objects_arrive_whole<pattern<std::uint64_t, 4096>>(w);
}

// ---- bytes ------------------------------------------------------------------------------------------------

struct byte_between_words {
  far<std::uint64_t> before;
  far_byte byte;
  far<std::uint64_t> after;
};

/// A byte of each rank, which all ranks put to, and then hand round.
template <typename W>
void expect_bytes_arrive_alone(W& w) {
  constexpr auto field = &byte_between_words::byte;
  typename W::template far_array<byte_between_words> array(w, 2);
  const auto at = static_cast<std::size_t>(offset_of(byte_between_words{}, field));
  const std::span memory(array.own_element(1), sizeof(byte_between_words));
  constexpr std::byte beside{0xa5};
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (i != at) memory[i] = beside;
  w.barrier();
  in_turns(w, [&] {
    const auto mine = static_cast<std::uint8_t>(w.rank() + 1);
    for (int rank = 0; rank < w.size(); ++rank) {
      array.put({rank, 1}, field, mine);
      array.flush(rank);
    }
    for (const int rank : node_mates(w)) EXPECT_EQ(array.read_direct({rank, 1}, field), mine);
  });
  EXPECT_EQ(array.read_direct({w.rank(), 1}, field), w.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (i != at) {
      EXPECT_EQ(memory[i], beside) << "byte " << i << " beside byte " << at;
    }
  }
  w.barrier();
  array.write_direct({w.rank(), 1}, field, std::uint8_t{0});
  EXPECT_EQ(array.read_direct({w.rank(), 1}, field), 0);

  const std::uint8_t token = 200;
  const int next = (w.rank() + 1) % w.size();
  const auto hand_over = [&] {
    array.put(next, field, token);
    array.flush(next);
  };
  const auto is_there = [](std::uint8_t value) { return value != 0; };
  if (w.rank() == 0) hand_over();
  EXPECT_EQ(w.await_direct(array, w.rank(), field, is_there), token);
  if (w.rank() != 0) hand_over();
  w.barrier();
}

// ---- an optimistic reader ---------------------------------------------------------------------------------

/// The words of a sequence lock: the version is odd while the object is being written, and each word of the
/// object has its version.
template <std::size_t Words>
struct versioned {
  using value = std::array<std::uint64_t, Words>;
  far<std::uint64_t> version;
  far_object<value> object;
  far<std::uint64_t> readers_gone;
};

struct read_counts {
  std::int64_t reads = 0;
  std::int64_t mixtures = 0;   ///< reads of several values at once
  std::int64_t confirmed = 0;  ///< reads of one value, as the version proved
};

/// Reads by `read_version()` and `read_object(torn)`.
template <typename Torn, typename ReadVersion, typename ReadObject>
void read_once(Torn& torn, read_counts& counts, ReadVersion read_version, ReadObject read_object) {
  const std::uint64_t before = read_version();
  read_object(torn);
  const std::uint64_t after = read_version();
  const auto differ_from = [](const auto& words, std::uint64_t version) {
    return std::any_of(words.begin(), words.end(), [=](std::uint64_t word) { return word != version; });
  };
  ++counts.reads;
  if (differ_from(torn.unconfirmed(), torn.unconfirmed().front())) ++counts.mixtures;
  if (before != after || before % 2 != 0) return;
  ++counts.confirmed;
  EXPECT_FALSE(differ_from(torn.confirmed(), before)) << "words of another version than " << before;
}

/// Rank `writer` puts value after value at rank `home`, and then `home` writes in place, until all other
/// ranks have read `reads` times. Returns the sums over all ranks.
template <std::size_t Words, typename W>
read_counts stress_sequence_lock(W& w, int home, int writer, int reads) {
  using words = versioned<Words>;
  typename W::template far_array<words> array(w, 2);
  const element where{home, 1};
  jitter timing(21, w.rank());
  read_counts mine;
  typename W::template maybe_torn<typename words::value> torn;
  const auto read = [&](bool in_place) {
    const auto version = [&] {
      if (in_place) return array.read_direct(where, &words::version);
      std::uint64_t result = 0;
      array.get(where, &words::version, result);
      array.flush(home);
      return result;
    };
    const auto object = [&](auto& result) {
      if (in_place) {
        array.read_direct(where, &words::object, result);
      } else {
        array.get(where, &words::object, result);
        array.flush(home);
      }
    };
    read_once(torn, mine, version, object);
  };
  std::uint64_t last = 0;
  const auto write_while_others_read = [&](int by, bool reads_in_place, auto write) {
    if (w.rank() == by) {
      do {
        typename words::value value{};
        value.fill(last += 2);
        write(&words::version, last - 1);
        write(&words::object, value);
        write(&words::version, last);
        timing.pause();
        w.rest();
      } while (array.read_direct(by, &words::readers_gone) != static_cast<std::uint64_t>(w.size() - 1));
    } else {
      for (int i = 0; i < reads; ++i) {
        read(reads_in_place);
        timing.pause();
        if (i % 8 == 0) w.rest();  // the writer may need this rank's progress
      }
      const std::uint64_t one = 1;
      array.accumulate(by, &words::readers_gone, one, far_op::sum);
      array.flush(by);
    }
    // All writes are complete, and all ranks know that.
    w.barrier();
    if (w.rank() == by) array.write_direct(by, &words::readers_gone, std::uint64_t{0});
    last = static_cast<std::uint64_t>(
        w.sum_over_ranks({w.rank() == by ? static_cast<std::int64_t>(last) : 0})[0]);
    read(reads_in_place);
    EXPECT_EQ(torn.confirmed().front(), last);
    w.barrier();
  };
  const bool is_near = w.locality().same(level::node, w.rank(), home);
  for (const bool in_place : {false, true}) {
    write_while_others_read(writer, in_place && is_near, [&](auto field, const auto& value) {
      array.put(where, field, value);
      array.flush(home);
    });
    write_while_others_read(home, in_place && is_near,
                            [&](auto field, const auto& value) { array.write_direct(where, field, value); });
  }
  const auto all = w.sum_over_ranks({mine.reads, mine.mixtures, mine.confirmed});
  return {all[0], all[1], all[2]};
}

/// Small objects and large ones. A property of the test records the mixtures that readers saw and did not
/// take for values.
template <typename W>
void expect_sequence_lock_holds(W& w, int reads) {
  const int last = w.size() - 1;
  const read_counts small = stress_sequence_lock<2>(w, 0, last, reads);
  const read_counts large = stress_sequence_lock<512>(w, last, 0, reads);
  for (const auto& [name, counts] : {std::pair("small", small), std::pair("large", large)}) {
    EXPECT_EQ(counts.reads, 4 * (std::int64_t{w.size() - 1} * reads + w.size()));
    EXPECT_GE(counts.confirmed, 4 * w.size());
    if (w.rank() != 0) continue;
    ::testing::Test::RecordProperty(std::string(name) + "_reads", std::to_string(counts.reads));
    ::testing::Test::RecordProperty(std::string(name) + "_mixtures", std::to_string(counts.mixtures));
    ::testing::Test::RecordProperty(std::string(name) + "_confirmed", std::to_string(counts.confirmed));
  }
}

// ---- plain cells ------------------------------------------------------------------------------------------

template <typename W>
struct letter_and_flag {
  typename W::template plain<pattern<std::uint32_t, 12>> letter;
  typename W::template near<std::uint64_t> arrived;
};

/// A letter goes round the ranks of a node `rounds` times, with another text each time.
template <typename W>
void expect_plain_cells_are_handed_over(W& w, std::uint64_t rounds) {
  using letters = pattern<std::uint32_t, 12>;
  const typename W::template near_array<letter_and_flag<W>> array(w, 2);
  const auto mates = node_mates(w);
  const auto me = std::find(mates.begin(), mates.end(), w.rank());
  const bool is_first = me == mates.begin();
  const int next = me + 1 == mates.end() ? mates.front() : *(me + 1);
  auto& mine = array.at({w.rank(), 1});
  auto& theirs = array.at({next, 1});
  EXPECT_EQ(mine.letter.load(), letters{});
  const auto pass = [&](std::uint64_t round) {
    theirs.letter.store(letters::of(round));
    theirs.arrived.store(round, std::memory_order_release);  // pairs with the wait below
  };
  w.barrier();
  if (is_first) pass(1);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    w.await(mine.arrived, [round](std::uint64_t arrived) { return arrived == round; });
    EXPECT_EQ(mine.letter.load(), letters::of(round));
    if (!is_first)
      pass(round);
    else if (round != rounds)
      pass(round + 1);
  }
  w.barrier();
}

}  // namespace nearfar::testing
