// Functions of libc for processes, threads and signals. A rank is no process of its own, so most are refused.
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "execution.hpp"
#include "in_libc.hpp"

namespace nearfar::program {

namespace {

constexpr const char* no_process = "a rank is no process of its own here";
constexpr const char* no_programs = "start no programs in a rank";

[[noreturn]] void refuse(const char* name, const char* advice, const void* caller) {
  is_inside = false;
  fail("missing",
       std::string("the program calls ") + name + ", which the checker does not support: " + advice, caller);
}

[[nodiscard]] bool is_ignored_by_default(int signal) noexcept {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

[[nodiscard]] bool is_signal(int signal) noexcept { return signal > 0 && signal <= 64; }

void (*&handler_of(int signal) noexcept)(int) {
  return self().signal_handlers[static_cast<std::size_t>(signal)];
}

/// The rank sends itself a signal.
int receive_signal(int signal, const void* caller) {
  if (!is_signal(signal)) {
    errno = EINVAL;
    return -1;
  }
  void (*const handler)(int) = handler_of(signal);
  if (handler == SIG_IGN || (handler == SIG_DFL && is_ignored_by_default(signal))) return 0;
  if (handler == SIG_DFL) {
    is_inside = false;
    fail("crash", "the program ends itself by the signal SIG" + std::string(sigabbrev_np(signal)), caller);
  }
  handler(signal);
  return 0;
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

#define NEARFAR_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

// ---- processes and threads ----

pid_t fork() noexcept {
  static auto* const original = in_libc<pid_t()>("fork");
  if (is_inside) refuse("fork", no_process, NEARFAR_CALLER);
  return original();
}

pid_t vfork() noexcept {
  if (is_inside) refuse("vfork", no_process, NEARFAR_CALLER);
  return fork();
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*function)(void*), void* argument) {
  static auto* const original =
      in_libc<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  if (is_inside) refuse("pthread_create", "check the program with one thread for each rank", NEARFAR_CALLER);
  return original(thread, how, function, argument);
}

int system(const char* command) {
  static auto* const original = in_libc<int(const char*)>("system");
  if (is_inside) refuse("system", no_programs, NEARFAR_CALLER);
  return original(command);
}

FILE* popen(const char* command, const char* mode) {
  static auto* const original = in_libc<FILE*(const char*, const char*)>("popen");
  if (is_inside) refuse("popen", no_programs, NEARFAR_CALLER);
  return original(command, mode);
}

int execve(const char* path, char* const* arguments, char* const* variables) noexcept {
  static auto* const original = in_libc<int(const char*, char* const*, char* const*)>("execve");
  if (is_inside) refuse("execve", no_programs, NEARFAR_CALLER);
  return original(path, arguments, variables);
}

int execv(const char* path, char* const* arguments) noexcept {
  if (is_inside) refuse("execv", no_programs, NEARFAR_CALLER);
  return execve(path, arguments, environ);
}

int execvp(const char* file, char* const* arguments) noexcept {
  static auto* const original = in_libc<int(const char*, char* const*)>("execvp");
  if (is_inside) refuse("execvp", no_programs, NEARFAR_CALLER);
  return original(file, arguments);
}

// Nothing but the program calls these three.
int execl(const char*, const char*, ...) noexcept { refuse("execl", no_programs, NEARFAR_CALLER); }
int execlp(const char*, const char*, ...) noexcept { refuse("execlp", no_programs, NEARFAR_CALLER); }
int execle(const char*, const char*, ...) noexcept { refuse("execle", no_programs, NEARFAR_CALLER); }

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* files,
                const posix_spawnattr_t* how, char* const* arguments, char* const* variables) {
  static auto* const original =
      in_libc<int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*)>("posix_spawn");
  if (is_inside) refuse("posix_spawn", no_programs, NEARFAR_CALLER);
  return original(process, path, files, how, arguments, variables);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* files,
                 const posix_spawnattr_t* how, char* const* arguments, char* const* variables) {
  static auto* const original =
      in_libc<int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*)>("posix_spawnp");
  if (is_inside) refuse("posix_spawnp", no_programs, NEARFAR_CALLER);
  return original(process, file, files, how, arguments, variables);
}

// ---- signals: a rank has its own handlers, and gets only what it sends itself ----

sighandler_t signal(int number, sighandler_t handler) noexcept {
  static auto* const original = in_libc<sighandler_t(int, sighandler_t)>("signal");
  if (!is_inside) return original(number, handler);
  if (!is_signal(number)) return SIG_ERR;
  return std::exchange(handler_of(number), handler);
}

int sigaction(int number, const struct sigaction* now, struct sigaction* before) noexcept {
  static auto* const original = in_libc<int(int, const struct sigaction*, struct sigaction*)>("sigaction");
  if (!is_inside) return original(number, now, before);
  if (!is_signal(number)) {
    errno = EINVAL;
    return -1;
  }
  if (before != nullptr) {
    *before = {};
    before->sa_handler = handler_of(number);
  }
  if (now != nullptr) handler_of(number) = now->sa_handler;
  return 0;
}

int raise(int number) noexcept {
  static auto* const original = in_libc<int(int)>("raise");
  return is_inside ? receive_signal(number, NEARFAR_CALLER) : original(number);
}

int kill(pid_t process, int number) noexcept {
  static auto* const original = in_libc<int(pid_t, int)>("kill");
  if (!is_inside || number == 0) return original(process, number);
  if (process != getpid()) refuse("kill", "a rank may send signals to itself alone", NEARFAR_CALLER);
  return receive_signal(number, NEARFAR_CALLER);
}

int pause() {
  static auto* const original = in_libc<int()>("pause");
  if (!is_inside) return original();
  is_inside = false;
  fail("hang", "the rank waits for a signal, and nobody sends one", NEARFAR_CALLER);
}
}
#pragma GCC visibility pop
