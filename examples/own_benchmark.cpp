// A benchmark of your own: how long a held lock takes to refuse `try_lock`.

// [headers]
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/locks/lock_catalogue.hpp"
// [end]

namespace {

// [statement]
using namespace nearfar;
using namespace nearfar::bench;

struct refusal {
  static benchmark statement() {
    return {.name = "refusal",
            .title = "Refusals by a lock that is held",
            .summary = "refusal: all ranks but the first try a lock that the first one holds",
            .source = "own",
            .kind = &locks(),
            .axes = {{.name = "attempts",
                      .meaning = "Attempts of each rank",
                      .standard = std::int64_t{1000},
                      .least = 1,
                      .most = 1e9,
                      .is_effort = true}},
            .columns = {{.name = "time",
                         .head = "ns",
                         .title = "Time of an attempt",
                         .unit = "ns",
                         .meaning = "median time of an attempt",
                         .has_interval = true,
                         .of = [](const sample& s) { return std::optional(s.ns_per_acquisition()); }}}};
  }
  // [end]

  // [run]
  template <world W>
  static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    const auto lock = catalogue::instance().find(of.name)->factory<W>()(w, 0, lock_parameters::at(at));
    const std::int64_t attempts = at.whole("attempts");
    if (w.rank() == 0) lock->lock();
    w.barrier();  // rank 0 holds the lock from here ...
    std::int64_t refused = 0;
    const auto start = w.now();
    if (w.rank() != 0)
      for (std::int64_t i = 0; i < attempts; ++i) refused += lock->try_lock() ? 0 : 1;
    const auto span = w.now() - start;
    w.barrier();  // ... to here
    if (w.rank() == 0) lock->unlock();

    sample result;
    result.iterations_per_rank = w.gather_to_first(refused);
    const auto sums = w.sum_over_ranks({w.rank() == 0 ? 0 : span.count(), refused});
    result.duration = std::chrono::nanoseconds(sums[0]);
    result.iterations = sums[1];
    // The figure is valid only if there were attempts, and the lock refused them all.
    result.verified = sums[1] == attempts * (w.size() - 1) && sums[1] > 0;
    return {result};
  }
  // [end]
};

}  // namespace

int main() {
  const benchmark mine = registered<refusal>();
  const object& tas = *locks().find("tas");
  point at;
  at.set("attempts", std::int64_t{1000});
  bool verified = false;
  threads::run(2, [&](threads::world& w) {
    const std::vector<sample> samples = mine.runner_in<threads::world>()(w, tas, at, [] {});
    if (w.rank() != 0) return;
    verified = samples.front().verified;
    fmt::print("{} of {}: {:.1f} {}\n", mine.name, tas.name, *mine.columns.front().of(samples.front()),
               mine.columns.front().unit);
  });
  return verified ? 0 : 1;
}
