#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/dash_lock.hpp"

// docs/locks.md: `dash_lock` | a message | one queue of all ranks; first come, first served

namespace nearfar::bench {

namespace {

template <dash_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Zhou et al. 2014 (dash::Mutex); Uffmann 2022, 4.3.2",
          .fairness = "first come, first served",
          .bypass = checker::bypass_bound::fifo,
          .cost = cost,
          .parameters = {},
          .alike = alike_ranks::of_the_world,
          .unsound = Policy.words == next_words::in_turn ? "" : single_next_word},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<dash_lock<W, Policy>>(w, home);
         });
}

}  // namespace

void add_dash(catalogue& to) {
  constexpr auto published = [](dash_stage stage) {
    return dash_policy{.stage = stage, .words = next_words::single};
  };
  constexpr const char* final_cost = "2 at home; 1 at home + 1 + a message";
  add<dash_policy{}>(to, "dash", "MCS over RMA, handed over by a message; ranks register by put", final_cost);
  add<published(dash_stage::published)>(to, "dash.published",
                                        "release tries to empty the queue before it looks for a successor",
                                        "2 at home; 2 at home + 1 + polls by RMA + a message");
  add<published(dash_stage::early_look)>(to, "dash.early_look",
                                         "release looks for a successor first, by an atomic read",
                                         "2 at home + 1; 1 at home + 2 + a message");
  add<published(dash_stage::direct_reads)>(to, "dash.direct_reads",
                                           "as early_look, reading the own word from memory", final_cost);
  add<published(dash_stage::put_registration)>(to, "dash.put_registration",
                                               "as direct_reads, registering by put", final_cost);
}

}  // namespace nearfar::bench
