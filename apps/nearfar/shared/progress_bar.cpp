#include "apps/nearfar/shared/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace nearfar::command {

progress_bar::progress_bar(std::size_t steps) : shown_(isatty(STDERR_FILENO) != 0), steps_(steps) {}

progress_bar::~progress_bar() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void progress_bar::step(const std::string& text) {
  if (!shown_) return;
  constexpr std::size_t width = 30;
  const std::size_t filled = steps_ == 0 ? width : std::min(width, width * done_ / steps_);
  fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}/{} {}", "", filled, "", width - filled, done_ + 1, steps_,
             text);
  std::fflush(stderr);
  ++done_;
}

}  // namespace nearfar::command
