// A program that knows POSIX threads only, run as it is and with libnearfar_pthread.so preloaded. Each part
// prints its failures; the exit status says whether a part failed.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

extern pthread_mutex_t kept_around_forks;  // fork_handlers.cpp

namespace {

std::atomic<int> failures{0};

void expect(long found, long expected, const char* what, int line) {
  if (found == expected) return;
  std::printf("line %d: %s is %ld, not %ld\n", line, what, found, expected);
  ++failures;
}
#define EXPECT(found, expected) expect(found, expected, #found, __LINE__)

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number) threads.emplace_back(body, number);
  for (std::thread& one : threads) one.join();
}
/// The result of the call in another thread.
int elsewhere(const std::function<int()>& call) {
  int result = -1;
  std::thread([&] { result = call(); }).join();
  return result;
}

timespec from_now(clockid_t clock, long milliseconds) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += milliseconds % 1000 * 1'000'000;
  time.tv_sec += milliseconds / 1000;
  if (time.tv_nsec < 0) {
    time.tv_nsec += 1'000'000'000;
    --time.tv_sec;
  }
  if (time.tv_nsec >= 1'000'000'000) {
    time.tv_nsec -= 1'000'000'000;
    ++time.tv_sec;
  }
  return time;
}

struct mutex_of {
  pthread_mutex_t mutex;
  explicit mutex_of(int type, int shared = PTHREAD_PROCESS_PRIVATE, int robust = PTHREAD_MUTEX_STALLED,
                    int protocol = PTHREAD_PRIO_NONE) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, type);
    pthread_mutexattr_setpshared(&how, shared);
    pthread_mutexattr_setrobust(&how, robust);
    pthread_mutexattr_setprotocol(&how, protocol);
    EXPECT(pthread_mutex_init(&mutex, &how), 0);
    pthread_mutexattr_destroy(&how);
  }
};

/// A counter that loses increments if two threads are in at once, and reports that at once.
struct counter {
  volatile long value = 0;
  std::atomic<int> inside{0};
  int met = 0;
  void increment() {
    if (inside.fetch_add(1) != 0) ++met;
    const long before = value;
    if (before % 64 == 0) sched_yield();
    value = before + 1;
    inside.fetch_sub(1);
  }
};

void exclusion() {
  constexpr long each = 3000;
  // More threads than processors, and more than the mutex' own queue has places for.
  for (const int threads : {2, 4, 100}) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    counter all;
    const long rounds = threads > 4 ? each / 20 : each;
    in_threads(threads, [&](int number) {
      for (long i = 0; i < rounds; ++i) {
        if (number % 2 == 0)
          EXPECT(pthread_mutex_lock(&mutex), 0);
        else if (i % 8 != 0)
          while (pthread_mutex_trylock(&mutex) != 0) sched_yield();
        else {
          const timespec until = from_now(CLOCK_REALTIME, 60'000);
          EXPECT(pthread_mutex_timedlock(&mutex, &until), 0);
        }
        all.increment();
        EXPECT(pthread_mutex_unlock(&mutex), 0);
      }
    });
    EXPECT(all.value, threads * rounds);
    EXPECT(all.met, 0);
    EXPECT(pthread_mutex_destroy(&mutex), 0);
  }
}

void types() {
  pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
  EXPECT(pthread_mutex_lock(&normal), 0);
  EXPECT(pthread_mutex_trylock(&normal), EBUSY);
  EXPECT(elsewhere([&] { return pthread_mutex_trylock(&normal); }), EBUSY);
  EXPECT(pthread_mutex_destroy(&normal), EBUSY);
  EXPECT(pthread_mutex_unlock(&normal), 0);
  EXPECT(pthread_mutex_trylock(&normal), 0);
  EXPECT(pthread_mutex_unlock(&normal), 0);
  // A thread ended while holding it; another gives it up, as some programs do.
  EXPECT(elsewhere([&] { return pthread_mutex_lock(&normal); }), 0);
  EXPECT(pthread_mutex_trylock(&normal), EBUSY);
  EXPECT(pthread_mutex_unlock(&normal), 0);
  EXPECT(elsewhere([&] { return pthread_mutex_lock(&normal) + pthread_mutex_unlock(&normal); }), 0);
  EXPECT(pthread_mutex_destroy(&normal), 0);
  EXPECT(pthread_mutex_lock(&normal), EINVAL);
  normal = PTHREAD_MUTEX_INITIALIZER;
  EXPECT(pthread_mutex_lock(&normal), 0);
  EXPECT(pthread_mutex_unlock(&normal), 0);

  const auto recursive = [](pthread_mutex_t& mutex) {
    for (int depth = 0; depth < 5; ++depth)
      EXPECT(depth % 2 == 0 ? pthread_mutex_lock(&mutex) : pthread_mutex_trylock(&mutex), 0);
    EXPECT(elsewhere([&] { return pthread_mutex_unlock(&mutex); }), EPERM);
    for (int depth = 0; depth < 5; ++depth) {
      EXPECT(elsewhere([&] { return pthread_mutex_trylock(&mutex); }), EBUSY);
      EXPECT(pthread_mutex_unlock(&mutex), 0);
    }
    EXPECT(pthread_mutex_unlock(&mutex), EPERM);
    EXPECT(elsewhere([&] { return pthread_mutex_lock(&mutex) + pthread_mutex_unlock(&mutex); }), 0);
    EXPECT(pthread_mutex_destroy(&mutex), 0);
  };
  const auto error_checking = [](pthread_mutex_t& mutex) {
    EXPECT(pthread_mutex_unlock(&mutex), EPERM);
    EXPECT(pthread_mutex_lock(&mutex), 0);
    EXPECT(pthread_mutex_lock(&mutex), EDEADLK);
    EXPECT(pthread_mutex_trylock(&mutex), EBUSY);
    const timespec until = from_now(CLOCK_REALTIME, 60'000);
    EXPECT(pthread_mutex_timedlock(&mutex, &until), EDEADLK);
    EXPECT(elsewhere([&] { return pthread_mutex_unlock(&mutex); }), EPERM);
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    EXPECT(elsewhere([&] { return pthread_cond_wait(&condition, &mutex); }), EPERM);
    EXPECT(pthread_mutex_unlock(&mutex), 0);
    EXPECT(pthread_mutex_destroy(&mutex), 0);
  };
  mutex_of of_type(PTHREAD_MUTEX_RECURSIVE);
  recursive(of_type.mutex);
  of_type = mutex_of(PTHREAD_MUTEX_ERRORCHECK);
  error_checking(of_type.mutex);
  pthread_mutex_t statically = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  recursive(statically);
  statically = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  error_checking(statically);
}

void time_outs() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  timespec until = from_now(CLOCK_REALTIME, -1000);
  EXPECT(pthread_mutex_timedlock(&mutex, &until), 0);  // a free mutex is available at any time
  EXPECT(elsewhere([&] { return pthread_mutex_timedlock(&mutex, &until); }), ETIMEDOUT);
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    until = from_now(clock, 5);
    EXPECT(elsewhere([&] { return pthread_mutex_clocklock(&mutex, clock, &until); }), ETIMEDOUT);
    const timespec now = from_now(clock, 0);
    EXPECT(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec), 1);
  }
  EXPECT(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &until), EINVAL);
  until.tv_nsec = 1'000'000'000;
  EXPECT(elsewhere([&] { return pthread_mutex_timedlock(&mutex, &until); }), EINVAL);
  // This thread gives it up while another waits with a time limit, and the other gets it.
  std::atomic<bool> comes{false};
  std::thread waiter([&] {
    const timespec late = from_now(CLOCK_MONOTONIC, 60'000);
    comes = true;
    EXPECT(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &late), 0);
    EXPECT(pthread_mutex_unlock(&mutex), 0);
  });
  while (!comes) sched_yield();
  for (int i = 0; i < 1000; ++i) sched_yield();
  EXPECT(pthread_mutex_unlock(&mutex), 0);
  waiter.join();

  pthread_condattr_t how;
  pthread_condattr_init(&how);
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    pthread_cond_t condition;
    pthread_condattr_setclock(&how, clock);
    pthread_cond_init(&condition, &how);
    EXPECT(pthread_mutex_lock(&mutex), 0);
    until = from_now(clock, -1000);
    EXPECT(pthread_cond_timedwait(&condition, &mutex, &until), ETIMEDOUT);
    until = from_now(clock, 5);
    int status = 0;
    while (status == 0) status = pthread_cond_timedwait(&condition, &mutex, &until);
    EXPECT(status, ETIMEDOUT);
    const timespec now = from_now(clock, 0);
    EXPECT(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec), 1);
    const clockid_t other = clock == CLOCK_REALTIME ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    until = from_now(other, -1);
    EXPECT(pthread_cond_clockwait(&condition, &mutex, other, &until), ETIMEDOUT);
    until.tv_nsec = -1;
    EXPECT(pthread_cond_timedwait(&condition, &mutex, &until), EINVAL);
    EXPECT(elsewhere([&] { return pthread_mutex_trylock(&mutex); }), EBUSY);  // the thread holds it again
    EXPECT(pthread_mutex_unlock(&mutex), 0);
    EXPECT(pthread_cond_destroy(&condition), 0);
  }
}

void bounded_buffer(pthread_mutex_t& mutex, pthread_cond_t& not_full, pthread_cond_t& not_empty,
                    bool broadcasts, bool holds_while_it_signals) {
  constexpr int each = 1000;
  constexpr int threads = 3;
  constexpr std::size_t most = 3;
  std::vector<int> buffer;
  long sum = 0;
  const auto tell = [&](pthread_cond_t& condition) {
    EXPECT(broadcasts ? pthread_cond_broadcast(&condition) : pthread_cond_signal(&condition), 0);
  };
  const auto change = [&](pthread_cond_t& waits_for, pthread_cond_t& tells, auto may, auto does) {
    EXPECT(pthread_mutex_lock(&mutex), 0);
    while (!may()) EXPECT(pthread_cond_wait(&waits_for, &mutex), 0);
    does();
    if (holds_while_it_signals) tell(tells);
    EXPECT(pthread_mutex_unlock(&mutex), 0);
    if (!holds_while_it_signals) tell(tells);
  };
  in_threads(2 * threads, [&](int number) {
    for (int i = 1; i <= each; ++i)
      if (number < threads)
        change(
            not_full, not_empty, [&] { return buffer.size() < most; }, [&] { buffer.push_back(i); });
      else
        change(
            not_empty, not_full, [&] { return !buffer.empty(); },
            [&] {
              sum += buffer.back();
              buffer.pop_back();
            });
  });
  EXPECT(sum, long{threads} * each * (each + 1) / 2);
  EXPECT(static_cast<long>(buffer.size()), 0);
}

void conditions() {
  for (const bool broadcasts : {false, true})
    for (const bool holds : {false, true}) {
      pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
      pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
      pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
      bounded_buffer(mutex, not_full, not_empty, broadcasts, holds);
    }
}

/// A thread that is cancelled in its wait holds the mutex in its clean-up, and uses up no signal.
void cancellation() {
  struct shared {
    pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    int waiting = 0;
    int cleaned = 0;
    int woken = 0;
    bool open = false;
  } all;
  const auto body = [](void* argument) -> void* {
    auto& the = *static_cast<shared*>(argument);
    pthread_mutex_lock(&the.mutex);
    ++the.waiting;
    pthread_cleanup_push(
        [](void* again) {
          auto& mine = *static_cast<shared*>(again);
          ++mine.cleaned;
          EXPECT(pthread_mutex_unlock(&mine.mutex), 0);  // EPERM unless this thread has it
        },
        argument);
    while (!the.open) pthread_cond_wait(&the.condition, &the.mutex);
    ++the.woken;
    pthread_cleanup_pop(1);
    return nullptr;
  };
  std::vector<pthread_t> threads(4);
  for (pthread_t& one : threads) pthread_create(&one, nullptr, body, &all);
  for (bool all_wait = false; !all_wait; sched_yield()) {
    pthread_mutex_lock(&all.mutex);
    all_wait = all.waiting == 4;
    pthread_mutex_unlock(&all.mutex);
  }
  pthread_cancel(threads[0]);
  pthread_cancel(threads[2]);
  pthread_join(threads[0], nullptr);
  pthread_join(threads[2], nullptr);
  pthread_mutex_lock(&all.mutex);
  EXPECT(all.cleaned, 2);
  all.open = true;
  pthread_cond_signal(&all.condition);
  pthread_cond_signal(&all.condition);
  pthread_mutex_unlock(&all.mutex);
  pthread_join(threads[1], nullptr);
  pthread_join(threads[3], nullptr);
  EXPECT(all.cleaned, 4);
  EXPECT(all.woken, 2);
}

/// Two threads wait; one is signalled and cancelled at once. Either that thread wakes, or the other does in
/// its place.
void cancelled_signals() {
  struct shared {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    int waiting = 0;
    int signals = 0;
  };
  const auto body = [](void* argument) -> void* {
    auto& the = *static_cast<shared*>(argument);
    pthread_mutex_lock(&the.mutex);
    ++the.waiting;
    pthread_cleanup_push([](void* again) { pthread_mutex_unlock(&static_cast<shared*>(again)->mutex); },
                         argument);
    while (the.signals == 0) pthread_cond_wait(&the.condition, &the.mutex);
    --the.signals;
    pthread_cleanup_pop(1);
    return nullptr;
  };
  for (int round = 0; round < 200; ++round) {
    shared all;
    pthread_t threads[2];
    for (int number = 0; number < 2; ++number) {
      pthread_create(&threads[number], nullptr, body, &all);
      for (bool waits = false; !waits; sched_yield()) {
        pthread_mutex_lock(&all.mutex);
        waits = all.waiting == number + 1;
        pthread_mutex_unlock(&all.mutex);
      }
    }
    pthread_mutex_lock(&all.mutex);
    ++all.signals;
    pthread_cond_signal(&all.condition);
    pthread_mutex_unlock(&all.mutex);
    pthread_cancel(threads[0]);
    void* result = nullptr;
    pthread_join(threads[0], &result);
    if (result != PTHREAD_CANCELED) {
      pthread_mutex_lock(&all.mutex);
      ++all.signals;
      pthread_cond_signal(&all.condition);
      pthread_mutex_unlock(&all.mutex);
    }
    pthread_join(threads[1], nullptr);
  }
}

/// All threads at once first use static initialisers, and memory that is used again without `destroy`.
void first_uses() {
  constexpr std::size_t rounds = 200;
  constexpr int threads = 4;
  auto mutexes = std::make_unique<pthread_mutex_t[]>(rounds);
  for (std::size_t again = 0; again < 3; ++again) {
    std::memset(mutexes.get(), 0, sizeof(pthread_mutex_t) * rounds);
    auto counters = std::make_unique<counter[]>(rounds);
    std::atomic<std::size_t> arrived{0};
    in_threads(threads, [&](int) {
      for (std::size_t i = 0; i < rounds; ++i) {
        ++arrived;
        while (arrived < threads * (i + 1)) sched_yield();
        EXPECT(pthread_mutex_lock(&mutexes[i]), 0);
        counters[i].increment();
        EXPECT(pthread_mutex_unlock(&mutexes[i]), 0);
      }
    });
    for (std::size_t i = 0; i < rounds; ++i) {
      EXPECT(counters[i].value, threads);
      EXPECT(counters[i].met, 0);
    }
    // The mutex is left locked, and dropped.
    EXPECT(pthread_mutex_lock(&mutexes[again]), 0);
  }
}

/// The child of a fork, in which the other threads are gone.
void forks() {
  static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
  static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
  static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static pthread_mutex_t foreign = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  EXPECT(pthread_mutex_lock(&held), 0);
  EXPECT(pthread_mutex_lock(&recursive), 0);
  EXPECT(pthread_mutex_lock(&recursive), 0);
  EXPECT(elsewhere([&] { return pthread_mutex_lock(&foreign); }), 0);
  std::atomic<int> waiting{0};
  for (int number = 0; number < 4; ++number)
    others.emplace_back([&, number] {
      // Two threads wait for the mutexes that this thread holds.
      if (number < 2) {
        ++waiting;
        pthread_mutex_lock(&held);
        pthread_mutex_unlock(&held);
        return;
      }
      while (!stop) {
        pthread_mutex_lock(&contended);
        pthread_mutex_unlock(&contended);
      }
    });
  while (waiting < 2) sched_yield();
  for (int i = 0; i < 100; ++i) sched_yield();
  for (int round = 0; round < 10; ++round) {
    // Mutexes that no other thread holds at that time: this thread takes them, to be sure.
    pthread_mutex_lock(&contended);
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      failures = 0;
      EXPECT(pthread_mutex_trylock(&held), EBUSY);
      EXPECT(pthread_mutex_unlock(&held), 0);
      EXPECT(pthread_mutex_unlock(&contended), 0);
      for (int i = 0; i < 100; ++i) {
        EXPECT(pthread_mutex_lock(&held), 0);
        EXPECT(pthread_mutex_unlock(&held), 0);
        EXPECT(pthread_mutex_lock(&contended), 0);
        EXPECT(pthread_mutex_unlock(&contended), 0);
      }
      // The C library knows the owner by a number that the child's thread does not have.
      if (pthread_mutex_unlock(&recursive) == 0) {
        EXPECT(pthread_mutex_unlock(&recursive), 0);
        EXPECT(pthread_mutex_unlock(&recursive), EPERM);
      }
      EXPECT(pthread_mutex_trylock(&foreign), EBUSY);
      // The child makes new threads.
      counter all;
      in_threads(2, [&](int) {
        for (int i = 0; i < 100; ++i) {
          pthread_mutex_lock(&contended);
          all.increment();
          pthread_mutex_unlock(&contended);
        }
      });
      EXPECT(all.value, 200);
      std::fflush(stdout);
      _exit(failures == 0 ? 0 : 1);
    }
    pthread_mutex_unlock(&contended);
    int status = -1;
    EXPECT(waitpid(child, &status, 0), child);
    EXPECT(status, 0);
  }
  stop = true;
  EXPECT(pthread_mutex_unlock(&held), 0);
  EXPECT(pthread_mutex_unlock(&recursive), 0);
  EXPECT(pthread_mutex_unlock(&recursive), 0);
  for (std::thread& one : others) one.join();
}

/// Mutexes between processes, with a condition variable.
void process_shared() {
  struct shared {
    mutex_of lock{PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED};
    pthread_cond_t condition;
    counter all;
    bool done = false;
  };
  void* memory = mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* the = ::new (memory) shared;
  pthread_condattr_t how;
  pthread_condattr_init(&how);
  pthread_condattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&the->condition, &how);
  constexpr int rounds = 3000;
  const auto count = [&] {
    for (int i = 0; i < rounds; ++i) {
      pthread_mutex_lock(&the->lock.mutex);
      the->all.increment();
      pthread_mutex_unlock(&the->lock.mutex);
    }
  };
  const pid_t child = fork();
  count();
  pthread_mutex_lock(&the->lock.mutex);
  if (child == 0) {
    the->done = true;
    pthread_cond_signal(&the->condition);
  } else {
    while (!the->done) pthread_cond_wait(&the->condition, &the->lock.mutex);
  }
  pthread_mutex_unlock(&the->lock.mutex);
  if (child == 0) _exit(0);
  EXPECT(waitpid(child, nullptr, 0), child);
  EXPECT(the->all.value, 2L * rounds);
  EXPECT(the->all.met, 0);
}

void left_to_the_c_library() {
  mutex_of robust(PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_ROBUST);
  EXPECT(elsewhere([&] { return pthread_mutex_lock(&robust.mutex); }), 0);
  EXPECT(pthread_mutex_lock(&robust.mutex), EOWNERDEAD);
  EXPECT(pthread_mutex_consistent(&robust.mutex), 0);
  EXPECT(pthread_mutex_unlock(&robust.mutex), 0);
  EXPECT(pthread_mutex_destroy(&robust.mutex), 0);
  mutex_of inherits(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_STALLED,
                    PTHREAD_PRIO_INHERIT);
  EXPECT(pthread_mutex_lock(&inherits.mutex), 0);
  EXPECT(pthread_mutex_lock(&inherits.mutex), EDEADLK);
  EXPECT(pthread_mutex_unlock(&inherits.mutex), 0);
  pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
  pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
  bounded_buffer(inherits.mutex, not_full, not_empty, false, true);
  EXPECT(pthread_mutex_destroy(&inherits.mutex), 0);
}

/// The next holder destroys the mutex as soon as that is allowed.
void destroyed_after_use() {
  for (int round = 0; round < 300; ++round) {
    struct owned {
      pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
      int users = 2;
    };
    auto* one = new owned;
    in_threads(2, [&](int) {
      pthread_mutex_lock(&one->mutex);
      const bool is_last = --one->users == 0;
      pthread_mutex_unlock(&one->mutex);
      if (!is_last) return;
      EXPECT(pthread_mutex_destroy(&one->mutex), 0);
      std::memset(static_cast<void*>(one), 0xff, sizeof *one);
      delete one;
    });
  }
}

struct part {
  const char* name;
  void (*run)();
};

/// More threads wait than a mutex has places for, and are cancelled. They end only once they hold it, as the
/// wait for a mutex is no cancellation point.
void cancellation_of_many() {
  constexpr int count = 80;
  struct shared {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::atomic<int> come{0};
    std::atomic<int> had{0};
  } all;
  pthread_mutex_lock(&all.mutex);
  std::vector<pthread_t> threads(count);
  for (pthread_t& thread : threads)
    pthread_create(
        &thread, nullptr,
        [](void* of) -> void* {
          auto& in = *static_cast<shared*>(of);
          ++in.come;
          pthread_mutex_lock(&in.mutex);
          ++in.had;
          pthread_mutex_unlock(&in.mutex);
          return nullptr;
        },
        &all);
  while (all.come != count) sched_yield();
  for (const pthread_t thread : threads) pthread_cancel(thread);
  pthread_mutex_unlock(&all.mutex);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  EXPECT(all.had, count);
}

/// The handlers of a library take its mutex, while other threads hold that mutex and use new ones.
void forks_with_handlers() {
  std::atomic<bool> done{false};
  std::thread forking([&] {
    for (int i = 0; i < 30; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        pthread_mutex_lock(&kept_around_forks);
        pthread_mutex_unlock(&kept_around_forks);
        _exit(0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT(status, 0);
    }
    done = true;
  });
  in_threads(3, [&](int) {
    while (!done) {
      pthread_mutex_lock(&kept_around_forks);
      pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
      pthread_mutex_lock(&fresh);
      pthread_mutex_unlock(&fresh);
      pthread_mutex_destroy(&fresh);
      pthread_mutex_unlock(&kept_around_forks);
    }
  });
  forking.join();
}

constexpr part parts[] = {{"exclusion", exclusion},
                          {"types", types},
                          {"time_outs", time_outs},
                          {"conditions", conditions},
                          {"cancellation", cancellation},
                          {"cancelled_signals", cancelled_signals},
                          {"first_uses", first_uses},
                          {"forks", forks},
                          {"forks_with_handlers", forks_with_handlers},
                          {"cancellation_of_many", cancellation_of_many},
                          {"process_shared", process_shared},
                          {"left_to_the_c_library", left_to_the_c_library},
                          {"destroyed_after_use", destroyed_after_use}};

}  // namespace

int main(int argc, char** argv) {
  int run = 0;
  for (const part& one : parts)
    if (argc == 1 || std::strcmp(argv[1], one.name) == 0) {
      const int before = failures;
      one.run();
      std::printf("%s: %s\n", one.name, failures == before ? "ok" : "FAILED");
      std::fflush(stdout);
      ++run;
    }
  if (run == 0) std::printf("no part has that name\n");
  return run != 0 && failures == 0 ? 0 : 1;
}
