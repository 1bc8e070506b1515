/// \file
/// The kinds of objects that benchmarks drive, and the registered objects of each kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/axis.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::bench {

/// The worlds in which an object can run.
enum class world_kind : std::uint8_t { mpi, threads, engine, team };

/// The description of every registered object, whatever its kind.
struct object {
  /// "family" for the recommended setting, "family.policy" for a variant.
  std::string name;
  std::string summary;
  std::string paper;
  /// Further facts that 'nearfar list' shows: ("fairness", "first come, first served").
  std::vector<std::pair<std::string, std::string>> facts;
  /// Names of the kind's parameters that the object takes.
  std::vector<std::string> parameters;
  std::vector<world_kind> worlds;
  /// Whether it works only if all ranks share one node.
  bool one_node_only = false;
  /// Why it may hang or give wrong results; empty if it is sound.
  std::string unsound{};

  [[nodiscard]] bool is_sound() const noexcept { return unsound.empty(); }
  [[nodiscard]] bool exists_in(world_kind world) const;
  [[nodiscard]] std::string family() const { return name.substr(0, name.find('.')); }
  [[nodiscard]] bool takes(std::string_view parameter) const;
};

/// A kind of objects.
struct object_kind {
  std::string name;    ///< "lock"; also the field of a record that names the object
  std::string plural;  ///< "locks"; also the option --locks
  std::string title;   ///< in words: "reader-writer lock"
  /// Texts of 'nearfar list' for the whole kind: before the objects, and after them.
  std::string introduction;
  std::string remarks;
  std::vector<axis> parameters;
  /// Why these parameters do not go together; empty if they do.
  std::string (*refuse)(const point& parameters);
  /// Families are together, each family's recommended setting first.
  std::vector<object> objects;
  /// The lacking part of a place that an object with these parameters needs, in a sentence; empty if the
  /// place lacks nothing. Null: no place lacks anything.
  std::string (*lacking)(const object&, const point& parameters, const locality&) = nullptr;

  /// Null if no object has that name.
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

/// The ways of distributing tasks.
[[nodiscard]] const object_kind& farms();

/// The containers that loops run over.
[[nodiscard]] const object_kind& containers();

/// All kinds of this program. The command has all of them, `make bench` only locks.
[[nodiscard]] const std::vector<const object_kind*>& object_kinds();

}  // namespace nearfar::bench
