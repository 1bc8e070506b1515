#include "report.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace nearfar::program {

namespace {

using json = nlohmann::ordered_json;

[[nodiscard]] const char* title_of(const fault& what) noexcept {
  static constexpr std::pair<std::string_view, const char*> titles[] = {
      {"race", "Race"},
      {"hang", "Hang"},
      {"epoch", "Wrong epoch"},
      {"buffer", "Buffer in use"},
      {"crash", "Crash"},
      {"exit", "Wrong end"},
      {"leak", "Leak"},
      {"argument", "Wrong argument"},
      {"range", "Out of range"},
      {"memory", "Wrong free"},
      {"abort", "Abort"},
      {"assertion", "Failed assertion"},
      {"collective", "Collectives that do not match"},
      {"missing", "Not supported"},
      {"uninitialised", "Memory that nobody has written"},
      {"limit", "Undecided"}};
  for (const auto& [kind, title] : titles)
    if (kind == what.kind) return title;
  return "Fault";
}

/// As --promises takes them.
[[nodiscard]] std::string promises_of(const settings& how) {
  std::string names;
  const auto add = [&names](bool is_granted, promise one) {
    if (!is_granted) return;
    if (!names.empty()) names += ',';
    names += promise_names[static_cast<std::size_t>(one)];
  };
  add(how.grants_racing_loads, promise::racing_loads);
  add(how.grants_plain_loads, promise::plain_loads);
  add(how.grants_mixed_accumulates, promise::mixed_accumulates);
  add(how.grants_racing_gets, promise::racing_gets);
  return names.empty() ? "none" : names;
}

[[nodiscard]] std::vector<json> steps_of(const schedule& how) {
  std::vector<json> steps;
  for (const choice& one : how) steps.push_back(json::array({one.by.rank, one.by.flight, one.outcome}));
  return steps;
}

}  // namespace

std::string text_of(execution& in, const fault& what) {
  std::string text = std::string(title_of(what)) + ": " + what.text + "\n";
  for (const involved& one : what.places) {
    text += "  rank " + std::to_string(one.rank);
    if (!one.what.empty()) text += " " + one.what;
    if (one.where.call != nullptr && one.what.find(one.where.call) == std::string::npos)
      text += std::string(" (") + one.where.call + ")";
    text += "\n";
    bool is_first = true;
    for (const std::string& line : lines_of(in, one.where)) {
      text += (is_first ? "      at " : "    from ") + line + "\n";
      is_first = false;
    }
  }
  if (!what.rule.empty()) text += "  Rule: " + what.rule + "\n";
  return text;
}

std::string text_of(const shown_event& step) {
  const char* const call = step.where.call;
  if (call == nullptr || step.to.rank >= 0 || step.text.find(call) != std::string::npos) return step.text;
  return step.text + " (" + call + ")";
}

std::string json_of(execution& in, const result& what) {
  json out;
  out["verdict"] = !what.found                             ? (what.is_complete ? "complete" : "incomplete")
                   : what.found->outcome == verdict::fault ? "fault"
                                                           : "undecided";
  out["executions"] = what.executions;
  out["pruned"] = what.pruned;
  out["steps"] = what.steps;
  out["seconds"] = what.seconds;
  out["relied_on"] = in.relied_on();
  if (what.found) {
    const fault& found = *what.found;
    json places = json::array();
    for (const involved& one : found.places)
      places.push_back({{"rank", one.rank},
                        {"what", one.what},
                        {"call", one.where.call == nullptr ? "" : one.where.call},
                        {"lines", lines_of(in, one.where)}});
    out["fault"] = {{"kind", found.kind}, {"text", found.text}, {"rule", found.rule}, {"places", places}};
    out["sends_wait"] = what.under.sends_wait;
    out["collectives_wait"] = what.under.collectives_wait;
    out["schedule"] = steps_of(what.how);
  }
  return out.dump(2);
}

void write_schedule(const std::string& path, execution& in, const result& what) {
  json out;
  out["format"] = "nearfar program schedule 1";
  out["program"] = in.how().program;
  out["arguments"] = in.how().arguments;
  out["ranks"] = in.how().ranks;
  out["ranks_per_node"] = in.how().ranks_per_node;
  out["needs_help"] = in.how().needs_help;
  out["has_lag"] = in.how().has_lag;
  out["promises"] = promises_of(in.how());
  out["steps"] = in.how().most_steps;
  out["turns"] = in.how().most_idle_turns;
  out["sends_wait"] = what.under.sends_wait;
  out["collectives_wait"] = what.under.collectives_wait;
  if (what.found) out["fault"] = what.found->text;
  out["schedule"] = steps_of(what.how);
  std::ofstream to(path);
  to << out.dump() << '\n';
  if (!to.flush()) throw std::runtime_error("cannot write the schedule to '" + path + "'");
}

kept_schedule read_schedule(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code))
    throw std::runtime_error("the schedule '" + path + "' is a folder");
  std::ifstream from(path);
  if (!from) throw std::runtime_error("cannot read the schedule '" + path + "'");
  try {
    const json in = json::parse(from);
    kept_schedule result;
    result.how.program = in.at("program");
    result.how.arguments = in.at("arguments").get<std::vector<std::string>>();
    result.how.ranks = in.at("ranks");
    result.how.ranks_per_node = in.at("ranks_per_node");
    result.how.needs_help = in.value("needs_help", false);
    result.how.has_lag = in.value("has_lag", false);
    result.promises = in.value("promises", std::string("racing_loads"));
    result.how.most_steps = in.value("steps", result.how.most_steps);
    result.how.most_idle_turns = in.value("turns", result.how.most_idle_turns);
    result.under.sends_wait = in.at("sends_wait");
    result.under.collectives_wait = in.at("collectives_wait");
    for (const json& one : in.at("schedule"))
      result.steps.push_back(
          {{one.at(0).get<std::int16_t>(), one.at(1).get<std::uint16_t>()}, one.at(2).get<int>()});
    return result;
  } catch (const json::exception&) {
    throw std::runtime_error("'" + path +
                             "' is no schedule of a program: it is cut off, or another version wrote it");
  }
}

}  // namespace nearfar::program
