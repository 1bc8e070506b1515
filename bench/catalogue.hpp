/// \file
/// The registry of all locks: what tests, benchmarks, the checker and the documentation's table go through.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bench/any_lock.hpp"
#include "bench/lock_parameters.hpp"
#include "nearfar/checker/bypass_bound.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"

namespace nearfar::bench {

template <world W>
using lock_factory = std::function<std::unique_ptr<any_lock<W>>(W&, int home, const lock_parameters&)>;

/// One registered lock.
struct lock_entry {
  /// "family" for the recommended setting, "family.policy" for a variant.
  std::string name;
  std::string summary;
  std::string paper;
  /// How often a waiting rank can be overtaken, in words ...
  std::string fairness;
  /// ... and as far as the model checker holds the lock to it.
  checker::bypass_bound bypass = checker::bypass_bound::none;
  /// Far operations: uncontended; contended.
  std::string cost;
  /// Names of the members of `lock_parameters` that it takes.
  std::vector<std::string> parameters;
  /// Works only where all ranks share one node.
  bool one_node_only = false;
  /// Any two ranks of a node may change places, memory included: what only locks can say whose home makes no
  /// difference but for where words are. Of schedules that differ in names alone the checker explores one.
  bool treats_ranks_alike = false;
  /// Why it may hang or let two ranks in, where it does: a published form, kept for comparison. Such a lock
  /// runs only when it is named. Empty: sound.
  std::string unsound{};

  [[nodiscard]] bool is_sound() const noexcept { return unsound.empty(); }

  /// Makes the lock in that world; empty where it does not exist.
  template <world W>
  [[nodiscard]] const lock_factory<W>& factory() const {
    return std::get<lock_factory<W>>(factories);
  }
  template <world W>
  [[nodiscard]] bool exists_in() const {
    return static_cast<bool>(factory<W>());
  }
  [[nodiscard]] std::string family() const { return name.substr(0, name.find('.')); }

  std::tuple<lock_factory<mpi::world>, lock_factory<threads::world>, lock_factory<engine::world>> factories{};
};

/// All registered locks, families together, each family's recommended setting first.
class catalogue {
 public:
  /// The one catalogue, made at first use.
  static const catalogue& instance();

  /// `make` is called as make(world, home, parameters) in every world in which it can be.
  template <typename Make>
  void add(lock_entry entry, Make make) {
    std::apply([&](auto&... factory) { (set_factory(factory, make), ...); }, entry.factories);
    entries_.push_back(std::move(entry));
  }

  [[nodiscard]] const std::vector<lock_entry>& entries() const noexcept { return entries_; }
  /// Those that are sound, for whoever wants every lock that works.
  [[nodiscard]] auto sound_entries() const { return entries_ | std::views::filter(&lock_entry::is_sound); }
  /// Null if there is none of that name.
  [[nodiscard]] const lock_entry* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  catalogue();

  template <world W, typename Make>
  static void set_factory(lock_factory<W>& factory, const Make& make) {
    if constexpr (std::invocable<const Make&, W&, int, const lock_parameters&>) factory = make;
  }

  std::vector<lock_entry> entries_;
};

/// What is wrong with the published queues, and ...
inline constexpr const char* single_next_word =
    "a rank resets the word in which it has seen its successor's name before that write is complete";
/// ... besides, with their hand-over.
inline constexpr const char* reset_status_word =
    "a rank resets the words in which it has seen its successor's name and its grant before those writes are "
    "complete";

// One function for each family, in bench/locks/.
void add_mpi_win(catalogue& to);
void add_d_mcs(catalogue& to);
void add_dash(catalogue& to);
void add_rma_mcs(catalogue& to);
void add_tas(catalogue& to);
void add_mcs(catalogue& to);
void add_cohort(catalogue& to);

}  // namespace nearfar::bench
