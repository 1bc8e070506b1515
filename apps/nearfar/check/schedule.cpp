#include "apps/nearfar/check/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <type_traits>
#include <utility>

#include "apps/nearfar/shared/regular_file.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::command {

namespace {

using checker::fault;

constexpr std::size_t most_columns = 110;

/// The words of a text in lines of at most `columns`, each after `indent`.
std::string wrapped_words(std::string_view text, std::string_view indent, std::size_t columns) {
  std::string result;
  std::string current(indent);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (current.size() > indent.size() && current.size() + 1 + word.size() > columns) {
      result += current + "\n";
      current = indent;
    }
    if (current.size() > indent.size()) current += ' ';
    current += word;
    at = end + 1;
  }
  return result + current + "\n";
}

/// The same of each line of a text that is too long, as far to the right as it is there; others stay, and so
/// do columns.
std::string wrapped_lines(std::string_view text, std::string_view indent, std::size_t columns) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t deeper = std::min(line.find_first_not_of(' '), line.size());
    if (indent.size() + line.size() <= columns)
      result += fmt::format("{}{}\n", indent, line);
    else
      result += wrapped_words(line.substr(deeper), std::string(indent) + std::string(deeper, ' '), columns);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return result;
}

/// An operation of a plan, from the step that calls it to the one that returns.
struct shown_operation {
  int rank = 0;
  std::size_t called = 0;
  std::size_t returned = 0;  ///< 0: it is pending
  std::string call{};
  std::string result{};
};

std::vector<shown_operation> operations_in(const checker::replayed& shown) {
  constexpr std::string_view call = "CALL ";
  constexpr std::string_view result = " -> ";
  std::vector<shown_operation> all;
  for (std::size_t i = 0; i < shown.steps.size(); ++i) {
    const checker::shown_step& step = shown.steps[i];
    if (step.operation.starts_with(call))
      all.push_back({.rank = step.taken.rank, .called = i + 1, .call = step.operation.substr(call.size())});
    if (!step.operation.starts_with("RETURN ")) continue;
    const auto last = std::find_if(all.rbegin(), all.rend(),
                                   [&](const shown_operation& one) { return one.rank == step.taken.rank; });
    if (last == all.rend()) continue;
    last->returned = i + 1;
    last->result = step.operation.substr(step.operation.find(result) + result.size());
  }
  return all;
}

/// The operations of all ranks in order of call, with what they returned.
std::string operations_text(const checker::replayed& shown) {
  if (shown.steps.empty()) return "";
  std::string text = "\n  Operations, from one step to another:\n";
  for (const shown_operation& one : operations_in(shown))
    text += one.returned == 0 ? fmt::format("  rank {}  [{:>3}, ...]  {} has not returned\n", one.rank,
                                            one.called, one.call)
                              : fmt::format("  rank {}  [{:>3}, {:>3}]  {} -> {}\n", one.rank, one.called,
                                            one.returned, one.call, one.result);
  return text;
}

/// A member of an object, or an error that names it.
template <typename Value>
Value member(const nlohmann::json& object, const char* name, const std::string& file) {
  const auto found = object.find(name);
  if (found == object.end()) throw error(fmt::format("'{}' is no schedule: '{}' is missing", file, name));
  // A number with a fraction would be cut, one that is too large would wrap around.
  if constexpr (std::is_same_v<Value, bool>) {
    if (found->is_boolean()) return found->get<bool>();
  } else if constexpr (std::is_integral_v<Value>) {
    if (found->is_number_unsigned()
            ? std::in_range<Value>(found->get<std::uint64_t>())
            : found->is_number_integer() && std::in_range<Value>(found->get<std::int64_t>()))
      return found->get<Value>();
  } else if (std::is_same_v<Value, std::string> ? found->is_string() : found->is_array()) {
    return found->get<Value>();
  }
  throw error(fmt::format("'{}' is no schedule: '{}' cannot be {}", file, name, found->dump().substr(0, 40)));
}

template <typename Value, std::size_t Count>
Value named_member(const nlohmann::json& object, const char* name, const value_names<Value, Count>& names,
                   const std::string& file) {
  const auto text = member<std::string>(object, name, file);
  if (const auto value = value_in(names, text)) return *value;
  throw error(fmt::format("'{}' is no schedule: '{}' cannot be '{}'", file, name, text));
}

void parse_acquisitions(const nlohmann::json& object, const std::string& file, check_case& to) {
  to.acquisitions = member<int>(object, "acquisitions", file);
  // Older files lack this member.
  if (object.contains("readers")) to.readers = member<int>(object, "readers", file);
  to.try_first = member<bool>(object, "try_first", file);
  to.max_local_passes = member<int>(object, "max_local_passes", file);
}

void parse_plan_members(const nlohmann::json& object, const std::string& file, check_case& to) {
  to.plan = member<std::string>(object, "plan", file);
  to.capacity = member<std::size_t>(object, "capacity", file);
}

check_case parse_case(const nlohmann::json& object, const std::string& file) {
  check_case of;
  int kinds = 0;
  for (const checked_kind kind : checked_kinds) {
    if (!object.contains(name(kind))) continue;
    of.kind = kind;
    ++kinds;
  }
  if (kinds != 1)
    throw error(fmt::format(
        "'{}' is no schedule: it must have one of 'lock', 'queue', 'map' and 'channel', and has {}", file,
        kinds));
  of.object = member<std::string>(object, std::string(name(of.kind)).c_str(), file);
  of.ranks = member<int>(object, "ranks", file);
  of.nodes = member<int>(object, "nodes", file);
  // Files have this member only if there are islands.
  if (object.contains("nodes_per_island"))
    of.nodes_per_island = member<int>(object, "nodes_per_island", file);
  of.home = member<int>(object, "home", file);
  if (of.kind == checked_kind::lock)
    parse_acquisitions(object, file, of);
  else
    parse_plan_members(object, file, of);
  of.mode = named_member(object, "mode", mode_names, file);
  of.near = named_member(object, "near", near_names, file);
  of.conflict = named_member(object, "conflicts", conflict_names, file);
  if (object.contains("crashes")) of.crashes = member<int>(object, "crashes", file);
  if (object.contains("early_wakes")) of.early_wakes = member<int>(object, "early_wakes", file);
  const auto promised = parse_promises(member<std::string>(object, "promises", file));
  if (!promised) throw error(fmt::format("'{}' is no schedule: 'promises' names an unknown one", file));
  of.promised = *promised;
  of.tier = named_member(object, "tier", tier_names, file);
  of.step_limit = member<std::size_t>(object, "step_limit", file);
  of.seed = member<std::uint64_t>(object, "seed", file);
  of.depth = member<int>(object, "depth", file);
  if (const std::string why = obstacle(of); !why.empty())
    throw error(fmt::format("'{}' is no schedule that can be replayed: {}", file, why));
  return of;
}

}  // namespace

std::string_view meaning(fault what) noexcept {
  switch (what) {
    case fault::exclusion:
      return "two ranks are in the critical section at once";
    case fault::order:
      return "a rank is in the critical section but need not see the writes of the holder before it: a "
             "release or an acquire is missing";
    case fault::deadlock:
      return "ranks wait and no rank can end their wait: a deadlock, or a lost wake-up";
    case fault::livelock:
      return "more steps than any correct run takes: a loop does not wait through its world, or --step-limit "
             "is too low";
    case fault::bypass:
      return "a waiting rank is overtaken more often than the lock promises";
    case fault::incomplete:
      return "an RMA operation was never flushed, so that MPI may delay it for ever";
    case fault::origin:
      return "a buffer was changed or went out of scope while an RMA operation could still use it";
    case fault::poison:
      return "the result of an RMA operation was used before its flush";
    case fault::conflict:
      return "accesses to a word race, and MPI leaves the result undefined: a write, in place or by put, "
             "came before the flush of an earlier write had returned, even if its value was seen "
             "('--conflicts enact' shows possible consequences)";
    case fault::race:
      return "two ranks access a cell without atomicity, one of them writes, and nothing orders the two "
             "accesses: undefined";
    case fault::torn:
      return "words of several values were taken for one value: a reader did not notice that others were "
             "writing";
    case fault::gone:
      return "a rank uses memory of a pool that the pool has not lent to it, or has back already";
    case fault::history:
      return "no order of the operations, one after another, gives their results";
    case fault::unreached:
      return "no schedule reaches a mark that the program demands";
    case fault::mixed:
      return "host atomics and RMA on one word, which are not coherent on every transport, or accesses of it "
             "without atomicity";
    case fault::exception:
      return "the program threw";
  }
  return "";
}

std::string violation_text(const check_case& of, const checker::replayed& shown) {
  std::string text =
      fmt::format("{}, {}, mode {}, near cells {}{}:\n", of.object, shape_text(of),
                  name_in(mode_names, of.mode), name_in(near_names, of.near),
                  std::string(of.conflict == checker::conflicts::enacted ? ", conflicts enacted" : "") +
                      liberties_text(of));
  if (!shown.steps.empty()) text += "\n" + checker::steps_text(shown);
  if (!shown.found) return text;
  if (of.kind != checked_kind::lock) text += operations_text(shown);
  text += "\n" + wrapped_lines(fmt::format("{}: {}", name(shown.found->what), shown.found->text), "  ",
                               most_columns);
  text += wrapped_words(fmt::format("That is: {}.", meaning(shown.found->what)), "  ", most_columns);
  return text;
}

nlohmann::ordered_json to_json(const std::vector<checker::step>& schedule) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const checker::step& one : schedule) steps.push_back({one.rank, one.delivery, one.choice});
  return steps;
}

nlohmann::ordered_json to_json(const check_case& of) {
  nlohmann::ordered_json result = {
      {std::string(name(of.kind)), of.object}, {"ranks", of.ranks}, {"nodes", of.nodes}};
  if (of.nodes_per_island != 0) result["nodes_per_island"] = of.nodes_per_island;
  if (of.kind == checked_kind::lock)
    result.update({{"acquisitions", of.acquisitions},
                   {"readers", of.readers},
                   {"try_first", of.try_first},
                   {"home", of.home},
                   {"max_local_passes", of.max_local_passes}});
  else
    result.update({{"plan", of.plan}, {"capacity", of.capacity}, {"home", of.home}});
  result.update({{"mode", name_in(mode_names, of.mode)},
                 {"near", name_in(near_names, of.near)},
                 {"conflicts", name_in(conflict_names, of.conflict)},
                 {"promises", promises_text(of.promised)},
                 {"crashes", of.crashes},
                 {"early_wakes", of.early_wakes},
                 {"tier", name_in(tier_names, of.tier)},
                 {"step_limit", of.step_limit != 0 ? of.step_limit : usual_step_limit(of)},
                 {"seed", of.seed},
                 {"depth", of.depth}});
  return result;
}

std::string to_text(const recorded_schedule& schedule, const std::vector<checker::shown_step>& shown) {
  std::string text = fmt::format("{{\"schema\": \"{}\"", schedule_schema);
  const nlohmann::ordered_json of = to_json(schedule.of);
  for (const auto& [key, value] : of.items()) text += fmt::format(",\n \"{}\": {}", key, value.dump());
  text += fmt::format(",\n \"fault\": \"{}\"", name(schedule.found.what));
  text += fmt::format(",\n \"explanation\": {}", nlohmann::json(schedule.found.text).dump());
  text += fmt::format(",\n \"length\": {}", schedule.found.schedule.size());
  text += ",\n \"steps\": [";
  for (std::size_t i = 0; i < schedule.found.schedule.size(); ++i) {
    const checker::step& one = schedule.found.schedule[i];
    nlohmann::ordered_json step = {{"rank", one.rank}, {"delivery", one.delivery}, {"choice", one.choice}};
    if (i < shown.size()) {
      step["operation"] = shown[i].operation;
      step["word"] = shown[i].word;
      step["values"] = shown[i].detail;
    }
    text += fmt::format("{}\n  {}", i == 0 ? "" : ",", step.dump());
  }
  return text + "\n ]}\n";
}

recorded_schedule parse_schedule(const std::string& text, const std::string& file) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_discarded() || !object.is_object())
    throw error(fmt::format("'{}' is no schedule: it is not a JSON object, or is cut off", file));
  const auto schema = object.find("schema");
  if (schema == object.end() || !schema->is_string())
    throw error(fmt::format("'{}' is no schedule: it has no schema", file));
  if (*schema != schedule_schema)
    throw error(fmt::format("'{}' has schema '{}', and this version reads '{}' only", file,
                            schema->get<std::string>(), schedule_schema));
  recorded_schedule result;
  result.of = parse_case(object, file);
  const auto what = member<std::string>(object, "fault", file);
  const auto known = std::find_if(checker::all_faults.begin(), checker::all_faults.end(),
                                  [&](const fault one) { return name(one) == what; });
  if (known == checker::all_faults.end())
    throw error(fmt::format("'{}' is no schedule: 'fault' cannot be '{}'", file, what));
  result.found.what = *known;
  result.found.text = member<std::string>(object, "explanation", file);
  for (const nlohmann::json& one : member<std::vector<nlohmann::json>>(object, "steps", file)) {
    if (!one.is_object()) throw error(fmt::format("'{}' is no schedule: a step must be an object", file));
    const checker::step step{.rank = member<int>(one, "rank", file),
                             .delivery = member<int>(one, "delivery", file),
                             .choice = member<int>(one, "choice", file)};
    if (step.rank < 0 || step.rank >= result.of.ranks || step.delivery < checker::step::crash ||
        step.choice < 0)
      throw error(fmt::format("'{}' is no schedule: there is no step {}", file, one.dump()));
    result.found.schedule.push_back(step);
  }
  // Older files lack this member.
  const std::size_t steps = result.found.schedule.size();
  const std::size_t length = object.contains("length") ? member<std::size_t>(object, "length", file) : steps;
  result.missing = length - std::min(length, steps);
  return result;
}

recorded_schedule read_schedule(const std::string& file) {
  constexpr std::size_t largest = std::size_t{1} << 28U;
  refuse_irregular(file);
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::array<char, 1U << 16U> part{};
  while (stream && text.size() <= largest) {
    stream.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (text.size() > largest) throw error(fmt::format("'{}' is no schedule: it is too large", file));
  if (text.empty() || stream.bad())
    throw error(fmt::format("cannot read '{}': {}", file, errno != 0 ? std::strerror(errno) : "it is empty"));
  return parse_schedule(text, file);
}

}  // namespace nearfar::command
