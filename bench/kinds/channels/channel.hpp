/// \file
/// The channel benchmark: some ranks send a number of messages and the others receive them. They do no other
/// work.
///
/// Source: Laubert 2021, chapter 4: p, c, s, n, b, from a common start until the last message has been
/// received. Ping-pong and latencies are nearfar's additions.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/channels/channel_catalogue.hpp"
#include "bench/latencies.hpp"
#include "bench/results/results.hpp"
#include "bench/timed_benchmark.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::bench {

/// The benchmark's description.
struct channel_benchmark {
  static benchmark statement() {
    constexpr double most_messages = 1e12;
    constexpr double most_capacity = 1e7;
    constexpr double most_receivers = 1e4;
    return {
        .name = "channel",
        .title = "Channel",
        .summary = "messages through a channel, between threads or between ranks of one node",
        .source = "Laubert 2021, chapter 4",
        .kind = &channels(),
        .axes = {{.name = "receivers",
                  .meaning = "Number of receivers, which are the first threads or ranks; all others send",
                  .standard = std::int64_t{1},
                  .least = 1,
                  .most = most_receivers},
                 {.name = "size",
                  .unit = "B",
                  .meaning = "Size of a message: 4, 16, 64, 256, 1024 or 4096 bytes",
                  .standard = std::int64_t{4},
                  .least = 4,
                  .most = 4096},
                 {.name = "messages",
                  .meaning = "Total number of messages",
                  .standard = std::int64_t{100'000},
                  .least = 1,
                  .most = most_messages},
                 {.name = "capacity",
                  .meaning = "Capacity in messages, for strategies with a buffer; 0 is unbuffered",
                  .standard = std::int64_t{10},
                  .most = most_capacity},
                 {.name = "wait",
                  .meaning = "Action of a thread or rank that cannot send or receive",
                  .standard = std::string("sleep"),
                  .choices = {"sleep", "retry"}},
                 {.name = "pattern",
                  .meaning = "Direction of messages: one way, or there and back between the first two",
                  .standard = std::string("stream"),
                  .choices = {"stream", "ping_pong"}}},
        .columns = with_latencies(
            {time_per_message, messages, rate,
             latency_column("latency", "p50", "p50", "Median latency", "median latency of messages"),
             latency_column("latency", "p99", "p99", "99th percentile of latency", "99th percentile"),
             latency_column("latency", "p999", "p999", "99.9th percentile of latency", "99.9th percentile")},
            "latency", "messages", standing::recorded),
        .refuse = refuse};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at,
                                               const heartbeat& beat) {
    const channel_plan plan{.messages = at.whole("messages"),
                            .receivers = static_cast<int>(at.whole("receivers")),
                            .sleeps = at.text("wait") == "sleep",
                            .is_ping_pong = at.text("pattern") == "ping_pong",
                            .beat = beat};
    const auto bytes = static_cast<std::size_t>(at.whole("size"));
    const std::unique_ptr<any_channel<W>> channel = channel_catalogue::instance().find(of.name)->factory<W>()(
        w, 0, {.capacity = static_cast<std::size_t>(at.whole("capacity")), .bytes = bytes});
    const channel_counts mine = channel->run(w, plan);

    sample result;
    result.benchmark = "channel";
    result.kind = channels().name;
    result.object = of.name;
    result.iterations_per_rank = w.gather_to_first(plan.is_ping_pong ? mine.sent : mine.sent + mine.got);
    for (const std::int64_t span : w.gather_to_first(mine.span.count()))
      result.duration = std::max(result.duration, std::chrono::nanoseconds(span));
    const auto sums = w.sum_over_ranks(
        {mine.sent, mine.got, mine.faults, static_cast<std::int64_t>(mine.sum), mine.in_vain});
    result.iterations = sums[1];
    result.counts = {{"bytes", bytes}, {"in_vain", sums[4]}};
    note_latencies(w, result, "latency", mine.latency);
    // Every message was received once, with its first and last word whole, and each receiver got the messages
    // of each sender in order.
    result.verified = sums[0] == plan.messages && sums[1] == plan.messages && sums[2] == 0 && sums[3] == 0;
    return {result};
  }

 private:
  [[nodiscard]] static std::string refuse(const object& of, const point& at, const locality& where) {
    const int ranks = where.size();
    const std::int64_t size = at.whole("size");
    if (std::none_of(message_sizes.begin(), message_sizes.end(),
                     [&](std::size_t each) { return std::cmp_equal(each, size); }))
      return fmt::format("--size must be one of {}, not {}", fmt::join(message_sizes, ", "), size);
    if (where.groups(level::node) > 1) return "a channel connects the ranks of one node: use one node";
    if (ranks < 2) return "a channel needs a sender and a receiver: use 2 ranks or more";
    const auto& most = channel_catalogue::instance().roles_of(of.name);
    if (most.meet && at.text("wait") == "retry")
      return "sender and receiver meet only while one of them waits: use --wait sleep";
    if (at.text("pattern") == "ping_pong") return "";
    const std::int64_t receivers = at.whole("receivers");
    const std::int64_t senders = ranks - receivers;
    if (senders < 1)
      return fmt::format("{} of {} ranks receive and none is left to send: lower --receivers", receivers,
                         ranks);
    if (receivers > most.receivers)
      return fmt::format("it takes {} receiver, not {}", most.receivers, receivers);
    if (senders > most.senders)
      return fmt::format("it takes at most {} sender{}, not {}", most.senders, most.senders > 1 ? "s" : "",
                         senders);
    return "";
  }

  inline static const column time_per_message =
      with_meaning(time_per_acquisition, "median time from one message to the next, or of a round trip");
  inline static const column messages = with_meaning(throughput, "million messages a second");
  inline static const column rate{.name = "rate",
                                  .head = "MB/s",
                                  .title = "Data rate",
                                  .unit = "MB/s",
                                  .meaning = "million bytes of messages a second",
                                  .of = [](const sample& s) -> std::optional<double> {
                                    constexpr double per_ns = 1000;
                                    const double time = s.ns_per_acquisition();
                                    const auto bytes = s.count("bytes");
                                    return time > 0 && bytes ? std::optional(*bytes / time * per_ns)
                                                             : std::nullopt;
                                  }};
};

}  // namespace nearfar::bench
