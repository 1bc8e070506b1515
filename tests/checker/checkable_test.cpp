// The queues, maps and channels of `nearfar check`: the list has all of the registry, and the checker finds
// the fault of each broken one.
#include "apps/nearfar/check/checkable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "apps/nearfar/check/schedule.hpp"
#include "bench/kinds/channels/channel_catalogue.hpp"
#include "bench/kinds/maps/map_catalogue.hpp"
#include "bench/kinds/queues/queue_catalogue.hpp"
#include "nearfar/checker/closable_queue.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/mutation.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

namespace {

using checker::closable_queue;
using checker::fault;

constexpr std::uint64_t few = 300;

checker::report checked_in_part(const check_case& of, std::uint64_t executions = few) {
  checker::options how = options_of(of);
  how.most_executions = executions;
  return check(find_checkable(of.object, of.kind)->program(of), how);
}

void expect_all_of(checked_kind kind, const std::vector<std::string>& registered) {
  std::vector<std::string> names;
  for (const checkable& object : checkables(kind)) names.push_back(object.name);
  EXPECT_EQ(names, registered);
}

check_case with_plan(checked_kind kind, const std::string& name, const std::string& plan) {
  const checkable& object = *find_checkable(name, kind);
  check_case of = usual_case(object);
  const checker::object_plan parsed = parse_plan(plan, object.plans->language);
  of.plan = plan_text(parsed, object.plans->language);
  of.ranks = parsed.ranks();
  of.nodes = object.one_node_only ? 1 : std::min(of.ranks, 2);
  return of;
}

std::string refusal_of(checked_kind kind, const std::string& name, const std::string& plan) {
  const check_case of = with_plan(kind, name, plan);
  const planned_object& plans = *find_checkable(name, kind)->plans;
  return plans.obstacle(parse_plan(of.plan, plans.language), of);
}

/// The program that the command makes must show the fault if that operation of the object is left out.
void expect_caught(const check_case& of, std::string_view within, const std::string& operation) {
  const checker::program what = find_checkable(of.object, of.kind)->program(of);
  checker::options how = options_of(of);
  std::string caught;
  bool is_caught = false;
  for (const checker::mutation& one : mutations_of(what, how, within, 20)) {
    if (one.how != checker::change::dropped) continue;
    how.broken = one;
    how.most_executions = few;
    how.most_steps = 2000;
    if (!check(what, how).found) continue;
    caught += one.text() + "\n";
    is_caught = is_caught || one.operation == operation;
  }
  EXPECT_TRUE(is_caught) << of.object << " without its " << operation << "; found:\n" << caught;
}

}  // namespace

TEST(checkable, are_all_queues_maps_and_channels_of_the_registry) {
  expect_all_of(checked_kind::queue, bench::queue_catalogue::instance().names());
  expect_all_of(checked_kind::map, bench::map_catalogue::instance().names());
  expect_all_of(checked_kind::channel, bench::channel_catalogue::instance().names());
}

TEST(checkable, say_why_the_checker_has_none_of_them) {
  std::set<std::string> without_form;
  for (const checked_kind kind : {checked_kind::queue, checked_kind::map, checked_kind::channel})
    for (const checkable& object : checkables(kind)) {
      EXPECT_EQ(object.absent.empty(), object.plans.has_value()) << object.name;
      EXPECT_EQ(object.absent.empty(), static_cast<bool>(object.program)) << object.name;
      if (object.absent.empty()) continue;
      const std::size_t form = object.absent.find("check '");
      if (form == std::string::npos) {
        without_form.insert(object.name);
        continue;
      }
      const std::string other = object.absent.substr(form + 7, object.absent.find('\'', form + 7) - form - 7);
      ASSERT_NE(find_checkable(other, kind), nullptr) << object.absent;
      EXPECT_TRUE(find_checkable(other, kind)->absent.empty()) << object.absent;
      EXPECT_EQ(find_checkable(other, kind)->family, object.family) << object.absent;
    }
  EXPECT_EQ(without_form,
            (std::set<std::string>{"mutex", "mutex.mpsc", "pthread_spin", "pthread_spin.mpsc"}));
}

TEST(checkable, are_right_with_their_usual_plans) {
  for (const checked_kind kind : {checked_kind::queue, checked_kind::map, checked_kind::channel})
    for (const checkable& object : checkables(kind)) {
      if (!object.plans || !object.is_sound) continue;
      for (const int ranks : {1, 2, 3}) {
        const check_case of = usual_case(object, ranks);
        const planned_object& plans = *object.plans;
        const std::string refused = plans.obstacle(parse_plan(of.plan, plans.language), of);
        const bool meets_nobody = ranks == 1 && object.name == "rendezvous";
        EXPECT_EQ(refused.empty(), !meets_nobody) << object.name << of.plan << refused;
        if (meets_nobody) continue;
        const checker::report result = checked_in_part(of);
        EXPECT_FALSE(result.found) << object.name << ", " << shape_text(of) << ": " << result.found->text;
        EXPECT_FALSE(result.reached.empty()) << object.name << ", " << shape_text(of);
      }
    }
}

TEST(checkable, wait_and_are_closed) {
  const auto expect_right = [](checked_kind kind, const std::string& name, const std::string& plan) {
    const checker::report result = checked_in_part(with_plan(kind, name, plan));
    EXPECT_FALSE(result.found) << name << ": " << result.found->text;
  };
  for (const checkable& object : checkables(checked_kind::queue)) {
    const bool is_one_to_one = object.name == "spsc_queue";
    expect_right(checked_kind::queue, object.name,
                 is_one_to_one ? "pop, pop | push 1, close" : "push 1, close | pop, pop");
  }
  for (const checkable& object : checkables(checked_kind::channel)) {
    if (!object.plans || !object.is_sound) continue;
    expect_right(checked_kind::channel, object.name, "send 1, close | receive, receive");
  }
}

TEST(checkable, that_are_broken_in_one_operation_are_found) {
  const check_case queue =
      with_plan(checked_kind::queue, "ticket_queue", "push 1; try_pop, push 2 | push 3, try_pop");
  expect_caught(queue, "nearfar/queue/", "put");
  const check_case map =
      with_plan(checked_kind::map, "map", "insert 1 10; erase 1, insert 2 20 | insert 1 11, find 1");
  expect_caught(map, "nearfar/map/", "put");
  const check_case channel = with_plan(checked_kind::channel, "ring", "send 1, send 2 | receive, receive");
  expect_caught(channel, "nearfar/channel/", "store");
}

TEST(checkable, that_are_published_though_unsound_are_found) {
  const checkable& published = *find_checkable("flagged.published", checked_kind::channel);
  ASSERT_FALSE(published.is_sound);
  ASSERT_TRUE(published.has_telling_plan());
  const check_case of = telling_case(published);
  const checker::report result = checked_in_part(of, most_executions_until_told);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::history);
  const std::string text =
      violation_text(of, replay(published.program(of), options_of(of), result.found->schedule));
  EXPECT_NE(text.find("CALL try_send(1)"), std::string::npos) << text;
  EXPECT_NE(text.find("RETURN try_send -> success"), std::string::npos) << text;
  EXPECT_NE(text.find("Operations, from one step to another"), std::string::npos) << text;
  EXPECT_NE(text.find("is not linearizable"), std::string::npos) << text;
}

TEST(checkable, tell_a_plan_that_does_nothing) {
  for (const auto& [kind, name, plan] : {std::tuple{checked_kind::queue, "ticket_queue", "try_pop | try_pop"},
                                         {checked_kind::map, "map", "find 1 | erase 1"},
                                         {checked_kind::channel, "ring", "close | try_receive"}}) {
    const checker::report result = checked_in_part(with_plan(kind, name, plan), 0);
    ASSERT_TRUE(result.found) << name;
    EXPECT_EQ(result.found->what, fault::unreached) << result.found->text;
  }
}

/// An outcome that the plan makes wrong is no violation of the object.
TEST(checkable, refuse_plans_that_block_themselves_or_bring_nothing_out) {
  const auto expect_refused = [](checked_kind kind, const std::string& name, const std::string& plan,
                                 const std::string& saying) {
    const std::string why = refusal_of(kind, name, plan);
    EXPECT_NE(why.find(saying), std::string::npos) << name << ", " << plan << ": '" << why << "'";
  };
  const auto queue = checked_kind::queue;
  const auto channel = checked_kind::channel;
  const std::string ticket = "ticket_queue";
  expect_refused(queue, ticket, "pop; push 1 |", "'pop' before ';' waits for a value");
  expect_refused(queue, ticket, "push 1, pop, pop; push 2 | push 3", "'pop' before ';' waits for a value");
  expect_refused(channel, "ring", "send 1, send 2; receive | receive", "'send 2' before ';' waits for room");
  expect_refused(channel, "rendezvous", "send 1; receive | receive",
                 "'send 1' before ';' waits for a receiver");
  expect_refused(queue, ticket, "pop, push 1 | try_pop, pop, push 2",
                 "every rank waits for a value before it brings one");
  expect_refused(queue, ticket, "try_pop | try_pop", "nobody pushes");
  expect_refused(queue, ticket, "close | try_pop", "nobody pushes");
  expect_refused(channel, "ring", "|",
                 "nobody sends, so that no message can come out: add 'send 1', as in "
                 "'send 1 | receive'");
  expect_refused(queue, ticket, "close; push 1 | pop", "the queue is closed before anybody pushes");
  expect_refused(queue, ticket, "close, push 1 | pop", "as in 'push 1, close | pop'");
  expect_refused(queue, "spsc_queue", "pop | close, push 1", "as in 'pop | push 1, close'");
  expect_refused(channel, "rendezvous", "send 1, receive", "it takes two ranks");
  expect_refused(channel, "rendezvous", "try_send 1 | try_receive", "two attempts never meet");
  expect_refused(channel, "rendezvous", "send 1 | send 2", "such as 'send 1 | receive'");
  expect_refused(checked_kind::map, "map", "find 1 | erase 1", "nobody inserts");
  expect_refused(checked_kind::map, "map", "update 1 10 | find 1", "nobody inserts");
}

/// Each of these may bring a value out, and none blocks.
TEST(checkable, accept_what_is_like_plans_that_are_refused) {
  const auto expect_right = [](checked_kind kind, const std::string& name, const std::string& plan) {
    EXPECT_EQ(refusal_of(kind, name, plan), "") << name << ", " << plan;
    const checker::report result = checked_in_part(with_plan(kind, name, plan));
    EXPECT_FALSE(result.found) << name << ", " << plan << ": " << result.found->text;
    EXPECT_FALSE(result.reached.empty()) << name << ", " << plan;
  };
  const auto queue = checked_kind::queue;
  const auto channel = checked_kind::channel;
  expect_right(queue, "ticket_queue", "push 1, pop; |");
  expect_right(queue, "ticket_queue", "push 1, close; pop | push 2, pop");
  expect_right(queue, "ticket_queue", "close | push 1");
  expect_right(queue, "ticket_queue", "push 1; try_pop, push 2 | pop");
  expect_right(queue, "spsc_queue", "pop | push 1");
  expect_right(channel, "ring", "close; reopen, send 1 | try_receive");
  expect_right(channel, "ring", "send 1; receive, send 2 |");
  expect_right(channel, "rendezvous", "send 1, close | receive, receive");
  expect_right(channel, "rendezvous", "close, reopen; send 1 | receive");
}

/// In each of these plans some schedules end with ranks that have to wait, as the object should.
TEST(checkable, may_wait_for_what_no_rank_brings) {
  const auto expect_waits = [](checked_kind kind, const std::string& name, const std::string& plan,
                               bool always = false) {
    EXPECT_EQ(refusal_of(kind, name, plan), "") << name << ", " << plan;
    const checker::report result = checked_in_part(with_plan(kind, name, plan));
    EXPECT_EQ(result.found.has_value(), always) << name << ", " << plan;
    if (result.found) {
      EXPECT_EQ(result.found->what, always ? fault::unreached : fault{}) << result.found->text;
    }
    EXPECT_GT(result.waiting, 0U) << name << ", " << plan;
    if (always) {
      EXPECT_EQ(result.waiting, result.executions) << name << ", " << plan;
    }
  };
  for (const checkable& object : checkables(checked_kind::queue))
    if (object.plans && object.is_sound && object.name != "spsc_queue")
      expect_waits(checked_kind::queue, object.name, "push 1, pop | pop, push 2");
  for (const std::string name : {"ring", "parking", "segments.fixed"}) {
    expect_waits(checked_kind::channel, name, "send 1, receive | receive, send 2");
    expect_waits(checked_kind::channel, name, "receive | send 1 | try_receive");
    expect_waits(checked_kind::channel, name, "send 1, send 2 | try_receive");
    expect_waits(checked_kind::channel, name, "send 1, send 2 |", true);
  }
  expect_waits(checked_kind::channel, "rendezvous", "send 1 | send 2 | receive");
  expect_waits(checked_kind::channel, "rendezvous", "send 1 | receive | try_receive");
}

/// A lost wake-up leaves a rank waiting that need not wait.
TEST(checkable, that_lose_a_wake_up_deadlock) {
  const check_case of = with_plan(checked_kind::channel, "parking", "receive | send 1 | try_receive");
  const checker::program what = find_checkable(of.object, of.kind)->program(of);
  checker::options how = options_of(of);
  how.most_steps = 2000;
  int deadlocks = 0;
  for (const checker::mutation& one : mutations_of(what, how, "nearfar/", 20)) {
    if (one.how != checker::change::dropped || one.operation != "wake") continue;
    how.broken = one;
    const checker::report result = check(what, how);
    deadlocks += result.found && result.found->what == fault::deadlock ? 1 : 0;
  }
  EXPECT_GT(deadlocks, 0);
}

TEST(checkable, refuse_what_an_object_cannot_carry_out) {
  EXPECT_EQ(refusal_of(checked_kind::queue, "ticket_queue", "push 1 | try_pop"), "");
  EXPECT_NE(refusal_of(checked_kind::queue, "spsc_queue", "push 1 | try_pop").find("only rank 1 pushes"),
            std::string::npos);
  EXPECT_NE(refusal_of(checked_kind::queue, "spsc_queue", "close | push 1").find("only rank 1 closes"),
            std::string::npos);
  EXPECT_NE(
      refusal_of(checked_kind::channel, "spsc_ring", "send 1 | send 2 | receive").find("only one rank sends"),
      std::string::npos);
  EXPECT_NE(refusal_of(checked_kind::channel, "ticket.mpsc", "send 1 | receive | try_receive")
                .find("only one rank receives, and in this plan ranks 1 and 2"),
            std::string::npos);
  EXPECT_EQ(refusal_of(checked_kind::channel, "ticket.mpsc", "send 1 | send 2 | receive"), "");
  EXPECT_NE(refusal_of(checked_kind::queue, "ticket_queue", "push 1 | push 1").find("value 1 comes twice"),
            std::string::npos);
  EXPECT_NE(refusal_of(checked_kind::queue, "ticket_queue", "push 1 | pop, pop").find("would wait for ever"),
            std::string::npos);
  EXPECT_EQ(refusal_of(checked_kind::queue, "ticket_queue", "push 1, close | pop, pop"), "");
  check_case of = with_plan(checked_kind::queue, "lockfree_queue", "push 1 | try_pop");
  const planned_object& lists = *find_checkable(of.object, of.kind)->plans;
  for (const std::size_t capacity : {0U, 1U, 2U}) {
    of.capacity = capacity;
    EXPECT_EQ(lists.obstacle(parse_plan(of.plan, lists.language), of).empty(), capacity != 1);
  }
}

/// A send and its receive meet, even where a queue of one place would permit more.
TEST(checkable, judge_a_rendezvous_by_who_has_come) {
  const check_case of = with_plan(checked_kind::channel, "rendezvous", "send 1 | receive");
  const checker::program what = find_checkable(of.object, of.kind)->program(of);
  checker::history apart;
  apart.call(0, 0, closable_queue::push, {1});
  apart.returned(0, closable_queue::result_of(queue_status::success));
  apart.call(1, 0, closable_queue::pop, {});
  apart.returned(1, closable_queue::result_of_pop(1));
  ASSERT_TRUE(what.judge(apart).is_wrong());
  EXPECT_NE(what.judge(apart).text->find("before its receiver had come"), std::string::npos);
  checker::history together;
  together.call(0, 0, closable_queue::push, {1});
  together.call(1, 0, closable_queue::pop, {});
  together.returned(1, closable_queue::result_of_pop(1));
  together.returned(0, closable_queue::result_of(queue_status::success));
  EXPECT_FALSE(what.judge(together).text);
}

TEST(checkable, files_and_arguments_keep_plans) {
  check_case of = with_plan(checked_kind::queue, "ticket_queue", "push 1; try_pop | try_pop, push 2");
  of.capacity = 3;
  const recorded_schedule before{.of = of,
                                 .found = {.what = fault::history, .text = "x", .schedule = {{0, 0, 0}}}};
  EXPECT_EQ(parse_schedule(to_text(before, {}), "x.json").of.plan, of.plan);
  check_case expected = of;
  expected.step_limit = usual_step_limit(of);
  EXPECT_EQ(parse_schedule(to_text(before, {}), "x.json").of, expected);
  EXPECT_EQ(
      arguments_of(of),
      "--queues ticket_queue --plan 'push 1; try_pop | try_pop, push 2' --capacity 3 --nodes 2 --mode lazy "
      "--tier exhaustive");
  EXPECT_EQ(shape_text(of), "2 ranks on 2 nodes, plan 'push 1; try_pop | try_pop, push 2', capacity 3");
}

// ---- the judge of queues that can be closed
// ----------------------------------------------------------------

namespace {

checker::linearizability judged(const std::vector<checker::operation>& operations,
                                const closable_queue& initial) {
  checker::history what;
  for (const checker::operation& one : operations) {
    what.call(one.process, 0, one.method, one.arguments, one.called);
    if (one.returned) what.returned(one.process, one.returned->result, one.returned->at);
  }
  return checker::linearizable(what, initial).is_linearizable;
}

checker::operation done(int method, checker::value_list arguments, checker::value_list result,
                        std::uint64_t at) {
  return {
      .method = method, .arguments = arguments, .called = at, .returned = checker::response{result, at + 1}};
}

}  // namespace

TEST(closable_queues, wait_only_where_they_must) {
  using enum queue_status;
  using checker::linearizability;
  const auto pending = [](int method, checker::value_list arguments) {
    return checker::operation{.process = 1, .method = method, .arguments = arguments, .called = 2};
  };
  const checker::operation pushed = done(closable_queue::push, {1}, closable_queue::result_of(success), 1);
  const checker::operation popped = done(closable_queue::try_pop, {}, closable_queue::result_of_pop(1), 4);
  const checker::operation shut = done(closable_queue::close, {}, {}, 6);
  const checker::operation pops = pending(closable_queue::pop, {});
  const checker::operation pushes = pending(closable_queue::push, {2});
  const closable_queue one(1);
  const auto may_wait = [](const std::vector<checker::operation>& all, const closable_queue& initial) {
    checker::history what;
    for (const checker::operation& each : all) {
      what.call(each.process, 0, each.method, each.arguments, each.called);
      if (each.returned) what.returned(each.process, each.returned->result, each.returned->at);
    }
    return checker::may_wait(what, initial);
  };
  EXPECT_EQ(may_wait({pops}, one), linearizability::yes) << "nobody pushed";
  EXPECT_EQ(may_wait({pushed, pops}, one), linearizability::no) << "the value is there";
  EXPECT_EQ(may_wait({pushed, popped, pops}, one), linearizability::yes) << "another took it";
  EXPECT_EQ(may_wait({pushed, pushes}, one), linearizability::yes) << "no room";
  EXPECT_EQ(may_wait({pushed, popped, pushes}, one), linearizability::no) << "room again";
  EXPECT_EQ(may_wait({pushed, pushes}, closable_queue(2)), linearizability::no) << "room for two";
  EXPECT_EQ(may_wait({shut, pops}, one), linearizability::no) << "closed";
  EXPECT_EQ(may_wait({pushed, shut, pushes}, one), linearizability::no) << "closed";
  EXPECT_EQ(may_wait({pending(closable_queue::try_pop, {})}, one), linearizability::no) << "never waits";
  EXPECT_EQ(may_wait({popped, pops}, one), linearizability::no) << "no order explains what returned";
  const closable_queue roomy(closable_queue::unbounded, closable_queue::fullness::said_early, 1);
  EXPECT_EQ(may_wait({pushed, pushes}, roomy), linearizability::yes) << "may have room for one only";
  EXPECT_EQ(may_wait({pushes}, roomy), linearizability::no);
}

TEST(closable_queues, foresee_the_order_of_many_pushes_before_a_wait) {
  using enum queue_status;
  constexpr std::uint64_t count = 10;
  checker::history what;
  for (std::uint64_t i = 1; i <= count; ++i) what.call(static_cast<int>(i), 0, closable_queue::push, {i}, i);
  for (std::uint64_t i = 1; i <= count; ++i)
    what.returned(static_cast<int>(i), closable_queue::result_of(success), count + i);
  for (std::uint64_t i = 0; i < count; ++i) {
    what.call(0, 0, closable_queue::try_pop, {}, 2 * count + 2 * i + 1);
    what.returned(0, closable_queue::result_of_pop(count - i), 2 * count + 2 * i + 2);
  }
  what.call(0, 0, closable_queue::pop, {}, 4 * count + 1);
  EXPECT_EQ(checker::may_wait(what, closable_queue(), {.most_remembered = 1000}),
            checker::linearizability::yes);
}

TEST(closable_queues, are_judged_alone) {
  checker::history what;
  what.call(0, 0, closable_queue::pop, {}, 1);
  what.call(1, 1, closable_queue::pop, {}, 2);
  EXPECT_THROW(static_cast<void>(checker::may_wait(what, closable_queue())), misuse);
}

TEST(judges_of_waits, permit_no_barrier_that_others_never_reach) {
  for (const bool waits_in_operation : {false, true}) {
    checker::program what{.where = locality::single_node(3),
                          .body =
                              [=](engine::world& w, checker::monitor& watch) {
                                engine::world::signal_channel never(w);
                                if (w.rank() == 2) return;
                                if (w.rank() == 1 && waits_in_operation) {
                                  watch.call(0, closable_queue::pop, {});
                                  never.await_signal(2);
                                }
                                w.barrier();
                              },
                          .judge_of_waits = checker::may_wait_by(closable_queue())};
    const checker::report result = check(what, {});
    ASSERT_TRUE(result.found);
    EXPECT_EQ(result.found->what, fault::deadlock) << result.found->text;
  }
}

/// A history that no order explains is that, though a rank waits in the end.
TEST(judges_of_waits, find_a_wrong_history_first) {
  checker::program what{.where = locality::single_node(1),
                        .body =
                            [](engine::world& w, checker::monitor& watch) {
                              watch.call(0, closable_queue::try_pop, {});
                              watch.returned(closable_queue::result_of_pop(1));
                              watch.call(0, closable_queue::pop, {});
                              engine::world::signal_channel never(w);
                              never.await_signal(0);
                            },
                        .judge = checker::linearizable_by(closable_queue())};
  what.judge_of_waits = checker::may_wait_by(closable_queue());
  const checker::report result = check(what, {});
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::history) << result.found->text;
}

TEST(closable_queues, are_fifo_and_lose_nothing) {
  using enum queue_status;
  const auto push = [](std::uint64_t value, std::uint64_t at) {
    return done(closable_queue::push, {value}, closable_queue::result_of(success), at);
  };
  const auto pop = [](std::uint64_t value, std::uint64_t at) {
    return done(closable_queue::try_pop, {}, closable_queue::result_of_pop(value), at);
  };
  const auto says = [](queue_status what, int method, std::uint64_t at) {
    return done(method, method <= closable_queue::push ? checker::value_list{9} : checker::value_list{},
                closable_queue::result_of(what), at);
  };
  const closable_queue one(1);
  const closable_queue two(2);
  const closable_queue early(2, closable_queue::fullness::said_early);
  using checker::linearizability;
  EXPECT_EQ(judged({push(1, 1), push(2, 3), pop(1, 5), pop(2, 7)}, two), linearizability::yes);
  EXPECT_EQ(judged({push(1, 1), push(2, 3), pop(2, 5)}, two), linearizability::no) << "not FIFO";
  EXPECT_EQ(judged({push(1, 1), pop(1, 3), pop(1, 5)}, two), linearizability::no) << "doubled";
  EXPECT_EQ(judged({push(1, 1), says(empty, closable_queue::try_pop, 3)}, two), linearizability::no)
      << "lost";
  EXPECT_EQ(judged({push(1, 1), push(2, 3)}, one), linearizability::no) << "no room";
  EXPECT_EQ(judged({push(1, 1), says(full, closable_queue::try_push, 3)}, one), linearizability::yes);
  EXPECT_EQ(judged({push(1, 1), says(full, closable_queue::try_push, 3)}, two), linearizability::no);
  EXPECT_EQ(judged({push(1, 1), says(full, closable_queue::try_push, 3)}, early), linearizability::yes);
  EXPECT_EQ(judged({push(1, 1), says(full, closable_queue::push, 3)}, early), linearizability::no) << "waits";
  EXPECT_EQ(judged({says(empty, closable_queue::pop, 3)}, two), linearizability::no) << "waits";
  const auto close = [](std::uint64_t at) { return done(closable_queue::close, {}, {}, at); };
  EXPECT_EQ(judged({push(1, 1), close(3), says(closed, closable_queue::push, 5), pop(1, 7),
                    says(closed, closable_queue::pop, 9)},
                   two),
            linearizability::yes);
  EXPECT_EQ(judged({push(1, 1), close(3), says(closed, closable_queue::pop, 5)}, two), linearizability::no)
      << "what was pushed comes first";
  EXPECT_EQ(judged({close(1), push(1, 3)}, two), linearizability::no);
}

}  // namespace nearfar::command
