// Runs the tests on all ranks at once. Rank 0 prints, and a failure on any rank is a failure on all. Option
// of its own: --thread-level=single|funneled|serialized|multiple, the level to ask MPI for.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/mpi/environment.hpp"
#include "tests/run_some.hpp"
#include "tests/watchdog.hpp"

namespace {

/// Waits without keeping the processor from the rank that it waits for.
void wait_for(MPI_Request request) {
  int done = 0;
  for (;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    sched_yield();
  }
}

int largest_of_all(int mine) {
  int result = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  wait_for(request);
  return result;
}

/// Makes the ranks agree on each test's result.
class agreement : public ::testing::EmptyTestEventListener {
 public:
  explicit agreement(int rank) : rank_(rank) {}

  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    mine_ += std::string(result.file_name() == nullptr ? "?" : result.file_name()) + ":" +
             std::to_string(result.line_number()) + "\n" + result.message() + "\n";
    if (!result.fatally_failed()) return;
    // This rank has left the test, perhaps by an exception, and the others may wait in it for ever.
    std::fprintf(stderr, "rank %d cannot go on:\n%s", rank_, mine_.c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  void OnTestEnd(const ::testing::TestInfo& /*info*/) override {
    const std::string text = std::exchange(mine_, {});
    if (largest_of_all(text.empty() ? 0 : 1) == 0) return;
    const int length = static_cast<int>(text.size());
    if (rank_ != 0) {
      MPI_Send(text.data(), length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      return;
    }
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int from = 1; from < ranks; ++from) {
      MPI_Status status;
      int bytes = 0;
      MPI_Probe(from, 0, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_CHAR, &bytes);
      std::string theirs(static_cast<std::size_t>(bytes), '\0');
      MPI_Recv(theirs.data(), bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!theirs.empty()) ADD_FAILURE() << "on rank " << from << ":\n" << theirs;
    }
    mine_.clear();
  }

 private:
  int rank_;
  std::string mine_;
};

/// Whether a world is refused where MPI itself would end the program.
bool refuses_a_world() {
  try {
    nearfar::mpi::world outside(MPI_COMM_WORLD);
  } catch (const nearfar::misuse&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::map<std::string_view, int> levels{{"single", MPI_THREAD_SINGLE},
                                               {"funneled", MPI_THREAD_FUNNELED},
                                               {"serialized", MPI_THREAD_SERIALIZED},
                                               {"multiple", MPI_THREAD_MULTIPLE}};
  std::string_view wanted = "single";
  constexpr std::string_view option = "--thread-level=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(option)) wanted = argument.substr(option.size());
    if (!argument.starts_with(option) || !levels.contains(wanted)) {
      std::fprintf(stderr, "%s: unknown argument %s\n", argv[0], argv[i]);
      return 2;
    }
  }
  if (!refuses_a_world()) {
    std::fprintf(stderr, "a world before MPI_Init\n");
    return 1;
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, levels.at(wanted), &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  if (rank == 0) std::printf("MPI gives thread level %d where %d was wanted\n", provided, levels.at(wanted));
  listeners.Append(new agreement(rank));
  // The watchdog's thread calls no MPI. The launcher ends the other ranks.
  listeners.Append(new nearfar::testing::watchdog("rank " + std::to_string(rank) + ": "));
  try {
    nearfar::testing::make_common_world();
  } catch (const nearfar::transport_error& refused) {
    // Every rank comes here, so that MPI can end in an orderly way.
    if (rank == 0) std::printf("refused: %s\n", refused.what());
    MPI_Finalize();
    return 1;
  }
  int status = nearfar::testing::run_some();
  nearfar::testing::destroy_common_world();
  status = largest_of_all(status);
  MPI_Finalize();
  if (!refuses_a_world()) {
    std::fprintf(stderr, "a world after MPI_Finalize\n");
    return 1;
  }
  return status;
}
