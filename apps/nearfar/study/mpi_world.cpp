// Plans in the world of MPI.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/study/conduct.hpp"
#include "apps/nearfar/study/hardware.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/handles.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::command {

namespace {

/// Every rank's binding, on every rank.
std::vector<std::string> gather_bindings(MPI_Comm comm) {
  constexpr std::size_t width = 64;
  std::string mine = hardware().binding_text();
  mine.resize(width);
  int ranks = 1;
  mpi::check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::string all(width * static_cast<std::size_t>(ranks), '\0');
  mpi::check(MPI_Allgather(mine.data(), width, MPI_CHAR, all.data(), width, MPI_CHAR, comm), "MPI_Allgather");
  std::vector<std::string> result;
  for (std::size_t at = 0; at < all.size(); at += width) result.emplace_back(all.substr(at, width).c_str());
  return result;
}

/// The first ranks of the job, and the world that they make. Collective over all ranks of the job; those
/// beyond have an empty one.
class team_of_first {
 public:
  /// Begins with a quarter of what worlds have by default. Few objects need more, and they get it as soon as
  /// they ask; 8 ranks fit into the 64 MiB of /dev/shm that containers have, beside what MPI takes there.
  team_of_first(int rank, int count, const mpi::options& how) : how_(how) {
    how_.far_bytes /= growth;
    how_.near_bytes /= growth;
    const bool is_member = rank < count;
    comm_ = mpi::communicator::split(MPI_COMM_WORLD, is_member ? 0 : 1);
    if (!is_member) return;
    world_ = std::make_unique<mpi::world>(comm_.get(), how_);
    binding_ = gather_bindings(comm_.get());
  }

  /// Has a world with more memory from here on; nothing may live in the one before. Collective.
  void take_more_memory() {
    how_.far_bytes *= growth;
    how_.near_bytes *= growth;
    world_.reset();
    world_ = std::make_unique<mpi::world>(comm_.get(), how_);
  }

  [[nodiscard]] mpi::world* world() const noexcept { return world_.get(); }
  [[nodiscard]] const std::vector<std::string>& binding() const noexcept { return binding_; }

 private:
  static constexpr std::size_t growth = 4;

  mpi::options how_;
  mpi::communicator comm_;
  std::unique_ptr<mpi::world> world_;
  std::vector<std::string> binding_;
};

/// Rank 0's message to the others: the configuration that is played next, or that the run is over, with a
/// status.
struct cue {
  std::int64_t index = over;
  std::int64_t status = 0;

  static constexpr std::int64_t over = -1;
};

/// The first ranks play; rank 0 conducts, the others follow it.
class mpi_stage final : public stage {
 public:
  /// Collective: makes a world for each number of ranks.
  mpi_stage(const plan& what, const std::vector<configuration>& all, stall_guard& guard)
      : all_(&all), guard_(&guard), cues_(mpi::communicator::duplicate(MPI_COMM_WORLD)) {
    mpi::options how{.ratios = what.hardware.ratios, .topology = topology_of(what)};
    if (const auto limits = limits_of(what, all)) how.stall_limit = limits->wait;
    for (const configuration& each : all)
      if (!teams_.contains(each.where.ranks)) make_team(each.where.ranks, how);
  }

  [[nodiscard]] bool conducts() const { return cues_.rank() == 0; }
  [[nodiscard]] bench::world_kind kind() const override { return bench::world_kind::mpi; }
  [[nodiscard]] std::string machine() const override { return host_name(); }

  [[nodiscard]] placement place(const shape& of) override {
    const team_of_first& team = teams_.at(of.ranks);
    return {.where = team.world()->locality(),
            .binding = team.binding(),
            .oversubscribed = team.world()->oversubscribed()};
  }

  [[nodiscard]] std::vector<bench::sample> play(std::size_t index, int /*repetition*/) override {
    exchange({static_cast<std::int64_t>(index), 0});
    return play_mine(index);
  }

  /// On the ranks that do not conduct, until it is over. Returns the conductor's status.
  [[nodiscard]] int follow() {
    while (true) {
      // The conductor may let others play for long; should it hang, its own guard ends the job.
      guard_->rest();
      const cue next = exchange({});
      if (next.index == cue::over) return static_cast<int>(next.status);
      try {
        (void)play_mine(static_cast<std::size_t>(next.index));
      } catch (const error& failed) {
        if (ends_job(failed)) throw;
        // The conductor has it too, says it, and ends the study.
      }
    }
  }

  /// On the conductor.
  void end(int status) { exchange({cue::over, status}); }

 private:
  /// A fault on some ranks ends the run on all.
  void make_team(int count, const mpi::options& how) {
    std::string wrong;
    try {
      teams_.try_emplace(count, cues_.rank(), count, how);
    } catch (const error& failed) {
      if (ends_job(failed)) throw;
      wrong = failed.what();
    }
    constexpr int nobody = std::numeric_limits<int>::max();
    int first = wrong.empty() ? nobody : cues_.rank();
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, cues_.get()), "MPI_Allreduce");
    if (first == nobody) return;
    constexpr std::size_t longest = 400;
    wrong.resize(longest);
    mpi::check(MPI_Bcast(wrong.data(), static_cast<int>(longest), MPI_CHAR, first, cues_.get()), "MPI_Bcast");
    throw usage_error(wrong.c_str());
  }

  std::vector<bench::sample> play_mine(std::size_t index) {
    const configuration& of = (*all_)[index];
    team_of_first& team = teams_.at(of.where.ranks);
    if (team.world() == nullptr) return {};
    while (true) {
      guard_->begin(object_text(of));
      try {
        return play_in(*team.world(), of, [this] { guard_->beat(); });
      } catch (const out_of_memory&) {
        // On all ranks, as they allocate together. How much there is the next world finds out.
        team.take_more_memory();
      }
    }
  }

  /// Rank 0's cue on all ranks. A rank that waits for long leaves its core to the ranks that play.
  cue exchange(const cue& mine) {
    std::array<std::int64_t, 2> words{mine.index, mine.status};
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(
        MPI_Ibcast(words.data(), static_cast<int>(words.size()), MPI_INT64_T, 0, cues_.get(), &request),
        "MPI_Ibcast");
    constexpr int polls_before_rest = 1000;
    constexpr std::chrono::microseconds rest{500};
    for (int poll = 0, done = 0; done == 0; ++poll) {
      mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (poll > polls_before_rest) std::this_thread::sleep_for(rest);
    }
    return {words[0], words[1]};
  }

  const std::vector<configuration>* all_;
  stall_guard* guard_;
  mpi::communicator cues_;
  std::map<int, team_of_first> teams_;
};

/// Gives the number of ranks where it is 0. Throws `usage_error` for more than MPI started.
void fit(std::vector<configuration>& all, int ranks) {
  for (configuration& each : all) {
    if (each.where.ranks == 0) each.where.ranks = ranks;
    if (each.where.ranks > ranks)
      throw usage_error(
          fmt::format("--ranks {} is more than the {} ranks that MPI started; start more with mpirun -n {}",
                      each.where.ranks, ranks, each.where.ranks));
  }
}

/// Ranks may read different files of one name. Throws `usage_error` on all of them.
void agree_on_points(const std::vector<configuration>& all) {
  std::string text;
  for (const configuration& each : all) text += text_of(each) + "\n";
  const std::uint64_t mine = std::hash<std::string>{}(text);
  std::uint64_t of_first = mine;
  mpi::check(MPI_Bcast(&of_first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  int same = of_first == mine ? 1 : 0;
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  if (same == 0) throw usage_error("the ranks read different studies; give all nodes the same file");
}

bool is_lost(const error& failed) { return dynamic_cast<const bench::lost_file*>(&failed) != nullptr; }

int conduct_others(const plan& what, const std::vector<configuration>& all, mpi_stage& on,
                   study_output& output) {
  try {
    const int status = conduct(what, all, on, output);
    on.end(status);
    return status;
  } catch (const error& failed) {
    if (!ends_job(failed)) on.end(is_lost(failed) ? failure : bad_input);
    throw;
  }
}

}  // namespace

int run_in_mpi(const plan& asked) {
  say_ignored_variables();
  plan what = asked;
  for (benchmark_request& each : what.requests)
    if (each.shapes.empty()) each.shapes = {shape{}};  // all ranks that MPI starts
  std::vector<configuration> all = configurations_of(what);
  study_output output(what);
  const int rank = launch::from_environment().rank;
  const interruption by_signal(rank, keeper_of(output));
  stall_guard guard = guard_over(output, what, limits_of(what, all), rank);
  guard.begin("starting MPI");
  const mpi_session session;
  const mpi::communicator of_stalls = mpi::communicator::duplicate(MPI_COMM_WORLD);
  fit(all, of_stalls.size());
  all = without_repeats(all);
  agree_on_points(all);
  std::optional<error> refused;
  bool is_output_lost = false;
  int status = success;
  {
    mpi_stage on(what, all, guard);
    try {
      status = on.conducts() ? conduct_others(what, all, on, output) : on.follow();
    } catch (const mpi::mpi_error&) {
      throw;
    } catch (const stalled& stall) {
      guard.end(stall, of_stalls);
    } catch (const error& error) {
      // The others have been told, so that the worlds can end as they should.
      refused = error;
      is_output_lost = is_lost(error);
    }
    guard.begin("ending MPI");
  }
  if (refused && is_output_lost) throw bench::lost_file(refused->what());
  if (refused) throw usage_error(refused->what());
  return status;
}

}  // namespace nearfar::command
