#include "apps/nearfar/doctor/machine_probe.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <vector>

#include "apps/nearfar/doctor/near_probe.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_fields.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "bench/results/output_file.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::command {

namespace {

using simulation::distance;
using simulation::executor;
using simulation::transfer;
using simulation::transfer_cost;

/// Where what cannot be measured is taken from.
constexpr const char* fallback = "coolmuc2";

/// Ends the process when MPI does not answer, since no MPI call can be given a deadline.
class deadline {
 public:
  explicit deadline(unsigned seconds) {
    std::signal(SIGALRM, &say_and_exit);
    alarm(seconds);
  }
  deadline(const deadline&) = delete;
  deadline& operator=(const deadline&) = delete;
  ~deadline() {
    alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }

 private:
  static void say_and_exit(int /*signal*/) {
    constexpr const char* text =
        "nearfar: the measurement takes too long; run 'nearfar doctor' to find out why\n";
    static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
    _exit(failure);
  }
};

struct alignas(slot_bytes) probe_words {
  far<std::uint64_t> value;
};

/// Measures between rank 0 and another, which waits inside the library.
class far_probe {
 public:
  explicit far_probe(mpi::world& w) : world_(&w), words_(w), channel_(w), epoch_(w, 0) {}

  /// Everything over this distance. Collective; rank 0 gets the costs.
  void measure(simulation::machine& to, distance how_far, int target) {
    for (const transfer what : {transfer::put, transfer::get, transfer::atomic, transfer::accumulate}) {
      transfer_cost cost;
      if (is_first()) cost = costs_of(what, target, to.library.flush);
      world_->barrier();
      const bool alone = target == 0 || is_carried_out_without(target, what);
      // The origin's processor knows of no way to wait for itself; all else goes there and back.
      const double waits = std::max(0.0, whole_ - cost.overhead - cost.service - to.library.flush);
      if (how_far == distance::remote || !alone) {
        cost.by = alone ? executor::nic : executor::target;
        cost.latency = cost.completion = waits / 2;
      } else {
        cost.by = executor::origin;
        cost.service += waits;
      }
      to.cost(how_far, what) = cost;
    }
    // The same executor carries out both, or they would not be atomic to each other.
    to.cost(how_far, transfer::accumulate).by = to.cost(how_far, transfer::atomic).by;
    if (target != 0) to.cost(how_far, transfer::message) = message_cost(target);
  }

  void measure_library(simulation::machine& to) {
    if (is_first()) {
      to.library.flush = median_ns([&](int n) {
        for (int i = 0; i < n; ++i) words_.flush(0);
      });
      to.library.progress = median_ns([&](int n) {
        for (int i = 0; i < n; ++i) world_->progress();
      });
      // A request and a release at home.
      to.library.exclusive = median_ns([&](int n) {
                               for (int i = 0; i < n; ++i) {
                                 epoch_.begin();
                                 epoch_.end();
                               }
                             }) /
                             2;
    }
    world_->barrier();
  }

 private:
  [[nodiscard]] bool is_first() const { return world_->rank() == 0; }

  void issue(transfer what, int target) {
    switch (what) {
      case transfer::put:
        return words_.put(target, &probe_words::value, one_);
      case transfer::get:
        return words_.get(target, &probe_words::value, result_);
      case transfer::atomic:
        return words_.swap(target, &probe_words::value, one_, result_);
      default:
        return words_.accumulate(target, &probe_words::value, one_, far_op::replace);
    }
  }

  /// `whole_`: one operation and its flush. Overhead: the time to issue it before any flush. Service: the
  /// time that each of many operations behind one another adds.
  transfer_cost costs_of(transfer what, int target, double flush) {
    constexpr int many = 32;
    whole_ = median_ns([&](int n) {
      for (int i = 0; i < n; ++i) {
        issue(what, target);
        words_.flush(target);
      }
    });
    const double one_of_many = median_ns([&](int n) {
                                 for (int i = 0; i < n; ++i) {
                                   for (int j = 0; j < many; ++j) issue(what, target);
                                   words_.flush(target);
                                 }
                               }) /
                               many;
    using clock = std::chrono::steady_clock;
    std::array<double, 51> issuing{};
    for (double& time : issuing) {
      const auto start = clock::now();
      issue(what, target);
      time = std::chrono::duration<double, std::nano>(clock::now() - start).count();
      words_.flush(target);
    }
    std::nth_element(issuing.begin(), issuing.begin() + issuing.size() / 2, issuing.end());
    transfer_cost cost;
    cost.overhead = std::min(issuing[issuing.size() / 2], std::max(0.0, whole_ - flush));
    cost.service =
        std::clamp(one_of_many - cost.overhead, 0.0, std::max(0.0, whole_ - cost.overhead - flush));
    return cost;
  }

  /// Whether an operation is complete although its target stays outside of the library. Collective; rank 0
  /// gets the answer.
  bool is_carried_out_without(int target, transfer what) {
    using clock = std::chrono::steady_clock;
    constexpr auto away = std::chrono::milliseconds(40);
    constexpr auto soon = std::chrono::milliseconds(20);
    world_->barrier();
    const auto start = clock::now();
    bool answer = false;
    if (world_->rank() == target)
      while (clock::now() - start < away) {
      }
    if (is_first()) {
      // The target has left the barrier by then.
      while (clock::now() - start < std::chrono::milliseconds(2)) {
      }
      const auto begun = clock::now();
      issue(what, target);
      words_.flush(target);
      answer = clock::now() - begun < soon;
    }
    world_->barrier();
    return answer;
  }

  /// Half of a round trip; a rank's own messages are as those of its node.
  transfer_cost message_cost(int target) {
    transfer_cost cost;
    cost.by = executor::target;
    constexpr int rounds = 2000;
    constexpr int repetitions = 7;
    std::vector<double> halves;
    if (world_->rank() == 0 || world_->rank() == target) {
      const int partner = world_->rank() == 0 ? target : 0;
      using clock = std::chrono::steady_clock;
      for (int repetition = 0; repetition < repetitions; ++repetition) {
        const auto start = clock::now();
        for (int i = 0; i < rounds; ++i) {
          if (is_first()) channel_.signal(partner);
          channel_.await_signal(partner);
          if (!is_first()) channel_.signal(partner);
        }
        const std::chrono::duration<double, std::nano> elapsed = clock::now() - start;
        halves.push_back(elapsed.count() / rounds / 2);
      }
      std::sort(halves.begin(), halves.end());
      // Sending and receiving are the library's work; how they share it cannot be seen from outside.
      constexpr double share_of_an_end = 0.25;
      const double half = halves[halves.size() / 2];
      cost.overhead = cost.service = half * share_of_an_end;
      cost.latency = half - cost.overhead - cost.service;
    }
    world_->barrier();
    return cost;
  }

  mpi::world* world_;
  mpi::world::far_segment<probe_words> words_;
  mpi::world::signal_channel channel_;
  mpi::world::lock_epoch epoch_;
  std::uint64_t one_ = 1;
  std::uint64_t result_ = 0;
  double whole_ = 0;
};

/// The lowest rank at this distance from rank 0.
std::optional<int> partner_at(distance how_far, const locality& where) {
  for (int rank = 1; rank < where.size(); ++rank)
    if (where.same(level::node, 0, rank) == (how_far == distance::node)) return rank;
  return std::nullopt;
}

/// Distances that were measured. Collective.
std::vector<std::string> probe_far(simulation::machine& to) {
  mpi::world w(MPI_COMM_WORLD);
  far_probe probe(w);
  std::vector<std::string> measured;
  probe.measure_library(to);
  measured.emplace_back("the library's calls");
  if (const auto partner = partner_at(distance::node, w.locality())) {
    probe.measure(to, distance::self, 0);
    probe.measure(to, distance::node, *partner);
    to.cost(distance::self, transfer::message) = to.cost(distance::node, transfer::message);
    measured.emplace_back("transfers within a node");
  }
  if (const auto partner = partner_at(distance::remote, w.locality())) {
    probe.measure(to, distance::remote, *partner);
    measured.emplace_back("remote transfers");
  }
  return measured;
}

simulation::node_shape shape_of(const hardware& here) {
  simulation::node_shape shape;
  shape.core = std::max(1, here.is_this_system() ? here.allowed_cores() : here.pus());
  return shape;
}

}  // namespace

int probe_machine(const std::string& file, const bench::older_output& older) {
  const launch how = launch::from_environment();
  std::optional<bench::output_file> output;
  kept_work work([&](const std::string&) {
    if (output) output->discard();
    return std::string();
  });
  if (how.rank == 0) {
    const auto hold = work.hold();
    output.emplace(file, machine_mark, machine_kind, older);
  }
  constexpr unsigned most_seconds = 60;
  const deadline limit(most_seconds);
  simulation::machine result = find_machine(fallback);
  result.name = "this-machine";
  const hardware here;
  result.node = shape_of(here);
  result.library.polls_per_progress = wait_ratios{}.polls_per_progress;
  std::vector<std::string> measured;
  if (how.rank == 0) measured = probe_near(result.near);
  if (how.under_mpi) {
    const mpi_session session;
    const std::vector<std::string> far = probe_far(result);
    measured.insert(measured.end(), far.begin(), far.end());
  }
  if (how.rank != 0) return success;
  result.description = fmt::format("{}; measured: {}; the other values are those of {}", here.summary(),
                                   fmt::join(measured, ", "), fallback);
  work.finish([&] {
    output->write(to_text(result));
    output->commit();
  });
  fmt::print("{}\nwritten to {}\n", result.description, file);
  return success;
}

}  // namespace nearfar::command
