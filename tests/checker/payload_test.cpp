// Memory of more than a word: arrays, objects that arrive word by word, cells without atomicity, pools.
#include "nearfar/memory/pool.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

struct pair_of_words {
  word first = 0;
  word second = 0;
};
constexpr pair_of_words twice_one{1, 1};

struct record {
  far<word> version;
  far_object<pair_of_words> value;
};
struct cell {
  world::near<word> flag{};
  world::plain<word> payload{};
};

program on_node(int ranks, std::function<void(world&, monitor&)> body) {
  return {.where = one_node(ranks), .body = std::move(body)};
}

std::string text_of(const program& what, const options& how) {
  const report result = check(what, how);
  return result.found ? result.found->text : result.complete ? "nothing found" : "incomplete";
}

// ---- arrays -----------------------------------------------------------------------------------------------

TEST(arrays, elements_are_apart_and_known_by_name) {
  constexpr std::size_t count = 3;
  const program what = on_node(2, [](world& w, monitor&) {
    world::far_array<record> words(w, count);
    world::near_array<cell> cells(w, count);
    const int other = 1 - w.rank();
    for (std::size_t i = 0; i < count; ++i) {
      words.put({other, i}, &record::version, constants[i + 1]);
      words.flush(other);
      cells.at({w.rank(), i}).flag.store(i + 1, relaxed);
    }
    w.barrier();
    for (std::size_t i = 0; i < count; ++i) {
      if (words.read_direct({w.rank(), i}, &record::version) != i + 1) throw error("another far value");
      if (cells.at({other, i}).flag.load(relaxed) != i + 1) throw error("another near value");
    }
  });
  EXPECT_TRUE(is_right(what, by(near_model::release_acquire)));
  std::string names;
  for (const shown_step& one : replay(what, by(near_model::sequential), {}).steps) names += one.word + "\n";
  EXPECT_NE(names.find("record[2].version of rank 1"), std::string::npos) << names;
  EXPECT_NE(names.find("cell[1].flag of rank 0"), std::string::npos) << names;
}

TEST(arrays, refuse_what_is_not_there) {
  const auto with = [](std::size_t count, std::size_t index) {
    return text_of(on_node(1,
                           [=](world& w, monitor&) {
                             world::far_array<record> words(w, count);
                             (void)words.read_direct({0, index}, &record::version);
                           }),
                   by(near_model::sequential));
  };
  EXPECT_EQ(with(2, 1), "nothing found");
  EXPECT_NE(with(2, 2).find("there is no element 2 in an array of 2"), std::string::npos) << with(2, 2);
  EXPECT_NE(with(0, 0).find("an array of no elements"), std::string::npos) << with(0, 0);
  EXPECT_NE(with(std::size_t{1} << 62U, 0).find("no room for far memory"), std::string::npos);
}

// ---- objects ----------------------------------------------------------------------------------------------

template <std::size_t Bytes>
struct block {
  std::array<char, Bytes> letters{};
};

template <std::size_t Bytes>
void arrives_as_it_was_sent(delivery_mode mode) {
  struct holder {
    far_object<block<Bytes>> value;
    far<word> behind;
  };
  const program what = on_node(2, [](world& w, monitor&) {
    world::far_array<holder> there(w, 2);
    block<Bytes> sent;
    for (std::size_t i = 0; i < Bytes; ++i) sent.letters[i] = static_cast<char>('a' + i % 26);
    if (w.rank() == 0) {
      there.put({1, 1}, &holder::value, sent);
      there.flush(1);
    }
    w.barrier();
    block<Bytes> got;
    there.get({1, 1}, &holder::value, got);
    there.flush(1);
    if (got.letters != sent.letters) throw error("another value by get");
    if (there.read_direct({1, 1}, &holder::value).letters != sent.letters) throw error("another in place");
    for (const element other : {element{1, 0}, element{0, 1}})
      if (there.read_direct(other, &holder::value).letters != block<Bytes>{}.letters)
        throw error("a neighbour");
    if (there.read_direct({1, 1}, &holder::behind) != 0) throw error("the word behind");
    if (w.rank() == 1) there.write_direct({1, 1}, &holder::value, block<Bytes>{});
  });
  // The write in place races with the other rank's get. Everything before it has to be right.
  EXPECT_TRUE(finds(what, by(near_model::sequential, mode), fault::race, "is not ordered with")) << Bytes;
}

TEST(objects, arrive_as_they_were_sent) {
  for (const delivery_mode mode : all_modes) {
    arrives_as_it_was_sent<1>(mode);
    arrives_as_it_was_sent<8>(mode);
    arrives_as_it_was_sent<12>(mode);
    arrives_as_it_was_sent<17>(mode);
  }
}

/// The values that an optimistic reader finds, while another rank puts `twice_one` over zeros.
outcomes seen_by_optimist(delivery_mode mode, bool in_place) {
  outcomes seen;
  outcome observed;
  const program what = on_node(2, [&, in_place](world& w, monitor&) {
    world::far_array<record> there(w, 1);
    if (w.rank() == 0) {
      there.put(1, &record::value, twice_one);
      there.flush(1);
    } else {
      world::maybe_torn<pair_of_words> copy;
      if (in_place) {
        there.read_direct(1, &record::value, copy);
      } else {
        there.get(1, &record::value, copy);
        there.flush(1);
      }
      observed = {copy.unconfirmed().first, copy.unconfirmed().second};
    }
    w.barrier();
    if (w.rank() == 1) seen.insert(observed);
  });
  EXPECT_TRUE(is_right(what, by(near_model::sequential, mode)));
  return seen;
}

TEST(objects, arrive_word_by_word) {
  const outcomes all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (const delivery_mode mode : {lazy, progress}) {
    EXPECT_EQ(seen_by_optimist(mode, false), all);
    EXPECT_EQ(seen_by_optimist(mode, true), all);
  }
  // In order, but with others in between.
  EXPECT_EQ(seen_by_optimist(eager, true), all);
}

/// Whether the second word of an object can arrive before the first.
bool comes_last_word_first(delivery_mode mode) {
  bool does = false;
  const program what = on_node(2, [&](world& w, monitor&) {
    world::far_array<record> there(w, 1);
    if (w.rank() == 0) {
      there.put(1, &record::value, twice_one);
      there.flush(1);
      return;
    }
    world::maybe_torn<pair_of_words> earlier;
    world::maybe_torn<pair_of_words> later;
    there.read_direct(1, &record::value, earlier);
    there.read_direct(1, &record::value, later);
    does = does || (earlier.unconfirmed().second == 1 && later.unconfirmed().first == 0);
  });
  EXPECT_TRUE(is_right(what, by(near_model::sequential, mode)));
  return does;
}

TEST(objects, arrive_in_any_order_of_words) {
  EXPECT_FALSE(comes_last_word_first(eager));
  EXPECT_TRUE(comes_last_word_first(lazy));
  EXPECT_TRUE(comes_last_word_first(progress));
}

/// Half of the last of three words is used.
TEST(objects, end_within_a_word) {
  using odd = block<20>;
  struct with_more {
    odd value;
    std::array<char, 4> behind;
  };
  struct holder {
    far_object<odd> value;
  };
  const program what = on_node(1, [](world& w, monitor&) {
    world::far_array<holder> there(w, 1);
    with_more sent{{}, {'a', 'b', 'c', 'd'}};
    const with_more expected{{}, {'1', '2', '3', '4'}};
    there.put(0, &holder::value, sent.value);
    sent.behind = expected.behind;
    there.flush(0);
    with_more got = expected;
    there.get(0, &holder::value, got.value);
    there.flush(0);
    if (got.behind != expected.behind) throw error("got more than there is");
    got.value = there.read_direct(0, &holder::value);
    there.write_direct(0, &holder::value, sent.value);
  });
  for (const delivery_mode mode : all_modes) EXPECT_TRUE(is_right(what, by(near_model::sequential, mode)));
}

TEST(objects, are_torn_if_taken_for_whole) {
  const auto reads = [](bool confirms) {
    return on_node(2, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      if (w.rank() == 0) {
        there.put(1, &record::value, twice_one);
        there.flush(1);
        return;
      }
      world::maybe_torn<pair_of_words> copy;
      there.read_direct(1, &record::value, copy);
      if (confirms) (void)copy.confirmed();
    });
  };
  for (const delivery_mode mode : all_modes) {
    EXPECT_TRUE(finds(reads(true), by(near_model::sequential, mode), fault::torn, "by nobody"));
    EXPECT_TRUE(is_right(reads(false), by(near_model::sequential, mode)));
  }
}

TEST(objects, are_not_there_before_their_flush) {
  // The second time the copy still holds the words of the first get.
  const auto reads = [](int times, bool flushes) {
    return on_node(1, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      world::maybe_torn<pair_of_words> copy;
      for (int i = 0; i < times; ++i) {
        there.get(0, &record::value, copy);
        if (flushes || i + 1 < times) there.flush(0);
        (void)copy.confirmed();
        there.flush(0);
      }
    });
  };
  for (const int times : {1, 2})
    for (const delivery_mode mode : all_modes) {
      EXPECT_TRUE(is_right(reads(times, true), by(near_model::sequential, mode)));
      EXPECT_TRUE(
          finds(reads(times, false), by(near_model::sequential, mode), fault::poison, "incomplete get"));
    }
}

TEST(objects, race_unless_ordered) {
  const auto handed_over = [](bool flushed, bool awaited, bool in_place) {
    return on_node(2, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      if (w.rank() == 0) {
        there.put(1, &record::value, twice_one);
        if (flushed) there.flush(1);
        there.accumulate(1, &record::version, one, far_op::replace);
        there.flush(1);
        return;
      }
      if (awaited) w.await_direct(there, 1, &record::version, is_set);
      pair_of_words copy;
      if (in_place) {
        copy = there.read_direct(1, &record::value);
      } else {
        there.get(1, &record::value, copy);
        there.flush(1);
      }
      if (awaited && copy.second != 1) throw error("something else");
    });
  };
  for (const delivery_mode mode : all_modes)
    for (const bool in_place : {false, true}) {
      const options how = by(near_model::sequential, mode);
      EXPECT_TRUE(is_right(handed_over(true, true, in_place), how));
      EXPECT_TRUE(finds(handed_over(true, false, in_place), how, fault::race, "record.value")) << in_place;
      EXPECT_TRUE(finds(handed_over(false, true, in_place), how, fault::race, "record.value")) << in_place;
    }
}

TEST(objects, may_be_written_again_once_every_reader_is_known_to_be_done) {
  const auto writes_again = [](bool waits) {
    return on_node(2, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      world::signal_channel done(w);
      if (w.rank() == 0) {
        if (waits) done.await_signal(1);
        there.put(1, &record::value, twice_one);
        there.flush(1);
      } else {
        pair_of_words copy;
        there.get(1, &record::value, copy);
        there.flush(1);
        done.signal(0);
      }
    });
  };
  for (const delivery_mode mode : all_modes) {
    EXPECT_TRUE(is_right(writes_again(true), by(near_model::sequential, mode)));
    EXPECT_TRUE(finds(writes_again(false), by(near_model::sequential, mode), fault::race, "not ordered"));
  }
}

TEST(objects, are_torn_by_writes_in_place) {
  // The value itself does not tell whether it is the old one.
  const auto reads = [](bool in_place, word value) {
    return on_node(2, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      if (w.rank() == 0) return there.write_direct(1, &record::value, {value, value});
      world::maybe_torn<pair_of_words> copy;
      if (in_place) {
        there.read_direct(1, &record::value, copy);
      } else {
        there.get(1, &record::value, copy);
        there.flush(1);
      }
      (void)copy.confirmed();
    });
  };
  for (const delivery_mode mode : all_modes)
    for (const bool in_place : {false, true})
      for (const word value : {0U, 1U})
        EXPECT_TRUE(
            finds(reads(in_place, value), by(near_model::sequential, mode), fault::torn, "by nobody"));
}

TEST(objects, may_be_written_again_by_who_knows_of_the_reads) {
  const auto tells = [](std::memory_order how) {
    return on_node(2, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      world::near_array<cell> cells(w, 1);
      if (w.rank() == 0) {
        w.await(cells.at(0).flag, is_set);
        there.put(1, &record::value, twice_one);
        there.flush(1);
      } else {
        pair_of_words copy;
        there.get(1, &record::value, copy);
        there.flush(1);
        cells.at(0).flag.store(1, how);
      }
    });
  };
  for (const delivery_mode mode : all_modes) {
    EXPECT_TRUE(is_right(tells(release), by(near_model::release_acquire, mode)));
    EXPECT_TRUE(finds(tells(relaxed), by(near_model::release_acquire, mode), fault::race,
                      "not ordered with an access by rank 1"));
  }
}

// ---- a sequence lock --------------------------------------------------------------------------------------

struct sequence_lock {
  bool flushes_version = true;
  bool flushes_value = true;
  bool reads_version_again = true;
  bool reads_version_before = true;
};

/// Rank 0 writes. Rank 1 reads once and takes its copy for whole if the version says so.
program sequence(const sequence_lock& as) {
  return {.where = one_node(2),
          .body =
              [as](world& w, monitor& watch) {
                world::far_array<record> there(w, 1);
                if (w.rank() == 0) {
                  there.accumulate(1, &record::version, one, far_op::replace);
                  if (as.flushes_version) there.flush(1);
                  there.put(1, &record::value, twice_one);
                  if (as.flushes_value) there.flush(1);
                  there.accumulate(1, &record::version, two, far_op::replace);
                  there.flush(1);
                  return;
                }
                word before = 0;
                word after = 0;
                world::maybe_torn<pair_of_words> copy;
                there.fetch(1, &record::version, before);
                if (as.reads_version_before) there.flush(1);
                there.get(1, &record::value, copy);
                there.flush(1);
                there.fetch(1, &record::version, after);
                there.flush(1);
                if (before % 2 != 0 || (as.reads_version_again && after != before)) return;
                if (copy.confirmed().first == 1) watch.reach("a new value");
                if (copy.confirmed().first == 0) watch.reach("an old value");
              },
          .demands = {"a new value", "an old value"}};
}

TEST(objects, are_whole_under_a_sequence_lock) {
  for (const delivery_mode mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(is_right(sequence({}), how));
    EXPECT_TRUE(finds(sequence({.reads_version_again = false}), how, fault::torn, "words of two"));
    if (mode == eager) continue;  // which keeps the order of unflushed operations
    EXPECT_TRUE(finds(sequence({.flushes_version = false}), how, fault::torn, "words of two"));
    EXPECT_TRUE(finds(sequence({.flushes_value = false}), how, fault::torn, "words of two"));
    EXPECT_TRUE(finds(sequence({.reads_version_before = false}), how, fault::torn, "words of two"));
  }
}

// ---- without atomicity ------------------------------------------------------------------------------------

program message(std::memory_order store, std::memory_order load, bool asks = true) {
  return on_node(2, [=](world& w, monitor&) {
    world::near_array<cell> cells(w, 1);
    cell& shared = cells.at(0);
    if (w.rank() == 0) {
      shared.payload.store(7);
      shared.flag.store(1, store);
    } else if (!asks || shared.flag.load(load) == 1) {
      if (shared.payload.load() != 7) throw error("another value");
    }
  });
}

TEST(plain_cells, are_handed_over_by_release_and_acquire) {
  const options how = by(near_model::release_acquire);
  EXPECT_TRUE(is_right(message(release, acquire), how));
  EXPECT_TRUE(finds(message(relaxed, acquire), how, fault::race, "the load of cell.payload of rank 0 by"));
  EXPECT_TRUE(finds(message(release, relaxed), how, fault::race, "is not ordered with the store by rank 0"));
  const std::string text = text_of(message(relaxed, acquire), how);
  EXPECT_NE(text.find("payload_test.cpp:"), text.rfind("payload_test.cpp:")) << "both places: " << text;
}

TEST(plain_cells, race_in_whatever_order_they_come) {
  for (const near_model near : {near_model::sequential, near_model::release_acquire})
    EXPECT_TRUE(finds(message(release, acquire, false), by(near), fault::race, "cell.payload"));
  const auto both = [](bool store_0, bool store_1) {
    return on_node(2, [=](world& w, monitor&) {
      world::near_array<cell> cells(w, 1);
      if (w.rank() == 0 ? store_0 : store_1)
        cells.at(0).payload.store(1);
      else
        (void)cells.at(0).payload.load();
    });
  };
  const options how = by(near_model::release_acquire);
  EXPECT_TRUE(is_right(both(false, false), how));
  for (const auto& [first, second] : {std::pair(true, false), std::pair(false, true), std::pair(true, true)})
    EXPECT_TRUE(finds(both(first, second), how, fault::race, "not ordered"));
}

/// Two states that only the second word of a cell tells apart, and later only the value that a rank has read
/// there.
TEST(plain_cells, tell_states_apart) {
  struct locked {
    world::near<word> flag{};
    world::plain<pair_of_words> payload{};
  };
  for (const search tier : {search::exhaustive, search::hash})
    for (const bool clears : {false, true}) {
      std::set<word> seen;
      const program what = on_node(2, [&, clears](world& w, monitor&) {
        world::near_array<locked> cells(w, 1);
        world::lock_epoch turn(w, 0);
        locked& shared = cells.at(0);
        turn.begin();
        shared.payload.store({0, static_cast<word>(w.rank()) + 1});
        turn.end();
        w.barrier();
        word read = 0;
        if (clears && w.rank() == 1) read = shared.payload.load().second;
        w.barrier();
        if (clears && w.rank() == 0) shared.payload.store({});
        if (w.rank() == 0) shared.flag.store(2, relaxed);
        w.barrier();
        if (w.rank() == 1) seen.insert(clears ? read : shared.payload.load().second);
      });
      EXPECT_TRUE(is_right(what, by(near_model::sequential, lazy, tier)));
      EXPECT_EQ(seen, (std::set<word>{1, 2}));
    }
}

TEST(plain_cells, are_no_steps) {
  const program what = on_node(3, [](world& w, monitor&) {
    world::near_array<cell> cells(w, 1);
    cells.at(w.rank()).payload.store(1);
    (void)cells.at(w.rank()).payload.load();
  });
  EXPECT_EQ(check(what, by(near_model::release_acquire)).executions, 1U);
}

TEST(plain_cells, are_nothing_else) {
  struct mixture {
    world::near<word> cell{};
  };
  const program what = on_node(1, [](world& w, monitor&) {
    world::near_array<mixture> cells(w, 1);
    cells.at(0).cell.store(1, relaxed);
    (void)reinterpret_cast<const world::plain<word>&>(cells.at(0).cell).load();
  });
  EXPECT_TRUE(
      finds(what, by(near_model::sequential), fault::mixed, "is used by host atomics and without atomicity"));
}

// ---- pools ------------------------------------------------------------------------------------------------

using lender = pool<world, world::far_array<record>>;

/// Rank 1 tells rank 0 of an element of its own and takes it back; rank 0 uses the element meanwhile.
program lends(bool waits_for_user, bool takes_again) {
  return on_node(2, [=](world& w, monitor&) {
    world::far_array<record> there(w, 2);
    lender own(w, there);
    world::signal_channel told(w);
    if (w.rank() == 0) {
      told.await_signal(1);
      word ignored = 0;
      there.fetch({1, 0}, &record::version, ignored);
      there.flush(1);
      told.signal(1);
      return;
    }
    const std::size_t lent = *own.take();
    if (lent != 0) throw error("another element first");
    there.write_direct({1, lent}, &record::version, word{1});
    told.signal(0);
    if (waits_for_user) told.await_signal(0);
    own.give_back(lent);
    if (takes_again && *own.take() != lent) throw error("another element than the last");
  });
}

TEST(pools, show_use_after_giving_back) {
  for (const delivery_mode mode : all_modes) {
    const options how = by(near_model::sequential, mode);
    EXPECT_TRUE(is_right(lends(true, true), how));
    EXPECT_EQ(check(lends(false, false), how).found->what, fault::gone);
    EXPECT_EQ(check(lends(false, true), how).found->what, fault::gone);
  }
}

TEST(pools, have_what_was_not_taken) {
  const program what = on_node(1, [](world& w, monitor&) {
    world::far_array<record> there(w, 2);
    lender own(w, there);
    (void)own.take();
    (void)there.read_direct({0, 1}, &record::version);
  });
  EXPECT_TRUE(finds(what, by(near_model::sequential), fault::gone,
                    "record[1].version of rank 0, which its pool has back"));
}

TEST(pools, have_whole_elements_whatever_uses_them) {
  struct element_of_cells {
    world::near<word> flag{};
    world::plain<word> payload{};
  };
  using far_words = world::far_array<record>;
  using near_cells = world::near_array<element_of_cells>;
  const std::vector<std::function<void(world&, far_words&, near_cells&)>> uses{
      [](world&, far_words& there, near_cells&) {
        there.put({0, 1}, &record::value, twice_one);
        there.flush(0);
      },
      [](world&, far_words& there, near_cells&) {
        there.write_direct({0, 1}, &record::version, word{1});
      },
      [](world&, far_words& there, near_cells&) {
        (void)there.read_direct({0, 1}, &record::value);
      },
      [](world&, far_words&, near_cells& cells) {
        cells.at({0, 1}).flag.store(1, relaxed);
      },
      [](world&, far_words&, near_cells& cells) {
        cells.at({0, 1}).payload.store(1);
      },
      [](world& w, far_words&, near_cells& cells) {
        w.await(cells.at({0, 1}).flag, [](word) { return true; });
      },
      [](world& w, far_words&, near_cells& cells) {
        const auto any = [](word) { return true; };
        w.await_any(when(cells.at({0, 1}).flag, any), when(cells.at({0, 1}).flag, any));
      }};
  for (const auto& use : uses)
    for (const bool takes : {true, false}) {
      const program what = on_node(1, [&](world& w, monitor&) {
        far_words there(w, 2);
        near_cells cells(w, 2);
        pool of_words(w, there);
        pool of_cells(w, cells);
        for (int i = 0; i < (takes ? 2 : 1); ++i) (void)(*of_words.take() + *of_cells.take());
        use(w, there, cells);
      });
      const options how = by(near_model::sequential);
      EXPECT_TRUE(takes ? is_right(what, how) : finds(what, how, fault::gone, "which its pool has back"));
    }
}

TEST(pools, have_back_what_everybody_is_known_to_be_done_with) {
  const auto used = [](std::memory_order told) {
    return on_node(2, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      world::near_array<cell> cells(w, 1);
      lender own(w, there);
      if (w.rank() == 1) (void)own.take();
      w.barrier();
      if (w.rank() == 0) {
        word ignored = 0;
        there.fetch(1, &record::version, ignored);
        there.flush(1);
        cells.at(0).flag.store(1, told);
      } else {
        w.await(cells.at(0).flag, is_set);
        own.give_back(0);
      }
    });
  };
  EXPECT_TRUE(is_right(used(release), by(near_model::release_acquire)));
  EXPECT_TRUE(finds(used(relaxed), by(near_model::release_acquire), fault::gone,
                    "is given back while a use of it by rank 0 is not known to be over"));
}

TEST(pools, lend_to_who_knows_of_the_last_time) {
  const auto lent_again = [](std::memory_order told) {
    return on_node(2, [=](world& w, monitor&) {
      world::far_array<record> there(w, 1);
      world::near_array<cell> cells(w, 2);
      lender own(w, there);
      if (w.rank() == 1) {
        own.give_back(*own.take());
        cells.at({0, 0}).flag.store(1, release);
        (void)own.take();
        cells.at({0, 1}).flag.store(1, told);
      } else {
        for (const std::size_t i : {0U, 1U}) w.await(cells.at({0, i}).flag, is_set);
        (void)there.read_direct(1, &record::version);
      }
    });
  };
  EXPECT_TRUE(is_right(lent_again(release), by(near_model::release_acquire)));
  EXPECT_TRUE(finds(lent_again(relaxed), by(near_model::release_acquire), fault::gone,
                    "had back and lent again, for all that the rank knows"));
}

/// A stack of free elements whose head has no tag. A rank reads the head; others take two elements and give
/// one back; then the first rank puts the wrong one on top.
TEST(pools, let_a_place_be_used_again_at_once) {
  std::vector<std::size_t> order;
  const program what = on_node(1, [&](world& w, monitor&) {
    world::far_array<record> there(w, 3);
    lender own(w, there);
    order.clear();
    for (int i = 0; i < 3; ++i) order.push_back(*own.take());
    if (own.take()) throw error("more than there are");
    own.give_back(order[1]);
    own.give_back(order[0]);
    order.push_back(*own.take());
    order.push_back(*own.take());
  });
  EXPECT_TRUE(is_right(what, by(near_model::sequential)));
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 0, 1}));
}

}  // namespace
}  // namespace nearfar::checker::testing
