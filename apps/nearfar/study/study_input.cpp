#include "apps/nearfar/study/study_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/study/options.hpp"

namespace nearfar::command {

namespace {

using json = nlohmann::json;

/// A scalar as words of the command line, where commas separate them.
std::vector<std::string> split(const json& value) {
  if (value.is_number()) return {value.dump()};
  if (!value.is_string()) return {};
  std::vector<std::string> words;
  std::string_view rest = value.get_ref<const std::string&>();
  for (;;) {
    const std::size_t end = rest.find(',');
    words.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) return words;
    rest.remove_prefix(end + 1);
  }
}

/// Notices keys that an object has twice, of which the parser would keep the last.
class key_check {
 public:
  bool operator()(int /*depth*/, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) {
      seen_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      seen_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!seen_.back().insert(key).second && repeated_.empty()) repeated_ = key;
    }
    return true;
  }
  [[nodiscard]] const std::string& repeated() const noexcept { return repeated_; }

 private:
  std::vector<std::set<std::string>> seen_;
  std::string repeated_;
};

class study_reader {
 public:
  study_reader(const std::string& path, plan defaults) : path_(path), plan_(std::move(defaults)) {}

  [[nodiscard]] plan read() {
    const json whole = parse();
    if (!whole.is_object()) refuse("the file must hold a JSON object, such as {\"benchmark\": \"ecsb\"}");
    json shared = whole;
    for (const char* key : {"world", "machine", "topology"}) take_text(shared, key, target_of(key));
    take_number(shared, "repetitions", plan_.repetitions);
    take_number(shared, "precision", plan_.precision);
    take_number(shared, "seed", plan_.seed);
    if (plan_.world.empty()) plan_.world = is_of_teams(whole) ? "team" : default_world();
    const auto studies = shared.find("studies");
    if (studies == shared.end()) {
      add(shared, "");
    } else {
      if (!studies->is_array() || studies->empty())
        refuse("'studies' must be a list with at least one study");
      const json each_of = *studies;
      shared.erase("studies");
      for (std::size_t i = 0; i < each_of.size(); ++i) {
        if (!each_of[i].is_object()) refuse(fmt::format("studies[{}] must be an object", i));
        // The file states the common members once, outside the studies.
        json one = shared;
        one.update(each_of[i]);
        add(one, fmt::format("studies[{}]: ", i));
      }
    }
    return plan_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw usage_error(fmt::format("'{}': {}", path_, why));
  }

  [[nodiscard]] json parse() const {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored)) refuse("cannot be read: it is a directory");
    std::ifstream file(path_, std::ios::binary);
    constexpr std::streamsize most = std::streamsize{1} << 20U;
    std::string text(static_cast<std::size_t>(most), '\0');
    if (!file || (!file.read(text.data(), most) && !file.eof()))
      refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (file.gcount() == most) refuse("too long for a study: 1 MiB or more");
    text.resize(static_cast<std::size_t>(file.gcount()));
    try {
      key_check keys;
      json whole = json::parse(text, std::ref(keys), true, true);
      if (!keys.repeated().empty()) refuse(fmt::format("'{}' occurs twice; keep one", keys.repeated()));
      return whole;
    } catch (const json::out_of_range&) {
      refuse("a number in it is too large");
    } catch (const json::parse_error& wrong) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(wrong.byte, text.size()));
      refuse(fmt::format("line {} is not JSON", std::count(text.begin(), end, '\n') + 1));
    }
  }

  /// Whether all benchmarks that the file names run in teams of threads.
  static bool is_of_teams(const json& whole) {
    std::vector<std::string> names;
    const auto add = [&](const json& study) {
      if (!study.is_object() || !study.contains("benchmark")) return;
      const json& named = study.at("benchmark");
      for (const json& each : named.is_array() ? named : json::array({named}))
        for (const std::string& name : split(each)) names.push_back(name);
    };
    add(whole);
    if (const auto studies = whole.find("studies"); studies != whole.end() && studies->is_array())
      std::for_each(studies->begin(), studies->end(), add);
    return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
      const bench::benchmark* const found = bench::find_benchmark(name);
      return found != nullptr && found->is_of_teams();
    });
  }

  std::string& target_of(const std::string& key) {
    if (key == "world") return plan_.world;
    return key == "machine" ? plan_.machine : plan_.hardware.topology;
  }

  void take_text(json& from, const char* key, std::string& to) const {
    const auto found = from.find(key);
    if (found == from.end()) return;
    if (!found->is_string() || found->get<std::string>().empty())
      refuse(fmt::format("'{}' must be a text that is not empty", key));
    // The command line has the last word.
    if (to.empty()) to = found->get<std::string>();
    from.erase(found);
  }

  template <typename Number>
  void take_number(json& from, const char* key, Number& to) const {
    const auto found = from.find(key);
    if (found == from.end()) return;
    const bool fits = std::is_floating_point_v<Number> ? found->is_number()
                      : std::is_unsigned_v<Number>     ? found->is_number_unsigned()
                                                       : found->is_number_integer();
    constexpr const char* allowed = std::is_floating_point_v<Number> ? "a number"
                                    : std::is_unsigned_v<Number>     ? "a whole number of 0 or more"
                                                                     : "a whole number";
    if (!fits) refuse(fmt::format("'{}' is {}, but must be {}", key, found->dump(), allowed));
    if constexpr (std::is_same_v<Number, int>) {
      constexpr std::uint64_t most = 1'000'000'000;
      if (found->is_number_unsigned() ? found->get<std::uint64_t>() > most : found->get<std::int64_t>() < 0)
        refuse(fmt::format("'{}' is {}, out of range: 0 to {}", key, found->dump(), most));
    }
    to = found->get<Number>();
    from.erase(found);
  }

  /// Scalars or lists of them, as words.
  [[nodiscard]] std::vector<std::string> words_of(const json& value, const std::string& where) const {
    std::vector<std::string> words;
    for (const json& each : value.is_array() ? value : json::array({value})) {
      const std::vector<std::string> more = split(each);
      if (more.empty() || std::find(more.begin(), more.end(), "") != more.end())
        refuse(fmt::format("{} is {}, but must be a number, a name, or a list of them", where, each.dump()));
      words.insert(words.end(), more.begin(), more.end());
    }
    if (words.empty()) refuse(fmt::format("{} is an empty list", where));
    return words;
  }

  /// One study, of one benchmark or of several.
  void add(const json& study, const std::string& place) {
    const auto named = study.find("benchmark");
    if (named == study.end()) refuse(place + "'benchmark' is missing");
    for (const std::string& name : words_of(*named, place + "'benchmark'")) {
      const bench::benchmark* const found = bench::find_benchmark(name);
      if (found == nullptr) {
        std::vector<std::string> known;
        for (const bench::benchmark& each : bench::benchmarks()) known.push_back(each.name);
        refuse(place + unknown_name("benchmark", name, known));
      }
      plan_.requests.push_back(request_of(*found, study, place));
    }
  }

  [[nodiscard]] benchmark_request request_of(const bench::benchmark& benchmark, const json& study,
                                             const std::string& place) const {
    benchmark_request result{.benchmark = &benchmark, .objects = {}, .values = {}, .shapes = {}};
    shape_options shapes;
    const bool is_simulated = plan_.world == "simulated";
    const bool is_one_of_many = study.at("benchmark").is_array();
    for (const auto& [key, value] : study.items()) {
      if (key == "benchmark") continue;
      const std::vector<std::string> words = takes_one(benchmark, key) && value.is_string()
                                                 ? std::vector{value.get<std::string>()}
                                                 : words_of(value, fmt::format("{}'{}'", place, key));
      if (key == benchmark.kind->plural)
        result.objects = words;
      else if (key == key_of_counts() && !is_simulated)
        shapes.ranks = words;
      else if (key == "nodes" && is_simulated)
        shapes.nodes = words;
      else if (key == "ranks_per_node" && is_simulated)
        shapes.ranks_per_node = words;
      else if (has_axis(benchmark, key))
        result.values[key] = words;
      else if (!is_one_of_many || !is_known(key))
        refuse(place + unknown_name("key of " + benchmark.name, key, keys_of(benchmark)));
    }
    try {
      result.shapes = is_simulated ? shapes.on_clusters() : shapes.on_hardware(plan_.world);
    } catch (const usage_error& wrong) {
      refuse(place + wrong.what());
    }
    return result;
  }

  /// How many ranks there are, or threads of a team.
  [[nodiscard]] const char* key_of_counts() const { return plan_.world == "team" ? "threads" : "ranks"; }

  static std::vector<bench::axis> axes_of(const bench::benchmark& benchmark) {
    std::vector<bench::axis> all = benchmark.parameters();
    all.insert(all.begin(), benchmark.axes.begin(), benchmark.axes.end());
    return all;
  }

  static bool has_axis(const bench::benchmark& benchmark, const std::string& name) {
    return std::ranges::any_of(axes_of(benchmark),
                               [&](const bench::axis& each) { return each.name == name; });
  }

  /// Whether it is an axis with a single value, in which commas divide nothing.
  static bool takes_one(const bench::benchmark& benchmark, const std::string& name) {
    return std::ranges::any_of(axes_of(benchmark),
                               [&](const bench::axis& each) { return each.name == name && each.is_single; });
  }

  /// Whether some benchmark has it, of several that share a study.
  static bool is_known(const std::string& name) {
    const auto& all = bench::benchmarks();
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return has_axis(each, name); });
  }

  [[nodiscard]] std::vector<std::string> keys_of(const bench::benchmark& benchmark) const {
    std::vector<std::string> keys{benchmark.kind->plural};
    if (plan_.world == "simulated")
      keys.insert(keys.end(), {"nodes", "ranks_per_node"});
    else
      keys.emplace_back(key_of_counts());
    for (const bench::axis& each : axes_of(benchmark)) keys.push_back(each.name);
    return keys;
  }

  std::string path_;
  plan plan_;
};

}  // namespace

plan read_study(const std::string& path, plan defaults) {
  return study_reader(path, std::move(defaults)).read();
}

}  // namespace nearfar::command
