#include "apps/nearfar/check_all.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/nearfar/command.hpp"
#include "nearfar/core/checks.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

constexpr std::string_view begin_mark = "<!-- generated: nearfar check --all -->";
constexpr std::string_view end_mark = "<!-- end of generated -->";

struct shape {
  int ranks;
  int acquisitions;
};
constexpr std::array shapes{shape{2, 2}, shape{3, 2}, shape{4, 1}};

/// Executions and time of one lock and shape: under each mode with release_acquire, then under all three
/// modes with sequential cells.
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
constexpr std::size_t sequential_column = mode_names.size();
struct row {
  check_case of;
  std::array<cell, mode_names.size() + 1> cells;
  std::string violations;

  [[nodiscard]] std::string result() const {
    return violations.empty() ? "nothing found" : "VIOLATION: " + violations;
  }
};

/// Where locks share far and near memory there are some hundred thousand traces of three ranks: these are
/// explored under one mode in the quick part, and under all in the full one.
bool is_in_quick_part(const check_case& of) {
  const bool is_large = of.ranks == 3 && of.lock.starts_with("cohort");
  return !is_large ||
         (of.mode == checker::delivery_mode::lazy && of.near == checker::near_model::release_acquire);
}

class matrix {
 public:
  explicit matrix(const check_all_options& options)
      : options_(&options), results_(options.files, options.prints_json) {}

  int run() {
    if (!options_->markdown.empty()) read_page();
    print_head();
    for (const bench::lock_entry& entry : bench::catalogue::instance().entries())
      if (entry.exists_in<engine::world>())
        for (const shape& one : shapes) run_row(entry, one);
    print_sum();
    const int status = results_.finish();
    if (!options_->markdown.empty()) write_page();
    return status;
  }

 private:
  void run_row(const bench::lock_entry& entry, const shape& of) {
    row done;
    done.of.lock = entry.name;
    done.of.ranks = of.ranks;
    done.of.acquisitions = of.acquisitions;
    done.of.nodes = entry.one_node_only ? 1 : 2;
    for (const auto& [near, near_name] : near_names)
      for (std::size_t i = 0; i < mode_names.size(); ++i) {
        done.of.near = near;
        done.of.mode = mode_names[i].first;
        if (options_->quick && !is_in_quick_part(done.of)) continue;
        const checked one = run_check(done.of, entry, {});
        const bool is_sequential = near == checker::near_model::sequential;
        done.cells[is_sequential ? sequential_column : i].add(one.result);
        results_.add(one);
        if (one.result.found)
          done.violations += fmt::format("{}{} ({}, {})", done.violations.empty() ? "" : ", ",
                                         name(one.result.found->what), mode_names[i].second, near_name);
      }
    print_row(done);
    rows_.push_back(std::move(done));
  }

  static std::string counted(const cell& of) { return of.was_run ? fmt::format("{}", of.executions) : "-"; }
  static std::string timed(const cell& of) { return of.was_run ? fmt::format("{:.2f}", of.seconds) : "-"; }

  void print_head() const {
    if (options_->prints_json) return;
    fmt::print("# nearfar check --all{}: two nodes (mcs: one), ranks x acquisitions of each\n",
               options_->quick ? " --quick" : "");
    fmt::print("# traces and seconds under each mode with release_acquire cells, and under all three with ");
    fmt::print("sequential ones{}\n", options_->quick ? "; -: in the full part only" : "");
    fmt::print("{:<24}{:>5}", "# lock", "shape");
    for (const auto& [mode, name] : mode_names) fmt::print("{:>10}{:>7}", name, "s");
    fmt::print("{:>11}{:>7}  result\n", "sequential", "s");
  }

  void print_row(const row& of) const {
    if (options_->prints_json) return;
    fmt::print("{:<24}{:>3}x{}", of.of.lock, of.of.ranks, of.of.acquisitions);
    for (std::size_t i = 0; i < of.cells.size(); ++i)
      fmt::print("{:>{}}{:>7}", counted(of.cells[i]), i == sequential_column ? 11 : 10, timed(of.cells[i]));
    fmt::print("  {}\n", of.result());
    std::fflush(stdout);
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

  void write_page() const {
    std::string table(begin_mark);
    table += fmt::format(
        "\n\n`nearfar check --all{}`, nearfar {} built with `{}`, preconditions {}checked: {} traces in "
        "{:.1f} s on one core.\n\n",
        options_->quick ? " --quick" : "", version, build_flags, checked_build ? "" : "not ",
        sum().executions, sum().seconds);
    table += "| lock | ranks x acquisitions |";
    for (const auto& [mode, name] : mode_names) table += fmt::format(" {} | s |", name);
    table += " sequential cells, all modes | s | result |\n|---|---|";
    for (std::size_t i = 0; i <= mode_names.size(); ++i) table += "---:|---:|";
    table += "---|\n";
    for (const row& one : rows_) {
      table += fmt::format("| `{}` | {} x {} |", one.of.lock, one.of.ranks, one.of.acquisitions);
      for (const cell& each : one.cells) table += fmt::format(" {} | {} |", counted(each), timed(each));
      table += fmt::format(" {} |\n", one.result());
    }
    std::string page = page_;
    page.replace(begin_, end_ - begin_, table + "\n");
    bench::output_file file(options_->markdown, "", "page");
    file.write(page);
    file.commit();
  }

  const check_all_options* options_;
  check_results results_;
  std::vector<row> rows_;
  std::string page_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

int check_all(const check_all_options& options) { return matrix(options).run(); }

}  // namespace nearfar::command
