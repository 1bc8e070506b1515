// The doctor's checks of whether far operations make progress while their target does something else.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "apps/nearfar/doctor/tools.hpp"

namespace nearfar::command::doctor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds computation{100};
/// Between what an operation takes at worst, with ranks that wait for processors, and what it takes when it
/// waits for the target to have computed.
constexpr milliseconds prompt{50};

/// How long a fetch-and-add takes whose target repeats `activity` meanwhile: the median of three. Same on all
/// ranks.
template <typename Activity>
std::chrono::nanoseconds latency_during(const examination& e, shared_word& word, Activity activity) {
  std::array<std::uint64_t, 3> took{};
  for (std::uint64_t& span : took) {
    e.barrier();
    if (e.is_target()) {
      const auto end = clock::now() + computation;
      while (clock::now() < end) activity();
    } else if (e.is_origin()) {
      std::this_thread::sleep_for(milliseconds(5));  // for the target to have left the barrier
      const auto begin = clock::now();
      word.fetch_add(1);
      span = static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - begin).count());
    }
  }
  std::nth_element(took.begin(), took.begin() + 1, took.end());
  return std::chrono::nanoseconds(e.largest(took[1]));
}

}  // namespace

finding progress_computing(examination& e) {
  shared_word word(e);
  const auto latency = latency_during(e, word, [] {});
  if (latency < prompt)
    return {outcome::ok, "an operation on a rank that computes takes " + duration_text(latency)};
  return {outcome::warn, fmt::format("an operation on a rank that computes for {} takes {}",
                                     duration_text(computation), duration_text(latency))};
}

finding progress_waiting(examination& e) {
  shared_word word(e);
  const auto by_probe = latency_during(e, word, [&] { drive_progress(e); });
  const auto by_sync = latency_during(e, word, [&] { word.sync(); });
  return {by_probe < prompt ? outcome::ok : outcome::fail,
          fmt::format("an operation on a rank that calls MPI_Iprobe takes {}, MPI_Win_sync {}",
                      duration_text(by_probe), duration_text(by_sync))};
}

}  // namespace nearfar::command::doctor
