#include "bench/catalogue.hpp"
#include "nearfar/lock/dash_lock.hpp"

namespace nearfar::bench {

namespace {

template <dash_stage Stage>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Zhou et al. 2014 (dash::Mutex); Uffmann 2022, 4.3.2",
          .fairness = "0 (FIFO)",
          .bypass = checker::bypass_bound::fifo,
          .cost = cost,
          .parameters = {}},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<dash_lock<W, dash_policy{.stage = Stage}>>(w, home);
         });
}

}  // namespace

void add_dash(catalogue& to) {
  add<dash_stage::put_registration>(to, "dash",
                                    "MCS over RMA, handed over by a message; ranks register by put",
                                    "2 at home; 1 at home + 1 + a message");
  add<dash_stage::published>(to, "dash.published",
                             "release tries to empty the queue before it looks for a successor",
                             "2 at home; 2 at home + 1 + polls by RMA + a message");
  add<dash_stage::early_look>(to, "dash.early_look", "release looks for a successor first, by an atomic read",
                              "2 at home + 1; 1 at home + 2 + a message");
  add<dash_stage::direct_reads>(to, "dash.direct_reads", "as early_look, reading the own word from memory",
                                "2 at home; 1 at home + 1 + a message");
}

}  // namespace nearfar::bench
