// Runs the tests of a program without MPI.
#include <gtest/gtest.h>

#include "tests/run_some.hpp"
#include "tests/watchdog.hpp"

// Memory that LLVM's OpenMP keeps for its threads. LeakSanitizer calls this function where it is in use.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so"; }

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new nearfar::testing::watchdog);
  return nearfar::testing::run_some();
}
