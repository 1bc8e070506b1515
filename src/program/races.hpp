// Accesses to window memory, and which pairs of them may be concurrent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "clock.hpp"
#include "rank.hpp"

namespace nearfar::program {

enum class access_kind : std::uint8_t {
  load,
  volatile_load,
  atomic_load,
  store,
  volatile_store,
  atomic_store,  ///< also an atomic read-modify-write
  get,
  put,
  accumulate,
  origin_read,  ///< of the origin's buffer by an operation
  origin_write,
};

/// When an operation is complete, and who knows it: whoever knows this moment of this rank.
struct completion {
  int rank = -1;
  moment at = 0;
  [[nodiscard]] bool is_known_by(const vector_clock& one) const noexcept {
    return rank >= 0 && one[rank] >= at;
  }
};

/// The epoch of an operation, for reports.
enum class epoch_kind : std::uint8_t { none, fence, start, lock_shared, lock_exclusive, lock_all };

struct access_record {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  access_kind kind = access_kind::load;
  int rank = 0;   ///< that issued it
  moment at = 0;  ///< of a load or store
  completion* done =
      nullptr;  ///< of an operation of RMA; null for loads and stores, which are complete at once
  // Of an accumulate: its operation (of MPI_Compare_and_swap, null), its basic datatype and the bytes of one
  // element.
  const struct operation* op = nullptr;
  int basic = 0;
  std::size_t element_bytes = 0;
  bool any_operation = false;  ///< the window permits concurrent accumulates of different operations
  epoch_kind epoch = epoch_kind::none;
  int window = -1;
  site where;
};

/// Judges an access against all earlier ones, reports a race, and keeps the access. `knows` is what its
/// issuer knows.
void note_access(const access_record& one, const vector_clock& knows);

/// A value that a rank saw in the bytes was written by somebody: the clock of that writer when it issued the
/// write.
void learn_from(std::uintptr_t begin, std::uintptr_t end, vector_clock& to);
/// A write took effect. `adds`: the value depends on the earlier ones, too.
void note_writer(std::uintptr_t begin, std::uintptr_t end, const vector_clock& knew, bool adds);

void forget_accesses();

[[nodiscard]] const char* name_of(access_kind kind) noexcept;
[[nodiscard]] std::string name_of(epoch_kind kind, int window);

}  // namespace nearfar::program
