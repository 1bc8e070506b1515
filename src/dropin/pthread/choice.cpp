#include "choice.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "arena.hpp"

namespace nearfar::preload {

unsigned polls_before_sleep = 100;

namespace {

/// Uses no function that allocates.
[[noreturn]] void refuse(std::string_view name) noexcept {
  std::array<char, 512> text{};
  std::size_t used = 0;
  const auto add = [&](std::string_view more) {
    const std::size_t count = std::min(more.size(), text.size() - 1 - used);
    std::memcpy(&text[used], more.data(), count);
    used += count;
  };
  add("NEARFAR_PTHREAD_LOCK is '");
  add(name.substr(0, 100));
  add("', but must be one of");
  for (const algorithm& one : algorithms()) {
    add(" ");
    add(one.name);
  }
  stop(text.data());
}

const algorithm& choose() noexcept {
  if (const char* polls = std::getenv("NEARFAR_PTHREAD_SPIN"); polls != nullptr) {
    const std::string_view text(polls);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), polls_before_sleep);
    if (error != std::errc{} || end != text.data() + text.size())
      stop("NEARFAR_PTHREAD_SPIN must be a whole number of polls before a waiting thread sleeps, not ",
           polls);
  }
  const char* name = std::getenv("NEARFAR_PTHREAD_LOCK");
  if (name == nullptr || *name == '\0') return algorithms().front();
  for (const algorithm& one : algorithms())
    if (std::strcmp(one.name, name) == 0) return one;
  refuse(name);
}

}  // namespace

const algorithm& chosen() noexcept {
  // Several threads find the same algorithm.
  static std::atomic<const algorithm*> found{};
  const algorithm* one = found.load(std::memory_order_relaxed);
  if (one == nullptr) [[unlikely]] {
    one = &choose();
    found.store(one, std::memory_order_relaxed);
  }
  return *one;
}

}  // namespace nearfar::preload
