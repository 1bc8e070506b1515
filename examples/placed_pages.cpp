// Binds threads to CPUs, requests memory by policy, and asks the kernel where the pages are.
// [headers]
#include <cstdio>
#include <string>
#include <utility>

#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/numa_vector_arithmetic.hpp"
#include "nearfar/container/pin_team.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/container/where.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/pages.hpp"
#include "nearfar/topology/pinning.hpp"
// [end]

namespace {

void pin() {
  // [pin]
  // Binds the threads as far apart as possible. Comes first, before memory is placed.
  const auto bindings = nearfar::pin_team(nearfar::team(), nearfar::pinning::parse("scatter"));
  for (const std::string& binding : bindings) std::printf("thread on %s\n", binding.c_str());
  // [end]
}

bool policies(std::size_t n) {
  // [policy]
  using allocator = nearfar::numa_allocator<double>;
  const nearfar::page_placement everywhere{.policy = nearfar::page_policy::interleave};
  const nearfar::page_placement huge{.huge_pages = true};
  const nearfar::numa_vector<double> table(n, 1.0,
                                           allocator(nearfar::team(), everywhere));  // for all threads
  const nearfar::numa_vector<double> field(n, 2.0, allocator(nearfar::team(), huge));
  // [end]
  return dot(table, field) == 2.0 * static_cast<double>(n);
}

bool check(std::size_t n) {
  // [where]
  const nearfar::numa_vector<double> v(n);
  const nearfar::page_report report = nearfar::where(v);
  if (!report.located)
    std::printf("the system does not say where pages are\n");
  else if (const auto share = report.share())
    std::printf("%zu pages, %.0f %% of them near their owners\n", report.pages, 100 * *share);
  for (const std::string& problem : nearfar::placement_problems()) std::printf("note: %s\n", problem.c_str());
  // [end]
  return report.pages >= n * sizeof(double) / nearfar::page_size();
}

}  // namespace

int main() {
  try {
    pin();
  } catch (const nearfar::topology_error& refused) {  // the machine is only described, or forbids it
    std::printf("not bound: %s\n", refused.what());
  }
  constexpr std::size_t n = 1'000'000;
  const bool right = policies(n) && check(n);
  std::printf("%s\n", right ? "all right" : "wrong");
  return right ? 0 : 1;
}
