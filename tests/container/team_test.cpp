#include "nearfar/container/team.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "nearfar/container/static_schedule.hpp"

namespace {

using nearfar::index_range;
using nearfar::static_schedule;
using nearfar::team;
using nearfar::team_member;

TEST(static_schedule, gives_every_index_to_its_owner_once_and_in_order) {
  for (const std::size_t size : {0U, 1U, 2U, 7U, 64U, 1000U})
    for (const int threads : {1, 2, 3, 8, 13})
      for (const std::size_t chunk : {0U, 1U, 3U, 64U, 2000U}) {
        const static_schedule schedule(size, threads, chunk);
        std::vector<int> done(size, -1);
        for (int thread = 0; thread < threads; ++thread) {
          std::size_t end = 0;
          schedule.for_each_block(thread, [&](index_range block) {
            ASSERT_FALSE(block.empty());
            ASSERT_GE(block.first, end);
            ASSERT_LE(block.last, size);
            end = block.last;
            for (std::size_t i = block.first; i < block.last; ++i) {
              ASSERT_EQ(done[i], -1);
              done[i] = thread;
              ASSERT_EQ(schedule.owner(i), thread);
            }
          });
        }
        ASSERT_EQ(std::count(done.begin(), done.end(), -1), 0);
      }
}

TEST(static_schedule, has_blocks_whose_sizes_differ_by_one_at_most_the_larger_first) {
  const static_schedule schedule(11, 4);
  EXPECT_EQ(schedule.block(0, 0), (index_range{0, 3}));
  EXPECT_EQ(schedule.block(1, 0), (index_range{3, 6}));
  EXPECT_EQ(schedule.block(2, 0), (index_range{6, 9}));
  EXPECT_EQ(schedule.block(3, 0), (index_range{9, 11}));
}

TEST(team, runs_every_member_once_and_sees_what_they_did) {
  for (const int threads : {1, 2, 3, 8}) {
    std::vector<int> calls(64);
    int size = 0;
    team(threads).run([&](team_member member) {
      if (member.index == 0) size = member.size;
      ++calls[static_cast<std::size_t>(member.index)];
    });
    EXPECT_EQ(size, nearfar::openmp_available() ? threads : 1);
    EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), size);
    EXPECT_EQ(std::count(calls.begin(), calls.begin() + size, 1), size);
  }
}

// CTest also runs this with OMP_THREAD_LIMIT, OMP_DYNAMIC and OMP_MAX_ACTIVE_LEVELS.
TEST(team, has_the_size_that_it_says) {
  for (const team asked : {team(), team(1), team(2), team(7)}) {
    int size = 0;
    const int said = asked.size();
    asked.run([&](team_member member) {
      if (member.index == 0) size = member.size;
    });
    EXPECT_EQ(size, said);
  }
}

TEST(team, is_one_thread_in_a_child_that_lost_the_others) {
  const int said = team(3).size();
  team(3).run([](team_member) {});
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    int calls = 0;
    if (team(3).size() != 1) _exit(1);
    team(3).run([&](team_member member) { calls += member.size; });
    _exit(calls == 1 ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(team(3).size(), said);
}

TEST(team, hands_on_what_the_caller_wrote_before) {
  std::vector<int> values(1000);
  for (int round = 0; round < 50; ++round) {
    for (int& value : values) value = round;
    team(4).for_each_block(values.size(), 7, [&](index_range block) {
      for (std::size_t i = block.first; i < block.last; ++i) ++values[i];
    });
    ASSERT_EQ(std::count(values.begin(), values.end(), round + 1), 1000);
  }
}

TEST(team, throws_the_exception_of_its_first_member_that_threw) {
  for (int round = 0; round < 20; ++round) {
    try {
      team(4).run([](team_member member) {
        if (member.index > 0 || member.size == 1)
          throw std::runtime_error(std::to_string(std::max(member.index, 1)));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "1");
    }
  }
}

TEST(team, of_no_threads_is_refused) {
  EXPECT_THROW(team(0), nearfar::misuse);
  EXPECT_THROW(team(-2), nearfar::misuse);
}

TEST(team, is_the_caller_alone_inside_a_parallel_region) {
  std::vector<int> team_sizes(8);
  team(2).run([&](team_member outer) {
    team(3).run([&](team_member inner) {
      if (inner.index == 0) team_sizes[static_cast<std::size_t>(outer.index)] = inner.size;
    });
  });
  EXPECT_EQ(team_sizes[0], 1);
}

// Works where OpenMP is linked; this file is compiled without OpenMP.
int parallel_level() {
  void* const level = dlsym(RTLD_DEFAULT, "omp_get_level");
  return level == nullptr ? 0 : reinterpret_cast<int (*)()>(level)();
}

TEST(team, of_one_enters_no_parallel_region) {
  for (const team one : {team(1), team::serial()}) {
    int level = -1;
    one.run([&](team_member) { level = parallel_level(); });
    EXPECT_EQ(level, 0);
  }
  void* const set_threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  if (set_threads == nullptr) return;
  const int before = team().size();
  reinterpret_cast<void (*)(int)>(set_threads)(1);
  int level = -1;
  team().run([&](team_member) { level = parallel_level(); });
  reinterpret_cast<void (*)(int)>(set_threads)(before);
  EXPECT_EQ(level, 0);
  level = -1;
  team(2).run([&](team_member member) {
    if (member.index == 0) level = parallel_level();
  });
  EXPECT_EQ(level, team(2).size() == 1 ? 0 : 1);
}

// Plain data of few words and of many, and functions that are no plain data or that change.
TEST(team, calls_whatever_can_be_called) {
  const auto sum_with = [](auto&& body, std::vector<long>& sums) {
    sums.assign(8, 0);
    team(3).run(body);
    return std::accumulate(sums.begin(), sums.end(), 0L) / team(3).size();
  };
  std::vector<long> sums;
  const auto few = [&sums, x = 1L, y = 2L](team_member m) {
    sums[static_cast<std::size_t>(m.index)] = x + y;
  };
  EXPECT_EQ(sum_with(few, sums), 3);
  std::array<long, 12> numbers{};
  numbers.back() = 5;
  const auto many = [&sums, numbers](team_member m) {
    sums[static_cast<std::size_t>(m.index)] = numbers.back();
  };
  EXPECT_EQ(sum_with(many, sums), 5);
  const auto no_plain_data = [&sums, of = std::vector<long>(20, 7)](team_member m) {
    sums[static_cast<std::size_t>(m.index)] = of.back();
  };
  EXPECT_EQ(sum_with(no_plain_data, sums), 7);
  std::atomic<int> calls = 0;
  struct not_const {
    std::atomic<int>* calls;
    void operator()(team_member) { ++*calls; }
  } changing{&calls};
  team(3).run(changing);
  EXPECT_EQ(calls, team(3).size());
}

TEST(team, without_a_number_has_at_least_one_thread) {
  EXPECT_GE(team().size(), 1);
  EXPECT_EQ(team::serial().size(), 1);
}

/// Changes itself, although its call is const.
struct counts_calls {
  mutable std::atomic<int> calls{0};
  void operator()(team_member) const { ++calls; }
  void operator()(index_range block) const { calls += static_cast<int>(block.size()); }
};
struct notes_members {
  mutable std::array<int, 2> of{};
  void operator()(team_member member) const { ++of[static_cast<std::size_t>(member.index)]; }
};
/// Has another call where it is not constant.
struct counts_if_changeable {
  std::array<int, 2> of{};
  void operator()(team_member member) { ++of[static_cast<std::size_t>(member.index)]; }
  void operator()(team_member) const { ADD_FAILURE() << "called as if it were constant"; }
};

TEST(team, calls_what_its_caller_keeps_where_it_is) {
  for (const int threads : {1, 2}) {
    const team two(threads);
    const auto size = two.size();
    counts_calls calls;
    two.run(calls);
    EXPECT_EQ(calls.calls, size);
    two.for_each_block(100, 0, calls);
    EXPECT_EQ(calls.calls, size + 100);
    notes_members notes;
    two.run(notes);
    EXPECT_EQ(notes.of[0] + notes.of[1], size);
    counts_if_changeable changes;
    two.run(changes);
    EXPECT_EQ(changes.of[0] + changes.of[1], size);
  }
}

}  // namespace
