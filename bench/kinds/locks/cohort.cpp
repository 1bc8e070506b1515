#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/cna_lock.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/fissile_lock.hpp"
#include "nearfar/lock/hemlock.hpp"
#include "nearfar/lock/near_clh_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
#include "nearfar/lock/near_tts_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/lock/ticket_lock.hpp"

// docs/locks.md: `cohort_lock` | within a node through shared memory, between nodes by a message | the
// default

namespace nearfar::bench {

namespace {

/// Type constructors, because a template over a world cannot be a template argument together with its policy.
template <dash_policy Policy>
struct dash_above {
  template <world W>
  using lock = dash_lock<W, Policy>;
};
struct d_mcs_above {
  template <world W>
  using lock = d_mcs_lock<W, d_mcs_policy{.queued = participant::node}>;
};
struct tas_above {
  template <world W>
  using lock = tas_lock<W>;
};
struct biased_above {
  template <world W>
  using lock = biased_queue<W>;
};
struct ticket_above {
  template <world W>
  using lock = ticket_lock<W>;
};
struct mcs_below {
  static constexpr const char* order = "first come, first served";
  static constexpr alike_ranks alike = alike_ranks::of_a_node;
  template <world W>
  using lock = mcs_lock<W>;
};
struct ticket_below : mcs_below {
  template <world W>
  using lock = near_ticket_lock<W>;
};
struct clh_below : mcs_below {
  template <world W>
  using lock = near_clh_lock<W>;
};
struct twa_below : mcs_below {
  static constexpr alike_ranks alike = alike_ranks::none;
  template <world W>
  using lock = near_ticket_lock<W, ticket_waiting::in_array>;
};
struct cna_below {
  static constexpr alike_ranks alike = alike_ranks::none;
  static constexpr const char* order = "max_local_passes for each that was there before";
  template <world W>
  using lock = cna_lock<W>;
};
struct fissile_below {
  static constexpr alike_ranks alike = alike_ranks::of_a_node;
  static constexpr const char* order = "about max_local_passes";
  template <world W>
  using lock = fissile_lock<W>;
};
struct hemlock_below : mcs_below {
  template <world W>
  using lock = hemlock<W>;
};
template <hemlock_release Releases, bool ReadsToWrite>
struct published_hemlock_below : mcs_below {
  template <world W>
  using lock =
      hemlock<W, hemlock_policy{
                     .releases = Releases, .reads_to_write = ReadsToWrite, .passes = pass_place::beside}>;
};
template <waiters_by Known>
struct tts_below {
  static constexpr alike_ranks alike = alike_ranks::of_a_node;
  static constexpr const char* order = "no bound";
  template <world W>
  using lock = near_tts_lock<W, near_tts_policy{.known = Known}>;
};

using direct_node = dash_above<dash_policy{.queued = participant::node}>;
using published_node = dash_above<dash_policy{.words = next_words::single, .queued = participant::node}>;
using rma_node = dash_above<dash_policy{.queued = participant::node, .shared_node = node_access::rma}>;

template <typename Above, cohort_policy Policy, typename Below = mcs_below>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  constexpr bool is_unfair = std::is_same_v<Above, tas_above>;
  constexpr bool is_unsound = std::is_same_v<Above, published_node>;
  constexpr bool is_timed = Policy.turn == turn_limit::time;
  to.add({.name = name,
          .summary = summary,
          .paper = "Dice, Marathe, Shavit 2012; Uffmann 2022, 5.4.1",
          .fairness = std::string("within a node ") + Below::order + "; between nodes " +
                      (is_unfair  ? "no bound"
                       : is_timed ? "overtaken for max_turn_ns, and 16 times more"
                                  : "overtaken max_local_passes times at most"),
          .bypass = is_unfair || is_timed ? checker::bypass_bound::none : checker::bypass_bound::local_passes,
          .cost = cost,
          .parameters = {is_timed ? "max_turn_ns" : "max_local_passes"},
          .can_try = !std::is_same_v<Above, ticket_above> && !std::is_same_v<Below, clh_below>,
          // A lock that limits turns by time reads the clock, and the checker's clock counts the steps of all
          // ranks.
          .alike = is_timed ? alike_ranks::none : Below::alike,
          .unsound = is_unsound ? single_next_word : ""},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           using made =
               cohort_lock<typename Above::template lock<W>, typename Below::template lock<W>, Policy>;
           if constexpr (is_timed)
             return make_any_lock<made>(w, home, parameters.max_turn);
           else
             return make_any_lock<made>(w, home, parameters.max_local_passes);
         });
}

constexpr cohort_policy strict(pass_counter counts) {
  return {.counts = counts, .limit = pass_limit::strict};
}

}  // namespace

void add_cohort(catalogue& to) {
  add<biased_above, cohort_policy{}>(
      to, "cohort", "a queue of nodes, mcs within; the last node keeps the lock until another node asks",
      "none by the node that had it last, else 1 at home + 3 at that node; none within a node");
  add<biased_above, cohort_policy{.turn = turn_limit::time}>(
      to, "cohort.timed", "as cohort, but a time limits how long a node keeps the lock while others wait",
      "as cohort");
  add<direct_node, cohort_policy{}>(
      to, "cohort.unbiased", "dash between nodes; a node releases it when none of its ranks wants the lock",
      "2 at home; none within a node");
  add<direct_node, strict(pass_counter::inlined)>(
      to, "cohort.strict",
      "releases the lock after max_local_passes even if no other node wants it, as published",
      "2 at home; none within a node");
  add<published_node, strict(pass_counter::inlined)>(
      to, "cohort.published", "as cohort.strict, with the queue as published (optimisation 4)",
      "2 at home; none within a node");
  add<published_node, strict(pass_counter::global)>(to, "cohort.published_global",
                                                    "as cohort.published, with passes counted at home",
                                                    "3 at home; 1 at home");
  add<published_node, strict(pass_counter::local)>(
      to, "cohort.published_local", "as cohort.published, with passes counted at the node's leader, by RMA",
      "2 at home + 1; 1 in the node");
  add<published_node, strict(pass_counter::direct)>(to, "cohort.published_direct",
                                                    "as cohort.published, with passes counted in near memory",
                                                    "2 at home; none within a node");
  add<rma_node, strict(pass_counter::global)>(
      to, "cohort.global_counter", "baseline: passes counted at home, node's queue node reached by RMA",
      "3 at home + 2; 1 at home");
  add<rma_node, strict(pass_counter::local)>(to, "cohort.local_counter",
                                             "optimisation 1: passes counted at the node's leader, by RMA",
                                             "2 at home + 3; 1 in the node");
  add<rma_node, strict(pass_counter::direct)>(to, "cohort.direct_counter",
                                              "optimisation 2: passes counted in near memory",
                                              "2 at home + 2; none within a node");
  add<rma_node, strict(pass_counter::inlined)>(to, "cohort.inline_counter",
                                               "optimisation 3: passes counted in the local lock's hand-over",
                                               "2 at home + 2; none within a node");
  add<d_mcs_above, cohort_policy{}>(to, "cohort.d_mcs", "d_mcs between nodes, mcs within",
                                    "2 at home; none within a node");
  add<tas_above, cohort_policy{}>(to, "cohort.tas", "tas between nodes, mcs within",
                                  "2 at home; none within a node");

  // The other pairs that the thesis evaluates, named above_below.
  const std::string cost = "2 at home; none within a node";
  add<tas_above, cohort_policy{}, tts_below<waiters_by::flag>>(
      to, "cohort.tas_tts", "tas between nodes, near_tts with a flag within", cost);
  add<tas_above, cohort_policy{}, ticket_below>(to, "cohort.tas_ticket",
                                                "tas between nodes, near_ticket within", cost);
  add<ticket_above, cohort_policy{}, tts_below<waiters_by::flag>>(
      to, "cohort.ticket_tts", "ticket between nodes, near_tts with a flag within", cost);
  add<ticket_above, cohort_policy{}, ticket_below>(to, "cohort.ticket_ticket",
                                                   "ticket between nodes, near_ticket within", cost);
  add<ticket_above, cohort_policy{}>(to, "cohort.ticket_mcs", "ticket between nodes, mcs within", cost);
  add<direct_node, cohort_policy{}, tts_below<waiters_by::flag>>(
      to, "cohort.mcs_tts", "dash between nodes, near_tts with a flag within", cost);
  add<tas_above, strict(pass_counter::inlined), tts_below<waiters_by::flag_at_each_look>>(
      to, "cohort.tas_tts_published",
      "tas between nodes, near_tts within with its pauses and flag as published", cost);
  add<ticket_above, strict(pass_counter::inlined), tts_below<waiters_by::flag_at_each_look>>(
      to, "cohort.ticket_tts_published",
      "ticket between nodes, near_tts within with its pauses and flag as published", cost);
  add<direct_node, strict(pass_counter::inlined), tts_below<waiters_by::flag_at_each_look>>(
      to, "cohort.mcs_tts_published",
      "dash between nodes, near_tts within with its pauses and flag as published", cost);
  add<direct_node, cohort_policy{}, tts_below<waiters_by::count>>(
      to, "cohort.mcs_tts_count", "dash between nodes, near_tts that counts its waiting ranks within", cost);
  add<direct_node, strict(pass_counter::inlined), ticket_below>(
      to, "cohort.mcs_ticket", "as cohort.strict, with near_ticket within", cost);
  add<direct_node, strict(pass_counter::inlined), clh_below>(to, "cohort.mcs_clh",
                                                             "as cohort.strict, with near_clh within", cost);
  add<direct_node, strict(pass_counter::inlined), hemlock_below>(
      to, "cohort.mcs_hemlock", "as cohort.strict, with hemlock within", cost);
  add<direct_node, strict(pass_counter::inlined), published_hemlock_below<hemlock_release::aggressive, true>>(
      to, "cohort.mcs_hemlock_beside", "as cohort.strict, with hemlock.ctr_ah within", cost);
  add<direct_node, strict(pass_counter::inlined), published_hemlock_below<hemlock_release::in_turn, true>>(
      to, "cohort.mcs_hemlock_ctr", "as cohort.strict, with hemlock.ctr within", cost);
  add<direct_node, strict(pass_counter::inlined),
      published_hemlock_below<hemlock_release::overlapped, false>>(
      to, "cohort.mcs_hemlock_overlap", "as cohort.strict, with hemlock.overlap within", cost);
  add<direct_node, strict(pass_counter::inlined), published_hemlock_below<hemlock_release::in_turn, false>>(
      to, "cohort.mcs_hemlock_base", "as cohort.strict, with hemlock.base within", cost);

  // Pairs with local locks that came later.
  add<direct_node, cohort_policy{}, twa_below>(to, "cohort.mcs_twa", "dash between nodes, twa within", cost);
  add<direct_node, cohort_policy{}, cna_below>(to, "cohort.mcs_cna", "dash between nodes, cna within", cost);
  add<direct_node, cohort_policy{}, fissile_below>(to, "cohort.mcs_fissile",
                                                   "dash between nodes, fissile within", cost);
}

}  // namespace nearfar::bench
