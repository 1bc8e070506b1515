#include "nearfar/lock/hemlock.hpp"

#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"

// docs/locks.md: `hemlock` | a store in the predecessor's word that the successor polls | little memory for
// many locks

namespace nearfar::bench {

namespace {

template <hemlock_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary) {
  constexpr bool is_late = Policy.releases == hemlock_release::overlapped;
  to.add({.name = name,
          .summary = summary,
          .paper = "Dice, Kogan 2021; Uffmann 2022, 5.4.4",
          .fairness =
              is_late
                  ? "as hemlock, but a rank that has just released may be overtaken before it is in the queue"
                  : "first come, first served",
          .bypass = is_late ? checker::bypass_bound::none : checker::bypass_bound::fifo,
          .cost = "none; none (4 cache-line transfers, 3 with CTR)",
          .parameters = {},
          .one_node_only = true,
          .alike = alike_ranks::of_the_world},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<hemlock<W, Policy>>(w, home);
         });
}

constexpr hemlock_policy of(hemlock_release how, bool reads_to_write) {
  return {.releases = how, .reads_to_write = reads_to_write, .passes = pass_place::beside};
}

}  // namespace

void add_hemlock(catalogue& to) {
  add<hemlock_policy{}>(
      to, "hemlock",
      "for ranks of one node: a word for each rank and any number of locks; CTR, AH, and the "
      "pass count in the word");
  add<of(hemlock_release::in_turn, false)>(to, "hemlock.base", "the paper's algorithm without its variants");
  add<of(hemlock_release::overlapped, false)>(to, "hemlock.overlap",
                                              "the releasing rank waits later, as corrected (Overlap)");
  add<of(hemlock_release::in_turn, true)>(to, "hemlock.ctr",
                                          "waits by reads that take the cache line exclusively (CTR)");
  add<of(hemlock_release::aggressive, false)>(to, "hemlock.ah",
                                              "hands over before it looks for a successor (AH)");
  add<of(hemlock_release::aggressive, true)>(to, "hemlock.ctr_ah",
                                             "CTR and AH, the pass count beside the word");
}

}  // namespace nearfar::bench
