/// \file
/// Keeps or removes incomplete results when a process is told to end, or an exception ends it.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <string>

#include "apps/nearfar/shared/interruption.hpp"

namespace nearfar::command {

/// Work that keeps what it has done so far, or takes it away, in either case. To be made before any other
/// thread.
class kept_work {
 public:
  /// Gets the name of a signal or the text of an exception, and returns what the user has to know, or
  /// nothing.
  using keeper = interruption::keeper;

  explicit kept_work(keeper keep);

  /// While a thread holds this, nothing is kept. A thread that changes the work holds it.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(busy_); }

  /// Does the last of it, such as to put a file in its place, during which and after which nothing is kept.
  template <typename Last>
  auto finish(const Last& last) {
    const std::scoped_lock hold(busy_);
    is_over_ = true;
    return last();
  }

  /// Throws again what `work()` throws, when its results have been kept.
  template <typename Work>
  auto run(const Work& work) {
    try {
      return work();
    } catch (const std::exception& failed) {
      keep_after(failed.what());
      throw;
    }
  }

 private:
  [[nodiscard]] std::string keep(const std::string& why);
  void keep_after(const std::string& exception);

  keeper keep_;
  std::mutex busy_;
  bool is_over_ = false;
  interruption by_signal_;
};

}  // namespace nearfar::command
