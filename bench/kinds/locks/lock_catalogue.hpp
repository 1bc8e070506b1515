/// \file
/// The registry of all locks, used by tests, benchmarks, the checker and the documentation's table.
#pragma once

#include "bench/kinds/locks/any_lock.hpp"
#include "bench/kinds/locks/lock_parameters.hpp"
#include "bench/registry.hpp"
#include "nearfar/checker/bypass_bound.hpp"

namespace nearfar::bench {

/// Exclusive locks, as a kind of registered objects.
struct exclusive_locks {
  template <typename W>
  using any = any_lock<W>;
  using parameters = lock_parameters;
  using bypass = checker::bypass_bound;
};

/// One registered lock.
using lock_entry = entry<exclusive_locks>;

/// All registered locks.
class catalogue : public registry<lock_entry> {
 public:
  /// The one catalogue, made at first use.
  static const catalogue& instance();

 private:
  catalogue();
};

/// The fault of the published queues.
inline constexpr const char* single_next_word =
    "a rank resets the word in which it has seen its successor's name before that write is complete";
/// The same fault, together with that of their hand-over.
inline constexpr const char* reset_status_word =
    "a rank resets the words in which it has seen its successor's name and its grant before those writes are "
    "complete";

}  // namespace nearfar::bench
