/// \file
/// How far long work is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace nearfar::command {

/// A bar on a terminal's stderr. Elsewhere, as under a launcher, a line now and then.
class progress_bar {
 public:
  explicit progress_bar(std::size_t steps);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar();
  /// The next step begins.
  void step(const std::string& text);
  /// Takes `count` steps off the steps that are to come.
  void skip(std::size_t count);

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] std::string time_left() const;

  bool is_terminal_;
  std::size_t steps_;
  std::size_t begun_ = 0;
  clock::time_point start_ = clock::now();
  clock::time_point said_ = start_;
};

}  // namespace nearfar::command
