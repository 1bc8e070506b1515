// The world of MPI shows only outcomes that the model checker allows.
#include <gtest/gtest.h>

#include "tests/litmus/oracle.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

TEST(mpi_litmus, has_no_outcome_that_the_checker_forbids) {
  mpi::world& w = common_world();
  litmus::player<mpi::world> by(w, 1);
  const auto rounds = static_cast<std::size_t>(often(w));
  for (const litmus::form& how : litmus::forms())
    EXPECT_NE(litmus::expect_only_allowed(w, by, how, rounds), 0) << how.name;
}

}  // namespace
}  // namespace nearfar::testing
