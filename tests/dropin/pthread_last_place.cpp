// A schedule for libnearfar_pthread.so, which must be preloaded. As many threads as a mutex has places
// release it. None of them has given up its place yet when a thread with a time limit looks for one. That
// thread must get the mutex once they have given up their places, although no thread releases the mutex any
// more.
//
// The program stops threads where they wake waiting threads: its `syscall` precedes the C library's, which
// the preloaded library calls.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

namespace {

using system_call = long(long, ...);
using word = std::atomic<std::uint32_t>;

constexpr int places = 64;

system_call* original = nullptr;

enum class role : std::uint8_t { other, waits, waits_until };
thread_local role mine = role::other;
thread_local bool slept = false;

std::atomic<int> asleep{0};
std::atomic<const word*> slept_on{nullptr};  // of the thread with a time limit
std::atomic<std::uint32_t> seen_there{0};
std::atomic<int> stopped{0};
sem_t go_on;
sem_t has_it;
sem_t release_it;

void await(sem_t& one) {
  while (sem_wait(&one) != 0) {
  }
}

/// Whether the thread with a time limit sleeps and has not been woken since.
bool is_asleep() {
  const word* at = slept_on.load();
  return at != nullptr && at->load() == seen_there.load();
}

template <typename Condition>
void await(Condition holds) {
  while (!holds()) sched_yield();
}

}  // namespace

// NOLINTNEXTLINE(cert-dcl50-cpp): the C library's form
extern "C" [[gnu::visibility("default")]] long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  long given[6];
  for (long& each : given) each = va_arg(list, long);
  va_end(list);
  const auto* at = reinterpret_cast<const word*>(given[0]);  // NOLINT(performance-no-int-to-ptr)
  const int what = number == SYS_futex ? static_cast<int>(given[1]) & FUTEX_CMD_MASK : -1;
  // Words of a mutex are odd while threads sleep on them. The library's own lock, whose word is then even,
  // may put a thread to sleep before it has a place.
  const bool sleeps_for_mutex = what == FUTEX_WAIT_BITSET && given[2] % 2 == 1;
  if (sleeps_for_mutex && mine == role::waits_until) {
    seen_there = static_cast<std::uint32_t>(given[2]);
    slept_on = at;
  }
  if (sleeps_for_mutex && mine == role::waits && !slept) {
    slept = true;
    ++asleep;
  }
  const long result = original(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  if (what == FUTEX_WAKE && mine == role::waits && at == slept_on.load()) {
    ++stopped;
    await(go_on);
  }
  return result;
}

int main() {
  // The alarm ends the test also if no preloaded library calls the function above, and if the mutex never
  // comes.
  alarm(60);
  original = reinterpret_cast<system_call*>(dlsym(RTLD_NEXT, "syscall"));
  sem_init(&go_on, 0, 0);
  sem_init(&has_it, 0, 0);
  sem_init(&release_it, 0, 0);

  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const auto hold_once = [] {
    mine = role::waits;
    pthread_mutex_lock(&mutex);
    sem_post(&has_it);
    await(release_it);
    pthread_mutex_unlock(&mutex);
  };
  std::vector<std::thread> threads;
  threads.emplace_back(hold_once);
  await(has_it);
  for (int i = 1; i < places; ++i) threads.emplace_back(hold_once);
  await([] { return asleep.load() == places - 1; });

  int status = -1;
  std::thread until_a_time([&status] {
    mine = role::waits_until;
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    status = pthread_mutex_timedlock(&mutex, &until);
  });
  for (int i = 0; i < places; ++i) {
    await(is_asleep);
    if (i > 0) await(has_it);
    sem_post(&release_it);
    await([i] { return stopped.load() == i + 1; });
  }
  await(is_asleep);
  for (int i = 0; i < places; ++i) sem_post(&go_on);
  for (std::thread& one : threads) one.join();
  until_a_time.join();
  if (status == 0) {
    std::puts("last_place: ok");
    return 0;
  }
  std::printf("last_place: FAILED, pthread_mutex_timedlock() of a mutex that is free returned %d\n", status);
  return 1;
}
