#include "apps/nearfar/shared/stall_guard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// A rank's message to rank 0, sent as it is.
using note = std::array<char, 160>;

std::string text_of(const stalled& stall) {
  return fmt::format("{} (since {})", stall.what(), utc_time(stall.waited));
}

/// The first of them, and how many more there are: a line may have to speak of thousands.
template <typename Texts>
std::string list_of(const Texts& texts) {
  constexpr std::size_t most = 16;
  const auto end = texts.begin() + static_cast<std::ptrdiff_t>(std::min(most, texts.size()));
  std::string list = fmt::format("{}", fmt::join(texts.begin(), end, ", "));
  if (texts.size() > most) list += fmt::format(" and {} more", texts.size() - most);
  return list;
}

/// Ends the process, and under MPI the job, also from a thread beside one that hangs in MPI, where it may
/// hang too. An abort makes the launcher's status that of the stall: one that sees a rank leave kills the
/// others, and may take the status that gives them.
[[noreturn]] void end_job() {
  if (mpi::is_active()) {
    std::thread([] {
      std::this_thread::sleep_for(5s);
      std::_Exit(failure);
    }).detach();
    // Launchers pass lines on when they get to it, and drop what is under way when the job is aborted.
    std::this_thread::sleep_for(200ms);
    MPI_Abort(MPI_COMM_WORLD, failure);
  }
  std::_Exit(failure);
}

void pause_between_looks() { std::this_thread::sleep_for(1ms); }

}  // namespace

stall_guard::stall_guard(int rank, std::optional<stall_limits> limits, keeper keep)
    : rank_(rank), limits_(limits), keep_(std::move(keep)) {
  if (!limits_) return;
  dog_.emplace([this] {
    say(explanation(0));
    end_job();
  });
}

void stall_guard::begin(const std::string& what) {
  {
    const std::scoped_lock hold(guard_);
    what_ = what;
  }
  beat();
}

void stall_guard::beat() {
  if (!dog_) return;
  {
    const std::scoped_lock hold(guard_);
    began_ = steady_clock::now();
  }
  dog_->arm(allowance());
}

void stall_guard::rest() {
  if (dog_) dog_->rest();
}

std::chrono::nanoseconds stall_guard::allowance() const {
  return limits_->of_step() + (rank_ == 0 ? 0s : limits_->until_first_ends());
}

void stall_guard::end(const stalled& stall, const mpi::communicator& ranks) {
  const std::string mine = text_of(stall);
  {
    const std::scoped_lock hold(guard_);
    heard_[stall.rank] = mine;
  }
  dog_->arm(allowance());  // the calls below call MPI, too
  try {
    rank_ == 0 ? hear_others(ranks) : wait_for_first(mine, ranks);
  } catch (const mpi::mpi_error&) {
    // The guard makes do with the messages that it has heard.
  }
  say(explanation(rank_ == 0 ? ranks.size() : 0));
  end_job();
}

void stall_guard::end(const stalled& stall, int ranks) {
  dog_->arm(allowance());
  std::unique_lock hold(guard_);
  heard_[stall.rank] = text_of(stall);
  changed_.notify_all();
  changed_.wait_for(hold, limits_->hearing(),
                    [&] { return heard_.size() == static_cast<std::size_t>(ranks); });
  hold.unlock();
  say(explanation(ranks));
  std::_Exit(failure);
}

/// Until all are heard or the time is over.
void stall_guard::hear_others(const mpi::communicator& ranks) {
  const auto end = steady_clock::now() + limits_->hearing();
  const auto all = static_cast<std::size_t>(ranks.size());
  while (heard_.size() < all && steady_clock::now() < end) {
    int found = 0;
    MPI_Status status;
    mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, 0, ranks.get(), &found, &status), "MPI_Iprobe");
    if (found == 0) {
      pause_between_looks();
      continue;
    }
    note theirs{};
    mpi::check(MPI_Recv(theirs.data(), static_cast<int>(theirs.size()), MPI_CHAR, status.MPI_SOURCE, 0,
                        ranks.get(), MPI_STATUS_IGNORE),
               "MPI_Recv");
    const std::scoped_lock hold(guard_);
    heard_[status.MPI_SOURCE] = theirs.data();
  }
}

/// Returns only if rank 0 does not end the job. Ranks that wait for it alike return one after the other, so
/// that one of them ends it.
void stall_guard::wait_for_first(const std::string& mine, const mpi::communicator& ranks) {
  const auto turn = 100ms * std::min(rank_, 50);
  const auto end = steady_clock::now() + limits_->until_first_ends() + turn;
  note sent{};
  mine.copy(sent.data(), sent.size() - 1);
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_CHAR, 0, 0, ranks.get(), &request),
             "MPI_Isend");
  while (steady_clock::now() < end) {
    int done = 0;
    mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    pause_between_looks();
  }
}

std::string stall_guard::explanation(int ranks) const {
  const std::scoped_lock hold(guard_);
  if (heard_.empty()) {
    const auto span = steady_clock::now() - began_;
    return fmt::format(
        "rank {} has neither waited nor gone on for {} s (since {}): it hangs in a call or a loop", rank_,
        span / 1s, utc_time(span));
  }
  std::vector<std::string> texts;
  for (const auto& [rank, text] : heard_) texts.push_back(text);
  std::vector<int> silent;
  for (int rank = 0; rank < ranks; ++rank)
    if (!heard_.contains(rank)) silent.push_back(rank);
  std::string result = list_of(texts);
  if (!silent.empty())
    result += fmt::format("; no report came from rank{} {}", silent.size() == 1 ? "" : "s", list_of(silent));
  return result;
}

void stall_guard::say(const std::string& why) {
  while (said_.test_and_set()) std::this_thread::sleep_for(1h);
  std::string what;
  {
    const std::scoped_lock hold(guard_);
    what = what_;
  }
  const std::string problem = keep_(what, why);
  std::fflush(stdout);
  remark("{} stalls: {}{}{}", what, why, problem.empty() ? "" : "; ", problem);
}

}  // namespace nearfar::command
