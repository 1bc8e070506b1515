#include "apps/nearfar/check/all.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/regular_file.hpp"
#include "nearfar/core/checks.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

constexpr std::string_view begin_mark = "<!-- generated: nearfar check --all -->";
constexpr std::string_view end_mark = "<!-- end of generated -->";

struct case_size {
  int ranks;
  int acquisitions;
  int readers = 0;
};
// Four acquisitions, since a word that is used in turn is used again by the third, and what was left in it
// shows in the fourth.
constexpr std::array shapes{case_size{2, 2}, case_size{2, 4}, case_size{3, 2}, case_size{4, 1}};
// The last `readers` ranks read: writers on both nodes, of which one has a reader.
constexpr case_size writers_on_two_nodes{4, 1, 1};
// Of reader-writer locks: writers on one node, readers on two, some of both, and turns that come again.
constexpr std::array rw_shapes{case_size{3, 1, 1}, case_size{3, 1, 2}, case_size{4, 1, 2},
                               writers_on_two_nodes, case_size{2, 2, 1}};

check_case case_of(const checkable& lock, const case_size& of) {
  return {.object = lock.name,
          .ranks = of.ranks,
          .nodes = lock.one_node_only ? 1 : 2,
          .acquisitions = of.acquisitions,
          .readers = of.readers};
}

/// "3 x 2"; of a reader-writer lock "2w+1r x 1".
std::string shape_name(const check_case& of) {
  if (of.readers == 0) return fmt::format("{} x {}", of.ranks, of.acquisitions);
  return fmt::format("{}w+{}r x {}", of.ranks - of.readers, of.readers, of.acquisitions);
}

/// Traces and time of one or more searches.
struct cell {
  bool was_run = false;
  std::uint64_t executions = 0;
  double seconds = 0;

  void add(const checker::report& result) {
    was_run = true;
    executions += result.executions;
    seconds += std::chrono::duration<double>(result.time).count();
  }
};

// Columns: each mode by lock() with release_acquire cells; then all modes with sequential cells, and all
// modes by try_lock() first.
constexpr std::size_t sequential_column = mode_names.size();
constexpr std::size_t try_column = sequential_column + 1;
constexpr std::size_t column_count = try_column + 1;
constexpr std::array<std::string_view, column_count> column_names{"eager", "lazy", "progress", "sequential",
                                                                  "try_lock"};

struct row {
  check_case of;
  std::array<cell, column_count> cells;
  std::string violations;
  bool is_whole = true;

  [[nodiscard]] std::string result() const {
    if (!violations.empty()) return "VIOLATION: " + violations;
    return is_whole ? "nothing found" : "nothing found in part";
  }
};

/// Of one search of the quick part: ranks that try again and again have millions.
constexpr std::uint64_t most_executions_if_quick = 2'000;
/// Of one search of a plan, where locks make too many orders for all of them.
constexpr std::uint64_t most_executions_of_a_plan = 20'000;
/// In which most faults show that are there at all, also where all orders are too many.
constexpr std::uint64_t random_executions = 2'000;

/// The searches that a column wants of a row, or none if the row is too large. A failed attempt adds a branch
/// to each acquisition. Three ranks that acquire twice then have a million traces, as have four ranks of a
/// reader-writer lock that acquire once.
///
/// The quick part leaves out the searches that cost most and show least. Sequential cells allow nothing that
/// release_acquire does not, and `progress` has every order of deliveries that `eager` and `lazy` have. Only
/// `lazy` shows that nothing is delivered without a flush, and it shows this in the smaller shapes already.
/// Where nothing is delivered the modes do not differ.
std::vector<check_case> searches_of(const check_case& row, std::size_t column, bool quick, bool can_try) {
  const bool has_one_node = row.nodes == 1;
  const bool has_readers = row.readers != 0;
  const bool is_large = row.ranks * row.acquisitions > 4;
  // Two that write and one that reads are among the smaller shapes.
  const bool is_brief = quick && row.ranks > (has_readers && column != try_column ? 3 : 2);
  if (column == try_column && (!can_try || is_large || (has_readers && row.ranks > 3))) return {};
  if (column == sequential_column && quick && (is_large || row.ranks > 2)) return {};
  std::vector<check_case> all;
  for (const auto& [mode, name] : mode_names) {
    if ((is_brief || (quick && has_one_node)) && mode != checker::delivery_mode::progress) continue;
    check_case one = row;
    one.mode = mode;
    if (column == sequential_column) one.near = checker::near_model::sequential;
    if (column == try_column) one.try_first = true;
    if (column >= sequential_column || mode == mode_names[column].first) all.push_back(one);
  }
  return all;
}

/// The smallest case that shows the promises that a lock relies on, and its faults.
check_case smallest(const checkable& lock) {
  return case_of(lock, lock.is_shared ? writers_on_two_nodes : shapes.front());
}

/// An unsound lock, and what becomes of it.
struct unsound_row {
  const checkable* lock;
  std::string reported;  ///< the faults that are found; empty: none, which is a fault of the checker
  std::string enacted;

  [[nodiscard]] bool is_caught() const { return !reported.empty() && !enacted.empty(); }
};

/// A queue, a map or a channel with its usual plan under all modes; or, if it is unsound, with the one that
/// tells.
struct plan_row {
  check_case of;
  cell sum{};
  std::string violations{};
  bool is_sound = true;
  bool is_whole = true;

  [[nodiscard]] bool is_right() const { return violations.empty() == is_sound; }
  [[nodiscard]] std::string result() const {
    if (!is_sound) return violations.empty() ? "unsound, and NOTHING found" : "unsound, found: " + violations;
    if (!violations.empty()) return "VIOLATION: " + violations;
    return is_whole ? "nothing found" : "nothing found in part";
  }
};

/// A sound lock, and whether it is so without each of the promises beyond the standard.
struct reliance_row {
  const checkable* lock;
  std::array<bool, promise_names.size()> relies{};
};

/// A plan where '|' separates cells.
std::string in_a_cell(const std::string& plan) {
  std::string text;
  for (const char c : plan) text += c == '|' ? std::string("\\|") : std::string(1, c);
  return text;
}

class matrix {
 public:
  explicit matrix(const check_all_options& options)
      : options_(&options), results_(options.files, options.prints_json) {
    results_.take_limits_for_complete();
  }

  /// Keeps the records so far if no more results come. Returns what the user has to know of it.
  [[nodiscard]] std::string keep() { return results_.keep(); }

  int run(kept_work& work) {
    work_ = &work;
    if (!options_->markdown.empty()) read_page();
    print_head();
    for (const checkable& lock : checkables())
      if (lock.is_sound)
        for (const case_size& one : lock.is_shared ? std::span<const case_size>(rw_shapes) : shapes)
          run_row(lock, one);
    print_sum();
    for (const checkable& lock : checkables())
      if (lock.is_sound)
        reliances_.push_back(reliance_of(lock));
      else
        unsound_.push_back(faults_of(lock));
    print_unsound();
    print_reliances();
    run_plans();
    const int status = work.finish([&] { return results_.finish(); });
    if (!options_->markdown.empty()) write_page();
    const bool all_caught =
        std::all_of(unsound_.begin(), unsound_.end(), [](const auto& row) { return row.is_caught(); }) &&
        std::all_of(plans_.begin(), plans_.end(),
                    [](const plan_row& row) { return row.is_sound || row.is_right(); });
    if (!all_caught) remark("the checker does not find the fault of an unsound lock or channel");
    return all_caught ? status : failure;
  }

 private:
  [[nodiscard]] std::uint64_t most_executions() const {
    return options_->quick ? most_executions_if_quick : 0;
  }

  /// Looks at random first, then at all orders.
  [[nodiscard]] checker::report look_for_faults(const check_case& of, const checkable& lock) const {
    checker::options how = options_of(of);
    how.by = checker::search::random;
    how.most_executions = random_executions;
    checker::report result = check(lock.program(of), how);
    if (result.found) return result;
    how = options_of(of);
    how.most_executions = most_executions();
    return check(lock.program(of), how);
  }

  /// The kinds of fault found under any mode.
  [[nodiscard]] std::string faults_under(const check_case& of, const checkable& lock) const {
    std::string all;
    for (const auto& [mode, mode_name] : mode_names) {
      check_case one = of;
      one.mode = mode;
      const checker::report result = look_for_faults(one, lock);
      if (!result.found) continue;
      const std::string_view kind = name(result.found->what);
      if (all.find(kind) == std::string::npos) all += fmt::format("{}{}", all.empty() ? "" : ", ", kind);
    }
    return all;
  }
  [[nodiscard]] unsound_row faults_of(const checkable& lock) const {
    check_case of = smallest(lock);
    unsound_row row{.lock = &lock, .reported = faults_under(of, lock), .enacted = {}};
    // Two ranks have but one successor to mistake for another.
    of.conflict = checker::conflicts::enacted;
    of.ranks = std::max(of.ranks, 3);
    row.enacted = faults_under(of, lock);
    return row;
  }
  [[nodiscard]] reliance_row reliance_of(const checkable& lock) const {
    reliance_row row{.lock = &lock};
    for (std::size_t i = 0; i < promise_names.size(); ++i) {
      check_case of = smallest(lock);
      bool& is_granted = of.promised.*promise_names[i].first;
      // The rows already show the lock without a promise that is not granted by default.
      if (!is_granted) continue;
      is_granted = false;
      row.relies[i] = !faults_under(of, lock).empty();
    }
    return row;
  }

  void run_row(const checkable& lock, const case_size& of) {
    row done;
    done.of = case_of(lock, of);
    for (std::size_t column = 0; column < column_count; ++column)
      for (const check_case& each : searches_of(done.of, column, options_->quick, lock.can_try)) {
        const checked one = run_check(each, lock, {.executions = most_executions()});
        done.is_whole = done.is_whole && one.result.complete;
        done.cells[column].add(one.result);
        add(one);
        if (one.result.found || one.is_undecided)
          done.violations += fmt::format("{}{} ({}, {})", done.violations.empty() ? "" : ", ",
                                         one.is_undecided ? "undecided" : name(one.result.found->what),
                                         name_in(mode_names, each.mode), column_names[column]);
      }
    print_row(done);
    rows_.push_back(std::move(done));
  }

  // ---- queues, maps and channels

  void run_plans() {
    print_head_of_plans();
    for (const checked_kind kind : {checked_kind::queue, checked_kind::map, checked_kind::channel})
      for (const checkable& object : checkables(kind))
        if (object.plans) {
          plans_.push_back(object.is_sound ? usual_row(object) : telling_row(object));
          print_row(plans_.back());
        }
  }

  [[nodiscard]] plan_row usual_row(const checkable& object) {
    plan_row row{.of = usual_case(object)};
    for (const auto& [mode, mode_name] : mode_names) {
      // Nothing is far in a channel, so that modes do not differ.
      if (object.kind == checked_kind::channel && mode != checker::delivery_mode::lazy) continue;
      check_case of = row.of;
      of.mode = mode;
      const checked one = run_check(
          of, object, {.executions = options_->quick ? most_executions_if_quick : most_executions_of_a_plan});
      row.sum.add(one.result);
      row.is_whole = row.is_whole && one.result.complete;
      add(one);
      if (one.result.found || one.is_undecided)
        row.violations +=
            fmt::format("{}{} ({})", row.violations.empty() ? "" : ", ",
                        one.is_undecided ? "undecided" : name(one.result.found->what), mode_name);
    }
    return row;
  }

  /// Of what is found nothing goes to the results, which are of those that are to be right.
  [[nodiscard]] static plan_row telling_row(const checkable& object) {
    plan_row row{.of = telling_case(object), .is_sound = false};
    checker::options how = options_of(row.of);
    how.most_executions = most_executions_until_told;
    const checker::report result = check(object.program(row.of), how);
    row.sum.add(result);
    if (result.found) row.violations = name(result.found->what);
    return row;
  }

  static std::string counted(const cell& of) { return of.was_run ? fmt::format("{}", of.executions) : "-"; }
  static std::string timed(const cell& of) { return of.was_run ? fmt::format("{:.2f}", of.seconds) : "-"; }

  void print_head() const {
    if (options_->prints_json) return;
    fmt::print(
        "# nearfar check --all{}: two nodes (mcs: one), ranks (writers, readers) x acquisitions of each\n",
        options_->quick ? " --quick" : "");
    fmt::print(
        "# traces and seconds; by lock() under each mode with release_acquire cells, under all three with\n"
        "# sequential ones, and by try_lock() first under all three; -: left out\n");
    fmt::print("{:<23} {:>9}", "# lock", "shape");
    for (const std::string_view name : column_names) fmt::print("{:>11}{:>7}", name, "s");
    fmt::print("  result\n");
  }

  void print_row(const row& of) const {
    if (options_->prints_json) return;
    fmt::print("{:<23} {:>9}", of.of.object, shape_name(of.of));
    for (const cell& each : of.cells) fmt::print("{:>11}{:>7}", counted(each), timed(each));
    fmt::print("  {}\n", of.result());
    std::fflush(stdout);
  }

  void print_head_of_plans() const {
    if (options_->prints_json) return;
    fmt::print("#\n# queues, maps and channels, 2 ranks, a plan of each, under all modes\n");
    fmt::print("{:<8}{:<23} {:>12}{:>9}  {}\n", "# kind", "name", "traces", "s", "result");
  }

  void print_row(const plan_row& of) const {
    if (options_->prints_json) return;
    fmt::print("{:<8}{:<23} {:>12}{:>9}  {}\n", name(of.of.kind), of.of.object, counted(of.sum),
               timed(of.sum), of.result());
    std::fflush(stdout);
  }

  void print_unsound() const {
    if (options_->prints_json) return;
    fmt::print("#\n# unsound locks         {:<18}{}\n", "found, 2 x 2", "with --conflicts enact, 3 x 2");
    for (const unsound_row& row : unsound_)
      fmt::print("{:<23} {:<18}{}\n", row.lock->name, row.reported.empty() ? "NOTHING" : row.reported,
                 row.enacted.empty() ? "NOTHING" : row.enacted);
  }

  void print_reliances() const {
    if (options_->prints_json) return;
    fmt::print("#\n# promises beyond the standard, 2 x 2 and 3w+1r x 1\n");
    for (const reliance_row& row : reliances_) {
      std::string all;
      for (std::size_t i = 0; i < row.relies.size(); ++i)
        if (row.relies[i]) all += fmt::format(" {}", promise_names[i].second);
      fmt::print("{:<23} relies on{}\n", row.lock->name, all.empty() ? " none" : all);
    }
  }

  [[nodiscard]] cell sum() const {
    cell all;
    for (const row& one : rows_)
      for (const cell& each : one.cells) {
        all.executions += each.executions;
        all.seconds += each.seconds;
      }
    return all;
  }

  void print_sum() const {
    if (options_->prints_json) return;
    fmt::print("# {} traces in {:.1f} s\n", sum().executions, sum().seconds);
  }

  // ---- the page

  void read_page() {
    refuse_irregular(options_->markdown);
    std::ifstream stream(options_->markdown);
    std::ostringstream text;
    if (stream) text << stream.rdbuf();
    page_ = text.str();
    begin_ = page_.find(begin_mark);
    end_ = page_.find(end_mark);
    if (!stream || begin_ == std::string::npos || end_ == std::string::npos || end_ < begin_)
      throw usage_error(
          fmt::format("'{}' is no file with the lines '{}' and '{}', between which the table goes",
                      options_->markdown, begin_mark, end_mark));
    // That it can be written is to be known before the hours of work.
    if (access(options_->markdown.c_str(), W_OK) != 0)
      throw usage_error(fmt::format("'{}' cannot be written", options_->markdown));
  }

  void add(const checked& one) {
    const auto hold = work_->hold();
    results_.add(one);
  }

  void write_page() const {
    std::string table(begin_mark);
    table += fmt::format(
        "\n\n`nearfar check --all{}`, nearfar {} built with `{}`, preconditions {}checked: {} traces in "
        "{:.1f} s on one core.\n\n",
        options_->quick ? " --quick" : "", version, build_flags, checked_build ? "" : "not ",
        sum().executions, sum().seconds);
    table += "| lock | ranks x acquisitions |";
    for (const std::string_view name : column_names) table += fmt::format(" {} | s |", name);
    table += " result |\n|---|---|";
    for (std::size_t i = 0; i < column_count; ++i) table += "---:|---:|";
    table += "---|\n";
    for (const row& one : rows_) {
      table += fmt::format("| `{}` | {} |", one.of.object, shape_name(one.of));
      for (const cell& each : one.cells) table += fmt::format(" {} | {} |", counted(each), timed(each));
      table += fmt::format(" {} |\n", one.result());
    }
    table +=
        "\nUnsound locks: the violation reported, 2 x 2 under any mode, and its consequence, 3 x 2 with "
        "`--conflicts enact`.\n\n";
    table += "| lock | found | enacted |\n|---|---|---|\n";
    for (const unsound_row& row : unsound_)
      table += fmt::format("| `{}` | {} | {} |\n", row.lock->name, row.is_caught() ? row.reported : "NOTHING",
                           row.enacted);
    table +=
        "\nPromises beyond the standard: a conflict is found, 2 x 2 (3w+1r x 1) under some mode, without "
        "the promise.\n\n| lock |";
    for (const auto& [member, promise] : promise_names) table += fmt::format(" {} |", promise);
    table += "\n|---|";
    for (std::size_t i = 0; i < promise_names.size(); ++i) table += "---|";
    table += "\n";
    for (const reliance_row& row : reliances_) {
      table += fmt::format("| `{}` |", row.lock->name);
      for (const bool relies : row.relies) table += relies ? " relies |" : " |";
      table += "\n";
    }
    table += "\n| kind | name | plan | traces | s | result |\n|---|---|---|---:|---:|---|\n";
    for (const plan_row& row : plans_)
      table += fmt::format("| {} | `{}` | `{}` | {} | {} | {} |\n", name(row.of.kind), row.of.object,
                           in_a_cell(row.of.plan), counted(row.sum), timed(row.sum), row.result());
    std::string page = page_;
    page.replace(begin_, end_ - begin_, table + "\n");
    bench::output_file file(options_->markdown, "", "page", {.is_replaced = true});
    file.write(page);
    file.commit();
  }

  const check_all_options* options_;
  check_results results_;
  kept_work* work_ = nullptr;
  std::vector<row> rows_;
  std::vector<unsound_row> unsound_;
  std::vector<reliance_row> reliances_;
  std::vector<plan_row> plans_;
  std::string page_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

int check_all(const check_all_options& options) {
  std::optional<matrix> all;
  kept_work work([&](const std::string&) { return all ? all->keep() : std::string(); });
  {
    const auto hold = work.hold();
    all.emplace(options);
  }
  return all->run(work);
}

}  // namespace nearfar::command
