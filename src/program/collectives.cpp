#include "collectives.hpp"

#include <cstring>

#include "loops.hpp"

namespace nearfar::program {

namespace {

class collective_wait final : public step {
 public:
  collective_wait(collective& what, std::uint32_t needs) noexcept : what_(&what), needs_(needs) {
    changed = false;
  }
  bool is_enabled() override { return is_there(*what_, needs_); }
  void describe(std::string& to) const override {
    const bool is_over = is_there(*what_, needs_);
    to += is_over ? "leaves " : "waits in ";
    to += what_->name;
    if (!is_over) to += " for " + missing_from(*what_, needs_);
  }

 private:
  collective* what_;
  std::uint32_t needs_;
};

/// Two ranks that call different things in the same place.
[[noreturn]] void report_mismatch(const collective& one, const char* name, const std::string& difference) {
  for (std::size_t i = 0; i < one.by.size(); ++i) {
    if (!one.by[i].is_there) continue;
    fault what{.kind = "collective",
               .text = "ranks call different collectives of communicator " + std::to_string(one.in->number) +
                       ": " + difference,
               .places = {},
               .rule =
                   "All ranks of a communicator call its collectives in the same order, with arguments that "
                   "match (MPI 4.1, "
                   "sections 6.1 and 6.14)"};
    what.places.push_back(
        {.rank = self().number, .what = std::string("calls ") + name, .where = self().here()});
    what.places.push_back(
        {.rank = static_cast<int>(i), .what = std::string("calls ") + one.name, .where = one.by[i].where});
    fail(std::move(what));
  }
  fail("collective", difference);
}

}  // namespace

collective& detail::find_collective(communicator& in, const char* name, int root, std::intptr_t signature,
                                    const char* signature_name) {
  const unsigned index = in.mine().collectives++;
  if (index == in.collectives.size()) {
    auto* const made = make_for_run<collective>();
    made->in = &in;
    made->name = name;
    made->root = root;
    made->signature = signature;
    made->signature_name = signature_name;
    in.collectives.push_back(made);
  }
  collective& one = *in.collectives[index];
  if (std::strcmp(one.name, name) != 0) report_mismatch(one, name, std::string(name) + " and " + one.name);
  if (one.root != root && !in.is_inter)
    report_mismatch(one, name, "roots " + std::to_string(root) + " and " + std::to_string(one.root));
  if (one.signature != signature) report_mismatch(one, name, std::string("another ") + signature_name);
  return one;
}

void detail::note_arrival(collective& one) {
  contribution& mine = one.mine();
  run().note_arrival();
  mine.is_there = true;
  mine.knew = self().publish();
  mine.event = self().last_event;
  mine.where = self().here();
  one.arrived |= std::uint32_t{1} << static_cast<unsigned>(self().number);
}

void learn(rank& who, collective& one, std::uint32_t needs) {
  forget_turns(who);
  for (int i = 0; i < most_ranks; ++i) {
    if ((needs >> static_cast<unsigned>(i) & 1U) == 0 || i == who.number) continue;
    who.knows.join(one.of(i).knew);
    run().depend(who, one.of(i).event);
  }
}

std::string missing_from(const collective& one, std::uint32_t needs) {
  const std::uint32_t missing = needs & ~one.arrived;
  std::string text;
  for (int i = 0; i < most_ranks; ++i)
    if ((missing >> static_cast<unsigned>(i) & 1U) != 0)
      text += (text.empty() ? "rank " : ", rank ") + std::to_string(i);
  return text.empty() ? "nobody" : text;
}

void wait_by(step& what) {
  if (what.is_enabled())
    what.take(0);
  else
    run().perform(self(), what);
}

void await(collective& one, std::uint32_t needs) {
  if (run().chosen().collectives_wait) needs = one.in->everybody();
  collective_wait waiting(one, needs);
  wait_by(waiting);
  learn(self(), one, needs);
}

void synchronise(communicator& in, const char* name) {
  collective& one = arrive(in, name, -1, 0, "", [](contribution&) {});
  await(one, in.everybody());
}

}  // namespace nearfar::program
