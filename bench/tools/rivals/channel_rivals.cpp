// The project's channels beside the queues that Debian packages. All run in one loop with pinned threads,
// which verifies the received messages. Built with -DNEARFAR_RIVALS=ON, see docs/channels.md.
#include <atomic_queue/atomic_queue.h>
#include <concurrentqueue/concurrentqueue.h>
#include <fmt/format.h>
#include <oneapi/tbb/concurrent_queue.h>
#include <readerwriterqueue/readerwriterqueue.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::bench {
namespace {

using message = std::uint64_t;
/// A message holds its sender in the upper bits and its number, from 1, in the lower bits.
constexpr unsigned number_bits = 40;

struct setting {
  int producers = 1;
  int consumers = 1;
  std::size_t capacity = 1024;
  std::int64_t messages = 2'000'000;
};

void pin(int index) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    throw std::runtime_error("cannot ask for the cores");
  int left = index % CPU_COUNT(&allowed);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && left-- == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      if (sched_setaffinity(0, sizeof one, &one) != 0) throw std::runtime_error("cannot pin a thread");
      return;
    }
}

/// Repeats the attempt until it succeeds, and yields the core where there may be more threads than cores.
template <typename Attempt>
void persist(const Attempt& attempt) {
  for (int look = 0; !attempt(); ++look)
    if (look >= 32) {
      sched_yield();
      look = 0;
    } else {
      atomic_queue::spin_loop_pause();
    }
}

/// Nanoseconds per message, from the start of the first thread to the end of the last. Throws if a message
/// was lost, duplicated, or out of its producer's order.
template <typename Push, typename Pop>
double time_of(const Push& push, const Pop& pop, const setting& of) {
  using clock = std::chrono::steady_clock;
  const int threads = of.producers + of.consumers;
  std::barrier start(threads);
  std::atomic<std::uint64_t> sum = 0;
  std::atomic<std::int64_t> left = of.messages;
  std::atomic<bool> in_order = true;
  const std::int64_t share = of.messages / of.producers;
  std::vector<clock::time_point> begun(static_cast<std::size_t>(threads));
  std::vector<clock::time_point> ended(static_cast<std::size_t>(threads));
  std::vector<std::jthread> all;
  for (int thread = 0; thread < threads; ++thread)
    all.emplace_back([&, thread] {
      pin(thread);
      std::uint64_t mine = 0;
      start.arrive_and_wait();
      begun[static_cast<std::size_t>(thread)] = clock::now();
      if (thread < of.producers) {
        const message base = static_cast<message>(thread) << number_bits;
        for (std::int64_t i = 1; i <= share; ++i) {
          const message value = base + static_cast<message>(i);
          persist([&] { return push(value); });
          mine += value;
        }
      } else {
        std::vector<message> last(static_cast<std::size_t>(of.producers), 0);
        // Each consumer has a share of its own, so that no word of the loop is written by all of them.
        const int consumer = thread - of.producers;
        const std::int64_t own_share =
            of.messages / of.consumers + (consumer < of.messages % of.consumers ? 1 : 0);
        for (std::int64_t i = 0; i < own_share; ++i) {
          message got = 0;
          persist([&] { return pop(got); });
          message& before = last[got >> number_bits];
          if (got <= before) in_order = false;
          before = got;
          mine -= got;
        }
        left -= own_share;
      }
      ended[static_cast<std::size_t>(thread)] = clock::now();
      sum += mine;
    });
  all.clear();
  if (sum != 0 || left != 0) throw std::runtime_error("messages were lost or doubled");
  if (!in_order) throw std::runtime_error("messages of one producer came out of order");
  const std::chrono::duration<double, std::nano> span =
      *std::max_element(ended.begin(), ended.end()) - *std::min_element(begun.begin(), begun.end());
  return span.count() / static_cast<double>(of.messages);
}

struct contender {
  std::string name;
  std::function<double(const setting&)> run;
  bool is_fifo = true;
};

/// Drives the queue that `make(capacity)` returns, by attempts `push(queue, value)` and `pop(queue, to)`.
template <typename Make, typename Push, typename Pop>
contender adapted(const char* name, Make make, Push push, Pop pop, bool is_fifo = true) {
  const auto run = [=](const setting& of) {
    auto queue = make(of.capacity);
    return time_of([&](message value) { return push(queue, value); },
                   [&](message& to) { return pop(queue, to); }, of);
  };
  return {.name = name, .run = run, .is_fifo = is_fifo};
}

template <typename Queue>
Queue made(std::size_t capacity) {
  return Queue(capacity);
}
template <template <typename, typename> typename Buffer>
contender ours(const char* name) {
  using type = channel<message, Buffer>;
  return adapted(
      name,
      []([[maybe_unused]] std::size_t capacity) {
        if constexpr (type::takes_capacity)
          return type(capacity);
        else
          return type();
      },
      [](type& queue, message value) { return queue.try_send(value) == queue_status::success; },
      [](type& queue, message& to) {
        const received<message> got = queue.try_receive();
        if (got) to = *got;
        return got.has_value();
      });
}

/// Passes a message from one thread to another by a word that says whether a message is present. Each thread
/// sleeps on the word as soon as it has nothing to do; the sender also sleeps until the receiver has the
/// message.
class bare_futex {
 public:
  void give(message value) {
    message_ = value;
    change(1);
    sleep_while(1);
  }
  [[nodiscard]] message take() {
    sleep_while(0);
    const message result = message_;
    change(0);
    return result;
  }

 private:
  void change(std::uint32_t to) {
    has_message_.store(to, std::memory_order_seq_cst);
    nearfar::detail::wake(has_message_, 1, true);
  }
  void sleep_while(std::uint32_t seen) {
    while (has_message_.load(std::memory_order_seq_cst) == seen)
      nearfar::detail::sleep_on(has_message_, seen, std::nullopt, true);
  }

  atomic_cell<std::uint32_t> has_message_{};
  message message_ = 0;
};

constexpr auto push = [](auto& queue, message value) { return queue.push(value); };
constexpr auto bounded_push = [](auto& queue, message value) { return queue.bounded_push(value); };
constexpr auto certain_push = [](auto& queue, message value) { return queue.push(value), true; };
constexpr auto try_push = [](auto& queue, message value) { return queue.try_push(value); };
constexpr auto enqueue = [](auto& queue, message value) { return queue.enqueue(value); };
constexpr auto try_enqueue = [](auto& queue, message value) { return queue.try_enqueue(value); };
constexpr auto pop = [](auto& queue, message& to) { return queue.pop(to); };
constexpr auto try_pop = [](auto& queue, message& to) { return queue.try_pop(to); };
constexpr auto try_dequeue = [](auto& queue, message& to) { return queue.try_dequeue(to); };

template <bool IsSpsc>
contender with_atomic_queue(const char* name) {
  // The value 0 marks an empty place; maximal throughput instead of total order.
  using queue = atomic_queue::AtomicQueueB<message, std::allocator<message>, 0, true, false, IsSpsc>;
  return adapted(
      name, [](std::size_t capacity) { return queue(static_cast<unsigned>(capacity)); }, try_push, try_pop);
}

std::vector<contender> contenders(const std::string& kind) {
  if (kind == "spsc")
    return {ours<spsc_ring>("nearfar spsc_ring"),
            adapted("boost::lockfree::spsc_queue", made<boost::lockfree::spsc_queue<message>>, push, pop),
            adapted("moodycamel::ReaderWriterQueue", made<moodycamel::ReaderWriterQueue<message>>,
                    try_enqueue, try_dequeue),
            with_atomic_queue<true>("atomic_queue, SPSC")};
  if (kind == "meet")
    return {adapted(
                "nearfar rendezvous", [](std::size_t /*capacity*/) { return channel<message, rendezvous>(); },
                [](auto& between, message value) { return between.send(value) == queue_status::success; },
                [](auto& between, message& to) { return to = *between.receive(), true; }),
            adapted(
                "bare futex", [](std::size_t /*capacity*/) { return bare_futex(); },
                [](auto& between, message value) { return between.give(value), true; },
                [](auto& between, message& to) { return to = between.take(), true; })};
  if (kind == "mpmc")
    return {
        ours<ring_buffer>("nearfar ring_buffer"),
        adapted("boost::lockfree::queue, bounded", made<boost::lockfree::queue<message>>, bounded_push, pop),
        adapted(
            "tbb::concurrent_bounded_queue",
            [](std::size_t capacity) {
              tbb::concurrent_bounded_queue<message> queue;
              queue.set_capacity(static_cast<std::ptrdiff_t>(capacity));
              return queue;
            },
            try_push, try_pop),
        with_atomic_queue<false>("atomic_queue")};
  if (kind == "mpsc")
    return {
        ours<segments_of<list_nodes::recycled>::mpsc>("nearfar segments.mpsc"),
        ours<segments_of<list_nodes::recycled>::mpmc>("nearfar segments"),
        adapted("boost::lockfree::queue", made<boost::lockfree::queue<message>>, push, pop),
        adapted(
            "tbb::concurrent_queue",
            [](std::size_t /*capacity*/) { return tbb::concurrent_queue<message>(); }, certain_push, try_pop),
        adapted("moodycamel::ConcurrentQueue", made<moodycamel::ConcurrentQueue<message>>, enqueue,
                try_dequeue, false)};
  throw std::invalid_argument(kind);
}

double quantile(std::vector<double> of, double part) {
  std::sort(of.begin(), of.end());
  return of[static_cast<std::size_t>(part * static_cast<double>(of.size() - 1) + 0.5)];
}

int compare(const std::string& kind, const setting& of, int runs, bool as_json) {
  const std::vector<contender> all = contenders(kind);
  std::vector<std::vector<double>> times(all.size());
  // The contenders alternate, so that other load on the machine affects all alike. The first round warms up.
  for (int round = -1; round < runs; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double time = all[i].run(of);
      if (round >= 0) times[i].push_back(time);
    }
  const double first = quantile(times[0], 0.5);
  if (!as_json)
    fmt::print("{}, {} to {}, {} messages of 8 bytes, capacity {}, {} alternating runs; ns a message\n", kind,
               of.producers, of.consumers, of.messages, of.capacity, runs);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = [&](double part) { return quantile(times[i], part); };
    if (as_json)
      fmt::print("{}\n", nlohmann::json{{"kind", kind},
                                        {"queue", all[i].name},
                                        {"producers", of.producers},
                                        {"consumers", of.consumers},
                                        {"capacity", of.capacity},
                                        {"messages", of.messages},
                                        {"runs", runs},
                                        {"fifo", all[i].is_fifo},
                                        {"ns_per_message", at(0.5)},
                                        {"quartile_1", at(0.25)},
                                        {"quartile_3", at(0.75)}}
                             .dump());
    else
      fmt::print("  {:<36} {:8.1f}  [{:.1f}, {:.1f}]   {:5.2f} x the first's{}\n", all[i].name, at(0.5),
                 at(0.25), at(0.75), at(0.5) / first, all[i].is_fifo ? "" : "   not FIFO");
  }
  return 0;
}

}  // namespace
}  // namespace nearfar::bench

int main(int argc, char** argv) {
  CLI::App app("the project's channels beside the queues of Debian's packages", "nearfar_channel_rivals");
  std::vector<std::string> kinds{"spsc", "mpmc", "mpsc"};
  nearfar::bench::setting of;
  int runs = 31;
  bool as_json = false;
  app.add_option("--kind", kinds,
                 "spsc and mpmc: bounded; mpsc: unbounded; meet: no buffer, waiting threads sleep")
      ->check(CLI::IsMember({"spsc", "mpmc", "mpsc", "meet"}))
      ->delimiter(',');
  app.add_option("--messages", of.messages, "of each run")->check(CLI::Range(1'000, 1'000'000'000));
  app.add_option("--capacity", of.capacity)->check(CLI::Range(2, 1 << 24));
  app.add_option("--producers", of.producers, "spsc and meet have one")->check(CLI::Range(1, 64));
  app.add_option("--consumers", of.consumers, "all but mpmc have one")->check(CLI::Range(1, 64));
  app.add_option("--runs", runs)->check(CLI::Range(1, 1000));
  app.add_flag("--json", as_json, "a line of JSON for each");
  CLI11_PARSE(app, argc, argv);
  of.messages -= of.messages % of.producers;
  try {
    for (const std::string& kind : kinds) {
      const bool has_one_producer = kind == "spsc" || kind == "meet";
      if ((has_one_producer && of.producers != 1) || (kind != "mpmc" && of.consumers != 1)) {
        fmt::print(stderr, "nearfar_channel_rivals: {} is not for {} to {}\n", kind, of.producers,
                   of.consumers);
        return 2;
      }
      nearfar::bench::compare(kind, of, runs, as_json);
    }
  } catch (const std::exception& caught) {
    fmt::print(stderr, "nearfar_channel_rivals: {}\n", caught.what());
    return 1;
  }
  return 0;
}
