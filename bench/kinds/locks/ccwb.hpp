/// \file
/// CCWB, the changing critical work benchmark. All ranks acquire and release one lock. The work of each round
/// is drawn anew. A fixed number of its pieces is done inside the critical section and the rest outside.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, section 4.2.3 and figure 4.2.
///
/// A piece of work gets, increments and puts a word of the rank that is half of all ranks further on, and so
/// on another node if there are several. Each rank draws from `least` to twice `least` pieces a round.
/// `least` is chosen so that with `equilibrium` pieces inside all ranks could just run at once without
/// waiting.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/draws.hpp"
#include "bench/kinds/locks/lock_benchmark.hpp"

namespace nearfar::bench {

/// The work of the ranks in a CCWB.
struct ccwb_work {
  std::int64_t inside = 0;  ///< pieces in the critical section
  std::uint64_t seed = 1;

  static constexpr std::int64_t equilibrium = 3;
  /// The fewest pieces of a round. The mean is 1.5 times that.
  [[nodiscard]] static constexpr std::int64_t least(int ranks) noexcept {
    return 2 * equilibrium * ranks / 3;
  }
};

/// The work of one rank, and the time that it spent outside the critical section.
template <world W>
class partner_work {
 public:
  /// Collective.
  partner_work(W& w, const ccwb_work& work)
      : world_(&w),
        inside_(work.inside),
        least_(ccwb_work::least(w.size())),
        words_(w, static_cast<std::size_t>(std::min(std::max(2 * least_, inside_), most_words))),
        partner_((w.rank() + w.size() / 2) % w.size()),
        draws_(work.seed, w.rank()) {}

  void begin() const noexcept {}
  void before() const noexcept {}
  void inside() { increment(0, inside_); }
  void after() {
    const std::int64_t all =
        least_ + static_cast<std::int64_t>(draws_.next() % (static_cast<std::uint64_t>(least_) + 1));
    const auto start = world_->now();
    const std::int64_t outside = std::max<std::int64_t>(0, all - inside_);
    increment(inside_, outside);
    time_outside_ += world_->now() - start;
    outside_ += outside;
  }

  /// Pieces done outside the critical section, and their total time.
  [[nodiscard]] std::int64_t outside() const noexcept { return outside_; }
  [[nodiscard]] std::chrono::nanoseconds time_outside() const noexcept { return time_outside_; }

  /// Number of pieces that left no trace. Collective, after all work is done.
  [[nodiscard]] std::int64_t lost() {
    world_->barrier();
    std::int64_t found = 0;
    for (std::size_t i = 0; i < words_.count(); ++i)
      found += static_cast<std::int64_t>(words_.read_direct({world_->rank(), i}, &piece::value));
    return world_->sum_over_ranks({done_ - found})[0];
  }

 private:
  struct piece {
    far<std::uint64_t> value;
  };
  /// Further pieces use the same words again. Each piece is complete before the next begins.
  static constexpr std::int64_t most_words = 4096;

  void increment(std::int64_t from, std::int64_t count) {
    for (std::int64_t i = from; i < from + count; ++i) {
      const element at{partner_, static_cast<std::size_t>(i) % words_.count()};
      std::uint64_t value = 0;
      words_.get(at, &piece::value, value);
      words_.flush(partner_);
      ++value;
      words_.put(at, &piece::value, value);
      words_.flush(partner_);
    }
    done_ += count;
  }

  W* world_;
  std::int64_t inside_;
  std::int64_t least_;
  typename W::template far_array<piece> words_;
  int partner_;
  draws draws_;
  std::int64_t done_ = 0;
  std::int64_t outside_ = 0;
  std::chrono::nanoseconds time_outside_{};
};

/// Runs one repetition for `duration`, warm-up included. Collective. Rank 0 gets the whole sample; the other
/// ranks' samples lack durations and counts per rank.
template <world W>
[[nodiscard]] sample run_ccwb(W& w, const lock_entry& entry, const lock_parameters& parameters,
                              std::chrono::duration<double> duration, const ccwb_work& what,
                              std::int64_t latency_interval = 0) {
  constexpr int home = 0;
  exclusion_check<W> check(w, home);
  partner_work<W> work(w, what);
  const std::unique_ptr<any_lock<W>> lock = entry.factory<W>()(w, home, parameters);
  const lock_counts mine =
      lock_loop(w, *lock, check, {.times = times_of(duration), .latency_interval = latency_interval}, work);
  sample result = sample_of_locking(w, "ccwb", entry, check, mine);
  const auto sums = w.sum_over_ranks({work.outside(), work.time_outside().count()});
  // If all work is inside, no piece outside tells how long a piece takes.
  const std::optional<double> piece =
      sums[0] > 0 ? std::optional(static_cast<double>(sums[1]) / static_cast<double>(sums[0])) : std::nullopt;
  constexpr double mean_of_least = 1.5;
  const double shared = mean_of_least * static_cast<double>(ccwb_work::least(w.size())) / w.size();
  result.counts["critical_work"] = what.inside;
  const double pieces = std::max(shared, static_cast<double>(what.inside));
  result.counts["piece_ns"] = or_null(piece);
  result.counts["optimum_ns"] = or_null(piece ? std::optional(pieces * *piece) : std::nullopt);
  result.verified = work.lost() == 0 && result.verified;
  return result;
}

/// The benchmark's description.
struct ccwb {
  static benchmark statement() {
    constexpr double much = 1e6;
    return {.name = "ccwb",
            .title = "Changing critical work (CCWB)",
            .summary = "critical sections that get, increment and put a partner's word N times",
            .source = "Uffmann 2022, 4.2.3",
            .kind = &locks(),
            .axes = {{.name = "critical_work",
                      .meaning = "Pieces of work in each critical section; 3 just saturate an ideal lock",
                      .standard = std::int64_t{0},
                      .most = much},
                     draw_axis("Seed of the work that each rank draws"),
                     duration_axis(0.1),
                     latency_interval_axis()},
            .columns = with_acquisitions({time_per_acquisition, optimum, throughput, progress_variation,
                                          waited, handed_over_locally, piece}),
            .seconds = [](const point& at) { return at.real("duration"); }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    return {
        run_ccwb(w, *catalogue::instance().find(of.name), lock_parameters::at(at),
                 std::chrono::duration<double>(at.real("duration")),
                 {.inside = at.whole("critical_work"), .seed = static_cast<std::uint64_t>(at.whole("draw"))},
                 at.whole("latency_interval"))};
  }

 private:
  inline static const column optimum{
      .name = "optimum",
      .head = "ideal",
      .title = "Ideal time",
      .unit = "ns",
      .meaning = "time with a lock that costs nothing, from the time of a piece of work outside",
      .of = [](const sample& s) { return s.count("optimum_ns"); }};
  inline static const column piece{.name = "piece",
                                   .head = "piece",
                                   .title = "Time of a piece of work",
                                   .unit = "ns",
                                   .meaning = "mean time of a piece of work outside",
                                   .of = [](const sample& s) { return s.count("piece_ns"); }};
};

}  // namespace nearfar::bench
