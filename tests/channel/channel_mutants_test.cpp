// Channels of every strategy with one operation left out, put off, split or weakened. The checker has to find
// each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nearfar/channel/strategies.hpp"
#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/mutation.hpp"
#include "tests/channel/channel_programs.hpp"
#include "tests/channel/meeting_programs.hpp"
#include "tests/channel/select_programs.hpp"
#include "tests/checker/mutants.hpp"

namespace nearfar::checker::testing {
namespace {

namespace test = nearfar::test;

/// Changes that leave a channel right.
constexpr std::array harmless_in_channels{
    test::harmless{"channel/channel_memory.hpp", "world_->await(", change::relaxed, "who waited looks again"},
    test::harmless{"channel/channel_memory.hpp", "world_->await(", change::unaware, "nothing is far"},
    test::harmless{"channel/channel_memory.hpp", "word.value.load(std::memory_order_acquire) != seen",
                   change::relaxed, "who waited looks again"},
    test::harmless{"channel/event_count.hpp", "event.count.value.load", change::relaxed,
                   "a ring fences before it says empty or full; other buffers may not"},
    // The blanks tell this line, of a rank that registers, from the one of a rank that tells. Frames are
    // taken without a fence.
    test::harmless{"channel/event_count.hpp", "    memory.fence(std::memory_order_seq_cst)", change::dropped,
                   "every buffer fences before it says empty or full", "ring"},
    test::harmless{"channel/event_count.hpp", "    memory.fence(std::memory_order_seq_cst)", change::dropped,
                   "every buffer fences before it says empty or full", "selection"},
    test::harmless{"channel/event_count.hpp", "event.observed.load(", change::relaxed, "nobody observes",
                   "ring"},
    test::harmless{"channel/event_count.hpp", "memory.unpark_all(event.count)", change::fewer,
                   "one sleeps for an event at most, and the others observe it", "selection"},
    test::harmless{"channel/event_count.hpp", "event.count.value.fetch_add", change::split,
                   "who registers after another has read the count finds what that made"},
    test::harmless{"channel/ring_buffer.hpp", "cells_[i].stamp.store", change::postponed,
                   "who comes before waits for the stamp"},
    test::harmless{"channel/ring_buffer.hpp", "stamp.store(of.next_lap", change::postponed, "the same"},
    test::harmless{"channel/ring_buffer.hpp", "stamp.store(position + 1", change::postponed, "the same"},
    test::harmless{"channel/locks.hpp", "holder.store", change::postponed, "only the holder looks"},
    test::harmless{"channel/locked_ring.hpp", "ends.seen_head.store", change::postponed,
                   "only who sends looks"},
    test::harmless{"channel/locked_ring.hpp", "ends.seen_tail.store", change::postponed,
                   "only who receives looks"},
    test::harmless{"channel/spsc_ring.hpp", "ends.limit.store", change::postponed, "only who sends looks"},
    test::harmless{"channel/spsc_ring.hpp", "shown.store", change::dropped, "who has taken it looks again"},
    test::harmless{"channel/spsc_ring.hpp", "shown.store", change::postponed, "only who receives looks"},
    test::harmless{"channel/flagged_ring.hpp", "turns_[i].of.store", change::postponed,
                   "who comes before waits for the flag"},
    test::harmless{"channel/flagged_ring.hpp", "turn(position).store", change::postponed, "the same"},
    test::harmless{"channel/flagged_ring.hpp", "if (tail - ends.head.load", change::relaxed,
                   "a flag says when a place may be written", "flagged"},
    test::harmless{"channel/flagged_ring.hpp", "turns_[i].of.store", change::dropped, "nobody waits to write",
                   "flagged.mpsc"},
    test::harmless{"channel/flagged_ring.hpp", "taken.store(is_there", change::postponed, "the same",
                   "flagged.published.mpsc"},
    test::harmless{"channel/headless_ring.hpp", "reached.store(position + 1", change::dropped,
                   "its owner walks on from an earlier position"},
    test::harmless{"channel/headless_ring.hpp", "reached.store(position + 1", change::postponed, "the same"},
    test::harmless{"channel/headless_ring.hpp", "reached.store(position + 1", change::relaxed,
                   "each rank has a line of its own here"},
    test::harmless{"channel/headless_ring.hpp", "reached.load(", change::relaxed, "the same"},
    test::harmless{"channel/headless_ring.hpp", "mine().sent.load(", change::relaxed, "the same"},
    test::harmless{"channel/headless_ring.hpp", "mine().received.load(", change::relaxed, "the same"},
    test::harmless{"channel/headless_ring.hpp", "here.turn.compare_exchange(at.seen.bits, at.seen.bits ^",
                   change::relaxed,
                   "the mark is in a word of a place, and each message has its own place's order"},
    test::harmless{"channel/lock_free_list.hpp", "made.done.store(0", change::dropped,
                   "counts only where several receive", "lock_free_list.mpsc"},
    test::harmless{"channel/lock_free_list.hpp", "nodes_[first].done.store(1", change::dropped, "the same",
                   "lock_free_list.mpsc"},
    test::harmless{"channel/lock_free_list.hpp", "tail = ends.tail.load(", change::relaxed,
                   "the one receiver reads the nodes' own words", "lock_free_list.mpsc"},
    test::harmless{"channel/lock_free_list.hpp", "at.store(changed(head, to)", change::postponed,
                   "only the one receiver needs the head", "lock_free_list.mpsc"},
    test::harmless{"channel/lock_free_list.hpp", "at.store(changed(head, to)", change::relaxed, "the same",
                   "lock_free_list.mpsc"},
    test::harmless{"channel/locked_list.hpp", "made.next.store", change::postponed,
                   "done before the node hangs on"},
    test::harmless{"channel/locked_list.hpp", "ends.tail.store", change::postponed, "only who sends looks"},
    test::harmless{"channel/locked_list.hpp", "ends.got.store", change::postponed, "only who receives looks"},
    test::harmless{"channel/locked_list.hpp", "ends.seen_sent.store", change::postponed, "the same"},
    test::harmless{"channel/locked_list.hpp", "link.store(mine", change::postponed,
                   "done before it is counted"},
    test::harmless{"channel/locked_list.hpp", "made.next.store", change::dropped,
                   "only a destructor looks further than is counted"},
    test::harmless{"channel/locked_list.hpp", "link.store(none", change::dropped, "the same"},
    test::harmless{"channel/locked_list.hpp", "link.store(none", change::postponed, "the same"},
    test::harmless{"channel/locked_list.hpp", "ends_[0].head.store(first", change::postponed,
                   "done before there is a channel"},
    test::harmless{"channel/closing_gate.hpp", "state().load(std::memory_order_acquire)", change::relaxed,
                   "who sends only looks whether it may as well give up", "list.spsc"},
    test::harmless{"channel/closing_gate.hpp", "state().load(std::memory_order_acquire);  // (12)",
                   change::relaxed, "done under the lock", "spin"},
    test::harmless{
        "channel/closing_gate.hpp", "state().compare_exchange(from, from + steps", change::relaxed,
        "does harm where one that has emptied it opens it again while its sender looks, beyond these "
        "searches; found in checked_channel"},
    test::harmless{"channel/closing_gate.hpp", "state().store(seen", change::postponed,
                   "who comes before waits for it", "list.spsc"},
    test::harmless{"channel/locked_list.hpp", "ends.head.store", change::postponed, "the same"},
    test::harmless{"channel/locked_list.hpp", "ends_[0].tail.store(first", change::postponed,
                   "done before there is a channel"},
    test::harmless{"channel/lock_free_list.hpp", "(at.tail)].next.compare_exchange(", change::relaxed,
                   "of the release sequence of (3), and a mark leads nowhere"},
    test::harmless{"channel/lock_free_list.hpp", "end.load(std::memory_order_acquire))].number",
                   change::relaxed, "counts roughly while others send"},
    test::harmless{"channel/lock_free_list.hpp", "made.done.store", change::postponed,
                   "done before the node hangs on"},
    test::harmless{"channel/lock_free_list.hpp", "nodes_[first].done.store", change::postponed,
                   "done before there is a channel"},
    test::harmless{"channel/lock_free_list.hpp", "nodes_[mine].number.store", change::postponed,
                   "done before who hung on returns"},
    test::harmless{"channel/segment_list.hpp", "nodes_[in].next.store", change::postponed,
                   "who receives waits for it"},
    test::harmless{"channel/select.hpp", "me_->state.value.store", change::postponed,
                   "done before it is told of anything"},
    test::harmless{"channel/waiting_list.hpp", "whom.state.value.compare_exchange", change::relaxed,
                   "a ring fences before it says empty or full; other buffers may not", "selection"},
    test::harmless{"channel/rendezvous.hpp", "mine.own.state.value.store", change::postponed,
                   "done before it is listed"},
    test::harmless{"channel/rendezvous.hpp", "of.is_closed.store", change::postponed,
                   "done before the lock is free"},
    test::harmless{"channel/waiting_list.hpp", "whom_->state.value.store", change::postponed,
                   "who waits does so until it is there"},
    test::harmless{"channel/waiting_list.hpp", "entry.link.whom.store", change::postponed,
                   "done before it is listed"},
    test::harmless{"channel/waiting_list.hpp", "entry.link.number.store", change::postponed, "the same"},
    test::harmless{"channel/waiting_list.hpp", "entry.link.number.store", change::dropped,
                   "all have one entry, of number 0", "rendezvous"},
    test::harmless{"channel/waiting_list.hpp", "whom.state.value.compare_exchange", change::relaxed,
                   "what is told is looked for under the lock", "rendezvous"},
    test::harmless{"channel/waiting_list.hpp", "entry.link.is_listed.store(0", change::dropped,
                   "who was claimed comes back only when a message throws", "rendezvous"},
    test::harmless{"channel/waiting_list.hpp", "entry.link.is_listed.store(0", change::postponed,
                   "done before the lock is free"},
    test::harmless{"channel/segment_list.hpp", "tail.seen.store", change::postponed,
                   "who does not find it looks at the head"},
    test::harmless{"channel/segment_list.hpp", "tail.seen.store", change::dropped, "the same"},
    test::harmless{"channel/segment_list.hpp", "made.taken.store", change::postponed,
                   "done before anybody sees the segment"},
    test::harmless{"channel/segment_list.hpp", "head.in.store", change::postponed,
                   "done before the position moves on"},
    test::harmless{"channel/segment_list.hpp", "head.position.store(at_end", change::postponed,
                   "who receives waits for it"},
    test::harmless{"channel/segment_list.hpp", "head.position.load(std::memory_order_acquire)",
                   change::relaxed, "its own", "segments.mpsc"},
    test::harmless{"channel/segment_list.hpp", "head.position.store(position + 1", change::postponed,
                   "who counts reads it, and nobody else", "segments.mpsc"},
    test::harmless{"channel/segment_list.hpp", "head.position.store(at_end", change::relaxed,
                   "only who counts reads it", "segments.mpsc"},
    test::harmless{"channel/segment_list.hpp", "at.state.store", change::postponed,
                   "who receives waits for it"},
};

/// Harmful changes that show only if much comes together, mostly that a node is recycled between two steps of
/// another rank. That takes too long for these searches. The comments there give the reason for each.
constexpr std::array beyond_these_searches{
    test::harmless{"channel/lock_free_list.hpp", "made.next.store", change::relaxed, "(3)"},
    test::harmless{"channel/lock_free_list.hpp", "made.next.store", change::postponed, "(3)"},
    test::harmless{"channel/lock_free_list.hpp", "ends.tail.compare_exchange", change::split,
                   "a tail that goes back"},
    test::harmless{"channel/lock_free_list.hpp", "end.compare_exchange", change::relaxed,
                   "(3), past a helper"},
    test::harmless{"channel/event_count.hpp", "event.count.value.fetch_add", change::relaxed,
                   "an old look between two new ones, at the count and at who was told"},
    test::harmless{"channel/event_count.hpp", "event.observed.fetch_add(1", change::relaxed,
                   "no program here sees it: the fences around it order what they look at"},
    test::harmless{"channel/segment_list.hpp", "now = tail.position.load", change::relaxed,
                   "full, and then not, and in another segment"},
    test::harmless{"channel/segment_list.hpp", "made.next.store", change::dropped,
                   "segments that come back in another order"},
    test::harmless{"channel/segment_list.hpp", "nodes_[in].next.store", change::relaxed,
                   "an old look at a segment that is in use again", "segments.mpsc"},
    test::harmless{"channel/segment_list.hpp", "state.load(std::memory_order_acquire) != 0", change::relaxed,
                   "no program here sees it: who finds a message takes it by an acquiring operation"},
    test::harmless{"channel/segment_list.hpp", "taken.fetch_add", change::split,
                   "loses a segment now and then"},
};

/// The mutants in the given files of these programs that no search finds.
[[nodiscard]] std::string missed(std::string_view name, const std::vector<program>& programs,
                                 const std::vector<std::string_view>& files,
                                 std::uint64_t most_executions = 10'000) {
  struct place {
    const program* what;
    near_model near;
  };
  std::vector<place> places;
  for (const program& what : programs)
    for (const near_model near : near_models) places.push_back({&what, near});
  std::map<mutation, std::set<std::size_t>> reached_in;  // the places of which a few executions reach it
  for (std::size_t i = 0; i < places.size(); ++i)
    for (const mutation& one : mutations_of(*places[i].what, by(places[i].near), "nearfar/channel/", 50))
      if (std::any_of(files.begin(), files.end(),
                      [&](std::string_view file) { return one.where.file.ends_with(file); }))
        reached_in[one].insert(i);
  struct effort {
    search by;
    std::uint64_t executions;
    std::uint64_t seed;
  };
  // Some place finds most mutants soon at random. So all places are searched a little before any is searched
  // for twice as long, by another seed.
  std::vector<effort> efforts{{search::random, 200, 1}};
  while (efforts.back().executions < most_executions)
    efforts.push_back(
        {search::random, std::min(2 * efforts.back().executions, most_executions), efforts.back().seed + 1});
  efforts.push_back({search::exhaustive, most_executions, 1});
  const auto is_found = [&](const mutation& one, const place& in, const effort& spent) {
    options how = by(in.near);
    how.by = spent.by;
    how.seed = spent.seed;
    how.broken = one;
    how.most_executions = spent.executions;
    how.most_steps = 3000;
    return check(*in.what, how).found.has_value();
  };
  // Places that seldom reach it come last: they take as long as the others, and show less.
  const auto is_caught = [&](const mutation& one, const std::set<std::size_t>& reached) {
    for (const bool among_reached : {true, false})
      for (const effort& spent : efforts)
        for (std::size_t i = 0; i < places.size(); ++i)
          if (reached.contains(i) == among_reached && is_found(one, places[i], spent)) return true;
    return false;
  };
  EXPECT_GT(reached_in.size(), 3U);
  std::string result;
  for (const auto& [one, reached] : reached_in)
    if (!test::is_known_harmless(harmless_in_channels, std::string(name), one) &&
        !test::is_known_harmless(beyond_these_searches, std::string(name), one) && !is_caught(one, reached))
      result += one.text() + ": " + test::line_at(one.where) + "\n";
  return result;
}

/// Programs for all strategies, as far as they allow several senders or receivers. There are enough messages
/// for every place to be used twice.
[[nodiscard]] std::vector<program> programs_of(std::string_view name, std::size_t capacity,
                                               word recycling = 5) {
  const strategy& of = strategy_named(name);
  std::vector<program> result;
  for (const plan& of_ranks : {plan{{1}, {get}, {get}}, plan{{1, 2, 3}, {get}, {4}}, plan{{1, 2}, {get, get}},
                               plan{{1, get}, {2, get}}})
    if (may_do(of, of_ranks)) result.push_back(attempts(of, capacity, of_ranks));
  result.push_back(streams(of, 1, 1, 1, 3, false));
  if (!of.has_one_receiver) result.push_back(streams(of, 1, 1, 2, 2, true));
  if (!of.has_one_receiver && !of.has_one_sender) result.push_back(streams(of, 2, 2, 2, 2, false));
  if (of.has_one_receiver && !of.has_one_sender) result.push_back(streams(of, 2, 2, 1, 2, false));
  result.push_back(streams(of, 1, 1, 1, recycling, false));
  result.push_back(closing(of));
  for (const plan& of_ranks : closing_plans)
    if (of.has_one_sender && may_do(of, of_ranks)) result.push_back(closings(of, capacity, of_ranks));
  return result;
}

/// One rank fills the channel and another makes room, so that an old look says that it is still full.
[[nodiscard]] program fills(std::string_view name) {
  return attempts(strategy_named(name), 1, {{1, 2, 3}, {get, get}});
}

using files = std::vector<std::string_view>;
const files lock_files{"channel/locks.hpp"};
constexpr std::size_t room = 8;

TEST(broken_channel, is_caught_in_every_operation) {
  EXPECT_EQ(missed("ring", programs_of("ring_buffer", 2),
                   {"channel/channel.hpp", "channel/channel_memory.hpp", "channel/event_count.hpp",
                    "channel/ring_buffer.hpp"}),
            "");
}
TEST(broken_channel, with_spin_locks) {
  EXPECT_EQ(missed("spin", programs_of("ring_of_spin_mpmc", 1),
                   {"channel/locks.hpp", "channel/locked_ring.hpp", "channel/closing_gate.hpp"}),
            "");
}
TEST(broken_channel, with_published_locks) {
  EXPECT_EQ(missed("spin.published", programs_of("ring_of_published_spin_mpmc", 1), lock_files), "");
  EXPECT_EQ(missed("ticket.published", programs_of("ring_of_published_ticket_mpmc", 1), lock_files), "");
}
TEST(broken_channel, with_ticket_locks) {
  EXPECT_EQ(missed("ticket", programs_of("ring_of_ticket_mpmc", 1), lock_files), "");
}
TEST(broken_channel, with_partitioned_ticket_locks) {
  EXPECT_EQ(missed("partitioned_ticket", programs_of("ring_of_partitioned_ticket_mpmc", 1), lock_files), "");
}
TEST(broken_channel, with_parking_locks) {
  EXPECT_EQ(missed("parking", programs_of("ring_of_parking_mpmc", 1), lock_files), "");
}
TEST(broken_channel, from_one_to_one) {
  EXPECT_EQ(
      missed("spsc_ring", programs_of("spsc_ring", 1), {"channel/spsc_ring.hpp", "channel/closing_gate.hpp"}),
      "");
}
TEST(broken_channel, as_a_mailbox) {
  EXPECT_EQ(missed("mailbox", programs_of("mailbox", 1), {"channel/mailbox.hpp"}), "");
  EXPECT_EQ(missed("spin.mailbox", programs_of("ring_of_spin_mailbox", 1), {"channel/mailbox.hpp"}), "");
}
TEST(broken_channel, as_a_mailbox_of_two_flags) {
  EXPECT_EQ(missed("two_flag_mailbox", programs_of("two_flag_mailbox", 1), {"channel/mailbox.hpp"}), "");
}
TEST(broken_channel, without_head_and_tail) {
  EXPECT_EQ(missed("headless", programs_of("headless_ring", 2), {"channel/headless_ring.hpp"}), "");
}
TEST(broken_channel, with_published_flags) {
  EXPECT_EQ(missed("flagged.published.mpsc", programs_of("flagged_by_binary_mpsc", 1),
                   {"channel/flagged_ring.hpp"}),
            "");
}
TEST(broken_channel, as_a_list_without_locks_for_one_receiver) {
  EXPECT_EQ(
      missed("lock_free_list.mpsc", programs_of("lock_free_list_mpsc", room), {"channel/lock_free_list.hpp"}),
      "");
}
TEST(broken_channel, with_flags) {
  EXPECT_EQ(missed("flagged", programs_of("flagged_by_single_mpmc", 2), {"channel/flagged_ring.hpp"}), "");
  EXPECT_EQ(missed("flagged.mpsc", programs_of("flagged_by_twofold_mpsc", 1), {"channel/flagged_ring.hpp"}),
            "");
}
TEST(broken_channel, as_a_list) {
  EXPECT_EQ(missed("list", programs_of("list_of_ticket_mpmc", room),
                   {"channel/locked_list.hpp", "channel/list_nodes.hpp"}),
            "");
  EXPECT_EQ(missed("list.spsc", programs_of("spsc_list", room),
                   {"channel/locked_list.hpp", "channel/closing_gate.hpp"}),
            "");
}
TEST(broken_channel, as_a_list_without_locks) {
  EXPECT_EQ(missed("lock_free_list", programs_of("lock_free_list", room), {"channel/lock_free_list.hpp"}),
            "");
}
TEST(broken_channel, as_a_list_of_segments) {
  // Executions are long until all segments have been used several times.
  constexpr std::uint64_t few = 2000;
  std::vector<program> several = programs_of("segments_of_2_mpmc", room, 14);
  several.push_back(streams(strategy_named("segments_of_2_mpmc"), 1, 2, 1, 7, false));
  several.push_back(streams(strategy_named("segments_of_2_mpmc"), 1, 1, 2, 14, false));
  several.push_back(fills("segments_of_2_mpmc"));
  EXPECT_EQ(missed("segments", several, {"channel/segment_list.hpp"}, few), "");
  std::vector<program> to_one = programs_of("segments_of_2_mpsc", room, 14);
  to_one.push_back(fills("segments_of_2_mpsc"));
  EXPECT_EQ(missed("segments.mpsc", to_one, {"channel/segment_list.hpp"}, few), "");
}
TEST(broken_channel, as_a_rendezvous) {
  const strategy& of = strategy_named("rendezvous");
  EXPECT_EQ(missed("rendezvous",
                   {meetings(of, 1, 2), meetings(of, 2, 2), impatience(of, 1, 1), impatience(of, 2, 1),
                    impatience(of, 1, 2), streams(of, 0, 1, 2, 2, true), streams(of, 0, 2, 2, 2, false),
                    closing(of), parting(of)},
                   {"channel/rendezvous.hpp", "channel/waiting_list.hpp"}),
            "");
}
TEST(broken_channel, in_a_selection) {
  using met = tested<rendezvous>;
  using ring = tested<ring_buffer>;
  using lone = tested<spsc_ring>;
  const std::vector<selections> crossed{{{1, get}}, {{get, 2}}};
  const std::vector<selections> three{{{1, 2}}, {{get, get}}, {{get, 3}}};
  EXPECT_EQ(
      missed("selection",
             {choices_of_two<ring, ring>(2), choices_of_two<met, met>(2), choices_of_two<ring, met>(2),
              choice_beside_a_receiver<ring, ring>(), choice_beside_a_receiver<met, met>(),
              choice_of_messages<lone, lone>(2), choices<met, met>(crossed), choices<ring, met>(crossed),
              choices<met, met>(three, true), choices<ring, met>(three, true),
              choices<ring, ring>(three, true), choice_among_closed<met, met>()},
             {"channel/select.hpp", "channel/event_count.hpp", "channel/rendezvous.hpp",
              "channel/waiting_list.hpp"},
             4000),
      "");
}
[[nodiscard]] std::vector<program> range_programs_of(std::string_view name) {
  const strategy& of = strategy_named(name);
  std::vector<program> result{range_streams(of, 1, 1, 1, 3), range_streams(of, 2, 1, 1, 5),
                              range_closing(of, 1), range_closing(of, 2)};
  if (!of.has_one_receiver) result.push_back(range_streams(of, 3, 1, 2, 3));
  if (!of.has_one_sender) result.push_back(range_streams(of, 2, 2, 1, 3));
  if (!of.has_one_sender) result.push_back(attempts(of, 1, {{1, get}, {2, get}, {3}}));
  return result;
}
TEST(broken_channel, in_ranges) {
  EXPECT_EQ(
      missed("ring", range_programs_of("ring_buffer"), {"channel/channel.hpp", "channel/event_count.hpp"}),
      "");
  EXPECT_EQ(missed("spin", range_programs_of("ring_of_spin_mpmc"),
                   {"channel/locked_ring.hpp", "channel/closing_gate.hpp"}),
            "");
}
TEST(broken_channel, of_frames) {
  const strategy& of = strategy_named("ring_buffer");
  EXPECT_EQ(missed("frames",
                   {of.frame_streams(1, 1, 1, 3, false), of.frame_streams(1, 2, 1, 2, false),
                    of.frame_streams(2, 2, 1, 3, false), of.frame_streams(1, 1, 2, 2, true),
                    of.frame_closing(1), of.frame_closing(2)},
                   {"channel/byte_channel.hpp", "channel/list_nodes.hpp"}),
            "");
}

}  // namespace
}  // namespace nearfar::checker::testing
