// The doctor's checks of what is installed, and how nearfar would run on it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/doctor/tools.hpp"
#include "apps/nearfar/shared/environment.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace nearfar::command::doctor {

std::optional<std::string> refusal(const examination& e, bool one_node) {
  try {
    mpi::require_transport(e.comm().get(), one_node);
  } catch (const transport_error& fault) {
    return fault.what();
  }
  return std::nullopt;
}

finding thread_level(examination&) {
  int provided = MPI_THREAD_SINGLE;
  mpi::check(MPI_Query_thread(&provided), "MPI_Query_thread");
  const char* name = provided == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
                     : provided == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                     : provided == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
                                                         : "MPI_THREAD_SINGLE";
  return {provided < MPI_THREAD_FUNNELED ? outcome::warn : outcome::ok,
          fmt::format("{}, asked for MPI_THREAD_FUNNELED", name)};
}

finding known_faults(examination& e) {
  if (const auto text = refusal(e, e.one_node())) return {outcome::fail, *text};
  if (const auto text = refusal(e, false))
    return {outcome::warn, "MPI_Compare_and_swap crashes on windows that nearfar does not use on one node",
            "for your own windows, and for several nodes: " + *text};
  return {outcome::ok, "none of those that nearfar cannot test for"};
}

finding shared_memory(examination& e) {
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) != 0) return {outcome::warn, "/dev/shm is missing"};
  const mpi::options defaults;
  const std::size_t each = defaults.near_bytes + defaults.far_bytes;
  try {
    mpi::require_shared_memory(e.node().get(), each);
  } catch (const transport_error& fault) {
    return {outcome::fail, fault.what()};
  }
  return {outcome::ok, fmt::format("/dev/shm has {} MiB free, a world takes {} MiB on this node",
                                   status.f_bavail * status.f_frsize >> 20U,
                                   each * static_cast<std::size_t>(e.node().size()) >> 20U)};
}

finding processors(examination& e) {
  const auto& [ranks, available] = e.processors();
  const bool crowded = e.processors().oversubscribed();
  return {crowded ? outcome::warn : outcome::ok,
          fmt::format("{} rank{} on {} processor{}: waiting ranks {}", ranks, ranks == 1 ? "" : "s",
                      available, available == 1 ? "" : "s", crowded ? "yield" : "spin")};
}

finding environment(examination&) {
  std::vector<std::string> bending;
  std::vector<std::string> settings;
  for (const found_variable& each : variables_found()) {
    constexpr std::size_t shown = 40;
    const std::string text = fmt::format("{}={}{}", each.name, each.value.substr(0, shown),
                                         each.value.size() > shown ? "..." : "");
    if (each.what->does == treatment::setting)
      settings.push_back(text);
    else
      bending.push_back(
          fmt::format("{} ({}{})", text, each.what->bends, each.is_ignored ? "; nearfar ignores it" : ""));
  }
  if (!bending.empty()) return {outcome::warn, fmt::format("{}", fmt::join(bending, ", "))};
  if (!settings.empty()) return {outcome::ok, fmt::format("settings: {}", fmt::join(settings, ", "))};
  return {outcome::ok, "no variable that changes measurements"};
}

finding memory_model(examination& e) {
  return bare_world(e).window().is_unified() ? finding{outcome::ok, "unified"}
                                             : finding{outcome::fail, "separate"};
}

finding windows(examination& e) {
  constexpr std::size_t needed = 3;   // by a world
  constexpr std::size_t enough = 64;  // for worlds, mpi_win locks and the program's own
  const std::size_t limit = e.is_quick() ? enough : 1024;
  const std::chrono::seconds time_limit{e.is_quick() ? 1 : 3};
  std::vector<mpi::window> made;
  std::string reason;
  const auto begin = clock::now();
  auto spent = clock::duration::zero();
  // The ranks agree on the time between batches only, for one more collective call a window would measure
  // that call.
  for (std::size_t batch = 16; made.size() < limit && reason.empty(); batch = made.size()) {
    try {
      for (std::size_t i = 0; i < batch; ++i)
        made.push_back(mpi::window::allocate(e.comm().get(), slot_bytes));
    } catch (const mpi::mpi_error& fault) {
      reason = fmt::format(", then {}", fault.what());
    }
    spent = clock::duration(e.largest(static_cast<std::uint64_t>((clock::now() - begin).count())));
    if (reason.empty() && made.size() < limit && spent > time_limit) reason = ", then its time was over";
  }
  const std::size_t count = made.size();
  const auto freeing = clock::now();
  made.clear();
  const auto each = [&](clock::duration span) {
    return duration_text(span / static_cast<long>(std::max<std::size_t>(count, 1)));
  };
  const outcome result = count < needed                          ? outcome::fail
                         : count < enough && spent <= time_limit ? outcome::warn
                                                                 : outcome::ok;
  return {result, fmt::format("{} at once{}; {} to make one, {} to free it", count, reason, each(spent),
                              each(clock::now() - freeing))};
}

finding whole_world(examination& e) {
  const auto begin = clock::now();
  try {
    const mpi::world w(e.comm().get());
    return {outcome::ok,
            fmt::format("made with {} ranks on {} node{} in {}, passed its own test", w.size(),
                        w.locality().groups(level::node), w.locality().groups(level::node) == 1 ? "" : "s",
                        duration_text(clock::now() - begin))};
  } catch (const transport_error& fault) {
    return {outcome::fail, fault.what()};
  }
}

}  // namespace nearfar::command::doctor
