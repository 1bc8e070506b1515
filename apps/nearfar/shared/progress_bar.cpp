#include "apps/nearfar/shared/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace nearfar::command {

progress_bar::progress_bar(std::size_t steps) : is_terminal_(isatty(STDERR_FILENO) != 0), steps_(steps) {}

progress_bar::~progress_bar() {
  if (is_terminal_) fmt::print(stderr, "\r\033[K");
}

void progress_bar::step(const std::string& text) {
  ++begun_;
  const std::string place = fmt::format("{}/{} {}{}", begun_, steps_, text, time_left());
  if (!is_terminal_) {
    constexpr std::chrono::seconds pause{20};
    if (clock::now() - said_ < pause) return;
    said_ = clock::now();
    fmt::print(stderr, "nearfar: {}\n", place);
    return;
  }
  constexpr std::size_t width = 30;
  const std::size_t filled = steps_ == 0 ? width : std::min(width, width * (begun_ - 1) / steps_);
  fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}", "", filled, "", width - filled, place);
  std::fflush(stderr);
}

void progress_bar::skip(std::size_t count) { steps_ -= std::min(count, steps_); }

/// As the steps so far took; nothing before there is one.
std::string progress_bar::time_left() const {
  if (begun_ < 2 || begun_ > steps_) return "";
  const std::chrono::duration<double> elapsed = clock::now() - start_;
  const double left =
      elapsed.count() / static_cast<double>(begun_ - 1) * static_cast<double>(steps_ - begun_ + 1);
  constexpr double minute = 60;
  return left < 2 * minute ? fmt::format(", {:.0f} s left", left)
                           : fmt::format(", {:.0f} min left", left / minute);
}

}  // namespace nearfar::command
