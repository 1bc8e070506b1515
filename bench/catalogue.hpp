/// \file
/// The registry of all locks, used by tests, benchmarks, the checker and the documentation's table.
#pragma once

#include "bench/any_lock.hpp"
#include "bench/lock_parameters.hpp"
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

// One function for each family, in bench/locks/.
void add_mpi_win(catalogue& to);
void add_d_mcs(catalogue& to);
void add_dash(catalogue& to);
void add_rma_mcs(catalogue& to);
void add_tas(catalogue& to);
void add_ticket(catalogue& to);
void add_clh(catalogue& to);
void add_hclh(catalogue& to);
void add_rh(catalogue& to);
void add_shfl(catalogue& to);
void add_mcs(catalogue& to);
void add_near_tts(catalogue& to);
void add_near_ticket(catalogue& to);
void add_near_clh(catalogue& to);
void add_hemlock(catalogue& to);
void add_cna(catalogue& to);
void add_cst(catalogue& to);
void add_fissile(catalogue& to);
void add_near_hmcs(catalogue& to);
void add_cohort(catalogue& to);
void add_hmcs(catalogue& to);

}  // namespace nearfar::bench
