#include "races.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "execution.hpp"
#include "operations.hpp"

namespace nearfar::program {

namespace {

/// Bytes that a write left there, and what its writer knew.
struct written {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::size_t knew;  ///< index of a clock
};

/// The accesses of the current execution. Access records are plain data; the vectors are kept for reuse.
class access_list {
 public:
  void clear() {
    all_.clear();
    prune_at_ = least_indexed;
    forget_index();
  }
  [[nodiscard]] access_record& at(std::size_t i) noexcept { return all_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  void add(const access_record& one) {
    if (is_indexed_ && replaces_earlier(one)) return;
    all_.push_back(one);
    if (is_indexed_) enter(all_.size() - 1, one.begin, one.end);
    if (all_.size() >= prune_at_) prune();
  }
  /// The access also touches the bytes up to `end`.
  void extend(std::size_t i, std::uintptr_t end) {
    if (is_indexed_) enter(i, all_[i].end, end);
    all_[i].end = end;
  }
  void prune();

  /// Calls `action` with the accesses that overlap the bytes, until it returns false.
  template <typename Action>
  void for_each_overlapping(std::uintptr_t begin, std::uintptr_t end, Action action) const {
    const auto act = [&](const access_record& one) {
      return one.begin >= end || begin >= one.end || action(one);
    };
    if (!is_indexed_ || end - begin > widest) {
      static_cast<void>(std::all_of(all_.begin(), all_.end(), act));
      return;
    }
    const auto act_at = [&](std::size_t i) { return act(all_[i]); };
    if (!std::all_of(wide_.begin(), wide_.end(), act_at)) return;
    for (std::uintptr_t block = begin >> block_bits; block <= (end - 1) >> block_bits; ++block)
      if (const auto found = blocks_.find(block); found != blocks_.end())
        if (!std::all_of(found->second.begin(), found->second.end(), act_at)) return;
  }

 private:
  /// In a loop of a rank the last operation stands for those before it: whoever knows that it is complete
  /// knows the same of them.
  bool replaces_earlier(const access_record& one) {
    if (one.done == nullptr) return false;
    const auto block = blocks_.find(one.begin >> block_bits);
    if (block == blocks_.end()) return false;
    for (const std::size_t i : block->second) {
      access_record& other = all_[i];
      const bool is_alike = other.begin == one.begin && other.end == one.end && other.kind == one.kind &&
                            other.rank == one.rank && other.op == one.op && other.basic == one.basic &&
                            other.window == one.window && other.where.pc() == one.where.pc();
      if (!is_alike || other.done == nullptr || other.done->rank != one.rank) continue;
      other = one;
      return true;
    }
    return false;
  }

  static constexpr unsigned block_bits = 6;
  static constexpr std::uintptr_t widest = 16U << block_bits;
  static constexpr std::size_t least_indexed = 64;

  void enter(std::size_t i, std::uintptr_t begin, std::uintptr_t end) {
    if (end - begin > widest) {
      wide_.push_back(i);
      return;
    }
    for (std::uintptr_t block = begin >> block_bits; block <= (end - 1) >> block_bits; ++block)
      blocks_[block].push_back(i);
  }
  void forget_index() {
    if (!is_indexed_) return;
    is_indexed_ = false;
    wide_.clear();
    blocks_.clear();
  }

  std::vector<access_record> all_;
  std::size_t prune_at_ = least_indexed;
  // Of many accesses: those of each block of memory, and those of many blocks.
  bool is_indexed_ = false;
  std::unordered_map<std::uintptr_t, std::vector<std::size_t>> blocks_;
  std::vector<std::size_t> wide_;
};

struct state {
  access_list accesses;
  std::vector<written> writers;  ///< in the order of their bytes, which do not overlap
  std::vector<vector_clock> clocks;
};

state& all() {
  static state one;
  return one;
}

[[nodiscard]] bool only_reads(access_kind kind) noexcept {
  using enum access_kind;
  return kind == load || kind == volatile_load || kind == atomic_load || kind == get || kind == origin_read;
}
[[nodiscard]] bool is_polling(access_kind kind) noexcept {
  return kind == access_kind::volatile_load || kind == access_kind::atomic_load;
}
[[nodiscard]] bool is_special(access_kind kind) noexcept {
  return is_polling(kind) || kind == access_kind::volatile_store || kind == access_kind::atomic_store;
}
[[nodiscard]] bool is_update(access_kind kind) noexcept {
  return kind == access_kind::put || kind == access_kind::accumulate;
}

enum class judgement : std::uint8_t { allowed, promised, race };

struct judged {
  judgement how;
  const char* rule;
  promise needed = promise::racing_loads;
};

constexpr const char* separate =
    "Operations that access the same bytes must be separated by a synchronisation that completes the first "
    "one and "
    "tells the rank of the second (MPI 4.1, section 12.7)";

[[nodiscard]] judged judge_accumulates(const access_record& a, const access_record& b) {
  if (a.window != b.window)
    return {judgement::race,
            "Accumulates are atomic only among those of one window (MPI 4.1, section 12.7.1)"};
  if (a.basic != b.basic)
    return {judgement::race,
            "Concurrent accumulates of one location must use the same predefined datatype (MPI 4.1, section "
            "12.7.1)"};
  if (a.element_bytes != 0 && (a.begin % a.element_bytes) != (b.begin % b.element_bytes))
    return {judgement::race,
            "Accumulates are atomic for each element; these overlap in a part of an element (MPI 4.1, "
            "section 12.7.1)"};
  const bool is_same = a.op == b.op || is_no_op(a.op) || is_no_op(b.op);
  if (is_same || (a.any_operation && b.any_operation)) return {judgement::allowed, nullptr};
  // MPI_Compare_and_swap has no operation that another accumulate could have. All published locks mix it with
  // others.
  if (a.op == nullptr || b.op == nullptr || run().how().grants_mixed_accumulates)
    return {judgement::promised, nullptr, promise::mixed_accumulates};
  return {judgement::race,
          "Concurrent accumulates of one location must use the same operation or MPI_NO_OP, unless the "
          "window's info "
          "'accumulate_ops' says otherwise (MPI 4.1, sections 12.2.1 and 12.7.1)"};
}

/// Two overlapping accesses that nothing orders.
[[nodiscard]] judged judge(const access_record& a, const access_record& b) {
  if (only_reads(a.kind) && only_reads(b.kind)) return {judgement::allowed, nullptr};
  if (a.kind == access_kind::accumulate && b.kind == access_kind::accumulate) return judge_accumulates(a, b);
  if (is_special(a.kind) && is_special(b.kind)) return {judgement::allowed, nullptr};
  const bool polls = (is_polling(a.kind) && is_update(b.kind)) || (is_polling(b.kind) && is_update(a.kind));
  if (polls && run().how().grants_racing_loads) return {judgement::promised, nullptr};
  const auto is_plain_load = [](access_kind kind) { return kind == access_kind::load; };
  if (run().how().grants_plain_loads &&
      ((is_plain_load(a.kind) && is_update(b.kind)) || (is_plain_load(b.kind) && is_update(a.kind))))
    return {judgement::promised, nullptr, promise::plain_loads};
  const auto is_racing_write = [](access_kind kind) {
    return is_update(kind) || kind == access_kind::volatile_store || kind == access_kind::atomic_store;
  };
  if (run().how().grants_racing_gets && ((a.kind == access_kind::get && is_racing_write(b.kind)) ||
                                         (b.kind == access_kind::get && is_racing_write(a.kind))))
    return {judgement::promised, nullptr, promise::racing_gets};
  const bool is_local = !is_update(a.kind) && !is_update(b.kind) && a.done == nullptr && b.done == nullptr;
  return {judgement::race,
          is_local ? "Loads and stores of one location by two ranks need an order between them, as in "
                     "C11 (MPI 4.1, sections 12.7 and 12.7.3)"
                   : separate};
}

[[nodiscard]] bool is_ordered(const access_record& earlier, const vector_clock& knows) noexcept {
  return earlier.done != nullptr ? earlier.done->is_known_by(knows) : knows[earlier.rank] >= earlier.at;
}

[[nodiscard]] std::string text_of(const access_record& one) {
  std::string text = std::string(name_of(one.kind)) + " of " + std::to_string(one.end - one.begin) + " bytes";
  if (one.kind == access_kind::accumulate) {
    text += ", ";
    text += one.op == nullptr ? "compare-and-swap" : name_of(one.op);
  }
  if (one.window >= 0) text += ", in the " + name_of(one.epoch, one.window);
  if (one.done != nullptr && one.done->rank < 0)
    text += ", not complete";
  else if (one.done != nullptr)
    text += ", complete, which the other rank does not know";
  return text;
}

void report_race(const access_record& earlier, const access_record& now, const char* rule) {
  fault what{.kind = "race", .text = {}, .places = {}, .rule = rule};
  const std::uintptr_t begin = std::max(earlier.begin, now.begin);
  const std::uintptr_t end = std::min(earlier.end, now.end);
  what.text = std::string(name_of(now.kind)) + " races with " + name_of(earlier.kind) + " in " +
              std::to_string(end - begin) + " bytes of window memory";
  if (heap::contains(reinterpret_cast<const void*>(begin)))
    what.text += " of rank " + std::to_string(heap::rank_of(reinterpret_cast<const void*>(begin)));
  std::string first = text_of(now);
  if (const std::size_t at = first.find(", not complete"); at != std::string::npos) first.erase(at);
  what.places.push_back({.rank = now.rank, .what = std::move(first), .where = now.where});
  what.places.push_back({.rank = earlier.rank, .what = text_of(earlier), .where = earlier.where});
  run().report(std::move(what));
}

/// A load or store that an earlier one of the same rank stands for already.
[[nodiscard]] bool is_repeated(const access_record& one, access_list& before) {
  const std::size_t few = std::min<std::size_t>(before.size(), 16);
  for (std::size_t i = before.size(); i-- > before.size() - few;) {
    const access_record& other = before.at(i);
    if (other.done != nullptr || other.rank != one.rank || other.at != one.at || other.kind != one.kind)
      continue;
    if (other.begin <= one.begin && other.end >= one.end) return true;
    // A loop over an array makes one record.
    if (other.end == one.begin && other.where.pc() == one.where.pc()) {
      before.extend(i, one.end);
      return true;
    }
  }
  return false;
}

[[nodiscard]] bool can_race(const access_record& one) {
  for (int i = 0; i < run().ranks(); ++i)
    if (!run().at_rank(i).has_ended && !is_ordered(one, run().at_rank(i).knows)) return true;
  return false;
}

/// Those that no later access can race with are dropped.
void access_list::prune() {
  std::erase_if(all_, [](const access_record& one) { return !can_race(one); });
  prune_at_ = std::max(least_indexed, 2 * all_.size());
  forget_index();
  is_indexed_ = all_.size() >= least_indexed / 2;
  if (is_indexed_)
    for (std::size_t i = 0; i < all_.size(); ++i) enter(i, all_[i].begin, all_[i].end);
}

/// The first write that ends behind the address.
[[nodiscard]] std::vector<written>::iterator first_behind(std::uintptr_t address) {
  std::vector<written>& writers = all().writers;
  return std::partition_point(writers.begin(), writers.end(),
                              [&](const written& one) { return one.end <= address; });
}

[[nodiscard]] std::size_t keep_clock(const vector_clock& one) {
  all().clocks.push_back(one);
  return all().clocks.size() - 1;
}

/// Lets a write begin or end at the address.
void split_at(std::uintptr_t address) {
  const auto one = first_behind(address);
  if (one == all().writers.end() || one->begin >= address) return;
  const vector_clock copy = all().clocks[one->knew];
  const written first{one->begin, address, keep_clock(copy)};
  one->begin = address;
  all().writers.insert(one, first);
}

}  // namespace

void note_access(const access_record& one, const vector_clock& knows) {
  state& s = all();
  s.accesses.for_each_overlapping(one.begin, one.end, [&](const access_record& earlier) {
    if (is_ordered(earlier, knows)) return true;
    const judged how = judge(earlier, one);
    if (how.how == judgement::promised) run().rely_on(how.needed);
    if (how.how == judgement::race) report_race(earlier, one, how.rule);
    return how.how != judgement::race;
  });
  if (run().found() || (one.done == nullptr && is_repeated(one, s.accesses))) return;
  s.accesses.add(one);
}

void learn_from(std::uintptr_t begin, std::uintptr_t end, vector_clock& to) {
  for (auto one = first_behind(begin); one != all().writers.end() && one->begin < end; ++one)
    to.join(all().clocks[one->knew]);
}

void note_writer(std::uintptr_t begin, std::uintptr_t end, const vector_clock& knew, bool adds) {
  std::vector<written>& writers = all().writers;
  auto one = first_behind(begin);
  if (one != writers.end() && one->begin == begin && one->end == end) {
    vector_clock& known = all().clocks[one->knew];
    if (adds)
      known.join(knew);
    else
      known = knew;
    return;
  }
  split_at(begin);
  split_at(end);
  one = first_behind(begin);
  if (!adds) {
    auto last = one;
    while (last != writers.end() && last->begin < end) ++last;
    one = writers.erase(one, last);
    writers.insert(one, {begin, end, keep_clock(knew)});
    return;
  }
  // The bytes between earlier writes are new.
  for (std::uintptr_t at = begin; at < end;) {
    if (one == writers.end() || one->begin > at) {
      const std::uintptr_t next = one == writers.end() ? end : std::min(end, one->begin);
      one = writers.insert(one, {at, next, keep_clock(knew)});
    } else {
      all().clocks[one->knew].join(knew);
    }
    at = one->end;
    ++one;
  }
}

void forget_accesses() {
  all().accesses.clear();
  all().writers.clear();
  all().clocks.clear();
}

const char* name_of(access_kind kind) noexcept {
  static constexpr std::array names{"load",
                                    "volatile load",
                                    "atomic load",
                                    "store",
                                    "volatile store",
                                    "atomic store",
                                    "get",
                                    "put",
                                    "accumulate",
                                    "read of the origin's buffer",
                                    "write of the origin's buffer"};
  return names[static_cast<std::size_t>(kind)];
}

std::string name_of(epoch_kind kind, int window) {
  static constexpr std::array names{
      "no epoch",      "fence epoch", "start epoch", "epoch of a shared lock", "epoch of an exclusive lock",
      "lock_all epoch"};
  return std::string(names[static_cast<std::size_t>(kind)]) + " of window " + std::to_string(window);
}

}  // namespace nearfar::program
