#include "nearfar/core/error.hpp"

#include <chrono>
#include <string>

namespace nearfar {

namespace {

std::string text_of(std::chrono::nanoseconds span) {
  using namespace std::chrono_literals;
  return span < 10s ? std::to_string(span / 1ms) + " ms" : std::to_string(span / 1s) + " s";
}

}  // namespace

stalled::stalled(int waiting_rank, const std::string& awaited, std::chrono::nanoseconds span)
    : error("rank " + std::to_string(waiting_rank) + " has waited " + text_of(span) + " for " + awaited),
      rank(waiting_rank),
      waited(span) {}

namespace detail {

void throw_no_such_rank(int rank, int ranks) {
  throw unreachable_rank("there is no rank " + std::to_string(rank) + " among the " + std::to_string(ranks) +
                         " ranks of the world");
}

void throw_no_shared_memory(int rank, int from) {
  throw unreachable_rank("rank " + std::to_string(rank) + " shares no memory with rank " +
                         std::to_string(from));
}

void throw_already_held(const char* call) {
  throw already_held(std::string(call) + " by the rank that already holds the lock: it is not recursive");
}

void throw_not_held(const char* call, bool is_held_otherwise) {
  throw not_held(std::string(call) + " by a rank that does not hold the lock" +
                 (is_held_otherwise ? " that way: readers unlock_shared(), writers unlock()"
                                    : ": unlocked twice, or never locked"));
}

void throw_destroyed_while_held() {
  throw destroyed_while_held(
      "a lock was destroyed by the rank that holds it: unlock it first, others may wait for it");
}

}  // namespace detail

}  // namespace nearfar
