// Functions of libc that would make executions differ: output, input, time, random numbers.

// Without libc's inline definitions of some of them.
#ifndef __NO_INLINE__
#define __NO_INLINE__  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#endif

#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "execution.hpp"
#include "exits.hpp"
#include "hooks.hpp"
#include "in_libc.hpp"
#include "shown_output.hpp"

namespace nearfar::program {

namespace {

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept { return stream == stdout || stream == stderr; }

int first_lost = 0;

void show(std::FILE* stream, const char* text, std::size_t bytes) {
  if (!run().how().shows_output) return;
  const checker_scope scope;
  const ssize_t written = write(stream == stderr ? 2 : 1, text, bytes);
  if (written != static_cast<ssize_t>(bytes) && first_lost == 0) first_lost = written < 0 ? errno : ENOSPC;
}

/// The program reads the strings that it prints.
void read_strings(const char* format, std::va_list arguments, const void* caller) {
  va_list rest;
  va_copy(rest, arguments);
  for (const char* at = std::strchr(format, '%'); at != nullptr; at = std::strchr(at, '%')) {
    std::size_t most = SIZE_MAX;
    bool is_precision = false;
    bool is_number = false;
    int longs = 0;
    for (++at; *at != '\0' && std::strchr("-+ #0123456789.*hljztLq'", *at) != nullptr; ++at) {
      if (*at == '*') {
        const int n = va_arg(rest, int);
        if (is_precision && n >= 0) most = static_cast<std::size_t>(n);
      }
      if (is_precision && *at >= '0' && *at <= '9') {
        most = (is_number ? most * 10 : 0) + static_cast<std::size_t>(*at - '0');
        is_number = true;
      }
      if (*at == '.') is_precision = true;
      if (*at == 'l' || *at == 'j' || *at == 'z' || *at == 't' || *at == 'q') ++longs;
      if (*at == 'L') longs = -1;
    }
    if (*at == '\0' || std::strchr("diouxXcspneEfFgGaA%", *at) == nullptr) break;  // not known here
    if (is_precision && most == SIZE_MAX) most = 0;
    if (*at == 's' && longs == 0) {
      const char* const text = va_arg(rest, const char*);
      const std::size_t n = text == nullptr ? 0 : strnlen(text, most);
      access_memory(text, n < most && text != nullptr ? n + 1 : n, false, caller);
    } else if (std::strchr("eEfFgGaA", *at) != nullptr) {
      longs < 0 ? void(va_arg(rest, long double)) : void(va_arg(rest, double));
    } else if (*at == 's' || *at == 'p' || *at == 'n') {
      static_cast<void>(va_arg(rest, void*));
    } else if (*at != '%') {
      longs > 0 ? void(va_arg(rest, long)) : void(va_arg(rest, int));
    }
    ++at;
  }
  va_end(rest);
}

[[nodiscard]] int print(std::FILE* stream, const char* format, std::va_list arguments, const void* caller) {
  if (traces_course) note_course(nullptr);
  const checker_scope scope;
  read_strings(format, arguments, caller);
  va_list again;
  va_copy(again, arguments);
  const int bytes = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (bytes <= 0 || !run().how().shows_output) return bytes;
  char* const text = static_cast<char*>(run_memory::take(static_cast<std::size_t>(bytes) + 1, 1));
  std::vsnprintf(text, static_cast<std::size_t>(bytes) + 1, format, arguments);
  show(stream, text, static_cast<std::size_t>(bytes));
  return bytes;
}

std::uint64_t pass_time(std::uint64_t nanoseconds) noexcept {
  return self().virtual_nanoseconds += nanoseconds;
}

/// A usual generator of 64 bits (splitmix).
[[nodiscard]] std::uint64_t next_random() noexcept {
  std::uint64_t x = self().random += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111eb;
  return x ^ (x >> 31U);
}

[[nodiscard]] int print_to(std::FILE* stream, const char* format, std::va_list arguments,
                           const void* caller) {
  static auto* const original = in_libc<int(std::FILE*, const char*, std::va_list)>("vfprintf");
  if (is_inside && is_terminal(stream)) return print(stream, format, arguments, caller);
  return original(stream, format, arguments);
}

/// The program hands memory to a function of libc.
void note_use(const void* at, std::size_t bytes, bool is_write, const void* caller) {
  if (!is_inside) return;
  const checker_scope scope;
  access_memory(at, bytes, is_write, caller);
}

constexpr std::uint64_t first_second = 1'700'000'000;  // the date of each execution

}  // namespace

int lost_output() noexcept { return first_lost; }

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

#define NEARFAR_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

// ---- output ----

int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result =
      is_inside ? print(stdout, format, arguments, NEARFAR_CALLER) : std::vfprintf(stdout, format, arguments);
  va_end(arguments);
  return result;
}

int vprintf(const char* format, va_list arguments) {
  return is_inside ? print(stdout, format, arguments, NEARFAR_CALLER)
                   : in_libc<int(FILE*, const char*, va_list)>("vfprintf")(stdout, format, arguments);
}

int fprintf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = print_to(stream, format, arguments, NEARFAR_CALLER);
  va_end(arguments);
  return result;
}

int vfprintf(FILE* stream, const char* format, va_list arguments) {
  return print_to(stream, format, arguments, NEARFAR_CALLER);
}

int puts(const char* text) {
  static auto* const original = in_libc<int(const char*)>("puts");
  if (!is_inside) return original(text);
  note_use(text, std::strlen(text) + 1, false, NEARFAR_CALLER);
  return printf("%s\n", text);
}

int fputs(const char* text, FILE* stream) {
  static auto* const original = in_libc<int(const char*, FILE*)>("fputs");
  note_use(text, std::strlen(text) + 1, false, NEARFAR_CALLER);
  return is_inside && is_terminal(stream) ? fprintf(stream, "%s", text) : original(text, stream);
}

int fputc(int c, FILE* stream) {
  static auto* const original = in_libc<int(int, FILE*)>("fputc");
  if (!is_inside || !is_terminal(stream)) return original(c, stream);
  const char one = static_cast<char>(c);
  show(stream, &one, 1);
  return c;
}

int putc(int c, FILE* stream) { return fputc(c, stream); }
int putchar(int c) { return fputc(c, stdout); }

size_t fwrite(const void* from, size_t bytes, size_t n, FILE* stream) {
  static auto* const original = in_libc<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
  note_use(from, bytes * n, false, NEARFAR_CALLER);
  if (!is_inside || !is_terminal(stream)) return original(from, bytes, n, stream);
  show(stream, static_cast<const char*>(from), bytes * n);
  return n;
}

ssize_t write(int file, const void* from, size_t bytes) {
  static auto* const original = in_libc<ssize_t(int, const void*, size_t)>("write");
  note_use(from, bytes, false, NEARFAR_CALLER);
  if (!is_inside || (file != 1 && file != 2)) return original(file, from, bytes);
  show(file == 2 ? stderr : stdout, static_cast<const char*>(from), bytes);
  return static_cast<ssize_t>(bytes);
}

size_t fread(void* to, size_t bytes, size_t n, FILE* stream) {
  static auto* const original = in_libc<size_t(void*, size_t, size_t, FILE*)>("fread");
  note_use(to, bytes * n, true, NEARFAR_CALLER);
  return original(to, bytes, n, stream);
}

ssize_t read(int file, void* to, size_t bytes) {
  static auto* const original = in_libc<ssize_t(int, void*, size_t)>("read");
  note_use(to, bytes, true, NEARFAR_CALLER);
  return original(file, to, bytes);
}

char* fgets(char* to, int bytes, FILE* stream) {
  static auto* const original = in_libc<char*(char*, int, FILE*)>("fgets");
  char* const result = original(to, bytes, stream);
  if (is_inside && result != nullptr) note_use(to, std::strlen(to) + 1, true, NEARFAR_CALLER);
  return result;
}

int fflush(FILE* stream) {
  static auto* const original = in_libc<int(FILE*)>("fflush");
  return is_inside && (stream == nullptr || is_terminal(stream)) ? 0 : original(stream);
}

int setvbuf(FILE* stream, char* buffer, int mode, size_t bytes) noexcept {
  static auto* const original = in_libc<int(FILE*, char*, int, size_t)>("setvbuf");
  return is_inside && is_terminal(stream) ? 0 : original(stream, buffer, mode, bytes);
}

void setbuf(FILE* stream, char* buffer) noexcept {
  setvbuf(stream, buffer, buffer != nullptr ? _IOFBF : _IONBF, BUFSIZ);
}

void perror(const char* text) {
  static auto* const original = in_libc<void(const char*)>("perror");
  if (!is_inside) return original(text);
  fprintf(stderr, "%s: error %d\n", text, errno);
}

FILE* fopen(const char* name, const char* mode) {
  static auto* const original = in_libc<FILE*(const char*, const char*)>("fopen");
  if (!is_inside) return original(name, mode);
  const checker_scope scope;
  FILE* const file = original(name, mode);
  if (file != nullptr) note_opened(file);
  return file;
}

int fclose(FILE* file) {
  static auto* const original = in_libc<int(FILE*)>("fclose");
  if (!is_inside) return original(file);
  const checker_scope scope;
  note_closed(file);
  return is_terminal(file) ? 0 : original(file);
}

int snprintf(char* to, size_t bytes, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int result = std::vsnprintf(to, bytes, format, arguments);
  va_end(arguments);
  if (is_inside && result >= 0 && bytes > 0) {
    const checker_scope scope;
    access_memory(to, static_cast<size_t>(result) < bytes ? static_cast<size_t>(result) + 1 : bytes, true,
                  NEARFAR_CALLER);
  }
  return result;
}

int sprintf(char* to, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int result = std::vsprintf(to, format, arguments);
  va_end(arguments);
  if (is_inside && result >= 0) {
    const checker_scope scope;
    access_memory(to, static_cast<size_t>(result) + 1, true, NEARFAR_CALLER);
  }
  return result;
}

// ---- time ----

time_t time(time_t* to) noexcept {
  static auto* const original = in_libc<time_t(time_t*)>("time");
  if (!is_inside) return original(to);
  const auto now = static_cast<time_t>(first_second + pass_time(1000) / 1'000'000'000);
  if (to != nullptr) *to = now;
  return now;
}

clock_t clock() noexcept {
  static auto* const original = in_libc<clock_t()>("clock");
  return is_inside ? static_cast<clock_t>(pass_time(1000) / 1000) : original();
}

int clock_gettime(clockid_t which, timespec* to) noexcept {
  static auto* const original = in_libc<int(clockid_t, timespec*)>("clock_gettime");
  if (!is_inside) return original(which, to);
  const std::uint64_t now = pass_time(1000);
  to->tv_sec = static_cast<time_t>(first_second + now / 1'000'000'000);
  to->tv_nsec = static_cast<long>(now % 1'000'000'000);
  return 0;
}

int gettimeofday(timeval* to, void* zone) noexcept {
  static auto* const original = in_libc<int(timeval*, void*)>("gettimeofday");
  if (!is_inside) return original(to, zone);
  const std::uint64_t now = pass_time(1000);
  to->tv_sec = static_cast<time_t>(first_second + now / 1'000'000'000);
  to->tv_usec = static_cast<suseconds_t>(now % 1'000'000'000 / 1000);
  return 0;
}

int nanosleep(const timespec* how_long, timespec* left) {
  static auto* const original = in_libc<int(const timespec*, timespec*)>("nanosleep");
  if (!is_inside) return original(how_long, left);
  pass_time(static_cast<std::uint64_t>(how_long->tv_sec) * 1'000'000'000 +
            static_cast<std::uint64_t>(how_long->tv_nsec));
  return 0;
}

int usleep(useconds_t microseconds) {
  static auto* const original = in_libc<int(useconds_t)>("usleep");
  if (!is_inside) return original(microseconds);
  pass_time(std::uint64_t{microseconds} * 1000);
  return 0;
}

unsigned sleep(unsigned seconds) {
  static auto* const original = in_libc<unsigned(unsigned)>("sleep");
  if (!is_inside) return original(seconds);
  pass_time(std::uint64_t{seconds} * 1'000'000'000);
  return 0;
}

// Time passes only when a rank asks for it, so an alarm never comes.
unsigned alarm(unsigned seconds) noexcept {
  static auto* const original = in_libc<unsigned(unsigned)>("alarm");
  return is_inside ? 0 : original(seconds);
}

int setitimer(__itimer_which_t which, const itimerval* value, itimerval* old) noexcept {
  static auto* const original = in_libc<int(__itimer_which_t, const itimerval*, itimerval*)>("setitimer");
  if (!is_inside) return original(which, value, old);
  if (old != nullptr) *old = {};
  return 0;
}

int sched_yield() noexcept {
  static auto* const original = in_libc<int()>("sched_yield");
  return is_inside ? 0 : original();
}

// ---- random numbers ----

int rand() noexcept {
  static auto* const original = in_libc<int()>("rand");
  return is_inside ? static_cast<int>(next_random() >> 33U) : original();
}

void srand(unsigned seed) noexcept {
  static auto* const original = in_libc<void(unsigned)>("srand");
  if (!is_inside) return original(seed);
  self().random = seed;
}

long random() noexcept {
  static auto* const original = in_libc<long()>("random");
  return is_inside ? static_cast<long>(next_random() >> 33U) : original();
}

void srandom(unsigned seed) noexcept {
  static auto* const original = in_libc<void(unsigned)>("srandom");
  if (!is_inside) return original(seed);
  self().random = seed;
}

double drand48() noexcept {
  static auto* const original = in_libc<double()>("drand48");
  return is_inside ? static_cast<double>(next_random() >> 11U) * 0x1p-53 : original();
}

void srand48(long seed) noexcept {
  static auto* const original = in_libc<void(long)>("srand48");
  if (!is_inside) return original(seed);
  self().random = static_cast<std::uint64_t>(seed);
}
}
#pragma GCC visibility pop
