#include "execution.hpp"

#include <algorithm>

#include "words.hpp"

namespace nearfar::checker {

namespace {

using engine::action;

// Names of what is no cell.
constexpr std::uint64_t mailbox = std::uint64_t{1} << 60U;
constexpr std::uint64_t exclusive = std::uint64_t{2} << 60U;
constexpr std::uint64_t guard = std::uint64_t{3} << 60U;
constexpr std::uint64_t library = std::uint64_t{4} << 60U;  // 1 while its rank waits outside

constexpr std::uint64_t name_of_other(std::uint64_t kind, int id, int rank) {
  return kind + (static_cast<std::uint64_t>(id) << 20U) + static_cast<std::uint64_t>(rank);
}

}  // namespace

execution::execution(const program& what, const options& how, engine::stack_pool& stacks)
    : team(what.where, what.bytes, stacks),
      program_(&what),
      options_(&how),
      ranks_(static_cast<std::size_t>(what.where.size())),
      slot_of_cell_(what.bytes / sizeof(std::uint64_t) * ranks_.size(), -1),
      wanted_by_node_(static_cast<std::size_t>(what.where.groups(level::node))),
      passes_over_node_(wanted_by_node_.size()) {}

void execution::restart() {
  abandon();
  ++runs_;
  if (shown_ != nullptr) shown_->clear();
  schedule_before_ = std::move(schedule_);
  asked_before_ = std::move(asked_);
  asked_.clear();
  asked_so_far_ = 0;
  is_as_before_ = true;
  has_poison_ = false;
  for (const shared& word : shared_)
    if (word.cell != nullptr) slot_of_cell_[word.name] = -1;
  shared_.clear();
  places_in_views_ = 0;
  slot_of_other_.clear();
  events_.clear();
  schedule_.clear();
  found_.reset();
  ranks_.assign(ranks_.size(), {});
  std::fill(wanted_by_node_.begin(), wanted_by_node_.end(), 0);
  std::fill(passes_over_node_.begin(), passes_over_node_.end(), 0);
  ended_ = at_barrier_ = 0;
  inside_ = last_inside_ = -1;
  start([this](engine::world& w) { program_->body(w, *this); });
  const engine::current_team scope(*this);
  for (int rank = 0; rank < size(); ++rank) run_on(rank);
  collect_enabled();
  note_blocked();
  compare_with_run_before();
}

void execution::repeat() {
  const std::vector<step> again = schedule_;
  restart();
  for (const step& next : again) {
    if (found_) return;
    take({next.rank, next.delivery}, next.choice);
  }
}

std::uint64_t execution::poison() const {
  // What looks like a flag, a rank or nobody may hide a fault or show one.
  static constexpr std::array<std::uint64_t, different_runs> all{default_poison, 0, 1, ~std::uint64_t{0}};
  return options_->poison.value_or(all[(runs_ - 1) % all.size()]);
}

void execution::compare_with_run_before() {
  asked_.push_back(asked_so_far_);
  const std::size_t taken = schedule_.size();
  is_as_before_ = is_as_before_ && taken < asked_before_.size() &&
                  (taken == 0 || schedule_.back() == schedule_before_[taken - 1]);
  if (is_as_before_ && asked_so_far_ != asked_before_[taken]) report_difference();
}

void execution::report_difference() {
  const std::string text = "after the same steps ranks ask for something else than in another run: ";
  if (has_poison_ && !options_->poison)
    report(fault::poison, text + "they use a result of an operation that was not complete");
  else
    report(fault::exception, text + "the program depends on something that is not in its world");
}

// ---- words ------------------------------------------------------------------------------------------------

std::uint64_t execution::name_of_cell(const std::uint64_t* cell) const { return word_index(cell); }

execution::shared& execution::at(std::uint64_t name, std::uint64_t* cell) {
  if (cell != nullptr) {
    std::int32_t& slot = slot_of_cell_[name];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(shared_.size());
      shared_.emplace_back();
      shared_.back().name = name;
      shared_.back().cell = cell;
      shared_.back().in_view = places_in_views_++;
      shared_.back().history.emplace_back();
      shared_.back().history.back().value = *cell;
    }
    return shared_[static_cast<std::size_t>(slot)];
  }
  const auto [place, is_new] = slot_of_other_.try_emplace(name, shared_.size());
  if (is_new) {
    shared_.emplace_back();
    shared_.back().name = name;
    shared_.back().in_view = places_in_views_++;
  }
  return shared_[place->second];
}

void execution::cleared(const std::byte* from, std::size_t bytes) {
  const std::size_t first = word_index(from);
  for (std::size_t name = first; name < first + bytes / sizeof(std::uint64_t); ++name) {
    std::int32_t& slot = slot_of_cell_[name];
    if (slot < 0) continue;
    shared_[static_cast<std::size_t>(slot)] = shared{};
    slot = -1;
  }
}

const execution::shared* execution::find(std::uint64_t name) const {
  if (name < slot_of_cell_.size()) {
    const std::int32_t slot = slot_of_cell_[name];
    return slot < 0 ? nullptr : &shared_[static_cast<std::size_t>(slot)];
  }
  const auto place = slot_of_other_.find(name);
  return place == slot_of_other_.end() ? nullptr : &shared_[place->second];
}

execution::shared& execution::used_as(const engine::operation& what, bool near) {
  shared& word = at(name_of_cell(what.word), what.word);
  if (!near && !word.far) {
    word.by_origin.resize(ranks_.size());
    word.in_view = places_in_views_;
    places_in_views_ += ranks_.size();
  }
  (near ? word.near : word.far) = true;
  if (word.near && word.far)
    report(fault::mixed, word_text(word) + " is used by host atomics and as a far word");
  return word;
}

std::vector<std::size_t> execution::places(const rank_state& of, const engine::operation& what,
                                           const engine::wait* waiting) const {
  const auto fits = [&](std::uint64_t value) { return waiting == nullptr || waiting->satisfied(value); };
  const bool is_load = what.what == action::load;
  const shared* word = find(name_of_cell(what.word));
  if (word == nullptr) {
    if (!is_load || fits(*what.word)) return {is_load ? 0U : 1U};
    return {};
  }
  const std::vector<shared::stored>& history = word->history;
  std::vector<std::size_t> result;
  if (!is_load) result.push_back(history.size());
  if (is_load && fits(history.back().value)) result.push_back(history.size() - 1);
  if (options_->near == near_model::sequential) return result;
  const version_number seen = of.seen.at(word->in_view);
  for (std::size_t place = history.size() - 1; place > 0 && history[place].version > seen; --place) {
    // What could as well come before that write is explored there, unless what it reads then came later.
    const bool could_come_before = !of.past.contains(history[place].by_event) &&
                                   (place == 1 || history[place - 1].by_event < history[place].by_event);
    if (could_come_before && options_->by == search::exhaustive && options_->reduce == reduction::source_sets)
      continue;
    const std::uint64_t earlier = history[place - 1].value;
    const bool fails = what.what == action::compare_exchange && earlier != what.expected;
    if (is_load ? fits(earlier) : fails || !history[place].is_atomic)
      result.push_back(is_load ? place - 1 : place);
  }
  return result;
}

// ---- steps ------------------------------------------------------------------------------------------------

std::uint64_t execution::name_of_next(const rank_state& of) const {
  switch (of.next) {
    case kind::access:
    case kind::await:
      return name_of_cell(of.operation.word);
    case kind::signal:
      return name_of_other(mailbox, of.channel, of.peer);
    case kind::await_signal:
      return name_of_other(mailbox, of.channel, static_cast<int>(&of - ranks_.data()));
    case kind::begin_exclusive:
    case kind::end_exclusive:
      return name_of_other(exclusive, of.channel, of.peer);
    case kind::leave_library:
      return name_of_other(library, 0, static_cast<int>(&of - ranks_.data()));
    default:
      return guard;
  }
}

const execution::rma* execution::find_rma(const process& one) const {
  for (const rma& candidate : state(one.rank).outstanding)
    if (candidate.number == one.delivery) return &candidate;
  return nullptr;
}

footprint execution::next_footprint(const process& one) const {
  const rank_state& of = state(one.rank);
  const bool is_cell = one.delivery == 0 && (of.next == kind::access || of.next == kind::await);
  const engine::operation* what = is_cell ? &of.operation : nullptr;
  if (one.delivery != 0) what = &find_rma(one)->what;
  footprint result(what != nullptr ? access{name_of_cell(what->word), is_write(what->what)}
                                   : access{name_of_next(of), true});
  if (const int server = server_of(one); server >= 0) result.add({name_of_other(library, 0, server), false});
  if (one.delivery == 0 && is_outside_library(one.rank))
    result.add({name_of_other(library, 0, one.rank), true});  // where it comes back
  return result;
}

const event_set& execution::past_of(const process& one) const {
  return one.delivery != 0 ? find_rma(one)->past : state(one.rank).past;
}

std::optional<bool> execution::could_go_before(const process& one, std::size_t event) const {
  std::optional<bool> result;
  for (const access& mine : next_footprint(one))
    for (const access& theirs : events_[event].touched)
      if (mine.conflicts_with(theirs))
        if (const auto held = held_before(one, mine, event, theirs.before))
          result = result.value_or(true) && *held;
  return result;
}

/// The same for one of the words, which held `value` before the event.
std::optional<bool> execution::held_before(const process& one, const access& mine, std::size_t event,
                                           std::uint64_t value) const {
  if (const int server = server_of(one); server >= 0 && mine.word == name_of_other(library, 0, server))
    return value == 0;
  const rank_state& of = state(one.rank);
  if (one.delivery != 0 || mine.word != name_of_next(of)) return std::nullopt;
  switch (of.next) {
    case kind::await: {
      if (of.operation.what != action::load || options_->near == near_model::sequential)
        return of.waiting->satisfied(value) || can_try_in_vain(of, value);
      const shared& word = *find(mine.word);
      const version_number seen = of.seen.at(word.in_view);
      return std::any_of(word.history.begin(), word.history.end(), [&](const shared::stored& one_of) {
        const bool was_there = &one_of == &word.history.front() || one_of.by_event < event;
        return was_there && one_of.version >= seen && of.waiting->satisfied(one_of.value);
      });
    }
    case kind::await_signal:
      return value > 0;
    case kind::begin_exclusive:
      return value == 0;
    default:
      return std::nullopt;
  }
}

int execution::choices(const process& one) const {
  if (one.delivery != 0) return 1;
  const rank_state& of = state(one.rank);
  if (of.next == kind::await_signal) return static_cast<int>(senders_to(of).size());
  if (of.next != kind::access && of.next != kind::await) return 1;
  if (!is_near(of.operation.what)) return 1;
  return static_cast<int>(places(of, of.operation, of.waiting).size());
}

int execution::server_of(const process& one) const {
  if (options_->mode != delivery_mode::progress) return -1;
  const rank_state& of = state(one.rank);
  const bool polls = one.delivery == 0 && of.next == kind::await && is_rma(of.operation.what);
  if (one.delivery == 0 && !polls) return -1;
  const int target = polls ? of.operation.target : find_rma(one)->what.target;
  return target == one.rank ? -1 : target;
}

bool execution::is_outside_library(int rank) const {
  const rank_state& of = state(rank);
  return of.at == where::at_step && of.next == kind::await && !of.waiting->progresses;
}

bool execution::can_go_on(int rank) const {
  const rank_state& of = state(rank);
  if (of.at != where::at_step) return false;
  switch (of.next) {
    case kind::none:
      return false;
    case kind::await: {
      if (of.operation.what == action::load) return !places(of, of.operation, of.waiting).empty();
      if (const int server = server_of({rank, 0}); server >= 0 && is_outside_library(server)) return false;
      return of.waiting->satisfied(*of.operation.word) || can_try_in_vain(of, *of.operation.word);
    }
    case kind::await_signal:
      return !senders_to(of).empty();
    case kind::begin_exclusive: {
      const shared* word = find(name_of_next(of));
      return word == nullptr || word->value == 0;
    }
    default:
      return true;
  }
}

bool execution::can_try_in_vain(const rank_state& of, std::uint64_t value) const {
  return of.operation.what == action::swap && of.failed_tries < options_->most_failed_swaps &&
         !of.waiting->satisfied(value) && result_of(of.operation, value) != value;
}

std::vector<int> execution::senders_to(const rank_state& of) const {
  std::vector<int> result;
  const shared* word = find(name_of_next(of));
  if (word == nullptr) return result;
  for (const auto& [sender, known] : word->mail) {
    if (of.peer != any_rank && sender != of.peer) continue;
    // MPI keeps the order of each sender's messages, and of no others.
    if (std::find(result.begin(), result.end(), sender) == result.end()) result.push_back(sender);
    if (options_->promised.causal_messages) break;
  }
  return result;
}

bool execution::can_deliver(int origin, const rma& one) const {
  if (one.comes_again) return true;
  // Delivered eagerly, an operation is a step of its rank.
  if (one.delivered || options_->mode == delivery_mode::eager) return false;
  const rank_state& of = state(origin);
  if (options_->mode == delivery_mode::lazy &&
      (of.at != where::in_flush || of.flush_target != one.what.target))
    return false;
  if (const int server = server_of({origin, one.number}); server >= 0 && is_outside_library(server))
    return false;
  // MPI orders accumulates of one origin at one location, and nothing else.
  if (!is_accumulate(one.what.what)) return true;
  return std::none_of(of.outstanding.begin(), of.outstanding.end(), [&](const rma& other) {
    return !other.delivered && other.number < one.number && other.what.word == one.what.word &&
           is_accumulate(other.what.what);
  });
}

bool execution::has_undelivered(const rank_state& of, int target) const {
  return std::any_of(of.outstanding.begin(), of.outstanding.end(), [&](const rma& one) {
    return (!one.delivered || one.comes_again) && one.what.target == target;
  });
}

void execution::collect_enabled() {
  enabled_.clear();
  for (int rank = 0; rank < size(); ++rank)
    if (can_go_on(rank)) enabled_.push_back({rank, 0});
  for (int rank = 0; rank < size(); ++rank)
    for (const rma& one : state(rank).outstanding)
      if (can_deliver(rank, one)) enabled_.push_back({rank, one.number});
}

bool execution::is_deadlocked() const {
  if (all_ended()) return false;
  return std::all_of(enabled_.begin(), enabled_.end(),
                     [this](const process& one) { return waits_for_past(one); });
}

bool execution::waits_for_past(const process& one) const {
  const rank_state& of = state(one.rank);
  return one.delivery == 0 && of.next == kind::await && of.operation.what == action::load &&
         !of.waiting->satisfied(*of.operation.word);
}

std::vector<process> execution::blocked() const {
  std::vector<process> result;
  for (int rank = 0; rank < size(); ++rank) {
    const rank_state& of = state(rank);
    const process itself{rank, 0};
    if (of.at == where::at_step && of.next != kind::none && !is_enabled(itself)) result.push_back(itself);
    for (const rma& one : of.outstanding) {
      const int server = one.delivered ? -1 : server_of({rank, one.number});
      if (server >= 0 && is_outside_library(server)) result.push_back({rank, one.number});
    }
  }
  return result;
}

bool execution::is_enabled(const process& one) const {
  return std::find(enabled_.begin(), enabled_.end(), one) != enabled_.end();
}

void execution::take(const process& one, int choice) {
  // What a rank waits for is known by asking only: a step of the run before may not be there any more.
  const bool waits = one.delivery == 0 && state(one.rank).waiting != nullptr;
  if (is_as_before_ && waits && (!is_enabled(one) || choice >= choices(one))) return report_difference();
  const engine::current_team scope(*this);
  schedule_.push_back({one.rank, one.delivery, choice});
  if (one.delivery != 0)
    take_delivery(one);
  else
    take_rank_step(one.rank, choice);
  collect_enabled();
  note_blocked();
  compare_with_run_before();
}

void execution::take_rank_step(int rank, int choice) {
  rank_state& of = state(rank);
  footprint touches = next_footprint({rank, 0});
  const bool is_cell = of.next == kind::access || of.next == kind::await;
  shared& word = at(touches.word().word, is_cell ? of.operation.word : nullptr);
  const std::size_t slot = slot_of(word);
  const touched values = is_cell ? apply_access(of, rank, choice) : apply_other(of, rank, word, choice);
  note_values(touches, values.before);
  const bool is_in_vain =
      of.next == kind::await && is_rma(of.operation.what) && !of.waiting->satisfied(values.read);
  const bool is_rma_step = is_cell && is_rma(of.operation.what) && of.waiting == nullptr;
  record({rank, 0}, touches, values.read, of.past);
  if (is_rma_step) of.outstanding.back().past = of.past;
  if (shown_ != nullptr) {
    std::string text;
    switch (of.next) {
      case kind::await:
        text = "await " + std::string(name(of.operation.what)) + (is_in_vain ? ", in vain" : "");
        break;
      case kind::access:
        text = name(of.operation.what);
        break;
      case kind::leave_library:
        text = "leave library";
        break;
      case kind::signal:
        text = "signal to rank " + std::to_string(of.peer);
        break;
      case kind::await_signal:
        text = of.peer == any_rank ? "await signal" : "await signal of rank " + std::to_string(of.peer);
        break;
      case kind::begin_exclusive:
        text = "begin exclusive epoch";
        break;
      case kind::end_exclusive:
        text = "end exclusive epoch";
        break;
      case kind::enter:
        text = "ENTER";
        break;
      default:
        text = "LEAVE";
        break;
    }
    show(text, shared_[slot], values, touches.word().writes, -1, of.site);
  }
  of.returned = values.read;
  of.observed =
      mixed(mixed(of.observed, touches.word().word),
            mixed(static_cast<std::uint64_t>(of.next) * 32 + static_cast<std::uint64_t>(of.operation.what),
                  is_cell && !is_rma_step ? values.read : 0));
  if (is_in_vain) {
    ++of.failed_tries;
    return;
  }
  of.next = kind::none;
  of.waiting = nullptr;
  run_on(rank);
}

void execution::take_delivery(const process& by) {
  rank_state& origin = state(by.rank);
  rma& one = *std::find_if(origin.outstanding.begin(), origin.outstanding.end(),
                           [&](const rma& candidate) { return candidate.number == by.delivery; });
  footprint touches = next_footprint(by);
  const bool is_again = one.comes_again;
  const touched values = is_again ? deliver_again(one) : deliver(by.rank, one);
  note_values(touches, values.before);
  record(by, touches, values.read, one.past);
  if (shown_ != nullptr)
    show("deliver " + std::string(name(one.what.what)) + (is_again ? " again" : ""),
         at(touches.word().word, one.what.word), values, touches.word().writes, one.issued_after, one.site);
  if (origin.at == where::in_flush && !has_undelivered(origin, origin.flush_target)) run_on(by.rank);
}

void execution::note_values(footprint& of, std::uint64_t before) {
  of.word().before = before;
  for (access* each = of.begin() + 1; each < of.end(); ++each) {
    shared& word = at(each->word);
    each->before = word.value;
    if (each->writes) word.value = 0;
  }
}

void execution::run_on(int rank) {
  rank_state& of = state(rank);
  of.at = where::at_step;
  resume(rank);
  if (has_ended(rank)) {
    of.at = where::ended;
    ++ended_;
    if (fibre_of(rank).thrown()) {
      try {
        std::rethrow_exception(fibre_of(rank).thrown());
      } catch (const std::exception& thrown) {
        report(fault::exception, "rank " + std::to_string(rank) + " threw: " + thrown.what());
      } catch (...) {
        report(fault::exception, "rank " + std::to_string(rank) + " threw something");
      }
    }
  }
  if (at_barrier_ == size()) open_barrier();
}

void execution::open_barrier() {
  at_barrier_ = 0;
  event_set all;
  view seen;
  for (const rank_state& one : ranks_) {
    all.join(one.past);
    seen.join(one.seen);
  }
  for (rank_state& one : ranks_) {
    one.past = all;
    one.seen = seen;
    one.at = where::at_step;
  }
  for (int rank = 0; rank < size(); ++rank) run_on(rank);
}

// ---- hashes -----------------------------------------------------------------------------------------------

std::uint64_t execution::state_hash() const {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(inside_) + 1, static_cast<std::uint64_t>(ended_));
  for (const rank_state& one : ranks_) {
    hash = mixed(hash, one.observed);
    hash = mixed(hash, static_cast<std::uint64_t>(one.at) * 16 + static_cast<std::uint64_t>(one.next));
    for (const rma& operation : one.outstanding)
      hash = mixed(hash, operation.delivered ? mixed(operation.comes_again ? 3 : 1, operation.old) : 2);
  }
  std::uint64_t words = 0;
  for (const shared& word : shared_) {
    if (word.cell != nullptr && word.version != 0) words += mixed(word.name, *word.cell);
    for (const rank_state& one : ranks_)
      for (const rma& operation : one.outstanding)
        if (operation.comes_again && operation.what.word == word.cell)
          words += mixed(word.name, operation.access == word.last_accumulate ? 5 : 4);
    if (word.cell != nullptr) continue;
    std::uint64_t content = word.value;
    for (const auto& [sender, known] : word.mail)
      content = mixed(content, static_cast<std::uint64_t>(sender));
    words += mixed(word.name, content);
  }
  return mixed(mixed(hash, words), hash_of_knowledge());
}

std::uint64_t execution::hash_of_knowledge() const {
  // Numbers of accesses depend on the order of those that commute; what matters is which are known.
  struct question {
    std::uint64_t name;
    std::size_t place;
    version_number number;
  };
  std::vector<question> questions;
  std::uint64_t hash = 0;
  for (const shared& word : shared_) {
    if (word.name == guard) questions.push_back({word.name, word.in_view, word.version});
    for (std::size_t origin = 0; options_->conflict == conflicts::reported && origin < word.by_origin.size();
         ++origin) {
      const std::uint64_t writer = mixed(word.name, origin);
      std::uint64_t access = 0;
      for (const version_number number : word.by_origin[origin].that_may_race(options_->promised)) {
        const std::uint64_t name = mixed(writer, ++access);
        if (number != 0) questions.push_back({name, word.in_view + origin, number});
        // Whoever learns that a later access of this origin is complete learns it of this one too.
        for (const rma& one : ranks_[origin].outstanding)
          if (one.delivered && one.what.word == word.cell && one.access >= number)
            hash += mixed(name, static_cast<std::uint64_t>(one.number));
      }
    }
  }
  for_each_view(*this, [&](std::uint64_t holder, const view& of) {
    for (const question& one : questions)
      if (of.at(one.place) >= one.number) hash += mixed(holder, mixed(one.name, 1));
  });
  return hash;
}

std::uint64_t execution::trace_hash() const {
  std::map<process, std::uint64_t> steps_of;
  std::vector<std::uint64_t> names;
  for (const event& one : events_)
    names.push_back(mixed(
        mixed(mixed(static_cast<std::uint64_t>(one.by.rank), static_cast<std::uint64_t>(one.by.delivery)),
              ++steps_of[one.by]),
        mixed(one.touched.word().word, one.read)));
  std::uint64_t trace = 0;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    std::uint64_t past = 0;
    for (std::size_t j = 0; j < i; ++j)
      if (events_[i].happens_before.contains(j)) past += mixed(names[j], 1);
    trace += mixed(names[i], past);
  }
  return trace;
}

}  // namespace nearfar::checker
