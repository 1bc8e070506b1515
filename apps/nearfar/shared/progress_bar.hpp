/// \file
/// How far long work is.
#pragma once

#include <cstddef>
#include <string>

namespace nearfar::command {

/// A bar on a terminal's stderr, and nothing elsewhere.
class progress_bar {
 public:
  explicit progress_bar(std::size_t steps);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar();
  void step(const std::string& text);

 private:
  bool shown_;
  std::size_t steps_;
  std::size_t done_ = 0;
};

}  // namespace nearfar::command
