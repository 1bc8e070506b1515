// Runs the tests of a program without MPI.
#include <gtest/gtest.h>

#include "tests/watchdog.hpp"

// What LLVM's OpenMP keeps of its threads. LeakSanitizer calls this where it is; elsewhere nobody does.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so"; }

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new nearfar::testing::watchdog);
  return RUN_ALL_TESTS();
}
