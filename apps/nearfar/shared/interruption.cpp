#include "apps/nearfar/shared/interruption.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

/// Tells the thread that nothing is to come any more.
constexpr int end_of_wait = SIGUSR2;

}  // namespace

interruption::interruption(int rank, keeper keep) {
  sigemptyset(&awaited_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU}) {
    // The parent of the process may want a signal ignored, as nohup does.
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    sigaddset(&awaited_, signal);
  }
  sigaddset(&awaited_, end_of_wait);
  pthread_sigmask(SIG_BLOCK, &awaited_, &before_);
  thread_ = std::thread([this, rank, keep = std::move(keep)] { wait(rank, keep); });
}

interruption::~interruption() {
  over_ = true;
  pthread_kill(thread_.native_handle(), end_of_wait);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void interruption::wait(int rank, const keeper& keep) const {
  int signal = 0;
  if (sigwait(&awaited_, &signal) != 0 || over_) return;
  if (rank != 0) {
    constexpr std::chrono::milliseconds grace{500};
    std::this_thread::sleep_for(grace);
    std::_Exit(of_signals + signal);
  }
  const std::string name = fmt::format("signal {} ({})", signal, strsignal(signal));
  const std::string known = keep(name);
  std::fflush(stdout);
  remark("ended by {}{}{}", name, known.empty() ? "" : "; ", known);
  std::_Exit(of_signals + signal);
}

}  // namespace nearfar::command
