/// \file
/// A lock that is wrong hangs more often than it lets two in: says which test hangs, and ends the program.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace nearfar::testing {

/// Ends the program, with the name of the test, once a single test has run for NEARFAR_TEST_LIMIT seconds.
/// The default is generous: the longest test takes seconds, and on a machine with much else to do a minute.
class watchdog : public ::testing::EmptyTestEventListener {
 public:
  explicit watchdog(std::string who = {}) : who_(std::move(who)), guard_([this] { watch(); }) {}
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() override {
    {
      const std::scoped_lock hold(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    guard_.join();
  }

  void OnTestStart(const ::testing::TestInfo& info) override {
    set(std::string(info.test_suite_name()) + "." + info.name());
  }
  void OnTestEnd(const ::testing::TestInfo& /*info*/) override { set({}); }

 private:
  [[nodiscard]] static std::chrono::seconds limit_from_environment() {
    const char* const chosen = std::getenv("NEARFAR_TEST_LIMIT");
    return std::chrono::seconds{chosen == nullptr ? 300 : std::atol(chosen)};
  }

  void set(std::string test) {
    {
      const std::scoped_lock hold(mutex_);
      test_ = std::move(test);
      ++changes_;
    }
    changed_.notify_one();
  }

  void watch() {
    std::unique_lock hold(mutex_);
    while (!ended_) {
      const auto seen = changes_;
      const auto is_new = [&] { return ended_ || changes_ != seen; };
      if (test_.empty()) {
        changed_.wait(hold, is_new);
      } else if (!changed_.wait_for(hold, limit_, is_new)) {
        std::fprintf(stderr, "%s%s hangs: it has run for %lld seconds\n", who_.c_str(), test_.c_str(),
                     static_cast<long long>(limit_.count()));
        std::fflush(stderr);
        std::_Exit(1);
      }
    }
  }

  std::string who_;
  std::chrono::seconds limit_ = limit_from_environment();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string test_;
  unsigned long changes_ = 0;
  bool ended_ = false;
  std::thread guard_;
};

}  // namespace nearfar::testing
