// Runs the tests of a program without MPI.
#include <gtest/gtest.h>

#include "tests/watchdog.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new nearfar::testing::watchdog);
  return RUN_ALL_TESTS();
}
