// Runs a program that may not place memory: mbind, move_pages and set_mempolicy fail with EPERM.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/forbidden_calls.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...]\n", argv[0]);
    return 2;
  }
  if (!nearfar::testing::forbid_placement_calls()) {
    std::fprintf(stderr, "skipped: seccomp is not permitted here: %s\n", std::strerror(errno));
    return 77;
  }
  execv(argv[1], argv + 1);
  std::fprintf(stderr, "%s: %s\n", argv[1], std::strerror(errno));
  return 1;
}
