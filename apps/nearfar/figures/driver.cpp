#include "apps/nearfar/figures/driver.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/report_package.hpp"
#include "bench/results/output_file.hpp"

namespace nearfar::command {

std::filesystem::path results_folder::file(std::string_view name) const {
  return std::filesystem::path(path) / fmt::format("{}.jsonl", name);
}

int results_folder::prepare(const std::vector<std::string>& names, bool is_replaced) {
  std::vector<std::string> options{"--check", "--output=" + path};
  if (is_replaced || std::ranges::any_of(names, [&](const std::string& name) {
        std::error_code ignored;
        return std::filesystem::exists(file(name), ignored);
      }))
    options.emplace_back("--overwrite");
  if (const int status = run_report_package(options); status != success) return status;
  std::error_code failed;
  is_new = std::filesystem::create_directories(path, failed);
  if (!failed) return success;
  remark("cannot make directory '{}': {}", path, failed.message());
  return bad_input;
}

void results_folder::give_up() const {
  std::error_code ignored;
  if (is_new) std::filesystem::remove(path, ignored);
}

std::string results_folder::note_claims(const std::vector<verdict_on_claim>& all) const {
  std::string results = file("claims").string();
  bench::output_file to(results, R"("holds")", "claims", {.is_replaced = true});
  fmt::print("\n# claims and findings\n");
  for (const verdict_on_claim& each : all) {
    const char* const verdict = each.holds           ? (*each.holds ? "holds" : "does not hold")
                                : each.found.empty() ? "not measured"
                                                     : "not judged";
    fmt::print("{:<14} {}{}\n", verdict, each.claim,
               each.found.empty() ? "" : fmt::format(": {}", each.found));
    nlohmann::ordered_json line{{"holds", nullptr}, {"claim", each.claim}, {"found", each.found}};
    if (each.holds) line["holds"] = *each.holds;
    to.write(line.dump() + "\n");
  }
  to.commit();
  std::fflush(stdout);
  return results;
}

int results_folder::draw(const std::string& title, std::vector<std::string> options,
                         const std::vector<std::string>& files) const {
  options.insert(options.begin(), {"--output=" + path, "--title=" + title, "--overwrite"});
  options.emplace_back("--");
  options.insert(options.end(), files.begin(), files.end());
  return run_report_package(options);
}

}  // namespace nearfar::command
