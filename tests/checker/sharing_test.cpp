// Ranks that share the critical section: which ranks may be inside together, which overtake which, and
// whether the program reaches the marks that it demands.
#include "tests/checker/expectations.hpp"
#include "tests/checker/scene.hpp"

namespace nearfar::checker::testing {
namespace {

void read(scene& s) {
  s.watch.enter_shared();
  s.watch.leave_shared();
}
void write(scene& s) {
  s.watch.enter();
  s.watch.leave();
}

program demanding(program what, std::vector<std::string> demands) {
  what.demands = std::move(demands);
  return what;
}

TEST(sharing, is_for_those_who_share) {
  const program readers = program_of(3, [](scene& s) { read(s); });
  EXPECT_TRUE(is_right(readers, by(weak)));
  EXPECT_EQ(check(readers, by(weak)).executions, 1U) << "readers commute";
  const auto mixed = [](int writer) {
    return program_of(2, [=](scene& s) { s.rank() == writer ? write(s) : read(s); });
  };
  EXPECT_TRUE(finds(mixed(0), by(weak), fault::exclusion, "is inside together with rank"));
  EXPECT_TRUE(finds(mixed(1), by(weak), fault::exclusion, "is inside together with rank"));
}

/// A counter of readers in the upper half of a word, a writer's flag in the lower.
class counting_lock {
 public:
  explicit counting_lock(scene& s, std::memory_order unlock = release) : s_(&s), unlock_(unlock) {}
  void lock() {
    for (word free = 0; !s_->cells.x.compare_exchange(free, 1, acquire, relaxed); free = 0)
      s_->w.await(s_->cells.x, [](word now) { return now == 0; });
  }
  void unlock() { s_->cells.x.store(0, unlock_); }
  void lock_shared() {
    for (;;) {
      word now = s_->w.await(s_->cells.x, [](word value) { return value % reader != 1; });
      if (s_->cells.x.compare_exchange(now, now + reader, acquire, relaxed)) return;
    }
  }
  void unlock_shared() { s_->cells.x.fetch_add(word{0} - reader, unlock_); }

 private:
  static constexpr word reader = 2;
  scene* s_;
  std::memory_order unlock_;
};

program under_lock(int writers, int readers, std::memory_order unlock = release) {
  program result = program_of(writers + readers, [=](scene& s) {
    counting_lock lock(s, unlock);
    if (s.rank() < writers) {
      s.watch.ask();
      lock.lock();
      write(s);
      lock.unlock();
    } else {
      s.watch.ask_shared();
      lock.lock_shared();
      read(s);
      lock.unlock_shared();
    }
  });
  if (readers > 1) result.demands = {std::string(shared_by_two)};
  return result;
}

TEST(sharing, under_a_lock_is_right) {
  EXPECT_TRUE(is_right(under_lock(1, 1), by(weak)));
  EXPECT_TRUE(is_right(under_lock(2, 1), by(weak)));
  EXPECT_TRUE(is_right(under_lock(1, 2), by(weak)));
}

TEST(sharing, needs_to_see_what_was_done) {
  EXPECT_TRUE(finds(under_lock(1, 1, relaxed), by(weak), fault::order, "need not see what rank"));
  // A writer has to know of every reader that has left; a reader need not know of other readers.
  const auto after = [](bool first_shares, bool second_shares) {
    return program_of(2, [=](scene& s) {
      if (s.rank() == 0) {
        first_shares ? read(s) : write(s);
        s.cells.x.store(1, relaxed);
      } else {
        s.w.await(s.cells.x, is_set);
        second_shares ? read(s) : write(s);
      }
    });
  };
  EXPECT_TRUE(finds(after(true, false), by(weak), fault::order, "what rank 0 did before"));
  EXPECT_TRUE(finds(after(false, true), by(weak), fault::order, "what rank 0 did before"));
  EXPECT_TRUE(is_right(after(true, true), by(weak)));
}

TEST(demands, are_met_or_reported) {
  const program met = demanding(program_of(2,
                                           [](scene& s) {
                                             if (s.cells.x.exchange(1, relaxed) == 1) s.watch.reach("second");
                                           }),
                                {"second"});
  EXPECT_TRUE(is_right(met, by(weak)));
  EXPECT_TRUE(check(met, by(weak)).reached.contains("second"));
  const program unmet = demanding(program_of(2,
                                             [](scene& s) {
                                               if (s.cells.x.load(relaxed) == 1) s.watch.reach("nowhere");
                                             }),
                                  {"nowhere"});
  EXPECT_TRUE(finds(unmet, by(weak), fault::unreached, "no schedule reaches: nowhere"));
}

TEST(demands, know_readers_that_could_have_stayed) {
  // The two orders of readers commute and are one trace. In this trace the first reader has left.
  const program free = demanding(program_of(2, [](scene& s) { read(s); }), {std::string(shared_by_two)});
  EXPECT_TRUE(is_right(free, by(weak)));
  const program in_turn = demanding(program_of(2,
                                               [](scene& s) {
                                                 if (s.rank() == 1) s.w.await(s.cells.x, is_set);
                                                 read(s);
                                                 if (s.rank() == 0) s.cells.x.store(1, release);
                                               }),
                                    {std::string(shared_by_two)});
  EXPECT_TRUE(finds(in_turn, by(weak), fault::unreached, std::string(shared_by_two)));
  // A lock that lets one reader in at a time is right, but no readers' lock.
  const program exclusive = demanding(program_of(2,
                                                 [](scene& s) {
                                                   counting_lock lock(s);
                                                   lock.lock();
                                                   read(s);
                                                   lock.unlock();
                                                 }),
                                      {std::string(shared_by_two)});
  EXPECT_TRUE(finds(exclusive, by(weak), fault::unreached, std::string(shared_by_two)));
}

/// Rank 1 comes as late as it can, and then as the first reader could have stayed.
TEST(demands, know_readers_that_have_left) {
  const auto with = [](const std::function<void(scene&)>& afterwards) {
    return demanding(program_of(2,
                                [=](scene& s) {
                                  if (s.rank() == 1)
                                    (void)s.w.await_until(std::chrono::nanoseconds(1), s.cells.x, is_set);
                                  read(s);
                                  if (s.rank() == 0) afterwards(s);
                                }),
                     {std::string(shared_by_two)});
  };
  EXPECT_TRUE(is_right(with([](scene&) {}), by(weak)));
  EXPECT_TRUE(is_right(with([](scene& s) { s.watch.ask_shared(); }), by(weak)));
  EXPECT_TRUE(is_right(with([](scene& s) { s.watch.ask(); }), by(weak)));
}

/// Rank 0 waits for the two others, which enter after they have seen that it waits.
program overtaken(bool waits_as_writer, bool overtaken_by_writers, const overtaking_limits& limits) {
  program result = program_of(3, [=](scene& s) {
    if (s.rank() == 0) {
      waits_as_writer ? s.watch.ask() : s.watch.ask_shared();
      s.cells.x.store(1, release);
      s.w.await(s.cells.y, [](word others) { return others == 2; });
      waits_as_writer ? write(s) : read(s);
      return;
    }
    s.w.await(s.cells.x, is_set);
    if (s.rank() == 2) s.w.await(s.cells.y, is_set);
    overtaken_by_writers ? s.watch.ask() : s.watch.ask_shared();
    overtaken_by_writers ? write(s) : read(s);
    s.cells.y.fetch_add(1, acq_rel);
  });
  result.overtaking = limits;
  return result;
}

TEST(overtaking, is_counted_anew_for_each_acquisition) {
  program what = program_of(2, [](scene& s) {
    for (const word turn : {1U, 2U}) {
      if (s.rank() == 0) {
        s.watch.ask();
        s.cells.x.store(turn, release);
        s.w.await(s.cells.y, [=](word now) { return now == turn; });
        write(s);
        s.cells.z.store(turn, release);
      } else {
        s.w.await(s.cells.x, [=](word now) { return now == turn; });
        s.watch.ask();
        write(s);
        s.cells.y.store(turn, release);
        s.w.await(s.cells.z, [=](word now) { return now == turn; });
      }
    }
  });
  what.overtaking.writers_past_writer = 1;
  EXPECT_TRUE(is_right(what, by(weak)));
  what.overtaking.writers_past_writer = 0;
  EXPECT_TRUE(finds(what, by(weak), fault::bypass, "rank 1 asked when rank 0 was waiting already"));
}

TEST(overtaking, is_not_by_a_rank_that_asked_before) {
  program what = program_of(2, [](scene& s) {
    if (s.rank() == 0) s.w.await(s.cells.x, is_set);
    s.watch.ask();
    if (s.rank() == 0)
      s.w.await(s.cells.y, is_set);
    else
      s.cells.x.store(1, release);
    write(s);
    if (s.rank() == 1) s.cells.y.store(1, release);
  });
  what.overtaking.writers_past_writer = 0;
  EXPECT_TRUE(is_right(what, by(weak)));
}

TEST(overtaking, is_limited_for_each_pair_of_classes) {
  const auto limit_of = [](overtaking_limits& of, bool writer, bool by_writers) -> std::optional<int>& {
    if (writer) return by_writers ? of.writers_past_writer : of.readers_past_writer;
    return by_writers ? of.writers_past_reader : of.readers_past_reader;
  };
  for (const bool writer : {false, true})
    for (const bool by_writers : {false, true}) {
      overtaking_limits others{.writers_past_writer = 0,
                               .readers_past_writer = 0,
                               .writers_past_reader = 0,
                               .readers_past_reader = 0};
      limit_of(others, writer, by_writers) = 2;
      // The two ranks overtake rank 0 only.
      limit_of(others, by_writers, by_writers) = 2;
      EXPECT_TRUE(is_right(overtaken(writer, by_writers, others), by(weak)));
      overtaking_limits too_few;
      limit_of(too_few, writer, by_writers) = 1;
      EXPECT_TRUE(
          finds(overtaken(writer, by_writers, too_few), by(weak), fault::bypass,
                "rank 2 asked when rank 0 was waiting already, and enters before it, as 1 did before"));
    }
}

}  // namespace
}  // namespace nearfar::checker::testing
