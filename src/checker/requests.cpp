#include "requests.hpp"

#include <utility>

#include "execution.hpp"
#include "words.hpp"

namespace nearfar::checker {

std::uint64_t requests::perform(const engine::operation& what) {
  run_->check_operands(what);
  access_request access(*run_, what);
  return run_->stop_before(access);
}

void requests::issue(const engine::operation& what) {
  run_->check_operands(what);
  rank_state& me = run_->self();
  if (what.result != nullptr) {
    write_word(what.result, run_->poison());
    run_->has_poison_ = true;
  }
  const std::uint64_t word = run_->words().name_of(what.word);
  run_->note_asked(mixed(word, hash_of_operands(what)));
  me.outstanding.push_back({.what = what,
                            .number = ++me.issued,
                            .seen = me.seen,
                            .past = me.past,
                            .issued_after = static_cast<int>(run_->schedule().size()) - 1,
                            .site = run_->current_site()});
  me.observed = mixed(me.observed, mixed(word, static_cast<std::uint64_t>(what.what)));
  if (run_->how().mode != delivery_mode::eager) return;
  eager_delivery delivery(*run_, what);
  run_->stop_before(delivery);
}

void requests::flush(int target) { run_->complete_at(target); }

std::uint64_t requests::await(const engine::wait& what) {
  run_->check_operands(what.read);
  const std::source_location site = run_->current_site();
  // A far poll flushes its target, and with it whatever is under way to there.
  if (is_rma(what.read.what)) run_->complete_at(what.read.target);
  if (!what.progresses && run_->how().mode == delivery_mode::progress) {
    run_->at(site);
    library_exit leaving(*run_);
    run_->stop_before(leaving);
  }
  run_->at(site);
  wait_request waiting(*run_, what);
  return run_->stop_before(waiting);
}

void requests::signal(int channel, int to) {
  signal_request sending(*run_, channel, to);
  run_->stop_before(sending);
}

void requests::await_signal(int channel, int from) {
  signal_wait receiving(*run_, channel, from);
  run_->stop_before(receiving);
}

void requests::begin_exclusive(int epoch, int home) {
  epoch_begin beginning(*run_, epoch, home);
  run_->stop_before(beginning);
}

void requests::end_exclusive(int epoch, int home) {
  epoch_end ending(*run_, epoch, home);
  run_->stop_before(ending);
}

void requests::fence(std::memory_order order) {
  rank_state& me = run_->self();
  me.observed = mixed(me.observed, mixed(total_order, static_cast<std::uint64_t>(order)));
  run_->note_asked(mixed(total_order, static_cast<std::uint64_t>(order)));
  if (run_->how().near == near_model::sequential) return;
  if (order != std::memory_order_seq_cst) return run_->words().fence(me, order);
  fence_request fencing(*run_);
  run_->stop_before(fencing);
}

// ---- the same from the fibres of ranks --------------------------------------------------------------------

std::uint64_t execution::perform(const engine::operation& what) {
  self().frame = __builtin_frame_address(0);
  return mutator_.perform(what);
}

void execution::issue(const engine::operation& what) {
  self().frame = __builtin_frame_address(0);
  mutator_.issue(what);
}

void execution::flush(int target) {
  self().frame = __builtin_frame_address(0);
  mutator_.flush(target);
}

std::uint64_t execution::await(const engine::wait& what) {
  self().frame = __builtin_frame_address(0);
  return mutator_.await(what);
}

void execution::signal(int channel, int to) {
  self().frame = __builtin_frame_address(0);
  mutator_.signal(channel, to);
}

void execution::await_signal(int channel, int from) {
  self().frame = __builtin_frame_address(0);
  mutator_.await_signal(channel, from);
}

void execution::begin_exclusive(int epoch, int home) {
  self().frame = __builtin_frame_address(0);
  mutator_.begin_exclusive(epoch, home);
}

void execution::end_exclusive(int epoch, int home) {
  self().frame = __builtin_frame_address(0);
  mutator_.end_exclusive(epoch, home);
}

void execution::fence(std::memory_order order) {
  self().frame = __builtin_frame_address(0);
  mutator_.fence(order);
}

void execution::barrier() {
  self().at = where::at_barrier;
  ++at_barrier_;
  suspend();
}

void execution::enter() {
  section_entry entering(*this);
  stop_before(entering);
}

void execution::leave() {
  const int rank = running();
  section_exit leaving(*this);
  stop_before(leaving);
  section_.note_left(rank, [this](int other) { return state(other).at == where::ended; });
}

void execution::expect_complete(const char* function) {
  for (const rma& one : self().outstanding)
    report(fault::incomplete, "rank " + std::to_string(running()) + ": " + std::string(name(one.what.what)) +
                                  " to " + word_text(one.what) + " was not flushed when " + function +
                                  " returned");
}

std::uint64_t execution::stop_before(request& next) {
  rank_state& me = self();
  me.at = where::at_step;
  me.next = &next;
  me.site = current_site();
  note_asked(mixed(next.hash(), next.operands()));
  for (const rma& one : me.outstanding) check_buffers(me, one);
  suspend();
  return me.returned;
}

void execution::note_asked(std::uint64_t what) {
  // Ranks that a step lets run on do so in any order.
  std::uint64_t& asked = self().asked;
  asked = mixed(asked, what);
  asked_so_far_ += asked;
}

void execution::check_operands(const engine::operation& what) {
  if (what.operand == default_poison || what.expected == default_poison)
    report(fault::poison, "rank " + std::to_string(running()) + " passes to " + std::string(name(what.what)) +
                              " the result of an operation that was not complete");
}

// ---- completion -------------------------------------------------------------------------------------------

void execution::complete_at(int target) {
  rank_state& me = self();
  if (has_undelivered(me, target)) {
    me.at = where::in_flush;
    me.flush_target = target;
    // Lazily delivered, an operation comes after all that its rank did before the flush.
    if (options_->mode == delivery_mode::lazy)
      for (rma& one : me.outstanding)
        if (one.what.target == target) one.past.join(me.past);
    suspend();
  }
  for (const rma& one : me.outstanding)
    if (one.what.target == target) complete(me, one);
  std::erase_if(me.outstanding, [target](const rma& one) { return one.what.target == target; });
}

void execution::complete(rank_state& of, const rma& one) {
  of.past.join(one.past);
  of.seen.join(one.seen);
  const engine::operation& what = one.what;
  words_.note_complete(running(), what, one.access, of.seen);
  check_buffers(of, one);
  if (what.result == nullptr) return;
  if (fibre_of(running()).is_dangling(what.result, of.frame)) {
    report(fault::origin, "the result of " + std::string(name(what.what)) + " to " + word_text(what) +
                              " went out of scope before its flush");
    return;
  }
  write_word(what.result, one.old);
  of.observed = mixed(of.observed, one.old);
}

void execution::check_buffers(const rank_state& of, const rma& one) {
  const engine::operation& what = one.what;
  for (const auto& [buffer, value] :
       {std::pair(what.origin, what.operand), std::pair(what.compare, what.expected)}) {
    if (buffer == nullptr) continue;
    const bool is_gone = fibre_of(running()).is_dangling(buffer, of.frame);
    if (!is_gone && read_word(buffer) == value) continue;
    report(fault::origin, "an origin buffer of " + std::string(name(what.what)) + " to " + word_text(what) +
                              (is_gone ? " went out of scope" : " was changed") + " before its flush");
  }
}

}  // namespace nearfar::checker
