// Histories of concurrent processes, judged by the model checker's judge.
#include "tests/litmus/recorded.hpp"

#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

TEST(recorded, what_atomics_return_is_linearizable) {
  litmus::expect_linearizable_atomics(common_world(), 1000);
}

TEST(recorded, what_is_read_and_written_apart_is_not) {
  if (common_world().size() > 1) litmus::expect_lost_update(common_world());
}

}  // namespace
}  // namespace nearfar::testing
