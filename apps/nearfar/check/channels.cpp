// The registered strategies of channels in the model checker, each of which is compiled here for its world.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/check/checkable.hpp"
#include "apps/nearfar/check/fifo_plan.hpp"
#include "bench/kinds/channels/channel_catalogue.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/checker/linearizability.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::command {

namespace {

using bench::whole_port;
using checker::closable_queue;
using message = whole_port::value_type;
using checker::history;

/// A channel is called by the names of its own operations.
class channel_specification : public closable_queue {
 public:
  using closable_queue::closable_queue;
  [[nodiscard]] static std::string_view name(int method) noexcept {
    constexpr std::array<std::string_view, 6> names{"try_send", "send",  "try_receive",
                                                    "receive",  "close", "reopen"};
    return names.at(static_cast<std::size_t>(method));
  }
};

constexpr std::array channel_operations_of_plans{
    plan_word{"send", closable_queue::push, "V"}, plan_word{"try_send", closable_queue::try_push, "V"},
    plan_word{"receive", closable_queue::pop},    plan_word{"try_receive", closable_queue::try_pop},
    plan_word{"close", closable_queue::close},    plan_word{"reopen", closable_queue::reopen}};
constexpr plan_language channel_language{"channel", channel_operations_of_plans};
constexpr fifo_words channel_words{"channel", "message", "sends", "receives", "send", "receive"};

/// A strategy as it is made between the ranks of a node.
struct checked_strategy {
  std::string_view name;
  bench::port_maker<engine::world, whole_port> make;
  /// An end without a lock, so its callers fence their calls.
  bool tells_late;
  /// Nodes that are on their way back are not there.
  bool says_full_early;
};

template <template <typename, typename> typename Buffer>
constexpr checked_strategy strategy_of(std::string_view name, bool says_full_early = false) {
  return {name, bench::detail::make_port<engine::world, whole_port, Buffer>,
          nearfar::detail::tells_late<Buffer<node_memory<engine::world>, message>>, says_full_early};
}

using namespace channel_lock;
using list_nodes::fixed;
constexpr std::array checked_strategies{
    strategy_of<ring_buffer>("ring"),
    strategy_of<spsc_ring>("spsc_ring"),
    strategy_of<ring_of<spin>::mpmc>("spin"),
    strategy_of<ring_of<spin>::mpsc>("spin.mpsc"),
    strategy_of<ring_of<published_spin>::mpmc>("spin.published"),
    strategy_of<ring_of<published_spin>::mpsc>("spin.published.mpsc"),
    strategy_of<ring_of<ticket>::mpmc>("ticket"),
    strategy_of<ring_of<ticket>::mpsc>("ticket.mpsc"),
    strategy_of<ring_of<published_ticket>::mpmc>("ticket.published"),
    strategy_of<ring_of<published_ticket>::mpsc>("ticket.published.mpsc"),
    strategy_of<ring_of<partitioned_ticket>::mpmc>("partitioned_ticket"),
    strategy_of<ring_of<partitioned_ticket>::mpsc>("partitioned_ticket.mpsc"),
    strategy_of<ring_of<parking>::mpmc>("parking"),
    strategy_of<ring_of<parking>::mpsc>("parking.mpsc"),
    strategy_of<flagged_by<flags::twofold>::mpmc>("flagged"),
    strategy_of<flagged_by<flags::twofold>::mpsc>("flagged.mpsc"),
    strategy_of<flagged_by<flags::single>::mpmc>("flagged.single"),
    strategy_of<flagged_by<flags::binary>::mpmc>("flagged.published"),
    strategy_of<flagged_by<flags::binary>::mpsc>("flagged.published.mpsc"),
    strategy_of<headless_ring>("headless"),
    strategy_of<list_of<ticket, fixed>::mpmc>("ticket_list.fixed", true),
    strategy_of<list_of<spin, fixed>::mpmc>("spin_list.fixed", true),
    strategy_of<lock_free_list_of<fixed>::mpmc>("lock_free_list.fixed", true),
    strategy_of<lock_free_list_of<fixed>::mpsc>("lock_free_list.fixed.mpsc", true),
    strategy_of<segments_of<fixed>::mpmc>("segments.fixed", true),
    strategy_of<rendezvous>("rendezvous"),
};

const checked_strategy* find_strategy(std::string_view name) {
  const auto found = std::find_if(checked_strategies.begin(), checked_strategies.end(),
                                  [&](const checked_strategy& one) { return one.name == name; });
  return found == checked_strategies.end() ? nullptr : &*found;
}

/// Why the checker cannot have it.
std::string absence_of(const std::string& name) {
  if (find_strategy(name) != nullptr) return "";
  if (name.starts_with("mutex") || name.starts_with("pthread_"))
    return "it waits in a lock of the system, which the checker cannot observe";
  std::string fixed_form = name.substr(0, name.find('.')) + ".fixed";
  if (name.ends_with(".mpsc") && find_strategy(fixed_form + ".mpsc") != nullptr) fixed_form += ".mpsc";
  return fmt::format(
      "its nodes are in the heap of one process, and the checker has ranks of a node; check "
      "'{}', which has as many nodes as its capacity",
      fixed_form);
}

bool meets(const std::string& name) { return bench::channel_catalogue::instance().roles_of(name).meet; }

fifo_roles channel_roles(const std::string& name) {
  const bench::channel_roles& of = bench::channel_catalogue::instance().roles_of(name);
  return {.has_one_pusher = of.senders == 1, .has_one_popper = of.receivers == 1};
}

std::uint64_t number_in(const message& of) {
  if (of != message{of[0], of[0], of[0]}) throw error("a message is torn");
  return of[0];
}

checker::value_list call_channel(whole_port& channel, const checker::planned_operation& what) {
  const auto message_of = [&] { return message{what.arguments[0], what.arguments[0], what.arguments[0]}; };
  const auto result_of = [](const received<message>& got) {
    return got ? closable_queue::result_of_pop(number_in(*got)) : closable_queue::result_of(got.status());
  };
  switch (what.method) {
    case closable_queue::try_push:
      return closable_queue::result_of(channel.try_send(message_of()));
    case closable_queue::push:
      return closable_queue::result_of(channel.send(message_of()));
    case closable_queue::try_pop:
      return result_of(channel.try_receive());
    case closable_queue::pop:
      return result_of(channel.receive());
    case closable_queue::close:
      channel.close();
      return {};
    default:
      channel.reopen();
      return {};
  }
}

/// A rank's end of a channel.
struct channel_end {
  engine::world* of;
  std::unique_ptr<whole_port> port;
  bool is_fenced;

  [[nodiscard]] checker::value_list call(const checker::planned_operation& what) const {
    if (is_fenced) of->fence(std::memory_order_seq_cst);
    checker::value_list result = call_channel(*port, what);
    if (is_fenced) of->fence(std::memory_order_seq_cst);
    return result;
  }
};

bool closes_or_opens(const checker::object_plan& plan) {
  const auto does = [](const checker::planned_operation& one) {
    return one.method == closable_queue::close || one.method == closable_queue::reopen;
  };
  return std::any_of(plan.before.begin(), plan.before.end(), does) ||
         std::any_of(plan.of_ranks.begin(), plan.of_ranks.end(),
                     [&](const auto& part) { return std::any_of(part.begin(), part.end(), does); });
}

/// A message that was sent before its receiver came: ranks that meet do so at one time.
std::optional<std::string> lonely_message(const history& what) {
  for (const checker::operation& sent : what.operations())
    for (const checker::operation& got : what.operations())
      if (got.returned && closable_queue::brings_value(got.returned->result) && !sent.arguments.empty() &&
          got.returned->result[1] == sent.argument(0) && sent.precedes(got))
        return fmt::format("message {} was sent before its receiver had come:\n{}", sent.argument(0),
                           what.text(checker::names_of<channel_specification>()));
  return std::nullopt;
}

/// Whether one rank waits to send and another to receive.
bool two_could_meet(const history& what) {
  const auto waits = [&](int method) {
    const auto all = what.operations();
    return std::any_of(all.begin(), all.end(), [&](const checker::operation& one) {
      return one.is_pending() && one.method == method;
    });
  };
  return waits(closable_queue::push) && waits(closable_queue::pop);
}

std::size_t channel_capacity(const check_case& of) {
  if (meets(of.object)) return 0;
  return of.capacity == 0 ? 1 : of.capacity;
}

checker::program channel_program(const check_case& of, const checked_strategy& strategy) {
  const checker::object_plan plan = parse_plan(of.plan, channel_language);
  const std::size_t capacity = channel_capacity(of);
  const bool is_fenced = strategy.tells_late || closes_or_opens(plan);
  const auto make = [make = strategy.make, capacity, is_fenced](engine::world& w) {
    return std::make_unique<channel_end>(channel_end{&w, make(w, capacity), is_fenced});
  };
  checker::program result = fifo_program(
      locality_of(of), plan, channel_roles(of.object), checker::names_of<channel_specification>(), make,
      [](const channel_end& end, const checker::planned_operation& what) { return end.call(what); });
  constexpr std::size_t bytes_for_a_message = 256;
  result.bytes += bytes_for_a_message * capacity;
  const bool meet = meets(of.object);
  const auto full = strategy.says_full_early || meet ? closable_queue::fullness::said_early
                                                     : closable_queue::fullness::exact;
  const channel_specification expected(std::max<std::size_t>(capacity, 1), full, capacity);
  result.judge_of_waits = [may_wait = checker::may_wait_by(expected), meet](const history& what) {
    if (meet && two_could_meet(what))
      return checker::judgement(
          std::optional<std::string>("a rank that sends and one that receives wait, and could meet"));
    return may_wait(what);
  };
  result.judge = [judge = checker::linearizable_by(expected),
                  meet](const history& what) -> checker::judgement {
    checker::judgement said = judge(what);
    if (said.is_wrong() || !meet) return said;
    // Such a message is wrong, whatever a queue would permit.
    checker::judgement met = lonely_message(what);
    return met.is_wrong() ? met : said;
  };
  return result;
}

checker::object_plan usual_channel_plan(const std::string& name, int ranks) {
  if (!meets(name)) return usual_fifo_plan(ranks, channel_roles(name));
  // Attempts alone never meet: the last rank waits for all others.
  checker::object_plan plan;
  plan.of_ranks.resize(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank + 1 < ranks; ++rank) {
    plan.of_ranks[static_cast<std::size_t>(rank)].push_back(
        {closable_queue::push, {static_cast<std::uint64_t>(rank) + 1}});
    plan.of_ranks.back().push_back({closable_queue::pop});
  }
  return plan;
}

checkable checkable_channel(const bench::channel_entry& entry) {
  checkable result{.kind = checked_kind::channel,
                   .name = entry.name,
                   .family = entry.family(),
                   .one_node_only = true,
                   .is_sound = entry.is_sound(),
                   .absent = absence_of(entry.name)};
  const checked_strategy* const strategy = find_strategy(entry.name);
  if (strategy == nullptr) return result;
  result.program = [strategy](const check_case& of) { return channel_program(of, *strategy); };
  // Of two that wait for the only place the later may be let in first.
  constexpr std::string_view overtaking_plan =
      "try_send 1, try_send 2 | try_send 3, try_send 4 | try_receive, try_receive | try_receive, try_receive";
  result.plans = planned_object{
      .language = channel_language,
      .takes_capacity = !meets(entry.name),
      .usual_plan = [name = entry.name](int ranks, int /*home*/) { return usual_channel_plan(name, ranks); },
      .telling_plan = entry.is_sound() ? "" : std::string(overtaking_plan),
      .obstacle =
          [name = entry.name](const checker::object_plan& plan, const check_case& of) {
            return obstacle(plan, channel_roles(name), channel_words, channel_capacity(of));
          }};
  return result;
}

}  // namespace

std::vector<checkable> make_channels() {
  std::vector<checkable> all;
  for (const bench::channel_entry& entry : bench::channel_catalogue::instance().entries())
    all.push_back(checkable_channel(entry));
  return all;
}

}  // namespace nearfar::command
