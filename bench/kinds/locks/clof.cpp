#include <string>
#include <type_traits>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/clof_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/hemlock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
#include "nearfar/lock/near_tts_lock.hpp"
#include "nearfar/lock/ticket_lock.hpp"

// docs/locks.md: `clof_lock` | as `cohort_lock`, with a lock of any type for each level | a composition
// chosen by `nearfar sim compose`

namespace nearfar::bench {

namespace {

// Type constructors, because a template over a world cannot be a template argument together with its policy.
struct biased_nodes {
  template <world W>
  using lock = biased_queue<W>;
};
struct mcs_nodes {
  template <world W>
  using lock = dash_lock<W, dash_policy{.queued = participant::node}>;
};
struct ticket_nodes {
  template <world W>
  using lock = ticket_lock<W>;
};
struct mcs_within {
  template <world W>
  using lock = mcs_lock<W>;
};
struct ticket_within {
  template <world W>
  using lock = near_ticket_lock<W, ticket_waiting::at_ticket, ticket_memory::served>;
};
struct hemlock_within {
  template <world W>
  using lock = hemlock<W>;
};
struct tts_within {
  template <world W>
  using lock = near_tts_lock<W, near_tts_policy{.known = waiters_by::flag}>;
};

/// `Inside` is the lock within the elements of a level inside nodes.
template <typename Nodes, typename Node, typename Inside>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  constexpr bool is_fair_inside = !std::is_same_v<Inside, tts_within>;
  to.add({.name = name,
          .summary = summary,
          .paper = "Chehab, Paolillo, Behrens, Fu, Härtig, Chen 2021",
          .fairness = std::string("within an innermost element ") +
                      (is_fair_inside ? "first come, first served" : "no bound") +
                      "; between elements of a level as often as its limit; between nodes overtaken "
                      "max_local_passes times at most",
          .bypass = checker::bypass_bound::local_passes,
          .cost = cost,
          .parameters = {"max_local_passes", "levels"},
          .can_try = !std::is_same_v<Nodes, ticket_nodes>},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           using made = clof_lock<typename Nodes::template lock<W>, typename Node::template lock<W>,
                                  typename Inside::template lock<W>>;
           if (parameters.levels == every_level)
             return make_any_lock<made>(w, home, parameters.max_local_passes);
           return make_any_lock<made>(w, home, parameters.max_local_passes,
                                      parameters.levels_around(w.locality()).inside);
         });
}

}  // namespace

void add_clof(catalogue& to) {
  const std::string cost = "2 at home; none within a node";
  add<biased_nodes, mcs_within, mcs_within>(
      to, "clof", "as cohort between nodes; mcs within a node, and within each element of a level inside it",
      "none by the node that had it last, else 1 at home + 3 at that node; none within a node");
  // The names say the locks from the outside in.
  add<mcs_nodes, mcs_within, mcs_within>(to, "clof.mcs_mcs_mcs",
                                         "dash between nodes, mcs at both levels within", cost);
  add<mcs_nodes, ticket_within, ticket_within>(to, "clof.mcs_ticket_ticket",
                                               "dash between nodes, near_ticket at both levels within", cost);
  add<mcs_nodes, hemlock_within, hemlock_within>(to, "clof.mcs_hemlock_hemlock",
                                                 "dash between nodes, hemlock at both levels within", cost);
  add<mcs_nodes, mcs_within, tts_within>(
      to, "clof.mcs_mcs_tts", "dash between nodes, mcs within a node, near_tts with a flag innermost", cost);
  add<ticket_nodes, mcs_within, hemlock_within>(
      to, "clof.ticket_mcs_hemlock", "ticket between nodes, mcs within a node, hemlock innermost", cost);
}

}  // namespace nearfar::bench
