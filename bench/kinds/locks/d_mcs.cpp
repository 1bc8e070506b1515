#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"

// docs/locks.md: `d_mcs_lock` | a far accumulate to a word that the successor polls | one queue of all ranks;
// first come, first served; no messages

namespace nearfar::bench {

namespace {

template <d_mcs_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Schmid, Besta, Hoefler 2016; Uffmann 2022, 4.3.1",
          .fairness = "first come, first served",
          .bypass = checker::bypass_bound::fifo,
          .cost = "2 at home; 1 at home + 2",
          .parameters = {},
          .alike = Policy.flushes ? alike_ranks::of_the_world : alike_ranks::none,
          .unsound = !Policy.flushes ? "does not flush its accumulates, which MPI need not carry out"
                     : Policy.by == handover_by::sum ? ""
                                                     : reset_status_word},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<d_mcs_lock<W, Policy>>(w, home);
         });
}

}  // namespace

void add_d_mcs(catalogue& to) {
  add<d_mcs_policy{}>(to, "d_mcs", "MCS over RMA, handed over by accumulate (sum) and flush");
  add<d_mcs_policy{.by = handover_by::put_byte}>(to, "d_mcs.put",
                                                 "handed over by a put of one byte and flush (thesis, 3.4)");
  add<d_mcs_policy{.by = handover_by::accumulate}>(
      to, "d_mcs.accumulate", "handed over by accumulate (replace) and flush (thesis, 4.3.1)");
  add<d_mcs_policy{.by = handover_by::accumulate, .flushes = false}>(
      to, "d_mcs.unflushed", "the same without a flush, as first published");
}

}  // namespace nearfar::bench
