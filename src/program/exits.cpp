#include "exits.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "in_libc.hpp"
#include "mpi_state.hpp"

namespace nearfar::program {

namespace {

/// Files that the ranks of this execution have opened.
std::vector<std::FILE*>& opened() {
  static std::vector<std::FILE*> files;
  return files;
}

[[noreturn]] void end_with(int code, const void* caller) {
  is_inside = false;
  if (own().at == rank_state::stage::running)
    fail("exit", "the rank ends without MPI_Finalize", caller, "MPI 4.1, section 11.2.2");
  if (code != 0) fail("exit", "the rank ends with status " + std::to_string(code), caller);
  run().leave(self());
}

}  // namespace

void finish_program(int code, const void* caller) {
  std::vector<exit_function>& all = self().exit_functions;
  while (!all.empty()) {
    const exit_function last = all.back();
    all.pop_back();
    last.function(last.argument);
  }
  end_with(code, caller);
}

void note_opened(std::FILE* file) { opened().push_back(file); }
void note_closed(std::FILE* file) noexcept { std::erase(opened(), file); }

namespace {

int first_of_program = -1;  ///< files from this number on are the program's

constexpr int wait_for_input = 50;  ///< milliseconds, before standard input counts as empty

}  // namespace

void keep_input() {
  struct stat what {};
  if (fstat(STDIN_FILENO, &what) != 0 || S_ISREG(what.st_mode) || isatty(STDIN_FILENO) != 0) return;
  pollfd asked{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&asked, 1, wait_for_input) <= 0) return;
  const int kept = memfd_create("nearfar-input", MFD_CLOEXEC);
  if (kept < 0) return;
  std::array<char, 4096> some{};
  for (ssize_t n = 0; (n = read(STDIN_FILENO, some.data(), some.size())) > 0;)
    if (write(kept, some.data(), static_cast<std::size_t>(n)) != n) break;
  dup2(kept, STDIN_FILENO);
  close(kept);
}

void keep_files() {
  int last = STDERR_FILENO;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
    last = std::max(last, std::atoi(one.path().filename().c_str()));
  first_of_program = last + 1;
}

void begin_files_anew() noexcept {
  for (std::FILE* const file : opened()) std::fclose(file);
  opened().clear();
  if (first_of_program > 0) close_range(static_cast<unsigned>(first_of_program), ~0U, 0);
  if (lseek(STDIN_FILENO, 0, SEEK_CUR) < 0) return;
  std::rewind(stdin);
  std::cin.clear();
}

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

// The program finds these before those of libc. Outside of the program they are those of libc.
#pragma GCC visibility push(default)
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

void exit(int code) noexcept {
  if (is_inside) finish_program(code, __builtin_return_address(0));
  in_libc<void(int)>("exit")(code);
  __builtin_unreachable();
}

void _exit(int code) {
  if (is_inside) end_with(code, __builtin_return_address(0));
  in_libc<void(int)>("_exit")(code);
  __builtin_unreachable();
}

void _Exit(int code) noexcept {
  if (is_inside) end_with(code, __builtin_return_address(0));
  in_libc<void(int)>("_Exit")(code);
  __builtin_unreachable();
}

void quick_exit(int code) noexcept {
  if (is_inside) end_with(code, __builtin_return_address(0));
  in_libc<void(int)>("quick_exit")(code);
  __builtin_unreachable();
}

void abort() noexcept {
  if (is_inside) {
    const checker_scope scope;
    fail("crash", "the program calls abort", __builtin_return_address(0));
  }
  in_libc<void()>("abort")();
  __builtin_unreachable();
}

void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function) noexcept {
  if (is_inside) {
    const checker_scope scope;
    fail("assertion", std::string("assertion '") + assertion + "' failed in " + function,
         __builtin_return_address(0));
  }
  in_libc<void(const char*, const char*, unsigned, const char*)>("__assert_fail")(assertion, file, line,
                                                                                  function);
  __builtin_unreachable();
}

/// An exception that nobody catches is reported where it was thrown. Compilers declare `__cxa_throw`
/// themselves, each with other types, so this definition has another name in C++.
[[noreturn]] void program_throws(void* thrown, void* type, void (*destroy)(void*)) __asm__("__cxa_throw");
void program_throws(void* thrown, void* type, void (*destroy)(void*)) {
  if (is_inside && current != nullptr) current->last_access = __builtin_return_address(0);
  in_libc<void(void*, void*, void (*)(void*))>("__cxa_throw")(thrown, type, destroy);
  __builtin_unreachable();
}

int __cxa_atexit(void (*function)(void*), void* argument, void* object) noexcept {
  if (is_inside && current != nullptr && current->program.contains(reinterpret_cast<const void*>(function))) {
    const checker_scope scope;
    self().exit_functions.push_back({function, argument});
    return 0;
  }
  // Constructors of the program run while it is loaded, before its place is known.
  if (is_inside && current != nullptr && current->program.entry() == nullptr) {
    const checker_scope scope;
    self().exit_functions.push_back({function, argument});
    return 0;
  }
  return in_libc<int(void (*)(void*), void*, void*)>("__cxa_atexit")(function, argument, object);
}
}
// NOLINTEND(bugprone-reserved-identifier)
#pragma GCC visibility pop
