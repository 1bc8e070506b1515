#include "apps/nearfar/figures/driver.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

#include "apps/nearfar/shared/report_package.hpp"

namespace nearfar::command {

std::filesystem::path results_folder::file(std::string_view name) const {
  return std::filesystem::path(path) / fmt::format("{}.jsonl", name);
}

int results_folder::prepare() {
  if (const int status = run_report_package({"--check", "--output=" + path}); status != success)
    return status;
  std::error_code failed;
  is_new = std::filesystem::create_directories(path, failed);
  if (!failed) return success;
  fmt::print(stderr, "nearfar: cannot make directory '{}': {}\n", path, failed.message());
  return bad_input;
}

void results_folder::give_up() const {
  std::error_code ignored;
  if (is_new) std::filesystem::remove(path, ignored);
}

int results_folder::draw(const std::string& title, std::vector<std::string> options,
                         const std::vector<std::string>& files) const {
  options.insert(options.begin(), {"--output=" + path, "--title=" + title});
  options.emplace_back("--");
  options.insert(options.end(), files.begin(), files.end());
  return run_report_package(options);
}

}  // namespace nearfar::command
