/// \file
/// The registry of distributed maps, by how they synchronise their operations.
#pragma once

#include <cstddef>
#include <memory>

#include "bench/kinds/maps/any_map.hpp"
#include "bench/registry.hpp"
#include "nearfar/map/distributed_map.hpp"

namespace nearfar::bench {

/// One set of values for all maps.
struct map_parameters {
  map_capacity capacity{};
};

/// Maps, as a kind of registered objects.
struct registered_maps {
  template <typename W>
  using any = any_map<W>;
  using parameters = map_parameters;
  struct bypass {};
};

/// One registered map.
using map_entry = entry<registered_maps>;

/// All registered maps.
class map_catalogue : public registry<map_entry> {
 public:
  /// The one catalogue, made at first use.
  static const map_catalogue& instance();

 private:
  map_catalogue();
};

/// Collective, like the construction of the map.
template <typename Concurrency, typename W>
[[nodiscard]] std::unique_ptr<any_map<W>> make_any_map(W& w, const map_parameters& of) {
  return std::make_unique<any_map_of<W, distributed_map<W, std::uint64_t, std::uint64_t, Concurrency>>>(
      w, of.capacity);
}

// One function for each family, in bench/kinds/maps/.
void add_map_lock_free(map_catalogue& to);
void add_map_locked(map_catalogue& to);

}  // namespace nearfar::bench
