// nearfar doctor: whether this MPI installation does what nearfar relies on.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/doctor/checks.hpp"
#include "apps/nearfar/doctor/machine_probe.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/watchdog.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/handles.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

using doctor::all_checks;
using doctor::check;
using doctor::examination;
using doctor::finding;
using doctor::outcome;
using std::chrono::seconds;

const char* word_for(outcome result) {
  switch (result) {
    case outcome::ok:
      return "ok";
    case outcome::skip:
      return "skip";
    case outcome::warn:
      return "warn";
    case outcome::no_answer:
    case outcome::fail:
      break;
  }
  return "FAIL";
}

std::string line_of(outcome result, std::string_view name, std::string_view seen) {
  return fmt::format("{:<4}  {:<26}  {}\n", word_for(result), name, seen);
}

std::string advice_line(std::string_view advice) { return fmt::format("      {}\n", advice); }

constexpr const char* no_answer_cure =
    "MPI or another rank does not answer: make sure that no rank is stopped or starved, or choose another "
    "transport, on Open MPI 4 '--mca osc sm,pt2pt'";

// ---- what is printed --------------------------------------------------------------------------------------

/// The doctor's output, on rank 0; the other ranks only count. Used by the watchdog's thread too.
class report {
 public:
  report(bool is_printer, bool as_json) : is_printer_(is_printer), as_json_(as_json) {}

  void begin(int ranks, int nodes, const std::string& library, const std::string& transport) {
    const std::scoped_lock hold(guard_);
    json_ = {{"schema", "nearfar-doctor-1"},
             {"version", version},
             {"commit", commit},
             {"ranks", ranks},
             {"nodes", nodes},
             {"mpi", library},
             {"transport", transport},
             {"checks", nlohmann::ordered_json::array()}};
    print(fmt::format("nearfar {}: {} rank{} on {} node{}, {}, {}\n\n", version, ranks, ranks == 1 ? "" : "s",
                      nodes, nodes == 1 ? "" : "s", library, transport));
  }

  void add(const check& of, const finding& found) {
    const std::scoped_lock hold(guard_);
    ++counts_.at(static_cast<std::size_t>(found.result));
    nlohmann::ordered_json entry{
        {"name", of.name}, {"outcome", word_for(found.result)}, {"seen", found.seen}};
    std::string lines = line_of(found.result, of.name, found.seen);
    if (found.result != outcome::ok) {
      const std::string advice = !found.advice.empty()                ? found.advice
                                 : found.result == outcome::no_answer ? no_answer_cure
                                                                      : of.cure;
      entry["advice"] = advice;
      lines += advice_line(advice);
    }
    json_["checks"].push_back(std::move(entry));
    print(lines);
  }

  /// Prints the verdict and returns the exit status.
  int end() {
    const std::scoped_lock hold(guard_);
    const std::size_t failures = count(outcome::fail) + count(outcome::no_answer);
    const std::string tally = fmt::format("{} ok, {} FAIL, {} warn, {} skip", count(outcome::ok), failures,
                                          count(outcome::warn), count(outcome::skip));
    const char* verdict = failures != 0               ? "nearfar does not work with this MPI as it is set up"
                          : count(outcome::skip) == 0 ? "nearfar works here"
                                                      : "no fault seen, but not everything could be checked";
    json_["verdict"] = verdict;
    json_["failures"] = failures;
    print(fmt::format("\nverdict: {} ({})\n", verdict, tally));
    if (as_json_ && is_printer_) {
      fmt::print("{}\n", json_.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      std::fflush(stdout);
    }
    return failures != 0 ? failure : success;
  }

 private:
  [[nodiscard]] std::size_t count(outcome result) const {
    return counts_.at(static_cast<std::size_t>(result));
  }

  void print(const std::string& text) const {
    if (as_json_ || !is_printer_) return;
    fmt::print("{}", text);
    std::fflush(stdout);  // the next check may be the end of this process
  }

  std::mutex guard_;
  bool is_printer_;
  bool as_json_;
  nlohmann::ordered_json json_;
  std::array<std::size_t, 5> counts_{};
};

// ---- what becomes of a check that does not come back ------------------------------------------------------

/// Says which check was running when the process gets a deadly signal.
class crash_report {
 public:
  explicit crash_report(int stream) {
    stream_ = stream;
    struct sigaction action {};
    action.sa_handler = &say_and_exit;
    for (std::size_t i = 0; i < deadly.size(); ++i) sigaction(deadly.at(i), &action, &before_.at(i));
  }
  crash_report(const crash_report&) = delete;
  crash_report& operator=(const crash_report&) = delete;
  ~crash_report() {
    for (std::size_t i = 0; i < deadly.size(); ++i) sigaction(deadly.at(i), &before_.at(i), nullptr);
  }

  static void expect(const check& running, int rank) {
    const std::string text = line_of(outcome::fail, running.name, fmt::format("rank {} crashed", rank)) +
                             advice_line(running.cure);
    length_ = std::min(text.size(), text_.size());
    std::memcpy(text_.data(), text.data(), length_);
  }

 private:
  static constexpr std::array<int, 4> deadly{SIGSEGV, SIGBUS, SIGILL, SIGABRT};

  /// Only what is allowed in a signal handler.
  static void say_and_exit(int /*signal*/) {
    static_cast<void>(!write(stream_, text_.data(), length_));
    _exit(failure);
  }

  static inline int stream_ = STDOUT_FILENO;
  static inline std::array<char, 1024> text_{};
  static inline std::size_t length_ = 0;
  std::array<struct sigaction, 4> before_{};
};

// ---- running the checks -----------------------------------------------------------------------------------

finding run_check(const check& of, const mpi::communicator& ranks, const mpi::processor_share& processors,
                  bool quick) {
  if (ranks.size() < of.ranks_needed)
    return {outcome::skip, "needs more ranks", fmt::format("mpirun -n {} nearfar doctor", of.ranks_needed)};
  try {
    examination e(ranks.get(), processors, quick);
    return of.run(e);
  } catch (const doctor::unanswered& silence) {
    return {outcome::no_answer, silence.what()};
  } catch (const mpi::mpi_error& fault) {
    return {outcome::fail, fault.what(),
            "MPI refuses the call with these settings: on Open MPI 4 use '--mca osc sm,pt2pt' (Debian "
            "switches pt2pt off), otherwise the library's defaults"};
  } catch (const std::exception& fault) {
    return {outcome::fail, fault.what()};
  }
}

struct verdict {
  finding found;
  bool all_answered;
};

/// The weightiest of the ranks' findings; of several alike the first that says something. Collective.
verdict agree(const mpi::communicator& ranks, const finding& mine) {
  struct record {
    int result;
    std::array<char, 512> seen;
    std::array<char, 512> advice;
  };
  record packed{static_cast<int>(mine.result), {}, {}};
  mine.seen.copy(packed.seen.data(), packed.seen.size() - 1);
  mine.advice.copy(packed.advice.data(), packed.advice.size() - 1);
  std::vector<record> all(static_cast<std::size_t>(ranks.size()));
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallgather(&packed, sizeof packed, MPI_BYTE, all.data(), sizeof packed, MPI_BYTE,
                            ranks.get(), &request),
             "MPI_Iallgather");
  // A rank that waits in vain for others in a check comes here later than this one.
  doctor::complete(request, std::chrono::hours(1));

  const auto lighter = [](const record& a, const record& b) {
    return std::pair(a.result, a.seen[0] != '\0') < std::pair(b.result, b.seen[0] != '\0');
  };
  const auto heaviest = std::max_element(all.begin(), all.end(), lighter);
  const auto result = static_cast<outcome>(heaviest->result);
  const auto gave_up = [](const record& r) { return r.result == static_cast<int>(outcome::no_answer); };
  const auto differs = [&](const record& r) { return r.result != heaviest->result && r.seen[0] != '\0'; };
  std::string seen = heaviest->seen.data();
  if (std::any_of(all.begin(), all.end(), differs))
    seen = fmt::format("rank {}: {}", heaviest - all.begin(), seen);
  return {{result, seen, heaviest->advice.data()}, std::none_of(all.begin(), all.end(), gave_up)};
}

int count_nodes(const mpi::communicator& ranks) {
  const mpi::communicator node = mpi::communicator::shared_memory(ranks.get());
  int leaders = node.rank() == 0 ? 1 : 0;
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &leaders, 1, MPI_INT, MPI_SUM, ranks.get()), "MPI_Allreduce");
  return leaders;
}

void skip_after(report& out, const check& last) {
  const auto all = all_checks();
  for (const check* each = &last + 1; each != all.data() + all.size(); ++each)
    out.add(*each, {outcome::skip, "not tried, as an earlier check had no answer", "see the failure above"});
}

int examine(bool quick, bool as_json) {
  const int launched_rank = launch::from_environment().rank;
  report out(launched_rank == 0, as_json);
  std::atomic<const check*> running = nullptr;
  // Messages and collective operations have deadlines in the checks. MPI gives no way to put one on a flush,
  // on making and freeing windows and communicators, on MPI_Init and MPI_Finalize, so a thread watches over
  // them. It is rank 0's that reports: were another's first to end its process, the launcher would kill rank
  // 0.
  watchdog guard([&] {
    const check* hung = running;
    if (hung == nullptr) {
      fmt::print(
          stderr,
          "nearfar: MPI_Init or MPI_Finalize does not end; check that mpirun belongs to this MPI library\n");
      std::_Exit(failure);
    }
    out.add(*hung, {outcome::no_answer, "did not end: an MPI call hangs"});
    skip_after(out, *hung);
    std::_Exit(out.end());
  });
  const seconds limit(launched_rank == 0 ? 45 : 55);
  guard.arm(limit);

  const mpi_session session;
  const crash_report last_words(as_json ? STDERR_FILENO : STDOUT_FILENO);
  const mpi::communicator ranks = mpi::communicator::duplicate(MPI_COMM_WORLD);
  const mpi::processor_share processors = mpi::count_processors(ranks.get());
  out.begin(ranks.size(), count_nodes(ranks), mpi::library_version(), mpi::transport_text());
  for (const check& each : all_checks()) {
    crash_report::expect(each, ranks.rank());
    running = &each;
    guard.arm(limit);
    const auto [found, all_answered] = agree(ranks, run_check(each, ranks, processors, quick));
    running = nullptr;
    out.add(each, found);
    if (all_answered) continue;
    // Operations that were given up make what follows, and MPI_Finalize, hang or fail.
    skip_after(out, each);
    std::_Exit(out.end());
  }
  guard.arm(limit);
  return out.end();
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Test this MPI installation for nearfar; run it under mpirun with 2 or more ranks");
  command->footer(
      "docs/mpi-libraries.md tells what the checks find; docs/simulation.md describes --machine, which "
      "measures "
      "the MPI library too if mpirun starts 2 or more ranks.");
  auto quick = std::make_shared<bool>(false);
  auto as_json = std::make_shared<bool>(false);
  CLI::Option* const hurries = command->add_flag("--quick", *quick, "Make fewer and shorter tries");
  CLI::Option* const prints = command->add_flag("--json", *as_json, "Print JSON");
  auto measures = std::make_shared<bool>(false);
  auto output = std::make_shared<std::string>("this-machine.json");
  command
      ->add_flag("--machine", *measures, "Measure this machine's costs for 'nearfar sim' instead of testing")
      ->excludes(hurries)
      ->excludes(prints);
  command->add_option("--output", *output, "Machine description file that --machine writes")
      ->needs("--machine")
      ->capture_default_str();
  auto older = std::make_shared<bench::older_output>();
  add_overwrite_option(*command, *older)->needs("--machine");
  command->callback(
      [=, &status] { status = *measures ? probe_machine(*output, *older) : examine(*quick, *as_json); });
}

}  // namespace nearfar::command
