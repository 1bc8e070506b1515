#include "request.hpp"

#include <algorithm>
#include <utility>

#include "execution.hpp"
#include "words.hpp"

namespace nearfar::checker {

using engine::action;

namespace {

// Names of what is no cell.
constexpr std::uint64_t mailbox = std::uint64_t{1} << 60U;
constexpr std::uint64_t exclusive = std::uint64_t{2} << 60U;

constexpr std::uint64_t name_of_other(std::uint64_t kind, int id, int rank) {
  return kind + (static_cast<std::uint64_t>(id) << 20U) + static_cast<std::uint64_t>(rank);
}

std::string of_rank(const std::string& what, int rank) { return what + " of rank " + std::to_string(rank); }

}  // namespace

std::uint64_t guard_name() { return std::uint64_t{3} << 60U; }
std::uint64_t library_name(int rank) { return name_of_other(std::uint64_t{4} << 60U, 0, rank); }

std::uint64_t hash_of_operands(const engine::operation& what) {
  return mixed(static_cast<std::uint64_t>(what.what), mixed(what.operand, what.expected));
}

request::request(execution& of, kind what) : run_(&of), rank_(of.running()), kind_(what) {}

// ---- words ------------------------------------------------------------------------------------------------

std::uint64_t cell_request::word() const { return run().words().name_of(what_.word); }
int cell_request::acts_on() const { return run().name_of(what_.word).rank; }

std::uint64_t cell_request::operands() const { return mixed(word(), hash_of_operands(what_)); }

touched cell_request::take_near(int choice, const engine::wait* waiting) const {
  return run().words().apply_near(run().state(rank()), what_, waiting, choice, run().events().size());
}

int cell_request::choices_of_near(const engine::wait* waiting) const {
  if (!is_near(what_.what)) return 1;
  return static_cast<int>(run().words().places(run().state(rank()).seen, what_, waiting).size());
}

bool cell_request::is_newest_of_cell_elsewhere(int choice, const engine::wait* waiting) const {
  // What is in the total order has a place among fences as well, and so all is tried.
  const bool may_be =
      is_near(what_.what) && !is_in_total_order(what_) && run().how().near != near_model::sequential;
  const shared_word* word = may_be ? run().words().find(what_.word) : nullptr;
  if (word == nullptr || word->history.size() == 1) return false;
  const rank_state& of = run().state(rank());
  const std::size_t place = shared_memory::overlooked(
      what_, run().words().places(of.seen, what_, waiting)[static_cast<std::size_t>(choice)]);
  const std::vector<shared_word::stored>& history = word->history;
  // Before that write the same could be read, unless what is read came later.
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

std::string wait_request::text(bool in_vain) const {
  return "await " + std::string(engine::name(what().what)) + (in_vain ? ", in vain" : "");
}

std::string wait_request::waiting_text() const {
  return "waits for " + run().word_text(what()) + ", which is " + std::to_string(*what().word);
}

bool wait_request::can_try_in_vain(std::uint64_t value) const {
  return what().what == action::swap && failed_tries_ < run().how().most_failed_swaps &&
         !wait_->satisfied(value) && result_of(what(), value) != value;
}

bool wait_request::can_be_taken() const {
  if (what().what == action::load) return choices() > 0;
  if (const int serving = run().server_of(*this); serving >= 0 && run().is_outside_library(serving))
    return false;
  return wait_->satisfied(*what().word) || can_try_in_vain(*what().word);
}

std::optional<bool> wait_request::could_be_taken(std::size_t event, std::uint64_t value) const {
  if (what().what != action::load || run().how().near == near_model::sequential)
    return wait_->satisfied(value) || can_try_in_vain(value);
  const shared_word& word = *run().words().find(what().word);
  const version_number seen = run().state(rank()).seen.at(word.in_view);
  return std::any_of(word.history.begin(), word.history.end(), [&](const shared_word::stored& one) {
    const bool was_there = &one == &word.history.front() || one.by_event < event;
    return was_there && one.version >= seen && wait_->satisfied(one.value);
  });
}

bool wait_request::waits_for_past() const {
  return what().what == action::load && !wait_->satisfied(*what().word);
}

int wait_request::server() const { return is_rma(what().what) ? what().target : -1; }
int wait_request::choices() const { return choices_of_near(wait_); }
bool wait_request::is_newest_elsewhere(int choice) const {
  return is_newest_of_cell_elsewhere(choice, wait_);
}

touched wait_request::take(int choice) {
  view& seen = run().state(rank()).seen;
  shared_memory& words = run().words();
  if (is_near(what().what)) return take_near(choice, wait_);
  if (is_direct(what().what)) return words.apply_direct(rank(), what(), seen);
  // Each far poll is complete when the next begins.
  const shared_memory::far_access done = words.apply_far(rank(), what(), seen);
  words.note_complete(rank(), what(), done.number, seen);
  if (is_asked_again(done.values)) ++failed_tries_;
  return done.values;
}

bool wait_request::is_asked_again(const touched& values) const {
  return is_rma(what().what) && !wait_->satisfied(values.read);
}

touched fence_request::take(int /*choice*/) {
  run().words().fence(run().state(rank()), std::memory_order_seq_cst);
  return {};
}

// ---- the library ------------------------------------------------------------------------------------------

std::uint64_t library_exit::word() const { return library_name(rank()); }
touched library_exit::take(int /*choice*/) {
  shared_word& inside = run().words().at(word());
  const std::uint64_t before = std::exchange(inside.value, 1);
  return {before, before, 1};
}

// ---- messages ---------------------------------------------------------------------------------------------

std::string signal_request::text(bool /*in_vain*/) const { return "signal to rank " + std::to_string(to_); }
std::uint64_t signal_request::word() const { return name_of_other(mailbox, channel_, to_); }
touched signal_request::take(int /*choice*/) {
  shared_word& box = run().words().at(word());
  box.mail.emplace_back(rank(), run().state(rank()).seen);
  const std::uint64_t before = box.value++;
  return {before, before, box.value};
}

std::string signal_wait::text(bool /*in_vain*/) const {
  return from_ == any_rank ? "await signal" : of_rank("await signal", from_);
}
std::string signal_wait::waiting_text() const {
  return from_ == any_rank ? "waits for a signal" : of_rank("waits for a signal", from_);
}
std::uint64_t signal_wait::word() const { return name_of_other(mailbox, channel_, rank()); }
bool signal_wait::can_be_taken() const { return !senders().empty(); }
std::optional<bool> signal_wait::could_be_taken(std::size_t /*event*/, std::uint64_t value) const {
  return value > 0;
}
int signal_wait::choices() const { return static_cast<int>(senders().size()); }

std::vector<int> signal_wait::senders() const {
  std::vector<int> result;
  const shared_word* box = run().words().find(word());
  if (box == nullptr) return result;
  for (const auto& [sender, known] : box->mail) {
    if (from_ != any_rank && sender != from_) continue;
    // MPI keeps the order of each sender's messages, and of no others.
    if (std::find(result.begin(), result.end(), sender) == result.end()) result.push_back(sender);
    if (run().how().promised.causal_messages) break;
  }
  return result;
}

touched signal_wait::take(int choice) {
  const int sender = senders()[static_cast<std::size_t>(choice)];
  shared_word& box = run().words().at(word());
  const auto mail =
      std::find_if(box.mail.begin(), box.mail.end(), [&](const auto& one) { return one.first == sender; });
  run().state(rank()).seen.join(mail->second);
  box.mail.erase(mail);
  const std::uint64_t before = box.value--;
  return {before, before, box.value};
}

// ---- epochs -----------------------------------------------------------------------------------------------

std::string epoch_begin::waiting_text() const { return of_rank("waits for the exclusive epoch", home_); }
std::uint64_t epoch_begin::word() const { return name_of_other(exclusive, epoch_, home_); }
bool epoch_begin::can_be_taken() const {
  const shared_word* held = run().words().find(word());
  return held == nullptr || held->value == 0;
}
std::optional<bool> epoch_begin::could_be_taken(std::size_t /*event*/, std::uint64_t value) const {
  return value == 0;
}
touched epoch_begin::take(int /*choice*/) {
  shared_word& held = run().words().at(word());
  run().state(rank()).seen.join(held.message);
  const std::uint64_t before = std::exchange(held.value, 1);
  return {before, before, 1};
}

std::uint64_t epoch_end::word() const { return name_of_other(exclusive, epoch_, home_); }
touched epoch_end::take(int /*choice*/) {
  shared_word& held = run().words().at(word());
  held.message = run().state(rank()).seen;
  const std::uint64_t before = std::exchange(held.value, 0);
  return {before, before, 0};
}

// ---- the critical section ---------------------------------------------------------------------------------

std::uint64_t section_entry::word() const { return guard_name(); }
touched section_entry::take(int /*choice*/) {
  shared_word& guard = run().words().at(word());
  run().section().enter(rank(), run().state(rank()).seen.at(guard.in_view) >= guard.version);
  const std::uint64_t before = std::exchange(guard.value, static_cast<std::uint64_t>(rank()) + 1);
  return {before, before, guard.value};
}

std::uint64_t section_exit::word() const { return guard_name(); }
touched section_exit::take(int /*choice*/) {
  shared_word& guard = run().words().at(word());
  run().section().leave();
  ++guard.version;
  run().state(rank()).seen.raise(guard.in_view, guard.version);
  const std::uint64_t before = std::exchange(guard.value, 0);
  return {before, before, 0};
}

}  // namespace nearfar::checker
