/// \file
/// The kinds of objects that benchmarks drive, and what is registered of each kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/axis.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::bench {

/// The worlds that something can run in.
enum class world_kind : std::uint8_t { mpi, threads, engine };

/// What every registered object says of itself, whatever its kind.
struct object {
  /// "family" for the recommended setting, "family.policy" for a variant.
  std::string name;
  std::string summary;
  std::string paper;
  /// What else is to be known, as 'nearfar list' shows it: ("fairness", "first come, first served").
  std::vector<std::pair<std::string, std::string>> facts;
  /// Names of the kind's parameters that it takes.
  std::vector<std::string> parameters;
  std::vector<world_kind> worlds;
  /// Works only where all ranks share one node.
  bool one_node_only = false;
  /// Why it may hang or give wrong results, where it does; empty: sound.
  std::string unsound{};

  [[nodiscard]] bool is_sound() const noexcept { return unsound.empty(); }
  [[nodiscard]] bool exists_in(world_kind world) const;
  [[nodiscard]] std::string family() const { return name.substr(0, name.find('.')); }
  [[nodiscard]] bool takes(std::string_view parameter) const;
};

/// A kind of objects.
struct object_kind {
  std::string name;    ///< "lock": also the field of a record that names the object
  std::string plural;  ///< "locks": also the option --locks
  std::string title;   ///< in words: "reader-writer lock"
  /// What users read of all of them in 'nearfar list': before, and after.
  std::string introduction;
  std::string remarks;
  std::vector<axis> parameters;
  /// Why these parameters do not go together, or nothing.
  std::string (*refuse)(const point& parameters);
  /// Families together, each family's recommended setting first.
  std::vector<object> objects;
  /// What these parameters of an object name and that place has not, in a sentence, or nothing. None: all
  /// places have all.
  std::string (*lacking)(const object&, const point& parameters, const locality&) = nullptr;

  /// Null if there is none of that name.
  [[nodiscard]] const object* find(std::string_view named) const;
  [[nodiscard]] std::vector<std::string> names() const;
};

/// The locks of the catalogue.
[[nodiscard]] const object_kind& locks();

/// The reader-writer locks.
[[nodiscard]] const object_kind& rw_locks();

/// The distributed maps.
[[nodiscard]] const object_kind& maps();

/// The distributed queues.
[[nodiscard]] const object_kind& queues();

/// The strategies of channels.
[[nodiscard]] const object_kind& channels();

/// The ways of sharing out tasks.
[[nodiscard]] const object_kind& farms();

/// All kinds that this program has: each in the command, locks alone in that of `make bench`.
[[nodiscard]] const std::vector<const object_kind*>& object_kinds();

}  // namespace nearfar::bench
