/// \file
/// The registered objects of a kind that are made in worlds, and the list of all of them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/compiled_worlds.hpp"
#include "bench/object.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"

namespace nearfar::bench {

/// Which ranks may be exchanged, together with their own words, so that nothing changes but names. Of
/// schedules that differ only by such an exchange the checker explores one. An entry that claims this of
/// ranks that are not alike hides faults. Words that are not a rank's own keep their place: those of the home
/// and of a node's leader.
enum class alike_ranks : std::uint8_t {
  none,
  of_a_node,     ///< any two ranks of one node
  of_the_world,  ///< any two ranks: no code depends on a rank's node, or all ranks are on one node
};

/// One registered object of a kind. `Kind::any<W>` is the object in a world, with its type known only at run
/// time. `Kind::parameters` are the kind's parameters. `Kind::bypass` says how often waiting ranks may be
/// overtaken.
template <typename Kind>
struct entry {
  template <typename W>
  using factory_in = std::function<std::unique_ptr<typename Kind::template any<W>>(
      W&, int home, const typename Kind::parameters&)>;

  /// "family" for the recommended setting, "family.policy" for a variant.
  std::string name;
  std::string summary;
  std::string paper;
  /// How often a waiting rank can be overtaken, in words.
  std::string fairness;
  /// The part of it that the model checker enforces.
  typename Kind::bypass bypass{};
  /// Far operations: uncontended; contended.
  std::string cost;
  /// Names of the kind's parameters that the object takes.
  std::vector<std::string> parameters;
  /// Whether it has an attempt that does not wait, for kinds that have attempts.
  bool can_try = true;
  /// Whether it works only if all ranks share one node.
  bool one_node_only = false;
  alike_ranks alike = alike_ranks::none;
  /// Why it may hang or let two ranks in, for a published form that is kept for comparison. Such an object
  /// runs only when it is named. Empty: sound.
  std::string unsound{};

  std::tuple<factory_in<mpi::world>, factory_in<threads::world>, factory_in<engine::world>> factories{};

  [[nodiscard]] bool is_sound() const noexcept { return unsound.empty(); }

  /// Makes the object in that world; empty if the object does not exist there.
  template <world W>
  [[nodiscard]] const factory_in<W>& factory() const {
    return std::get<factory_in<W>>(factories);
  }
  template <world W>
  [[nodiscard]] bool exists_in() const {
    return static_cast<bool>(factory<W>());
  }
  [[nodiscard]] std::string family() const { return name.substr(0, name.find('.')); }

  /// The description that all kinds of objects share.
  [[nodiscard]] object listed() const {
    object result{.name = name,
                  .summary = summary,
                  .paper = paper,
                  .facts = {{"fairness", fairness}, {"far ops", cost}},
                  .parameters = parameters,
                  .worlds = {},
                  .one_node_only = one_node_only,
                  .unsound = unsound};
    if (exists_in<mpi::world>()) result.worlds.push_back(world_kind::mpi);
    if (exists_in<threads::world>()) result.worlds.push_back(world_kind::threads);
    if (exists_in<engine::world>()) result.worlds.push_back(world_kind::engine);
    return result;
  }
};

/// All entries of a kind, families together, each family's recommended setting first.
template <typename Entry>
class registry {
 public:
  /// `make` is called as make(world, home, parameters). It is registered for every world in which that call
  /// compiles.
  template <typename Make>
  void add(Entry entry, Make make) {
    std::apply([&](auto&... factory) { (set_factory(factory, make), ...); }, entry.factories);
    entries_.push_back(std::move(entry));
  }

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// The sound entries, for callers that want every working object.
  [[nodiscard]] auto sound_entries() const { return entries_ | std::views::filter(&Entry::is_sound); }
  /// Null if no entry has that name.
  [[nodiscard]] const Entry* find(std::string_view name) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const auto& each) { return each.name == name; });
    return found == entries_.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Entry& each : entries_) result.push_back(each.name);
    return result;
  }

 protected:
  /// Puts these families before all others. Entries of a family, and other families, keep their order.
  void arrange(const std::vector<std::string_view>& families) {
    const auto place = [&](const Entry& of) {
      return std::ranges::find(families, of.family()) - families.begin();
    };
    std::ranges::stable_sort(entries_, {}, place);
  }

 private:
  template <typename W, typename Factory>
  static constexpr bool is_in =
      is_compiled<W> && std::same_as<Factory, typename Entry::template factory_in<W>>;
  template <typename Factory, typename Make>
  static void set_factory(Factory& factory, const Make& make) {
    constexpr bool is_in_build =
        is_in<mpi::world, Factory> || is_in<threads::world, Factory> || is_in<engine::world, Factory>;
    if constexpr (is_in_build && std::constructible_from<Factory, const Make&>) factory = make;
  }

  std::vector<Entry> entries_;
};

}  // namespace nearfar::bench
