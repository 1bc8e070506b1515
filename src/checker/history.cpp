// Histories, the specifications of common objects, and the part of the search for a linearization that all
// objects share.

#include "nearfar/checker/history.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "nearfar/checker/linearizability.hpp"
#include "nearfar/checker/specification.hpp"
#include "nearfar/core/error.hpp"
#include "words.hpp"

namespace nearfar::checker {

// ---- histories --------------------------------------------------------------------------------------------

value_list::value_list(std::initializer_list<std::uint64_t> values) : size_(values.size()) {
  if (values.size() > most)
    throw misuse("an operation of a history has at most " + std::to_string(most) +
                 " arguments, and its result as many words");
  std::copy(values.begin(), values.end(), words_.begin());
}

std::string value_list::text() const {
  std::string result;
  for (const std::uint64_t word : *this)
    result += (result.empty() ? "" : ", ") + std::to_string(static_cast<std::int64_t>(word));
  return result;
}

std::uint64_t operation::argument(std::size_t place) const {
  if (place >= arguments.size())
    throw misuse("an operation of process " + std::to_string(process) + " on object " +
                 std::to_string(object) + " lacks argument " + std::to_string(place));
  return arguments[place];
}

void history::call(int process, std::uint64_t object, int method, value_list arguments) {
  call(process, object, method, arguments, last_stamp_ + 1);
}

void history::call(int process, std::uint64_t object, int method, value_list arguments, std::uint64_t at) {
  const auto [known, is_new] = processes_.try_emplace(process, activity{.first_stamp = at});
  if (!is_new && is_inside(known->second))
    throw misuse("process " + std::to_string(process) +
                 " calls an operation before its last one has returned: record its return first");
  if (at < known->second.last_stamp)
    throw misuse("process " + std::to_string(process) + " calls an operation at " + std::to_string(at) +
                 ", before its last one returned: stamps must come from one clock that never goes back");
  known->second.last_stamp = at;
  known->second.last_operation = operations_.size();
  last_stamp_ = std::max(last_stamp_, at);
  operations_.push_back(
      {.process = process, .object = object, .method = method, .arguments = arguments, .called = at});
}

void history::returned(int process, value_list result) { returned(process, result, last_stamp_ + 1); }

void history::returned(int process, value_list result, std::uint64_t at) {
  const auto known = processes_.find(process);
  if (known == processes_.end() || !is_inside(known->second))
    throw misuse("process " + std::to_string(process) +
                 " returns from an operation before calling it: record the call first");
  if (at < known->second.last_stamp)
    throw misuse(
        "process " + std::to_string(process) + " returns at " + std::to_string(at) +
        " from an operation that it called later: stamps must come from one clock that never goes back");
  known->second.last_stamp = at;
  last_stamp_ = std::max(last_stamp_, at);
  operations_[known->second.last_operation].returned = {result, at};
}

void history::append(const history& other) {
  for (const auto& [process, later] : other.processes_) {
    const auto known = processes_.find(process);
    if (known == processes_.end()) continue;
    if (is_inside(known->second) || later.first_stamp < known->second.last_stamp)
      throw misuse("process " + std::to_string(process) +
                   " is in both histories at once: append what it did later to what it did first");
  }
  const std::size_t before = operations_.size();
  operations_.insert(operations_.end(), other.operations_.begin(), other.operations_.end());
  for (const auto& [process, later] : other.processes_) {
    activity& known = processes_.try_emplace(process, later).first->second;
    known.last_stamp = later.last_stamp;
    known.last_operation = before + later.last_operation;
  }
  last_stamp_ = std::max(last_stamp_, other.last_stamp_);
}

bool history::has_pending(int process) const {
  const auto known = processes_.find(process);
  return known != processes_.end() && is_inside(known->second);
}

const operation& history::last_of(int process) const {
  const auto known = processes_.find(process);
  if (known == processes_.end())
    throw misuse("process " + std::to_string(process) + " has called no operation");
  return operations_[known->second.last_operation];
}

history history::of_object(std::uint64_t object) const {
  history result;
  for (const operation& one : operations_) {
    if (one.object != object) continue;
    result.call(one.process, one.object, one.method, one.arguments, one.called);
    if (one.returned) result.returned(one.process, one.returned->result, one.returned->at);
  }
  return result;
}

// ---- texts for reports ------------------------------------------------------------------------------------

std::string operation_names::text(int which, const value_list& arguments) const {
  return std::string(method(which)) + "(" + arguments.text() + ")";
}
std::string operation_names::text_of_result(int which, const value_list& returned) const {
  if (result != nullptr) return result(which, returned);
  return returned.empty() ? "nothing" : returned.text();
}

std::string text_of(std::span<const operation> operations, std::span<const std::size_t> chosen,
                    operation_names names) {
  constexpr std::size_t columns = 4;
  std::vector<std::array<std::string, columns>> rows;
  std::array<std::size_t, columns> widths{};
  for (const std::size_t number : chosen) {
    const operation& one = operations[number];
    const std::string until = one.returned ? ", " + std::to_string(one.returned->at) + "]" : ", ...";
    auto& row = rows.emplace_back();
    row = {"#" + std::to_string(number), "process " + std::to_string(one.process),
           "object " + std::to_string(one.object), "[" + std::to_string(one.called) + until};
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::string& cell = rows[i][column];
      cell.resize(widths[column], ' ');
      result += cell + "  ";
    }
    const operation& one = operations[chosen[i]];
    result +=
        names.text(one.method, one.arguments) +
        (one.returned ? " -> " + names.text_of_result(one.method, one.returned->result) : " is pending") +
        "\n";
  }
  return result;
}

std::string history::text(operation_names names) const {
  std::vector<std::size_t> by_call(operations_.size());
  std::iota(by_call.begin(), by_call.end(), std::size_t{0});
  std::stable_sort(by_call.begin(), by_call.end(), [this](std::size_t a, std::size_t b) {
    return operations_[a].called < operations_[b].called;
  });
  return text_of(operations_, by_call, names);
}

std::string_view name(linearizability what) noexcept {
  switch (what) {
    case linearizability::yes:
      return "yes";
    case linearizability::no:
      return "no";
    case linearizability::unknown:
      return "unknown";
  }
  return "?";
}

// ---- specifications ---------------------------------------------------------------------------------------

std::size_t hash_of(std::span<const std::uint64_t> words, std::size_t before) {
  return std::accumulate(words.begin(), words.end(), mixed(before, words.size()), mixed);
}

namespace {

/// `names` has the order of an enumeration.
std::string_view name_in(std::initializer_list<std::string_view> names, int method) noexcept {
  const auto place = static_cast<std::size_t>(method);
  return place < names.size() ? names.begin()[place] : "?";
}

[[noreturn]] void throw_no_such_method(const char* object, int method) {
  throw misuse(std::string(object) + " has no operation " + std::to_string(method));
}

}  // namespace

std::string_view register_specification::name(int method) noexcept {
  return name_in({"read", "write", "compare_and_swap"}, method);
}

bool register_specification::is_observation(const operation& what) {
  if (what.method != compare_and_swap) return what.method == read;
  // An exchange of a value for itself changes nothing either, but it is too rare to be worth a case.
  return what.returned && !(what.returned->result == value_list{what.argument(0)});
}

bool register_specification::apply(const operation& what) {
  switch (what.method) {
    case read:
      return what.may_return({value_});
    case write:
      if (!what.may_return({})) return false;
      value_ = what.argument(0);
      return true;
    case compare_and_swap:
      if (!what.may_return({value_})) return false;
      if (value_ == what.argument(0)) value_ = what.argument(1);
      return true;
    default:
      throw_no_such_method("a register", what.method);
  }
}

std::string_view counter_specification::name(int method) noexcept { return name_in({"add", "read"}, method); }

bool counter_specification::apply(const operation& what) {
  switch (what.method) {
    case add:
      if (!what.may_return({})) return false;
      sum_ += what.argument(0);
      return true;
    case read:
      return what.may_return({sum_});
    default:
      throw_no_such_method("a counter", what.method);
  }
}

template <removal Order>
std::string_view buffer_specification<Order>::name(int method) noexcept {
  return name_in({"push", "pop"}, method);
}

template <removal Order>
bool buffer_specification<Order>::is_observation(const operation& what) noexcept {
  if (!what.returned) return false;
  return what.method == pop ? what.returned->result.empty() : what.returned->result == value_list{full};
}

template <removal Order>
bool buffer_specification<Order>::apply(const operation& what) {
  switch (what.method) {
    case push:
      return apply_push(what);
    case pop:
      return apply_pop(what);
    default:
      throw_no_such_method("a buffer", what.method);
  }
}

template <removal Order>
bool buffer_specification<Order>::apply_push(const operation& what) {
  const bool has_room = elements().size() < capacity_;
  if (!what.may_return({has_room ? done : full})) return false;
  if (has_room) elements_.push_back(what.argument(0));
  return true;
}

template <removal Order>
bool buffer_specification<Order>::apply_pop(const operation& what) {
  if (elements().empty()) return what.may_return({});
  if constexpr (Order == removal::last_in) {
    if (!what.may_return({elements_.back()})) return false;
    elements_.pop_back();
  } else {
    if (!what.may_return({elements_[taken_]})) return false;
    if (2 * ++taken_ < elements_.size()) return true;
    elements_.erase(elements_.begin(), elements_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  return true;
}

template <removal Order>
bool buffer_specification<Order>::has_equal_elements(const buffer_specification& other) const {
  return std::ranges::equal(elements(), other.elements());
}

template <removal Order>
std::string buffer_specification<Order>::text() const {
  std::string result;
  for (const std::uint64_t one : elements()) result += (result.empty() ? "" : ", ") + value_list{one}.text();
  return "[" + result + "]";
}

namespace {

/// A value's way through a queue.
struct passage {
  std::vector<std::size_t> pushes;
  std::vector<std::size_t> pops;

  [[nodiscard]] bool is_proper() const { return pushes.size() == 1 && pops.size() <= 1; }
};

/// The values that pass through a queue, as its operations tell.
class queue_traffic {
 public:
  queue_traffic(std::span<const operation> all, const std::vector<std::size_t>& on_object) : all_(all) {
    for (const std::size_t number : on_object) note(number);
  }

  [[nodiscard]] foresight foreseen() {
    foresight result;
    for (const auto& [value, way] : passages_) {
      if (way.is_proper()) {
        result.order[way.pushes.front()] = popped(way);
        comings_.push_back({way.pushes.front(), popped(way).last});
      } else if (way.pushes.size() + way.pops.size() <= few) {
        result.suspects.push_back(way.pushes);
        result.suspects.back().insert(result.suspects.back().end(), way.pops.begin(), way.pops.end());
      }
    }
    find_overstays(result);
    for (auto& one : result.suspects) one.insert(one.end(), pending_pops_.begin(), pending_pops_.end());
    return result;
  }

 private:
  /// An operation that is impossible if a value pushed before it is popped only after `until`. Such an
  /// operation is a push whose value is popped by then, or a pop that found the queue empty and returned by
  /// then.
  struct coming {
    std::size_t number;
    std::uint64_t until;
  };

  static constexpr std::size_t few = 8;
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  void note(std::size_t number) {
    const operation& one = all_[number];
    if (one.method == queue_specification::push) {
      if (one.may_return({queue_specification::done})) passages_[one.argument(0)].pushes.push_back(number);
    } else if (one.is_pending()) {
      pending_pops_.push_back(number);
      first_pending_pop_ = std::min(first_pending_pop_, one.called);
    } else if (one.returned->result.empty()) {
      comings_.push_back({number, one.returned->at});
    } else {
      passages_[one.returned->result[0]].pops.push_back(number);
    }
  }

  [[nodiscard]] foresight::interval popped(const passage& way) const {
    if (way.pops.empty()) return {first_pending_pop_, never};
    const operation& pop = all_[way.pops.front()];
    return {pop.called, pop.returned->at};
  }

  /// Finds values that were pushed before another operation came, and surely popped too late for it.
  void find_overstays(foresight& known) {
    std::vector<std::size_t> pushes;
    for (const auto& [number, when] : known.order)
      if (!all_[number].is_pending()) pushes.push_back(number);
    std::sort(pushes.begin(), pushes.end(),
              [this](auto a, auto b) { return all_[a].returned->at < all_[b].returned->at; });
    std::sort(comings_.begin(), comings_.end(),
              [this](auto& a, auto& b) { return all_[a.number].called < all_[b.number].called; });
    auto next = pushes.begin();
    std::optional<std::size_t> longest;
    for (const coming& one : comings_) {
      for (; next != pushes.end() && all_[*next].precedes(all_[one.number]); ++next)
        if (!longest || known.order[*longest].first < known.order[*next].first) longest = *next;
      if (!longest || known.order[*longest].first <= one.until) continue;
      auto& few_operations = known.suspects.emplace_back();
      for (const std::size_t number : {*longest, one.number}) {
        few_operations.push_back(number);
        if (all_[number].method != queue_specification::push) continue;
        const passage& way = passages_[all_[number].argument(0)];
        few_operations.insert(few_operations.end(), way.pops.begin(), way.pops.end());
      }
    }
  }

  std::span<const operation> all_;
  std::unordered_map<std::uint64_t, passage> passages_;
  std::vector<coming> comings_;
  std::vector<std::size_t> pending_pops_;
  std::uint64_t first_pending_pop_ = never;
};

}  // namespace

template <removal Order>
foresight buffer_specification<Order>::foresee(std::span<const operation> all,
                                               const std::vector<std::size_t>& on_object) const
  requires(Order == removal::first_in)
{
  // Values that the queue holds from the start could be popped, too: such a queue gets no foresight.
  return elements().empty() ? queue_traffic(all, on_object).foreseen() : foresight{};
}

template class buffer_specification<removal::first_in>;
template class buffer_specification<removal::last_in>;

std::string_view map_specification::name(int method) noexcept {
  return name_in({"insert", "find", "erase", "update"}, method);
}

bool map_specification::is_observation(const operation& what) noexcept {
  return what.method == find || (what.returned && what.returned->result == value_list{refused});
}

bool map_specification::apply(const operation& what) {
  const std::uint64_t key = what.argument(0);
  const auto known = values_.find(key);
  const bool is_there = known != values_.end();
  switch (what.method) {
    case find:
      return what.may_return(is_there ? value_list{known->second} : value_list{});
    case erase:
      if (!what.may_return({is_there ? done : refused})) return false;
      if (is_there) values_.erase(known);
      return true;
    case insert:
    case update: {
      const bool does_it = is_there == (what.method == update);
      if (!what.may_return({does_it ? done : refused})) return false;
      if (does_it) values_[key] = what.argument(1);
      return true;
    }
    default:
      throw_no_such_method("a map", what.method);
  }
}

std::string map_specification::result_text(int method, const value_list& result) {
  if (result.empty()) return "nothing";
  if (method == find) return result.text();
  return result[0] == done ? "done" : "refused";
}

std::size_t map_specification::hash() const {
  std::size_t result = 0;
  for (const auto& [key, value] : values_) result = hash_of(std::array{key, value}, result);
  return result;
}

std::string map_specification::text() const {
  std::string result;
  for (const auto& [key, value] : values_)
    result += (result.empty() ? "" : ", ") + value_list{key}.text() + ": " + value_list{value}.text();
  return "{" + result + "}";
}

// ---- the search -------------------------------------------------------------------------------------------

namespace detail {

namespace {

std::uint32_t pending_among(std::span<const operation> all, const selection& chosen) {
  return static_cast<std::uint32_t>(
      std::count_if(chosen.begin(), chosen.end(), [&](std::size_t one) { return all[one].is_pending(); }));
}

}  // namespace

partial_linearization::partial_linearization(std::span<const operation> all, selection on_object,
                                             const foresight& known)
    : all_(all),
      numbers_(std::move(on_object)),
      pending_(pending_among(all_, numbers_)),
      first_missing_(pending_),
      bits_(numbers_.size() / word_bits + 1) {
  const auto key = [this](std::size_t one) { return std::pair(!all_[one].is_pending(), all_[one].called); };
  std::stable_sort(numbers_.begin(), numbers_.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  if (known.order.empty()) return;
  for (const std::size_t number : numbers_) {
    const auto found = known.order.find(number);
    order_.push_back(found == known.order.end() ? foresight::interval{} : found->second);
  }
  awaited_.resize(numbers_.size());
  turns_.resize(numbers_.size());
  std::iota(awaited_.begin(), awaited_.end(), place{0});
  std::stable_sort(awaited_.begin(), awaited_.end(),
                   [this](place a, place b) { return order_[a].last < order_[b].last; });
  for (place turn = 0; turn < awaited_.size(); ++turn) turns_[awaited_[turn]] = turn;
}

partial_linearization::place partial_linearization::next_missing(place from) const {
  std::size_t word = from / word_bits;
  std::uint64_t missing = ~bits_[word] & (~std::uint64_t{0} << (from % word_bits));
  while (missing == 0 && ++word < bits_.size()) missing = ~bits_[word];
  const std::size_t found = word * word_bits + static_cast<std::size_t>(std::countr_zero(missing));
  return static_cast<place>(std::min(found, numbers_.size()));
}

void partial_linearization::append(place next) {
  flip(next);
  sequence_.push_back(next);
  ends_.push_back(std::max(ends_.back(), next + 1));
  if (next == first_missing_) first_missing_ = next_missing(next);
  while (first_awaited_ < awaited_.size() && contains(awaited_[first_awaited_])) ++first_awaited_;
}

void partial_linearization::remove_last() {
  const place last = sequence_.back();
  flip(last);
  sequence_.pop_back();
  ends_.pop_back();
  if (last >= pending_) first_missing_ = std::min(first_missing_, last);
  if (!turns_.empty()) first_awaited_ = std::min(first_awaited_, turns_[last]);
}

void partial_linearization::add_candidates(std::vector<place>& to) const {
  const auto begin = static_cast<std::ptrdiff_t>(to.size());
  const auto returned_at = [this](place of) { return at(of).returned->at; };
  // An operation that no missing one precedes is called before any missing one has returned. The loop ends at
  // the first that is called later, since those behind it return even later.
  std::uint64_t first_return = std::numeric_limits<std::uint64_t>::max();
  for (place one = first_missing_; one < numbers_.size() && at(one).called <= first_return;
       one = next_missing(one + 1)) {
    first_return = std::min(first_return, returned_at(one));
    to.push_back(one);
  }
  std::sort(to.begin() + begin, to.end(),
            [&](place a, place b) { return std::pair(returned_at(a), a) < std::pair(returned_at(b), b); });
  for (place one = 0; one < pending_ && at(one).called <= first_return; ++one)
    if (!contains(one)) to.push_back(one);
}

void partial_linearization::identify(std::vector<std::uint64_t>& as) const {
  const std::size_t words_of_pending = (pending_ + word_bits - 1) / word_bits;
  const std::size_t begin = std::max<std::size_t>(words_of_pending, first_missing_ / word_bits);
  const std::size_t end = std::max<std::size_t>(begin, (ends_.back() + word_bits - 1) / word_bits);
  const auto bit = [this](std::size_t word) { return bits_.begin() + static_cast<std::ptrdiff_t>(word); };
  as.assign(bit(0), bit(words_of_pending));
  as.push_back(begin);
  as.insert(as.end(), bit(begin), bit(end));
}

selection merged(std::span<const operation> all, std::span<const selection> orders) {
  // Each operation takes effect as soon as it has been called and the operations before it have taken effect.
  std::vector<std::pair<std::uint64_t, std::size_t>> moments;
  for (const selection& order : orders) {
    std::uint64_t moment = 0;
    for (const std::size_t number : order) {
      moment = std::max(moment, all[number].called);
      moments.emplace_back(moment, number);
    }
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  selection result;
  for (const auto& [moment, number] : moments) result.push_back(number);
  return result;
}

namespace {

std::string object_text(const object_part& on) {
  return "object " + std::to_string(on.object) + (on.part ? ", part " + std::to_string(*on.part) : "");
}

}  // namespace

std::string refutation_text(const history& what, const object_part& on, std::size_t operations,
                            const verdict& found, const std::string& state, operation_names names) {
  constexpr std::size_t most_shown = 20;
  const std::span<const std::size_t> order = found.order;
  const std::size_t left_out = order.size() - std::min(order.size(), most_shown);
  std::string result = object_text(on) + " is not linearizable: of " + std::to_string(operations) +
                       " operations " + std::to_string(order.size()) + " can be ordered at most\n";
  if (left_out != 0) result += "... (" + std::to_string(left_out) + " operations)\n";
  result += text_of(what.operations(), order.subspan(left_out), names);
  result += (state.empty() ? "" : "then its state is " + state + ", ") + "and none of these can come next\n";
  return result + text_of(what.operations(), found.impossible, names);
}

std::string given_up_text(const object_part& on, std::size_t operations, std::size_t ordered) {
  return object_text(on) + " is not judged: the search gave up; " + std::to_string(ordered) + " of its " +
         std::to_string(operations) + " operations could be ordered so far\n";
}

}  // namespace detail

}  // namespace nearfar::checker
