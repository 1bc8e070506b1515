/// \file
/// How far long work is, on stderr.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace nearfar::command {

/// One line that the next one overwrites, cut to the terminal's width. Where stderr is no terminal, as under
/// a launcher, a thread prints the latest text on a line of its own, after 10 s and then every 30 s.
class progress_line {
 public:
  progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();
  void show(const std::string& text);
  void clear() const;
  [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }
  /// Columns of the terminal.
  [[nodiscard]] std::size_t width() const;

 private:
  void tell(const std::stop_token& end);

  bool is_terminal_;
  std::mutex busy_;
  std::condition_variable_any woken_;
  std::string text_;
  std::jthread teller_;  // last: it uses the others
};

/// A bar in such a line.
class progress_bar {
 public:
  explicit progress_bar(std::size_t steps);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  /// The next step begins.
  void step(const std::string& text);
  /// Takes the bar off the terminal, for a line to be printed in its place.
  void clear() const;
  /// Takes `count` steps off the steps that are to come.
  void skip(std::size_t count);

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] std::string time_left() const;

  progress_line line_;
  std::size_t steps_;
  std::size_t begun_ = 0;
  clock::time_point start_ = clock::now();
};

}  // namespace nearfar::command
