#include "apps/nearfar/shared/progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

progress_line::progress_line() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

progress_line::~progress_line() { clear(); }

void progress_line::clear() const {
  if (!is_terminal_) return;
  say("\r\033[K");
}

std::size_t progress_line::width() const {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;  // NOLINT(*-vararg)
  return is_known ? size.ws_col : usual;
}

/// A step may take minutes in which nobody calls `show`.
void progress_line::tell(const std::stop_token& end) {
  constexpr std::chrono::seconds at_first{10};
  constexpr std::chrono::seconds later{30};
  std::unique_lock hold(busy_);
  for (std::chrono::seconds pause = at_first;; pause = later) {
    woken_.wait_for(hold, end, pause, [] { return false; });
    if (end.stop_requested()) return;
    remark("{}", text_);
  }
}

void progress_line::show(const std::string& text) {
  if (!is_terminal_) {
    const std::scoped_lock hold(busy_);
    text_ = text;
    try {
      if (!teller_.joinable()) teller_ = std::jthread([this](const std::stop_token& end) { tell(end); });
    } catch (const std::system_error&) {
      // The work goes on without a word where the system gives no thread.
    }
    return;
  }
  // A line that fills the last column makes some terminals begin another one.
  say(fmt::format("\r\033[K{}", text.substr(0, width() - 1)));
}

progress_bar::progress_bar(std::size_t steps) : steps_(steps) {}

void progress_bar::step(const std::string& text) {
  ++begun_;
  const std::string place = fmt::format("{}/{}{} {}", begun_, steps_, time_left(), text);
  if (!line_.is_terminal()) {
    line_.show(place);
    return;
  }
  // Narrow terminals have more use for the text than for the bar.
  constexpr std::size_t widest = 30;
  const std::size_t width = std::min(widest, line_.width() / 5);
  const std::size_t filled = steps_ == 0 ? width : std::min(width, width * (begun_ - 1) / steps_);
  line_.show(fmt::format("[{:#<{}}{:.<{}}] {}", "", filled, "", width - filled, place));
}

void progress_bar::clear() const { line_.clear(); }

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
