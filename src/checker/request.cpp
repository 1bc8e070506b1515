#include "request.hpp"

#include <algorithm>
#include <utility>

#include "execution.hpp"
#include "names.hpp"
#include "words.hpp"

namespace nearfar::checker {

using engine::action;

namespace {

std::string of_rank(const std::string& what, int rank) { return what + " of rank " + std::to_string(rank); }

std::uint64_t hash_of(const value_list& values) {
  std::uint64_t hash = values.size();
  for (const std::uint64_t one : values) hash = mixed(hash, one);
  return hash;
}

}  // namespace

std::uint64_t hash_of_operands(const engine::operation& what) {
  const auto orders = static_cast<std::uint64_t>(what.order) << 8U | static_cast<std::uint64_t>(what.failure);
  return mixed(mixed(static_cast<std::uint64_t>(what.what), orders), mixed(what.operand, what.expected));
}

request::request(execution& of, kind what) : run_(&of), rank_(of.running()), kind_(what) {}

// ---- words ------------------------------------------------------------------------------------------------

std::uint64_t cell_request::word() const { return run().words().name_of(what_.word); }
int cell_request::acts_on() const { return run().name_of(what_.word).rank; }

std::uint64_t cell_request::operands() const { return mixed(word(), hash_of_operands(what_)); }

touched cell_request::take_near(int choice, const engine::wait* waiting) const {
  run().words().check_lifetime(rank(), what_.word, run().state(rank()).seen);
  return run().words().apply_near(rank(), run().state(rank()), what_, waiting, choice, run().events().size());
}

int cell_request::choices_of_near(const engine::wait* waiting) const {
  if (!is_near(what_.what)) return 1;
  return static_cast<int>(run().words().places(run().state(rank()).seen, what_, waiting).size());
}

bool cell_request::is_newest_of_cell_elsewhere(int choice, const engine::wait* waiting) const {
  const bool may_be = is_near(what_.what) && run().how().near != near_model::sequential;
  const shared_word* word = may_be ? run().words().find(what_.word) : nullptr;
  if (word == nullptr || word->history.size() == 1) return false;
  const rank_state& of = run().state(rank());
  const std::size_t place = shared_memory::overlooked(
      what_, run().words().places(of.seen, what_, waiting)[static_cast<std::size_t>(choice)]);
  const std::vector<shared_word::stored>& history = word->history;
  // The same value could be read before that write, unless the value itself was written later.
  return place < history.size() && !of.past.contains(history[place].by_event) &&
         (place == 1 || history[place - 1].by_event < history[place].by_event);
}

std::string access_request::text(bool /*in_vain*/) const { return std::string(engine::name(what().what)); }
int access_request::choices() const { return choices_of_near(nullptr); }
bool access_request::is_newest_elsewhere(int choice) const {
  return is_newest_of_cell_elsewhere(choice, nullptr);
}
touched access_request::take(int choice) {
  if (is_near(what().what)) return take_near(choice, nullptr);
  return run().words().apply_direct(rank(), what(), run().state(rank()).seen);
}

std::string eager_delivery::text(bool /*in_vain*/) const { return std::string(engine::name(what().what)); }
touched eager_delivery::take(int /*choice*/) {
  return run().deliver(rank(), run().state(rank()).outstanding.back());
}
void eager_delivery::note_event() const {
  rank_state& of = run().state(rank());
  of.outstanding.back().past = of.past;
}

wait_request::wait_request(execution& of, const engine::wait& what, bool has_deadline)
    : cell_request(of, "await", what.read),
      wait_(&what),
      has_deadline_(has_deadline),
      first_step_(of.events().size()) {}

std::string wait_request::text(bool in_vain) const {
  return "await " + std::string(engine::name(what().what)) +
         (has_timed_out_ ? ", timed out"
          : in_vain      ? ", in vain"
                         : "");
}

std::string wait_request::sleeping_text(const engine::sleep& how) const {
  return "fell asleep in step " + std::to_string(first_step_) + " on " + run().word_text(how.word) +
         ", which held " + std::to_string(how.seen) + " and holds " + std::to_string(*how.word) + " now. " +
         run().last_waker_text(how.word);
}

std::string wait_request::waiting_text() const {
  if (wait_->asleep) return sleeping_text(*wait_->asleep);
  return "waits for " + run().word_text(what().word) + ", which is " + std::to_string(*what().word);
}

bool wait_request::can_try_in_vain(std::uint64_t value) const {
  return is_write(what().what) && failed_tries_ < run().how().most_failed_swaps && !wait_->satisfied(value) &&
         result_of(what(), value) != value;
}

bool wait_request::can_be_taken() const {
  if (const int serving = run().server_of(*this); serving >= 0 && run().is_outside_library(serving))
    return false;
  if (what().what == action::load) return choices() > 0;
  return has_deadline_ || wait_->satisfied(*what().word) || can_try_in_vain(*what().word);
}

std::optional<bool> wait_request::could_be_taken(std::uint64_t word, std::size_t event,
                                                 std::uint64_t value) const {
  if (has_deadline_ || word != this->word()) return std::nullopt;
  if (what().what != action::load) return wait_->satisfied(value) || can_try_in_vain(value);
  return run().words().could_satisfy(run().state(rank()).seen, *wait_, event, value);
}

bool wait_request::waits_for_past() const {
  return what().what == action::load && !has_deadline_ && !wait_->satisfied(*what().word);
}

bool wait_request::is_out_of_patience() const { return has_deadline_ && !wait_->satisfied(*what().word); }

int wait_request::server() const { return is_rma(what().what) ? what().target : -1; }

int wait_request::choices() const {
  if (what().what == action::load) return choices_of_near(filter());
  // A failing swap is the last try, or another one follows.
  return has_deadline_ && can_try_in_vain(*what().word) ? 2 : 1;
}

bool wait_request::is_newest_elsewhere(int choice) const {
  return is_newest_of_cell_elsewhere(choice, filter());
}

touched wait_request::take(int choice) {
  const bool tries_again = can_try_in_vain(*what().word) && choice == 0;
  const touched values = poll(choice);
  has_timed_out_ = has_deadline_ && !tries_again && !wait_->satisfied(values.read);
  if (tries_again) ++failed_tries_;
  return values;
}

touched wait_request::poll(int choice) {
  view& seen = run().state(rank()).seen;
  shared_memory& words = run().words();
  if (is_near(what().what)) return take_near(choice, filter());
  if (is_direct(what().what)) return words.apply_direct(rank(), what(), seen);
  // A far poll is complete when the next one begins.
  const shared_memory::far_access done = words.apply_far(rank(), what(), seen);
  words.note_complete(rank(), what(), done.number, seen);
  return done.values;
}

std::uint64_t wait_request::observed(const touched& values) const {
  // Includes whether the wait goes on, and how many tries remain.
  return mixed(values.read, 2 * static_cast<std::uint64_t>(failed_tries_) + (has_timed_out_ ? 1 : 0));
}

bool wait_request::is_asked_again(const touched& values) const {
  return !has_timed_out_ && (is_rma(what().what) || is_write(what().what)) && !wait_->satisfied(values.read);
}

// ---- several words ----------------------------------------------------------------------------------------

std::string any_wait::text(bool /*in_vain*/) const {
  if (has_timed_out_) return "await any, timed out";
  return "await " + std::string(engine::name(any_[which_].read.what)) + ", one of " +
         std::to_string(any_.size());
}

std::string any_wait::waiting_text() const {
  std::string text = "waits for";
  for (const engine::wait& one : any_)
    text += (&one == any_.data() ? " " : " or ") + run().word_text(one.read.word) + ", which is " +
            std::to_string(*one.read.word);
  return text;
}

std::uint64_t any_wait::word() const { return run().words().name_of(any_.front().read.word); }
int any_wait::acts_on() const { return run().name_of(cell()).rank; }

void any_wait::touch(footprint& into) const {
  for (const engine::wait& one : any_) into.add({run().words().name_of(one.read.word), use::read});
}

std::uint64_t any_wait::operands() const {
  std::uint64_t hash = 0;
  for (const engine::wait& one : any_) hash = mixed(hash, run().words().name_of(one.read.word));
  return hash;
}

int any_wait::values(const engine::wait& one) const {
  if (!is_near(one.read.what)) return one.satisfied(*one.read.word) ? 1 : 0;
  return static_cast<int>(run().words().places(run().state(rank()).seen, one.read, &one).size());
}

int any_wait::all_values() const {
  int result = 0;
  for (const engine::wait& one : any_) result += values(one);
  return result;
}

bool any_wait::can_time_out() const {
  return has_deadline_ && std::all_of(any_.begin(), any_.end(), [&](const engine::wait& one) {
           return run().words().can_read_other(run().state(rank()).seen, one);
         });
}

std::optional<bool> any_wait::could_be_taken(std::uint64_t word, std::size_t /*event*/,
                                             std::uint64_t /*value*/) const {
  // Another word of the wait may have let the step be taken then.
  const bool is_mine = std::any_of(any_.begin(), any_.end(), [&](const engine::wait& one) {
    return run().words().name_of(one.read.word) == word;
  });
  return is_mine && !has_deadline_ ? std::optional(true) : std::nullopt;
}

bool any_wait::waits_for_past() const {
  return !has_deadline_ && std::none_of(any_.begin(), any_.end(), [](const engine::wait& one) {
    return one.satisfied(*one.read.word);
  });
}

touched any_wait::take(int choice) {
  for (which_ = 0; which_ < any_.size() && choice >= values(any_[which_]); ++which_)
    choice -= values(any_[which_]);
  has_timed_out_ = which_ == any_.size();
  if (has_timed_out_) which_ = 0;
  const engine::operation& read = any_[which_].read;
  if (has_timed_out_) return {*read.word, 0, *read.word};
  rank_state& of = run().state(rank());
  if (!is_near(read.what)) return run().words().apply_direct(rank(), read, of.seen);
  run().words().check_lifetime(rank(), read.word, of.seen);
  return run().words().apply_near(rank(), of, read, &any_[which_], choice, run().events().size());
}

std::optional<std::size_t> any_wait::which() const {
  return has_timed_out_ ? std::nullopt : std::optional(which_);
}

std::uint64_t any_wait::observed(const touched& values) const {
  return mixed(has_timed_out_ ? any_.size() : which_, values.read);
}

// ---- fences -----------------------------------------------------------------------------------------------

fence_request::fence_request(execution& of, fence_kind how)
    : request(of, how == fence_kind::heavy   ? kind("heavy fence")
                  : how == fence_kind::light ? kind("light fence")
                                             : kind("fence")),
      how_(how) {}

// Two light fences can be exchanged.
std::uint64_t fence_request::word() const {
  return how_ == fence_kind::whole ? name_at_rank(name_kind::fences, rank()) : heavy_fences_name;
}
touched fence_request::take(int /*choice*/) {
  rank_state& of = run().state(rank());
  if (how_ == fence_kind::light)
    run().words().light_fence(of);
  else if (how_ == fence_kind::heavy)
    run().words().heavy_fence(rank(), of);
  else
    run().words().fence(rank(), of, std::memory_order_seq_cst);
  return {};
}

// ---- the library ------------------------------------------------------------------------------------------

std::uint64_t barrier_arrival::word() const { return name_at_rank(name_kind::life, rank()); }
touched barrier_arrival::take(int /*choice*/) { return {}; }

std::uint64_t library_exit::word() const { return name_at_rank(name_kind::library, rank()); }
touched library_exit::take(int /*choice*/) {
  shared_word& inside = run().words().at(word());
  const std::uint64_t before = std::exchange(inside.value, 1);
  return {before, before, 1};
}

// ---- choices ----------------------------------------------------------------------------------------------

std::string choice_request::text(bool /*in_vain*/) const {
  return "choose " + std::to_string(chosen_ + 1) + " of " + std::to_string(possibilities_);
}
std::uint64_t choice_request::word() const { return name_at_rank(name_kind::choices, rank()); }
touched choice_request::take(int choice) {
  chosen_ = choice;
  const auto value = static_cast<std::uint64_t>(choice);
  return {value, value, value};
}

// ---- time -------------------------------------------------------------------------------------------------

std::string time_request::text(bool /*in_vain*/) const {
  return passes_ ? "look at clock, much later" : "look at clock";
}
std::uint64_t time_request::word() const { return name_at_rank(name_kind::choices, rank()); }
touched time_request::take(int choice) {
  passes_ = choice != 0;
  const auto value = static_cast<std::uint64_t>(choice);
  return {value, value, value};
}

// ---- messages ---------------------------------------------------------------------------------------------

std::string signal_request::text(bool /*in_vain*/) const { return "signal to rank " + std::to_string(to_); }
std::uint64_t signal_request::word() const { return name_at_rank(name_kind::mailbox, to_, channel_); }
touched signal_request::take(int /*choice*/) {
  shared_word& box = run().words().at(word());
  box.mail.emplace_back(rank(), run().state(rank()).seen);
  const std::uint64_t before = box.value++;
  return {before, before, box.value};
}

std::string signal_wait::text(bool /*in_vain*/) const {
  const std::string text = from_ == any_rank ? "await signal" : of_rank("await signal", from_);
  return has_timed_out_ ? text + ", timed out" : text;
}
std::string signal_wait::waiting_text() const {
  return from_ == any_rank ? "waits for a signal" : of_rank("waits for a signal", from_);
}
std::uint64_t signal_wait::word() const { return name_at_rank(name_kind::mailbox, rank(), channel_); }
std::optional<bool> signal_wait::could_be_taken(std::uint64_t word, std::size_t /*event*/,
                                                std::uint64_t value) const {
  return has_deadline_ || word != this->word() ? std::nullopt : std::optional(value > 0);
}
int signal_wait::choices() const { return static_cast<int>(senders().size()) + (has_deadline_ ? 1 : 0); }

std::vector<int> signal_wait::senders() const {
  std::vector<int> result;
  const shared_word* box = run().words().find(word());
  if (box == nullptr) return result;
  for (const auto& [sender, known] : box->mail) {
    if (from_ != any_rank && sender != from_) continue;
    // MPI keeps the order of each sender's messages, and no order between senders.
    if (std::find(result.begin(), result.end(), sender) == result.end()) result.push_back(sender);
    if (run().how().promised.causal_messages) break;
  }
  return result;
}

touched signal_wait::take(int choice) {
  const std::vector<int> from = senders();
  shared_word& box = run().words().at(word());
  has_timed_out_ = static_cast<std::size_t>(choice) == from.size();
  if (has_timed_out_) return {box.value, box.value, box.value};
  const int sender = from[static_cast<std::size_t>(choice)];
  const auto mail =
      std::find_if(box.mail.begin(), box.mail.end(), [&](const auto& one) { return one.first == sender; });
  run().state(rank()).seen.join(mail->second);
  box.mail.erase(mail);
  const std::uint64_t before = box.value--;
  return {before, before, box.value};
}

// ---- epochs -----------------------------------------------------------------------------------------------

// One word of an epoch says whether a rank holds it exclusively, another word counts the ranks that share it.
// The count depends on the order of steps that can be exchanged. Therefore a step must not read it, and no
// race may depend on it. A step reads 1 if its rank held the epoch before, and 0 if not.

std::uint64_t epoch_request::word() const { return name_at_rank(name_kind::exclusive_epoch, home_, epoch_); }
std::uint64_t epoch_request::sharers() const { return name_at_rank(name_kind::shared_epoch, home_, epoch_); }

std::string epoch_begin::waiting_text() const {
  return of_rank("waits for the " + std::string(name(how())) + " epoch", home());
}
bool epoch_begin::can_be_taken() const {
  const auto is_zero = [this](std::uint64_t name) {
    const shared_word* held = run().words().find(name);
    return held == nullptr || held->value == 0;
  };
  return is_zero(word()) && (!is_exclusive() || is_zero(sharers()));
}
std::optional<bool> epoch_begin::could_be_taken(std::uint64_t word, std::size_t event,
                                                std::uint64_t /*value*/) const {
  // A beginning could precede any other beginning that conflicts with it: the ranks that shared the epoch
  // then could have ended first. A beginning could not precede an end: the ending rank held the epoch.
  return word == this->word() ? std::optional(run().events()[event].read == 0) : std::nullopt;
}
touched epoch_begin::take(int /*choice*/) {
  shared_memory& words = run().words();
  view& seen = run().state(rank()).seen;
  seen.join(words.at(word()).message);
  shared_word& sharing = words.at(sharers());
  if (!is_exclusive()) {
    ++sharing.value;
    return {0, 0, 0};
  }
  // Ranks that share the epoch learn nothing of each other. The next exclusive holder learns all that they
  // knew.
  seen.join(sharing.message);
  sharing.message.clear();
  const std::uint64_t before = std::exchange(words.at(word()).value, 1);
  return {before, before, 1};
}

touched epoch_end::take(int /*choice*/) {
  shared_memory& words = run().words();
  const view& seen = run().state(rank()).seen;
  if (!is_exclusive()) {
    shared_word& sharing = words.at(sharers());
    sharing.message.join(seen);
    if (sharing.value > 0) --sharing.value;
    return {0, 1, 0};
  }
  shared_word& held = words.at(word());
  held.message = seen;
  const std::uint64_t before = std::exchange(held.value, 0);
  return {before, before, 0};
}

// ---- the critical section ---------------------------------------------------------------------------------

touched section_entry::take(int /*choice*/) {
  shared_word& guard = run().words().at(word());
  run().words().tell_ranks_apart(guard);
  const bool is_exclusive = how_ == holding::exclusive;
  run().section().enter(rank(), how_,
                        shared_memory::first_unknown(guard, run().state(rank()).seen, is_exclusive));
  const std::uint64_t before = guard.value;
  if (is_exclusive) guard.value = static_cast<std::uint64_t>(rank()) + 1;
  return {before, before, guard.value};
}

void section_entry::note_event() const {
  if (how_ == holding::shared && run().section().shares_with_another(rank(), run().state(rank()).past))
    run().note_reached(shared_by_two);
}

touched section_exit::take(int /*choice*/) {
  shared_word& guard = run().words().at(word());
  run().words().tell_ranks_apart(guard);
  if (stays_)
    run().section().share(rank());
  else
    run().section().leave(rank());
  run().words().note_ordered(guard, rank(), how_ == holding::exclusive, run().state(rank()).seen);
  const std::uint64_t before = guard.value;
  if (how_ == holding::exclusive) guard.value = 0;
  return {before, before, guard.value};
}

void section_exit::note_event() const {
  if (!stays_) run().section().note_leaving(rank(), run().events().size() - 1);
}

// ---- histories --------------------------------------------------------------------------------------------

std::string operation_call::text(bool /*in_vain*/) const {
  if (const auto& names = run().names()) return "CALL " + names->text(method_, *arguments_);
  return "CALL " + std::to_string(method_) + " of " + std::to_string(object_) + " (" + arguments_->text() +
         ")";
}
std::uint64_t operation_call::word() const { return named(name_kind::object, object_); }
std::uint64_t operation_call::operands() const {
  const std::uint64_t hash = mixed(object_, static_cast<std::uint64_t>(method_));
  return mixed(hash, hash_of(*arguments_));
}
// Stamps count steps from 1, as schedules do.
touched operation_call::take(int /*choice*/) {
  run().past_operations().call(rank(), object_, method_, *arguments_, run().events().size() + 1);
  run().words().note_call(word(), run().state(rank()).seen);
  run().note_call();
  return {};
}

std::string operation_return::text(bool /*in_vain*/) const {
  if (const auto& names = run().names()) {
    const int method = run().past_operations().last_of(rank()).method;
    return "RETURN " + std::string(names->method(method)) + " -> " + names->text_of_result(method, *result_);
  }
  return "RETURN" + (result_->empty() ? "" : " " + result_->text());
}
std::uint64_t operation_return::word() const { return named(name_kind::object, object_); }
std::uint64_t operation_return::operands() const { return mixed(word(), hash_of(*result_)); }
touched operation_return::take(int /*choice*/) {
  run().past_operations().returned(rank(), *result_, run().events().size() + 1);
  run().words().note_return(word(), run().state(rank()).seen);
  run().note_return_of_operation();
  return {};
}

}  // namespace nearfar::checker
