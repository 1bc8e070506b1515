// Fibres: the stack on which code runs, and the time at which objects are destroyed.
#include "nearfar/engine/fibre.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace nearfar::engine {
namespace {

/// Notes its destruction.
class witness {
 public:
  witness(std::vector<std::string>& log, std::string name) : log_(&log), name_(std::move(name)) {}
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  ~witness() { log_->push_back("~" + name_); }

 private:
  std::vector<std::string>* log_;
  std::string name_;
};

TEST(fibre, runs_when_resumed_until_it_suspends) {
  stack_pool stacks;
  std::vector<int> log;
  fibre* self = nullptr;
  fibre one(stacks, [&] {
    log.push_back(1);
    self->suspend();
    log.push_back(3);
    self->suspend();
    log.push_back(5);
  });
  self = &one;
  EXPECT_TRUE(log.empty());
  one.resume();
  log.push_back(2);
  EXPECT_FALSE(one.ended());
  one.resume();
  log.push_back(4);
  one.resume();
  EXPECT_TRUE(one.ended());
  EXPECT_FALSE(one.is_cancelled());
  EXPECT_FALSE(one.thrown());
  EXPECT_EQ(log, (std::vector{1, 2, 3, 4, 5}));
}

TEST(fibre, cancelled_destroys_its_objects_from_the_innermost_out) {
  stack_pool stacks;
  std::vector<std::string> log;
  fibre* self = nullptr;
  const auto inner = [&] {
    const witness third(log, "third");
    self->suspend();
    log.emplace_back("never");
  };
  fibre one(stacks, [&] {
    const witness first(log, "first");
    const witness second(log, "second");
    inner();
  });
  self = &one;
  one.resume();
  EXPECT_TRUE(log.empty());
  one.cancel();
  EXPECT_TRUE(one.ended());
  EXPECT_TRUE(one.is_cancelled());
  EXPECT_FALSE(one.thrown()) << "to be cancelled is no error";
  EXPECT_EQ(log, (std::vector<std::string>{"~third", "~second", "~first"}));
  one.cancel();
  EXPECT_EQ(log.size(), 3U);
}

TEST(fibre, cancelled_is_no_exception_that_handlers_of_errors_take) {
  stack_pool stacks;
  bool taken = false;
  fibre* self = nullptr;
  fibre one(stacks, [&] {
    try {
      self->suspend();
    } catch (const std::exception&) {
      taken = true;
    }
  });
  self = &one;
  one.resume();
  one.cancel();
  EXPECT_FALSE(taken);
}

TEST(fibre, cancelled_while_its_destructors_suspend_ends_nevertheless) {
  stack_pool stacks;
  fibre* self = nullptr;
  int passed = 0;
  struct suspends {
    fibre** in;
    int* count;
    ~suspends() noexcept(false) {
      ++*count;
      if (!(*in)->is_cancelled()) (*in)->suspend();
    }
  };
  fibre one(stacks, [&] {
    const suspends outer{&self, &passed};
    const suspends inner{&self, &passed};
    self->suspend();
  });
  self = &one;
  one.resume();
  one.cancel();
  EXPECT_TRUE(one.ended());
  EXPECT_EQ(passed, 2);
}

TEST(fibre, that_was_never_resumed_runs_nothing_of_its_function) {
  stack_pool stacks;
  bool ran = false;
  auto owned = std::make_shared<int>(7);
  std::weak_ptr<int> seen = owned;
  {
    fibre one(stacks, [&ran, owned] { ran = *owned == 7; });
    owned.reset();
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_FALSE(ran);
  EXPECT_TRUE(seen.expired());
}

TEST(fibre, keeps_what_its_function_threw) {
  stack_pool stacks;
  std::vector<std::string> log;
  fibre one(stacks, [&] {
    const witness object(log, "object");
    throw std::runtime_error("inside");
  });
  one.resume();
  EXPECT_TRUE(one.ended());
  EXPECT_EQ(log, (std::vector<std::string>{"~object"}));
  ASSERT_TRUE(one.thrown());
  EXPECT_THROW(
      {
        try {
          std::rethrow_exception(one.thrown());
        } catch (const std::runtime_error& thrown) {
          EXPECT_STREQ(thrown.what(), "inside");
          throw;
        }
      },
      std::runtime_error);
}

TEST(fibre, handles_exceptions_of_its_own_while_others_handle_theirs) {
  // Each fibre suspends inside a handler, so that the handlers end in another order than they began.
  stack_pool stacks;
  std::array<fibre*, 3> selves{};
  std::vector<std::string> caught;
  std::vector<std::unique_ptr<fibre>> fibres;
  for (std::size_t i = 0; i < selves.size(); ++i) {
    fibres.push_back(std::make_unique<fibre>(stacks, [&, i] {
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::runtime_error&) {
        selves[i]->suspend();
        try {
          throw;
        } catch (const std::runtime_error& again) {
          selves[i]->suspend();
          caught.emplace_back(again.what());
        }
      }
    }));
    selves[i] = fibres.back().get();
  }
  for (const auto& one : fibres) one->resume();
  fibres[1]->resume();
  fibres[0]->resume();
  fibres[2]->resume();
  EXPECT_EQ(std::current_exception(), nullptr);
  for (const std::size_t i : {2U, 0U, 1U}) fibres[i]->resume();
  EXPECT_EQ(caught, (std::vector<std::string>{"2", "0", "1"}));
}

TEST(fibre, has_uncaught_exceptions_of_its_own) {
  stack_pool stacks;
  fibre* self = nullptr;
  std::vector<int> counts;
  struct counter {
    fibre** in;
    std::vector<int>* into;
    ~counter() noexcept(false) {
      into->push_back(std::uncaught_exceptions());
      (*in)->suspend();
      into->push_back(std::uncaught_exceptions());
    }
  };
  fibre one(stacks, [&] {
    try {
      const counter during{&self, &counts};
      throw 1;
    } catch (int) {
    }
    counts.push_back(std::uncaught_exceptions());
  });
  self = &one;
  one.resume();
  // The fibre is in the middle of unwinding. The code that resumed it is not, and neither is another fibre.
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  fibre other(stacks, [&] { counts.push_back(std::uncaught_exceptions()); });
  other.resume();
  one.resume();
  EXPECT_EQ(counts, (std::vector{1, 0, 1, 0}));

  // The other way round: the fibre is resumed in the middle of an outer unwinding.
  counts.clear();
  struct resumes {
    stack_pool* from;
    std::vector<int>* into;
    ~resumes() {
      fibre within(*from, [this] { into->push_back(std::uncaught_exceptions()); });
      within.resume();
      into->push_back(std::uncaught_exceptions());
    }
  };
  try {
    const resumes outer{&stacks, &counts};
    throw 2;
  } catch (int) {
  }
  EXPECT_EQ(counts, (std::vector{0, 1}));
}

TEST(fibre, may_resume_another) {
  stack_pool stacks;
  std::vector<int> log;
  fibre* inner_self = nullptr;
  fibre inner(stacks, [&] {
    log.push_back(2);
    inner_self->suspend();
    log.push_back(4);
  });
  inner_self = &inner;
  fibre outer(stacks, [&] {
    log.push_back(1);
    inner.resume();
    log.push_back(3);
    inner.resume();
    log.push_back(5);
  });
  outer.resume();
  EXPECT_EQ(log, (std::vector{1, 2, 3, 4, 5}));
  EXPECT_TRUE(inner.ended());
}

TEST(stack_pool, gives_the_same_stack_again) {
  stack_pool stacks;
  std::array<const void*, 2> seen{};
  for (const void*& at : seen) {
    fibre one(stacks, [&at] {
      const int local = 0;
      at = &local;
    });
    one.resume();
  }
  EXPECT_EQ(seen[0], seen[1]);
  // Two fibres at a time have two stacks.
  const boost::context::stack_context first = stacks.take();
  const boost::context::stack_context second = stacks.take();
  EXPECT_NE(first.sp, second.sp);
  EXPECT_EQ(first.size, stack_pool::default_bytes);
  stacks.give_back(first);
  stacks.give_back(second);
}

TEST(stack_pool, stacks_hold_what_they_promise) {
  constexpr std::size_t bytes = std::size_t{64} << 10U;
  stack_pool stacks(bytes);
  char last = 0;
  fibre one(stacks, [&last] {
    std::array<volatile char, bytes / 2> much{};
    much[bytes / 2 - 1] = 'x';
    last = much[bytes / 2 - 1];
  });
  one.resume();
  EXPECT_EQ(last, 'x');
}

/// Recurses until the stack ends.
int endless(int depth) {
  std::array<volatile char, 1024> frame{};
  frame[0] = static_cast<char>(depth);
  return depth == 1 << 20 ? 0 : endless(depth + 1) + frame[0];
}

void exceed_a_stack() {
  stack_pool stacks(std::size_t{32} << 10U);
  fibre one(stacks, [] { (void)endless(0); });
  one.resume();
}

void write_below_a_stack() {
  stack_pool stacks;
  const boost::context::stack_context stack = stacks.take();
  *(static_cast<volatile char*>(stack.sp) - stack.size - 1) = 'x';
}

TEST(stack_pool_death, ends_the_program_where_a_stack_is_exceeded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(exceed_a_stack(), "");
  EXPECT_DEATH(write_below_a_stack(), "");
}

TEST(fibre, thousands_take_turns) {
  constexpr std::size_t count = 4096;
  constexpr int turns = 5;
  stack_pool stacks;
  std::vector<int> done(count);
  std::vector<std::unique_ptr<fibre>> fibres;
  fibres.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    fibres.push_back(std::make_unique<fibre>(stacks, [&, i] {
      for (int turn = 0; turn < turns; ++turn) {
        ++done[i];
        fibres[i]->suspend();
      }
    }));
  for (int turn = 0; turn < turns; ++turn)
    for (const auto& one : fibres) one->resume();
  for (const int turns_of_one : done) EXPECT_EQ(turns_of_one, turns);
  for (std::size_t i = 0; i < count; i += 2) fibres[i]->resume();
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(fibres[i]->ended(), i % 2 == 0);
}

TEST(fibre, knows_what_dangles) {
  stack_pool stacks;
  int outside = 0;
  fibre* self = nullptr;
  fibre one(stacks, [&] {
    int live = 0;
    // Seen from a function that is called now: memory below it has no owner.
    const void* here = __builtin_frame_address(0);
    EXPECT_FALSE(self->is_dangling(&live, &live));
    EXPECT_FALSE(self->is_dangling(here, here));
    EXPECT_TRUE(self->is_dangling(static_cast<const char*>(here) - 4096, here));
    EXPECT_FALSE(self->is_dangling(&outside, here));
    const auto on_heap = std::make_unique<int>(1);
    EXPECT_FALSE(self->is_dangling(on_heap.get(), here));
  });
  self = &one;
  one.resume();
  EXPECT_TRUE(one.ended());
}

}  // namespace
}  // namespace nearfar::engine
