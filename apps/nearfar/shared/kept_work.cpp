#include "apps/nearfar/shared/kept_work.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

kept_work::kept_work(keeper keep)
    : keep_(std::move(keep)), by_signal_(0, [this](const std::string& signal) {
        std::unique_lock hold(busy_);
        std::string known = this->keep(signal);
        // The process ends: until it has, nobody may go on writing.
        [[maybe_unused]] const std::mutex* const for_ever = hold.release();
        return known;
      }) {}

std::string kept_work::keep(const std::string& why) {
  if (std::exchange(is_over_, true)) return {};
  try {
    return keep_(why);
  } catch (const std::exception& failed) {
    return failed.what();
  }
}

void kept_work::keep_after(const std::string& exception) {
  const std::scoped_lock hold(busy_);
  if (const std::string known = keep(exception); !known.empty()) remark("{}", known);
}

}  // namespace nearfar::command
