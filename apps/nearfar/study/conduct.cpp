#include "apps/nearfar/study/conduct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/study/records.hpp"
#include "bench/results/statistics.hpp"
#include "bench/turns.hpp"
#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::command {

namespace {

/// Why an object cannot run there, if it cannot.
std::optional<std::string> obstacle(const configuration& what, const stage& on, const locality& where) {
  const bench::object& of = *what.object;
  if (!of.exists_in(on.kind())) return "it does not exist in this world";
  const int nodes = where.groups(level::node);
  if (of.one_node_only && nodes > 1)
    return fmt::format("it works on one node only, and the ranks are on {} nodes", nodes);
  if (const auto lacking = what.benchmark->kind->lacking; lacking != nullptr)
    if (std::string why = lacking(of, what.at(), where); !why.empty()) return why;
  if (what.benchmark->refuse != nullptr)
    if (std::string why = what.benchmark->refuse(of, what.at(), where); !why.empty()) return why;
  if (std::string why = on.obstacle(what); !why.empty()) return why;
  return std::nullopt;
}

/// One study, from the choice of what can be played to the last repetition.
class conductor {
 public:
  conductor(const plan& what, const std::vector<configuration>& all, stage& on, study_output& out)
      : plan_(&what), all_(&all), on_(&on), out_(&out) {}

  void run() {
    for (const configuration& each : *all_)
      if (!places_.contains(key_of(each.where))) places_.emplace(key_of(each.where), on_->place(each.where));
    if (!choose()) return;
    warn();
    finished_.assign(all_->size(), 0);
    expected_ = count_expected();
    out_->open(measurement_of(), layout(), playable_.size() * repetitions());
    adopt_what_was_found();
    if (plan_->precision == 0 && out_->results().empty()) out_->print_as_measured(lines(), repetitions());
    play_all();
    out_->close();
  }

 private:
  using shape_key = std::tuple<int, int, int>;

  static shape_key key_of(const shape& of) { return {of.ranks, of.nodes, of.ranks_per_node}; }
  [[nodiscard]] const placement& place_of(const configuration& of) const {
    return places_.at(key_of(of.where));
  }
  [[nodiscard]] std::size_t repetitions() const { return static_cast<std::size_t>(plan_->repetitions); }

  /// Chooses the configurations that can run. Of a named object at least one must run; of "all" and of the
  /// default, those run that can. Returns whether any can, if that is no error.
  [[nodiscard]] bool choose() {
    std::map<const bench::object*, std::string> left_out;
    std::set<const bench::object*> chosen;
    for (std::size_t i = 0; i < all_->size(); ++i) {
      const configuration& each = (*all_)[i];
      if (const auto why = obstacle(each, *on_, place_of(each).where)) {
        left_out[each.object] = *why;
        continue;
      }
      playable_.push_back(i);
      chosen.insert(each.object);
    }
    for (const configuration& each : *all_)
      if (each.is_named && !chosen.contains(each.object))
        throw usage_error(fmt::format("cannot run {} '{}': {}", each.benchmark->kind->title,
                                      each.object->name, left_out.at(each.object)));
    if (playable_.empty()) {
      const std::string why =
          fmt::format("nothing can run here: {} '{}': {}; 'nearfar list' shows the worlds of each",
                      all_->front().benchmark->kind->title, all_->front().object->name,
                      left_out.at(all_->front().object));
      const bool is_well = std::all_of(plan_->requests.begin(), plan_->requests.end(),
                                       [](const benchmark_request& each) { return each.leaves_out; });
      if (!is_well) throw usage_error(why);
      fmt::print(plan_->prints_records() ? stderr : stdout, "not measured: {}\n", why);
      return false;
    }
    say_left_out(left_out, chosen);
    return true;
  }

  /// One line for all that nobody named, unless the user wants to know each.
  void say_left_out(const std::map<const bench::object*, std::string>& left_out,
                    const std::set<const bench::object*>& chosen) const {
    std::set<const bench::object*> said;
    std::vector<const configuration*> unnamed;
    std::vector<const configuration*> each_alone;
    for (const configuration& each : *all_) {
      if (!left_out.contains(each.object) || !said.insert(each.object).second) continue;
      (each.is_named || plan_->verbose ? each_alone : unnamed).push_back(&each);
    }
    if (unnamed.size() == 1) each_alone.push_back(std::exchange(unnamed, {}).front());
    for (const configuration* each : each_alone)
      remark("leaving out {} '{}'{}: {}", each->benchmark->kind->title, each->object->name,
             chosen.contains(each->object) ? " in part" : "", left_out.at(each->object));
    if (unnamed.empty()) return;
    const bool all_run = std::ranges::all_of(
        unnamed, [&](const configuration* each) { return chosen.contains(each->object); });
    constexpr std::size_t most = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(most, unnamed.size()); ++i)
      names += fmt::format("{}{}", i == 0 ? "" : ", ", unnamed[i]->object->name);
    remark("leaving out {} objects that cannot run {}, such as {}; --verbose says why", unnamed.size(),
           all_run ? "with all of these settings" : "here", names);
  }

  void warn() const {
    std::set<const bench::object*> said;
    std::set<std::pair<const bench::benchmark*, const placement*>> warned;
    for (const std::size_t index : playable_) {
      const configuration& each = (*all_)[index];
      if (!each.object->is_sound() && said.insert(each.object).second)
        remark("{} '{}' is unsound and may hang or give wrong results: {}", each.benchmark->kind->title,
               each.object->name, each.object->unsound);
      if (!each.benchmark->scenarios || !warned.insert({each.benchmark, &place_of(each)}).second) continue;
      const bench::scenario_set& scenarios = *each.benchmark->scenarios;
      const std::size_t played = scenarios.playable(place_of(each).where).size();
      if (played < scenarios.names.size())
        remark("{} of the {} scenarios of {} run here; all of them need {}", played, scenarios.names.size(),
               each.benchmark->name, scenarios.needs);
    }
    warn_of_parameters();
  }

  /// A parameter that is given and that nothing takes is rather a misunderstanding.
  void warn_of_parameters() const {
    std::set<std::string> said;
    for (const benchmark_request& asked : plan_->requests)
      for (const bench::axis& parameter : asked.benchmark->kind->parameters) {
        const auto given = asked.values.find(parameter.name);
        if (given == asked.values.end() || given->second.empty()) continue;
        const bool is_taken = std::any_of(playable_.begin(), playable_.end(), [&](std::size_t index) {
          const configuration& each = (*all_)[index];
          return each.benchmark->kind == asked.benchmark->kind && each.object->takes(parameter.name);
        });
        if (!is_taken && said.insert(parameter.name).second)
          remark("{} has no effect: none of the chosen {} takes it", parameter.option(),
                 asked.benchmark->kind->plural);
      }
  }

  [[nodiscard]] std::size_t samples_of(std::size_t index) const {
    const configuration& each = (*all_)[index];
    return each.benchmark->samples_per_repetition(place_of(each).where);
  }

  [[nodiscard]] std::size_t count_expected() const {
    std::size_t sum = 0;
    for (const std::size_t index : playable_) sum += samples_of(index) * repetitions();
    return sum;
  }

  [[nodiscard]] measurement measurement_of() const {
    // The placement of most ranks stands for all.
    const auto largest = std::max_element(places_.begin(), places_.end(), [](const auto& a, const auto& b) {
      return a.second.where.size() < b.second.where.size();
    });
    std::vector<const configuration*> played;
    for (const std::size_t index : playable_) played.push_back(&(*all_)[index]);
    nlohmann::ordered_json more = statements_of(played);
    more["study"] = circumstances();
    return {.benchmark = plan_->title,
            .world = plan_->world,
            .topology = largest->second.topology.empty() ? largest->second.where.tree_text()
                                                         : largest->second.topology,
            .binding = largest->second.binding,
            .oversubscribed = is_oversubscribed(),
            .seed = plan_->seed,
            .records_expected = expected_,
            .start_time = utc_time(),
            .machine = on_->description(),
            .more = more};
  }

  /// The circumstances that must be equal for figures to be compared: a run under others cannot go on.
  [[nodiscard]] nlohmann::ordered_json circumstances() const {
    if (on_->kind() == bench::world_kind::engine)
      return {{"world", plan_->world}, {"machine", on_->description()}, {"seed", plan_->seed}};
    const hardware_options& hardware = plan_->hardware;
    return {{"world", plan_->world},
            {"topology", hardware.topology},
            {"no_bind", hardware.no_bind},
            {"polls_per_progress", hardware.ratios.polls_per_progress},
            {"polls_per_yield", hardware.ratios.polls_per_yield}};
  }

  [[nodiscard]] bool is_oversubscribed() const {
    return std::any_of(places_.begin(), places_.end(),
                       [](const auto& each) { return each.second.oversubscribed; });
  }

  [[nodiscard]] table_layout layout() const {
    return {*all_, plan_->world, is_oversubscribed(), plan_->format};
  }

  /// Fills in what the benchmark does not know of its samples.
  void complete(bench::sample& sample, const configuration& of, int repetition) const {
    sample.world = plan_->world;
    sample.machine = on_->machine();
    command::complete(sample, of, place_of(of).where, repetition);
  }

  /// A text that tells a sample's configuration from the others.
  static std::string identity(const bench::sample& of) {
    return nlohmann::ordered_json{of.benchmark, of.object, of.parameters, of.axes, of.nodes, of.ranks}.dump();
  }

  /// Samples of versions without efforts have none, and so agree with every effort.
  static bool is_same_effort(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now) {
    return std::ranges::all_of(before.items(), [&](const auto& each) {
      return now.value(each.key(), nlohmann::ordered_json()) == each.value();
    });
  }

  /// Repetitions that an earlier run has ended are not played again.
  void adopt_what_was_found() {
    const std::vector<bench::sample>& found = out_->found();
    if (found.empty()) return;
    std::map<std::string, std::size_t> index_of;
    for (const std::size_t index : playable_) {
      bench::sample like;
      complete(like, (*all_)[index], 0);
      index_of[identity(like)] = index;
    }
    std::map<std::pair<std::size_t, int>, std::vector<const bench::sample*>> by_repetition;
    for (const bench::sample& each : found) {
      const auto index = index_of.find(identity(each));
      if (index == index_of.end()) continue;
      bench::sample like;
      complete(like, (*all_)[index->second], 0);
      if (!is_same_effort(each.effort, like.effort))
        throw usage_error(fmt::format("'{}' has results of {} with {}, not {}; choose another --output",
                                      plan_->output, text_of((*all_)[index->second]), each.effort.dump(),
                                      like.effort.dump()));
      by_repetition[{index->second, each.repetition}].push_back(&each);
    }
    if (by_repetition.empty() && !plan_->older.is_extended)
      throw usage_error(
          fmt::format("'{}' holds results of other points only: choose another --output, add to it with "
                      "--append, or replace it with --overwrite",
                      plan_->output));
    std::size_t repetitions_found = 0;
    std::size_t samples_found = 0;
    std::size_t dropped = 0;
    for (const auto& [place, samples] : by_repetition) {
      if (samples.size() != samples_of(place.first)) {
        // A repetition that a kill has cut off is the last in the file, and is measured again as a whole.
        const bool is_last = samples.size() < samples_of(place.first) && samples.back() == &found.back() &&
                             samples.front() == &found.back() - (samples.size() - 1);
        if (!is_last)
          throw usage_error(fmt::format(
              "'{}' has {} of the {} samples of repetition {} of {}; choose another --output", plan_->output,
              samples.size(), samples_of(place.first), place.second, text_of((*all_)[place.first])));
        out_->drop_last(samples.size());
        dropped += samples.size();
        continue;
      }
      played_.insert(place);
      finished_[place.first] += 1;
      if (place.second < plan_->repetitions) {
        ++repetitions_found;
        samples_found += samples.size();
      }
      for (const bench::sample* each : samples) out_->adopt(place.first, *each);
    }
    out_->expect_beside(found.size() - samples_found - dropped);
    remark("{} of {} repetitions are there already", repetitions_found, playable_.size() * repetitions());
    out_->skip(repetitions_found);
  }

  /// One for each line of the tables, without figures.
  [[nodiscard]] std::vector<result> lines() const {
    std::vector<result> all;
    for (const std::size_t index : playable_) {
      const configuration& of = (*all_)[index];
      std::vector<std::optional<std::string>> scenarios{std::nullopt};
      if (of.benchmark->scenarios) {
        const auto played = of.benchmark->scenarios->playable(place_of(of).where);
        scenarios.assign(played.begin(), played.end());
      }
      for (const auto& scenario : scenarios) {
        bench::sample line;
        line.scenario = scenario;
        complete(line, of, 0);
        all.push_back({index, std::move(line)});
      }
    }
    return all;
  }

  void play_all() {
    bench::turns turns(playable_, plan_->seed);
    for (int repetition = 0; repetition < plan_->repetitions; ++repetition) {
      // The last repetition follows the table, whose lines appear one after the other.
      const bool is_last = repetition + 1 == plan_->repetitions;
      for (const std::size_t index : is_last ? playable_ : turns.next()) {
        if (played_.contains({index, repetition})) continue;
        if (is_precise(index)) {
          out_->skip(1);
          continue;
        }
        const configuration& of = (*all_)[index];
        out_->step(text_of(of));
        std::vector<bench::sample> samples = on_->play(index, repetition);
        for (bench::sample& each : samples) complete(each, of, repetition);
        out_->record(index, std::move(samples));
        finished_[index] += 1;
      }
    }
  }

  /// Whether more repetitions are not worth their time.
  [[nodiscard]] bool is_precise(std::size_t index) const {
    if (plan_->precision == 0 || finished_[index] < least_for_interval) return false;
    std::map<std::string, std::vector<double>> by_scenario;
    const bench::column& judged = (*all_)[index].benchmark->columns.front();
    for (const result& each : out_->results()) {
      if (each.configuration != index) continue;
      const std::optional<double> value = judged.value_of(each.sample);
      if (!value || !each.sample.verified) return false;
      by_scenario[each.sample.scenario.value_or("")].push_back(*value);
    }
    return std::all_of(by_scenario.begin(), by_scenario.end(), [&](const auto& each) {
      const bench::median_interval interval = bench::median_of(each.second);
      return interval.is_confidence &&
             (interval.high - interval.low) / 2 <= plan_->precision * interval.median;
    });
  }

  /// Below that there is no interval of 95 %.
  static constexpr int least_for_interval = 6;

  const plan* plan_;
  const std::vector<configuration>* all_;
  stage* on_;
  study_output* out_;
  std::map<shape_key, placement> places_;
  std::vector<std::size_t> playable_;  // indices
  std::size_t expected_ = 0;           // samples
  std::vector<int> finished_;          // repetitions, by index
  std::set<std::pair<std::size_t, int>> played_;
};

}  // namespace

int conduct(const plan& what, const std::vector<configuration>& all, stage& on, study_output& out) {
  try {
    conductor(what, all, on, out).run();
  } catch (const std::exception& failed) {
    // Else the guard keeps and prints it, with what it knows.
    if (const auto* const known = dynamic_cast<const error*>(&failed); known != nullptr && ends_job(*known))
      throw;
    if (out.results().empty()) {
      out.print();
    } else if (const std::string known = out.stop({{"record", "interrupted"}, {"why", failed.what()}});
               !known.empty()) {
      remark("{}", known);
    }
    throw;
  }
  out.print();
  if (out.all_verified()) return success;
  remark("a benchmark did not do its work correctly; the table marks its results VOID");
  return failure;
}

bool ends_job(const error& failed) {
  return dynamic_cast<const mpi::mpi_error*>(&failed) != nullptr ||
         dynamic_cast<const stalled*>(&failed) != nullptr;
}

std::string text_of(const configuration& of) {
  std::string text = fmt::format("{} {}", of.benchmark->name, of.object->name);
  const char* const one = of.benchmark->is_of_teams() ? "thread" : "rank";
  if (of.where.ranks > 0)
    text += fmt::format(", {} {}{}", of.where.ranks, one, of.where.ranks == 1 ? "" : "s");
  if (of.where.nodes > 0) text += fmt::format(", {} x {} ranks", of.where.nodes, of.where.ranks_per_node);
  for (const auto& [name, value] : of.parameters.values())
    text += fmt::format(", {} {}", name, bench::text_of(value));
  for (const auto& [name, value] : of.axes.values())
    text += fmt::format(", {} {}", name, bench::text_of(value));
  return text;
}

}  // namespace nearfar::command
