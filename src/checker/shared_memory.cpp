#include "shared_memory.hpp"

#include <algorithm>

#include "names.hpp"

namespace nearfar::checker {

using engine::action;

namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

/// The distance between the versions of consecutive writes. Repeated halving makes room for later writes in
/// between.
constexpr version_number stride = version_number{1} << 24U;

/// Whether the operation is a compare-exchange that fails on this value, and therefore a load by its failure
/// order.
bool fails_on(const engine::operation& what, std::uint64_t value) {
  return what.what == action::compare_exchange && value != what.expected;
}
bool writes_on(const engine::operation& what, std::uint64_t value) {
  return what.what != action::load && !fails_on(what, value);
}
std::memory_order order_on(const engine::operation& what, std::uint64_t value) {
  return fails_on(what, value) ? what.failure : what.order;
}

/// The MPI operation that an accumulate uses: MPI promises atomicity among accumulates of the same operation.
std::size_t kind_of_accumulate(action what) {
  switch (what) {
    case action::swap:
    case action::replace:
      return 0;
    case action::fetch_add:
    case action::sum:
      return 1;
    default:
      return 2;
  }
}

/// Whether the operation accesses an object without a promise that lets it race.
bool has_to_be_ordered(const engine::operation& what) {
  return what.is_of_object() && !what.is_of_values && what.writers == nullptr;
}

/// The event that wrote the value at this place in the history; no event wrote the initial value.
std::size_t event_of(const shared_word& of, std::size_t place) {
  return place == 0 ? touched::no_event : of.history[place].by_event;
}

std::string text_of(usage how) {
  switch (how) {
    case usage::near:
      return "by host atomics";
    case usage::far:
      return "as a far word";
    case usage::plain:
      return "without atomicity";
    case usage::none:
      break;
  }
  return "in no way";
}

}  // namespace

shared_memory::shared_memory(users& of, const options& how, const engine::substrate& where)
    : users_(&of),
      options_(&how),
      first_(reinterpret_cast<std::uint64_t*>(where.memory(0))),
      ranks_(static_cast<std::size_t>(where.size())),
      order_(ranks_),
      slot_of_cell_(where.bytes() / sizeof(std::uint64_t) * ranks_, -1) {}

void shared_memory::clear() {
  for (const shared_word& word : words())
    if (word.cell != nullptr) slot_of_cell_[word.name] = -1;
  used_ = 0;
  order_.clear();
  places_in_views_ = 0;
  slot_of_other_.clear();
  slot_of_lifetime_.clear();
}

void shared_word::clear() {
  shared_word fresh;
  fresh.history.swap(history);
  fresh.history.clear();
  fresh.last_events.swap(last_events);
  fresh.last_events.clear();
  fresh.events_before.swap(events_before);
  fresh.events_before.clear();
  fresh.by_origin.swap(by_origin);
  fresh.by_origin.clear();
  *this = std::move(fresh);
}

shared_word& shared_memory::one_more(std::uint64_t name) {
  if (used_ == words_.size())
    words_.emplace_back();
  else
    words_[used_].clear();
  shared_word& made = words_[used_++];
  made.name = name;
  made.in_view = places_in_views_++;
  return made;
}

shared_word& shared_memory::at(std::uint64_t name) {
  if (name < slot_of_cell_.size()) {
    std::int32_t& slot = slot_of_cell_[name];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(used_);
      shared_word& made = one_more(name);
      made.cell = first_ + name;
      made.history.emplace_back().value = first_[name];
    }
    return words_[static_cast<std::size_t>(slot)];
  }
  const auto [place, is_new] = slot_of_other_.try_emplace(name, used_);
  if (is_new) one_more(name);
  return words_[place->second];
}

void shared_memory::forget(const std::byte* from, std::size_t bytes) {
  const std::size_t first = name_of(reinterpret_cast<const std::uint64_t*>(from));
  for (std::size_t name = first; name < first + bytes / sizeof(std::uint64_t); ++name) {
    if (!slot_of_lifetime_.empty()) slot_of_lifetime_[name] = -1;
    std::int32_t& slot = slot_of_cell_[name];
    if (slot < 0) continue;
    words_[static_cast<std::size_t>(slot)] = shared_word{};
    slot = -1;
  }
}

const shared_word* shared_memory::find(std::uint64_t name) const {
  if (name < slot_of_cell_.size()) {
    const std::int32_t slot = slot_of_cell_[name];
    return slot < 0 ? nullptr : &words_[static_cast<std::size_t>(slot)];
  }
  const auto place = slot_of_other_.find(name);
  return place == slot_of_other_.end() ? nullptr : &words_[place->second];
}

void shared_memory::tell_ranks_apart(shared_word& of) {
  if (!of.by_origin.empty()) return;
  of.by_origin.resize(ranks_);
  of.in_view = places_in_views_;
  places_in_views_ += ranks_;
}

shared_word& shared_memory::used_as(const std::uint64_t* cell, usage how) {
  shared_word& word = at(name_of(cell));
  if (how != usage::near) tell_ranks_apart(word);
  if (word.used == usage::none) word.used = how;
  if (word.used != how)
    users_->report(fault::mixed, users_->word_text(cell) + " is used " + text_of(std::min(word.used, how)) +
                                     " and " + text_of(std::max(word.used, how)));
  return word;
}

// ---- accesses that have to be ordered ---------------------------------------------------------------------

std::optional<int> shared_memory::first_unknown(const shared_word& of, const view& seen, bool reads_matter) {
  for (std::size_t origin = 0; origin < of.by_origin.size(); ++origin) {
    const accesses_of_origin& past = of.by_origin[origin];
    const version_number known = seen.at(of.in_view + origin);
    if (past.plain > known || (reads_matter && past.ordered > known)) return static_cast<int>(origin);
  }
  return std::nullopt;
}

void shared_memory::note_ordered(shared_word& of, int rank, bool writes, view& seen) {
  const auto origin = static_cast<std::size_t>(rank);
  accesses_of_origin& mine = of.by_origin[origin];
  (writes ? mine.plain : mine.ordered) = ++of.version;
  seen.raise(of.in_view + origin, of.version);
}

void shared_memory::access_plain(int rank, const engine::plain_access& what, view& seen,
                                 const std::source_location& here) {
  shared_word& word = used_as(what.first, usage::plain);
  word.plain_bytes = what.bytes;
  const auto place = [](const std::source_location& of) {
    return " (" + site::of(of).file + ":" + std::to_string(of.line()) + ")";
  };
  if (const auto other = first_unknown(word, seen, what.writes)) {
    const accesses_of_origin& past = word.by_origin[static_cast<std::size_t>(*other)];
    const bool is_write = past.plain > seen.at(word.in_view + static_cast<std::size_t>(*other));
    users_->report(fault::race, std::string(what.writes ? "the store to " : "the load of ") +
                                    users_->word_text(what.first) + " by rank " + std::to_string(rank) +
                                    place(here) + " is not ordered with the " +
                                    (is_write ? "store" : "load") + " by rank " + std::to_string(*other) +
                                    place(is_write ? past.plain_site : past.ordered_site));
  }
  note_ordered(word, rank, what.writes, seen);
  accesses_of_origin& mine = word.by_origin[static_cast<std::size_t>(rank)];
  (what.writes ? mine.plain_site : mine.ordered_site) = here;
  for (std::size_t i = 0; i * sizeof(std::uint64_t) < what.bytes; ++i)
    check_lifetime(rank, what.first + i, seen);
}

// ---- memory that pools lend -------------------------------------------------------------------------------

shared_word* shared_memory::lifetime_of(const std::uint64_t* cell) {
  if (slot_of_lifetime_.empty()) return nullptr;
  const std::int32_t slot = slot_of_lifetime_[name_of(cell)];
  return slot < 0 ? nullptr : &words_[static_cast<std::size_t>(slot)];
}

void shared_memory::note_lifetime(int owner, const std::byte* from, std::size_t bytes, bool is_lent,
                                  view& seen) {
  if (slot_of_lifetime_.empty()) slot_of_lifetime_.assign(slot_of_cell_.size(), -1);
  const auto* first = reinterpret_cast<const std::uint64_t*>(from);
  for (const std::uint64_t* cell = first; cell < first + bytes / sizeof *first; ++cell) {
    const std::uint64_t name = name_of(cell);
    shared_word& lifetime = at(named(name_kind::lifetime, name));
    slot_of_lifetime_[name] = static_cast<std::int32_t>(&lifetime - words_.data());
    tell_ranks_apart(lifetime);
    if (const auto other = first_unknown(lifetime, seen, true); other && !is_lent)
      users_->report(fault::gone, users_->word_text(cell) + " is given back while a use of it by rank " +
                                      std::to_string(*other) + " is not known to be over");
    note_ordered(lifetime, owner, true, seen);
    lifetime.value = is_lent ? 1 : 0;
  }
}

void shared_memory::lend(int owner, const std::byte* from, std::size_t bytes, view& seen) {
  note_lifetime(owner, from, bytes, true, seen);
}

void shared_memory::take_back(int owner, const std::byte* from, std::size_t bytes, view& seen) {
  note_lifetime(owner, from, bytes, false, seen);
}

void shared_memory::check_lifetime(int rank, const std::uint64_t* cell, view& seen) {
  shared_word* lifetime = lifetime_of(cell);
  if (lifetime == nullptr) return;
  const auto report = [&](std::string_view why) {
    users_->report(fault::gone, "rank " + std::to_string(rank) + " uses " + users_->word_text(cell) +
                                    ", which its pool has " + std::string(why));
  };
  if (lifetime->value == 0)
    report("back");
  else if (first_unknown(*lifetime, seen, false))
    report("had back and lent again, for all that the rank knows");
  note_ordered(*lifetime, rank, false, seen);
}

// ---- near cells -------------------------------------------------------------------------------------------

std::vector<std::size_t> shared_memory::places(const view& seen, const engine::operation& what,
                                               const engine::wait* waiting) const {
  const auto fits = [&](std::uint64_t value) { return waiting == nullptr || waiting->satisfied(value); };
  const bool is_load = what.what == action::load;
  const shared_word* word = find(name_of(what.word));
  if (word == nullptr) {
    if (!is_load || fits(*what.word)) return {is_load ? 0U : 1U};
    return {};
  }
  const std::vector<shared_word::stored>& history = word->history;
  std::vector<std::size_t> result;
  if (!is_load) result.push_back(history.size());
  if (is_load && fits(history.back().value)) result.push_back(history.size() - 1);
  if (options_->near == near_model::sequential) return result;
  const version_number known = seen.at(word->in_view);
  for (std::size_t place = history.size() - 1; place > 0 && history[place].version > known; --place) {
    const shared_word::stored& earlier = history[place - 1];
    const bool fits_here =
        is_load ? fits(earlier.value) : fails_on(what, earlier.value) || !history[place].is_atomic;
    if (fits_here && is_in_order_behind(earlier, seen, what, word->in_view))
      result.push_back(is_load ? place - 1 : place);
  }
  return result;
}

bool shared_memory::is_in_order_behind(const shared_word::stored& write, const view& seen,
                                       const engine::operation& what, std::size_t in_view) const {
  if (!order_.is_used()) return true;
  const std::memory_order order = order_on(what, write.value);
  const bool learns = what.what != action::store && acquires(order);
  return order_.admits({.word = in_view,
                        .behind = write.version,
                        .writes = writes_on(what, write.value),
                        .is_ordered = order == std::memory_order_seq_cst},
                       seen, learns ? &write.message : nullptr);
}

bool shared_memory::can_read_other(const view& seen, const engine::wait& waiting) const {
  const shared_word* word = find(waiting.read.word);
  if (!is_near(waiting.read.what) || word == nullptr) return !waiting.satisfied(*waiting.read.word);
  const std::vector<std::size_t> all = places(seen, waiting.read, nullptr);
  return std::any_of(all.begin(), all.end(),
                     [&](std::size_t place) { return !waiting.satisfied(word->history[place].value); });
}

bool shared_memory::could_satisfy(const view& seen, const engine::wait& waiting, std::size_t event,
                                  std::uint64_t value) const {
  if (options_->near == near_model::sequential) return waiting.satisfied(value);
  const shared_word& word = *find(waiting.read.word);
  const version_number known = seen.at(word.in_view);
  return std::any_of(word.history.begin(), word.history.end(), [&](const shared_word::stored& one) {
    const bool was_there = &one == &word.history.front() || one.by_event < event;
    return was_there && one.version >= known && waiting.satisfied(one.value);
  });
}

touched shared_memory::apply_near(int rank, knowledge& of, const engine::operation& what,
                                  const engine::wait* waiting, int choice, std::size_t event) {
  shared_word& word = used_as(what.word, usage::near);
  const std::size_t place = places(of.seen, what, waiting)[static_cast<std::size_t>(choice)];
  const std::size_t earlier = what.what == action::load ? place : place - 1;
  const shared_word::stored& behind = word.history[earlier];
  const std::memory_order order = order_on(what, behind.value);
  const place_of_access at{.word = word.in_view,
                           .behind = behind.version,
                           .writes = writes_on(what, behind.value),
                           .is_ordered = order == std::memory_order_seq_cst};
  if (!at.is_ordered && !order_.is_used()) return access_near(of, what, word, earlier, order, event);
  const event_set before = at.is_ordered ? in_order().before_next(of.seen) : event_set{};
  if (at.is_ordered) order_.note_beginning(rank, of.seen);
  const touched values = access_near(of, what, word, earlier, order, event);
  order_.note_access(rank, at, before, of.seen);
  return values;
}

touched shared_memory::access_near(knowledge& of, const engine::operation& what, shared_word& word,
                                   std::size_t earlier, std::memory_order order, std::size_t event) {
  if (what.what == action::store) return store_near(of, what, word, earlier + 1, event);
  // A read-modify-write reads the write that it follows.
  const shared_word::stored& from = word.history[earlier];
  of.seen.raise(word.in_view, from.version);
  (acquires(order) ? of.seen : of.unacquired).join(from.message);
  if (writes_on(what, from.value)) return store_near(of, what, word, earlier + 1, event);
  const std::uint64_t last = word.history.back().value;
  return {.before = last, .read = from.value, .after = last, .behind = event_of(word, earlier)};
}

touched shared_memory::store_near(knowledge& of, const engine::operation& what, shared_word& word,
                                  std::size_t place, std::size_t event) {
  const std::uint64_t last = word.history.back().value;
  const std::uint64_t earlier = word.history[place - 1].value;
  const bool is_newest = place == word.history.size();
  const std::size_t behind = event_of(word, place - 1);
  shared_word::stored stored{.value = result_of(what, earlier), .by_event = event};
  const version_number before = word.history[place - 1].version;
  if (!is_newest && word.history[place].version - before < 2) {
    spread_versions(word);
    return store_near(of, what, word, place, event);
  }
  stored.version = is_newest ? before + stride : before + (word.history[place].version - before) / 2;
  // A read-modify-write continues the release sequence of the write that it read.
  stored.is_atomic = what.what != action::store;
  if (stored.is_atomic) stored.message = word.history[place - 1].message;
  of.seen.raise(word.in_view, stored.version);
  stored.message.join(releases(what.order) ? of.seen : of.released);
  stored.message.raise(word.in_view, stored.version);
  if (is_newest) {
    word.version = stored.version;
    *word.cell = stored.value;
  }
  const bool is_atomic = stored.is_atomic;
  word.history.insert(word.history.begin() + static_cast<std::ptrdiff_t>(place), std::move(stored));
  return {.before = last,
          .read = is_atomic ? earlier : last,
          .after = word.history.back().value,
          .behind = behind};
}

total_order& shared_memory::in_order() {
  if (!order_.is_used()) places_in_views_ = order_.begin(places_in_views_);
  return order_;
}

void shared_memory::fence(int rank, knowledge& of, std::memory_order order) {
  const bool is_ordered = order == std::memory_order_seq_cst;
  const event_set before = is_ordered ? in_order().before_next(of.seen) : event_set{};
  if (acquires(order)) of.seen.join(of.unacquired);
  if (is_ordered) order_.note_fence(rank, before, of.seen);
  if (releases(order)) of.released = of.seen;
  if (is_ordered) order_.note_end_of_step(rank, of.seen);
}

void shared_memory::light_fence(knowledge& of) {
  of.shown = of.seen;
  of.shown.join(of.unacquired);
  of.seen.join(at(heavy_fences_name).message);
}

void shared_memory::heavy_fence(int rank, knowledge& of) {
  fence(rank, of, std::memory_order_seq_cst);
  at(heavy_fences_name).message.join(of.seen);
  of.seen.join(users_->all_shown());
  of.released = of.seen;
}

void shared_memory::spread_versions(shared_word& word) {
  std::vector<version_number> old;
  for (shared_word::stored& one : word.history) {
    old.push_back(one.version);
    one.version = stride * (old.size() - 1);
  }
  word.version = word.history.back().version;
  // A view holds the version of a write, or of the initial value.
  const auto renumbered = [&](version_number known) {
    const auto place = std::lower_bound(old.begin(), old.end(), known) - old.begin();
    return stride * static_cast<version_number>(place);
  };
  const auto adapt = [&](view& known) { known.replace(word.in_view, renumbered(known.at(word.in_view))); };
  order_.renumber(word.in_view, renumbered);
  for (shared_word& other : std::span(words_).first(used_)) {
    adapt(other.message);
    for (shared_word::stored& one : other.history) adapt(one.message);
    for (auto& [sender, known] : other.mail) adapt(known);
  }
  users_->for_each_view(adapt);
}

// ---- far words --------------------------------------------------------------------------------------------

void shared_memory::check_order(const shared_word& word, const engine::operation& what, const view& seen) {
  if (!has_to_be_ordered(what)) return;
  if (const auto other = first_unknown(word, seen, is_write(what.what)))
    users_->report(fault::race, std::string(name(what.what)) + " of " + users_->word_text(what.word) +
                                    " is not ordered with an access by rank " + std::to_string(*other));
}

void shared_memory::check_race(int rank, const shared_word& word, const engine::operation& what,
                               const view& seen) {
  const bool is_plain = what.what == action::put || what.what == action::write_direct;
  const bool is_get = what.what == action::get;
  const promises& promised = options_->promised;
  if (what.what == action::read_direct && promised.racing_loads) return;
  for (std::size_t origin = 0; origin < word.by_origin.size(); ++origin) {
    const accesses_of_origin& past = word.by_origin[origin];
    const version_number complete = seen.at(word.in_view + origin);
    const auto races = [&](bool matters, version_number access, std::string_view with) {
      if (!matters || access <= complete) return false;
      users_->report(fault::conflict, std::string(name(what.what)) + " of " + users_->word_text(what.word) +
                                          " is not ordered with " + std::string(with) + " rank " +
                                          std::to_string(origin) + ", which is not known to be complete");
      return true;
    };
    const bool reads_only = is_get || what.what == action::fetch;
    if (races(!reads_only || !promised.racing_gets, past.plain, "the write by")) return;
    if (races(is_write(what.what) && !promised.racing_gets, past.get, "the get by")) return;
    if (races(is_plain && !promised.racing_gets, past.fetch, "the fetch by")) return;
    if (races(is_rma(what.what) && is_write(what.what), past.load, "the load by")) return;
    for (std::size_t other = 0; other < past.accumulate.size(); ++other) {
      // MPI orders accumulates of one origin.
      const bool is_mixed = is_write(what.what) && other != kind_of_accumulate(what.what) &&
                            origin != static_cast<std::size_t>(rank);
      const bool matters = is_accumulate(what.what) ? is_mixed && !promised.mixed_accumulates
                                                    : !is_get || !promised.racing_gets;
      if (races(matters, past.accumulate[other], "the accumulate by")) return;
    }
  }
}

shared_memory::far_access shared_memory::apply_far(int origin, const engine::operation& what, view& seen) {
  shared_word& word = used_as(what.word, usage::far);
  const std::uint64_t before = *word.cell;
  const std::uint64_t after = result_of(what, before);
  const bool fails = what.what == action::compare_and_swap && before != what.expected;
  const bool writes = is_write(what.what) && !fails;
  word.is_of_object = what.is_of_object();
  check_order(word, what, seen);
  if (options_->conflict != conflicts::enacted) check_race(origin, word, what, seen);
  const version_number number = ++word.version;
  accesses_of_origin& mine = word.by_origin[static_cast<std::size_t>(origin)];
  if (what.what == action::put)
    mine.plain = number;
  else if (has_to_be_ordered(what))
    mine.ordered = number;
  else if (what.what == action::get)
    mine.get = number;
  else if (what.what == action::fetch)
    mine.fetch = number;
  else
    mine.accumulate[kind_of_accumulate(what.what)] = number;
  const view at_issue = what.what == action::put ? seen : view();
  if (is_read(what.what)) seen.join(word.message);
  if (writes) {
    // A rank that reads the word learns what the origin knew, but not that this write is complete.
    if (what.what == action::put)
      word.message = at_issue;
    else
      word.message.join(seen);
    if (is_accumulate(what.what)) word.last_accumulate = number;
    *word.cell = after;
  }
  const touched values{before, before, *word.cell};
  check_lifetime(origin, what.word, seen);
  return {.values = values, .number = number, .wrote = writes};
}

touched shared_memory::apply_direct(int rank, const engine::operation& what, view& seen) {
  shared_word& word = used_as(what.word, usage::far);
  const std::uint64_t before = *word.cell;
  word.is_of_object = what.is_of_object();
  check_order(word, what, seen);
  if (options_->conflict != conflicts::enacted) check_race(rank, word, what, seen);
  check_lifetime(rank, what.word, seen);
  if (what.what == action::read_direct) {
    if (has_to_be_ordered(what)) {
      note_ordered(word, rank, false, seen);
    } else if (!options_->promised.racing_loads) {
      word.by_origin[static_cast<std::size_t>(rank)].load = ++word.version;
      seen.raise(word.in_view + static_cast<std::size_t>(rank), word.version);
    }
    seen.join(word.message);
    return {before, before, before};
  }
  ++word.version;
  word.by_origin[static_cast<std::size_t>(rank)].plain = word.version;
  // The access is complete at once.
  seen.raise(word.in_view + static_cast<std::size_t>(rank), word.version);
  word.message = seen;
  *word.cell = what.operand;
  return {before, before, what.operand};
}

touched shared_memory::write_again(const engine::operation& what, version_number access,
                                   std::uint64_t written) {
  const std::uint64_t before = *what.word;
  // Accumulates exclude each other: one that another has followed is not written again.
  if (!is_accumulate(what.what) || find(what.word)->last_accumulate == access) *what.word = written;
  return {before, before, *what.word};
}

void shared_memory::note_complete(int origin, const engine::operation& what, version_number access,
                                  view& seen) const {
  seen.raise(find(what.word)->in_view + static_cast<std::size_t>(origin), access);
}

}  // namespace nearfar::checker
