#include "rma.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "hooks.hpp"
#include "requests.hpp"

namespace nearfar::program {

namespace {

using kind = rma_operation::kind;
/// An accumulate of more elements is delivered as a whole, since each element is a step of the search.
constexpr std::size_t most_single_elements = 4;

[[nodiscard]] bool is_commutative_integer(const rma_operation& one) {
  using enum basic_type::family;
  if (one.what != kind::accumulate || one.op == nullptr || is_replace(one.op) || is_no_op(one.op))
    return false;
  const basic_type::family is = basic_at(one.basic).is;
  return is == signed_integer || is == unsigned_integer || is == logical || is == byte;
}

/// Carries an operation out at its target.
class delivery final : public step {
 public:
  explicit delivery(rma_operation& what) noexcept : what_(&what) {}
  bool is_certain() override {
    return what_->is_wanted || (what_->epoch == epoch_kind::start && what_->is_locally_complete);
  }

  bool is_enabled() override {
    rma_operation& one = *what_;
    if (one.epoch == epoch_kind::start) {
      const window_part& origin = one.at->part(one.at->of->rank_of(one.origin));
      if (origin.as_origin[static_cast<std::size_t>(one.target)].posts.size() < one.post) return false;
    }
    if (needs_help() && target().waits_outside) return false;
    while (one.arrived_first < one.first.size() && one.first[one.arrived_first]->is_delivered)
      ++one.arrived_first;
    return one.arrived_first == one.first.size();
  }

  void touch(footprint& to) override {
    const rma_operation& one = *what_;
    effect how = effects::write;
    if (one.what == kind::get || (one.accumulates() && is_no_op(one.op))) how = effects::read;
    if (one.what == kind::compare_and_swap && !would_swap()) how = effects::read;
    if (is_commutative_integer(one))
      how = effects::combine + static_cast<effect>(reinterpret_cast<std::intptr_t>(one.op->handle)) * 64 +
            static_cast<effect>(one.basic);
    if (needs_help())
      to.add(keys::help_of(target().number), keys::help_of(target().number) + 1, effects::read);
    if (is_single()) {
      const rma_operation::piece at = element(next_);
      to.add(at.at, at.at + at.bytes, how);
      return;
    }
    for (const rma_operation::piece& piece : one.pieces) to.add(piece.at, piece.at + piece.bytes, how);
  }

  void take(int /*choice*/) override {
    rma_operation& one = *what_;
    rank& origin = run().at_rank(one.origin);
    note(origin);
    if (one.epoch == epoch_kind::start) run().depend(*one.flying, post_of(one).event);
    changed = false;
    if (is_single()) {
      const rma_operation::piece at = element(next_);
      if (carry_out(at, next_ * element_bytes())) note_write(at);
      if (++next_ < one.elements) return;
    } else {
      bool writes = false;
      std::size_t offset = 0;
      for (const rma_operation::piece& piece : one.pieces) {
        writes = carry_out(piece, offset);
        offset += piece.bytes;
      }
      if (writes)
        for (const rma_operation::piece& range : one.ranges) note_write(range);
    }
    one.is_delivered = true;
    one.flying->next = nullptr;
  }

  void describe(std::string& to) const override {
    to += "delivery of ";
    to += name_of(what_->what);
    to += " to rank " + std::to_string(target().number);
  }

  [[nodiscard]] destination goes_to() const override { return {.rank = target().number}; }

  /// Accumulates of one origin to one location are carried out in order.
  void await_earlier(const window_part& origin) {
    if (!what_->accumulates()) return;
    for (rma_operation* const other : origin.open)
      if (other->accumulates() && !other->is_delivered && other->target == what_->target &&
          is_ordered(*other, *what_) && overlap(*other, *what_))
        what_->first.push_back(other);
  }

  /// Judges the operation against others. Before the target's post it has not begun.
  void note(const rank& origin) {
    rma_operation& one = *what_;
    if (one.is_noted) return;
    one.is_noted = true;
    if (one.epoch == epoch_kind::start) one.issued.join(post_of(one).knew);
    access_record record{.kind = one.what == kind::put   ? access_kind::put
                                 : one.what == kind::get ? access_kind::get
                                                         : access_kind::accumulate,
                         .rank = origin.number,
                         .at = 0,
                         .done = one.done,
                         .op = one.what == kind::compare_and_swap ? nullptr : one.op,
                         .basic = one.basic,
                         .element_bytes = one.accumulates() ? basic_at(one.basic).bytes : 0,
                         .any_operation = one.at->any_operation,
                         .epoch = one.epoch,
                         .window = one.at->number,
                         .where = one.where};
    for (const rma_operation::piece& range : one.ranges) {
      record.begin = range.at;
      record.end = range.at + range.bytes;
      note_access(record, one.issued);
    }
  }

 private:
  [[nodiscard]] const rank& target() const {
    return run().at_rank(what_->at->of->members[static_cast<std::size_t>(what_->target)]);
  }
  [[nodiscard]] bool needs_help() const { return run().how().needs_help && target().number != what_->origin; }
  static const signal_mark& post_of(const rma_operation& one) {
    const window_part& origin = one.at->part(one.at->of->rank_of(one.origin));
    return origin.as_origin[static_cast<std::size_t>(one.target)].posts[one.post - 1];
  }
  /// Whether `later` waits for `earlier`, if they overlap.
  static bool is_ordered(const rma_operation& earlier, const rma_operation& later) noexcept {
    const window& at = *earlier.at;
    const bool wrote = !is_no_op(earlier.op);
    const bool writes = !is_no_op(later.op);
    return (earlier.fetches() && later.fetches() && at.orders_rar) ||
           (wrote && later.fetches() && at.orders_raw) || (earlier.fetches() && writes && at.orders_war) ||
           (wrote && writes && at.orders_waw);
  }
  static bool overlap(const rma_operation& a, const rma_operation& b) noexcept {
    for (std::size_t i = 0, j = 0; i < a.ranges.size() && j < b.ranges.size();) {
      const rma_operation::piece& x = a.ranges[i];
      const rma_operation::piece& y = b.ranges[j];
      if (x.at < y.at + y.bytes && y.at < x.at + x.bytes) return true;
      (x.at < y.at ? i : j)++;
    }
    return false;
  }
  [[nodiscard]] bool is_single() const noexcept {
    return what_->accumulates() && what_->elements <= most_single_elements;
  }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return basic_at(what_->basic).bytes; }
  [[nodiscard]] rma_operation::piece element(std::size_t n) const noexcept {
    std::size_t offset = n * element_bytes();
    for (const rma_operation::piece& piece : what_->pieces) {
      if (offset < piece.bytes) return {piece.at + offset, element_bytes(), what_->basic};
      offset -= piece.bytes;
    }
    return {};
  }
  [[nodiscard]] bool would_swap() const noexcept {
    return std::memcmp(reinterpret_cast<const void*>(what_->pieces[0].at), what_->compare.data(),
                       what_->pieces[0].bytes) == 0;
  }

  void note_write(const rma_operation::piece& at) {
    const bool adds = what_->what == kind::accumulate || what_->what == kind::get_accumulate ||
                      what_->what == kind::fetch_and_op;
    note_writer(at.at, at.at + at.bytes, what_->issued, adds && !is_replace(what_->op));
  }

  /// Returns whether the operation writes.
  bool carry_out(const rma_operation::piece& at, std::size_t offset) {
    rma_operation& one = *what_;
    auto* const memory = reinterpret_cast<std::byte*>(at.at);
    if (one.fetches()) {
      std::memcpy(one.result.data() + offset, memory, at.bytes);
      for (std::size_t i = 0; i < at.bytes; ++i) seen = seen * 131 + static_cast<unsigned char>(memory[i]);
      if (one.accumulates() || run().how().grants_racing_gets)
        learn_from(at.at, at.at + at.bytes, one.learned);
    }
    switch (one.what) {
      case kind::get:
        return false;
      case kind::compare_and_swap:
        if (!would_swap()) return false;
        [[fallthrough]];
      case kind::put:
        changed = changed || std::memcmp(memory, one.data.data() + offset, at.bytes) != 0;
        std::memcpy(memory, one.data.data() + offset, at.bytes);
        return true;
      default:
        break;
    }
    if (is_no_op(one.op)) return false;
    const std::size_t bytes = element_bytes();
    for (std::size_t i = 0; i + bytes <= at.bytes; i += bytes) {
      std::array<std::byte, 32> before{};
      std::memcpy(before.data(), memory + i, bytes);
      combine_element(*one.op, one.basic, one.data.data() + offset + i, memory + i);
      changed = changed || std::memcmp(before.data(), memory + i, bytes) != 0;
    }
    return true;
  }

  rma_operation* what_;
  std::size_t next_ = 0;  ///< element to be delivered
};

[[nodiscard]] bool must_arrive(const rma_operation& one, bool only_local) noexcept {
  return !only_local || one.fetches();
}

class delivery_wait final : public step {
 public:
  delivery_wait(window& at, int origin, int target, bool only_local) noexcept
      : at_(&at), origin_(origin), target_(target), only_local_(only_local) {
    changed = false;
    want_delivery(at, origin, target, only_local);
  }
  bool is_enabled() override { return is_all_delivered(*at_, origin_, target_, only_local_); }
  void describe(std::string& to) const override {
    to +=
        is_all_delivered(*at_, origin_, target_, only_local_) ? "completes its operations in " : "waits in ";
    to += run().at_rank(at_->of->members[static_cast<std::size_t>(origin_)]).call;
    if (!is_all_delivered(*at_, origin_, target_, only_local_)) to += " until its operations are delivered";
  }

 private:
  window* at_;
  int origin_;
  int target_;
  bool only_local_;
};

}  // namespace

const char* name_of(rma_operation::kind what) noexcept {
  static constexpr std::array names{
      "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};
  return names[static_cast<std::size_t>(what)];
}

bool is_all_delivered(window& at, int origin_index, int target, bool only_local) {
  const window_part& origin = at.part(origin_index);
  return std::all_of(origin.open.begin(), origin.open.end(), [&](const rma_operation* one) {
    return (target >= 0 && one->target != target) || one->is_delivered || !must_arrive(*one, only_local);
  });
}

void rma_operation::want() noexcept {
  if (is_wanted) return;
  is_wanted = true;
  for (rma_operation* const earlier : first) earlier->want();
}

void want_delivery(window& at, int origin_index, int target, bool only_local) noexcept {
  for (rma_operation* const one : at.part(origin_index).open)
    if ((target < 0 || one->target == target) && must_arrive(*one, only_local)) one->want();
}

void await_delivery(window& at, int target, bool only_local) {
  const int origin = at.of->rank_of(self().number);
  delivery_wait waiting(at, origin, target, only_local);
  wait_by(waiting);
  for (const rma_operation* one : at.part(origin).open)
    if ((target < 0 || one->target == target) && one->is_delivered)
      run().depend(self(), one->flying->last_event);
}

void complete_locally(rma_operation& one) {
  if (one.is_locally_complete) return;
  one.is_locally_complete = true;
  rank& origin = run().at_rank(one.origin);
  release_buffers(origin, one.number);
  if (one.fetches() && one.result_base != nullptr) {
    unpack(one.result.data(), one.result.size(), one.result_base, one.result_count, *one.result_type);
    origin.knows.join(one.learned);
  }
  *one.local_done = {.rank = one.origin, .at = origin.now()};
  // A get is complete for the target once the origin has its data.
  if (one.what == kind::get) *one.done = *one.local_done;
}

void complete_operations(window& at, int target, bool only_local) {
  window_part& mine = at.mine();
  rank& by = self();
  ++by.knows[by.number];
  for (rma_operation* one : mine.open) {
    if (target >= 0 && one->target != target) continue;
    complete_locally(*one);
    if (!only_local || one->what == kind::get) *one->done = {.rank = by.number, .at = by.now()};
  }
  std::erase_if(mine.open, [&](const rma_operation* one) {
    return (target < 0 || one->target == target) && one->is_delivered &&
           (!only_local || one->what == kind::get);
  });
}

void complete_at_target(window& at, int origin, int target, rank& by) {
  window_part& from = at.part(origin);
  for (rma_operation* one : from.open)
    if (one->target == target && one->epoch == epoch_kind::start && one->is_locally_complete) {
      *one->done = {.rank = by.number, .at = by.now()};
      run().depend(by, one->flying->last_event);
    }
  std::erase_if(from.open, [&](const rma_operation* one) {
    return one->target == target && one->epoch == epoch_kind::start && one->is_locally_complete &&
           one->is_delivered;
  });
}

namespace {

/// Arguments of an operation of RMA.
struct arguments {
  kind what;
  const void* origin_base;
  int origin_count;
  MPI_Datatype origin_type;
  void* result_base;
  int result_count;
  MPI_Datatype result_type;
  int target;
  MPI_Aint displacement;
  int target_count;
  MPI_Datatype target_type;
  MPI_Op op;
  const void* compare;
  MPI_Win win;
  MPI_Request* request;
};

[[nodiscard]] std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

/// The memory of the target. An empty text, or what is wrong with it.
[[nodiscard]] std::string find_pieces(window& at, int target, MPI_Aint displacement, std::size_t count,
                                      const datatype& type, run_vector<rma_operation::piece>& to,
                                      involved& partner) {
  window_part& part = at.part(target);
  const bool is_dynamic = at.flavour == MPI_WIN_FLAVOR_DYNAMIC;
  const auto base = is_dynamic ? static_cast<std::uintptr_t>(displacement)
                               : reinterpret_cast<std::uintptr_t>(part.base) +
                                     static_cast<std::uintptr_t>(displacement * part.unit);
  std::string problem;
  for_each_piece(
      reinterpret_cast<const void*>(base), count, type,
      [&](std::uintptr_t begin, std::size_t bytes, int basic) {
        const auto is_in = [&](const std::byte* from, MPI_Aint size) {
          const auto low = reinterpret_cast<std::uintptr_t>(from);
          return begin >= low && begin + bytes <= low + static_cast<std::uintptr_t>(size);
        };
        bool is_inside_window = !is_dynamic && is_in(part.base, part.bytes);
        const int owner = at.of->members[static_cast<std::size_t>(target)];
        // Regions that are neighbours are one.
        std::uintptr_t attached_to = begin;
        for (bool goes_on = true; goes_on && attached_to < begin + bytes;) {
          goes_on = false;
          for (const window_part::region& one : part.attached) {
            const auto low = reinterpret_cast<std::uintptr_t>(one.begin);
            if (attached_to < low || attached_to >= low + static_cast<std::uintptr_t>(one.bytes)) continue;
            partner = {.rank = owner,
                       .what = one.is_detached ? "detached it here" : "attached it here",
                       .where = one.where};
            if (one.is_detached || self().knows[owner] < one.at) continue;
            attached_to = low + static_cast<std::uintptr_t>(one.bytes);
            goes_on = true;
          }
        }
        is_inside_window = is_inside_window || (is_dynamic && attached_to >= begin + bytes);
        if (!is_inside_window && problem.empty()) {
          const auto offset = static_cast<MPI_Aint>(begin - reinterpret_cast<std::uintptr_t>(part.base));
          problem = is_dynamic ? "memory that the target has not attached, as far as the origin can know"
                               : "bytes " + std::to_string(offset) + " to " +
                                     std::to_string(offset + static_cast<MPI_Aint>(bytes) - 1) +
                                     " of a window of " + std::to_string(part.bytes) + " bytes";
        }
        if (!to.empty() && to.back().at + to.back().bytes == begin && to.back().basic == basic)
          to.back().bytes += bytes;
        else
          to.push_back({begin, bytes, basic});
      });
  return problem;
}

[[nodiscard]] run_vector<rma_operation::piece> in_memory_order(run_vector<rma_operation::piece> all) {
  if (all.size() < 2) return all;
  const auto by_address = [](const rma_operation::piece& a, const rma_operation::piece& b) {
    return a.at < b.at;
  };
  if (!std::is_sorted(all.begin(), all.end(), by_address)) std::sort(all.begin(), all.end(), by_address);
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[last].at + all[last].bytes == all[i].at)
      all[last].bytes += all[i].bytes;
    else
      all[++last] = all[i];
  all.resize(last + 1);
  return all;
}

void hold_and_note(rma_operation& one, const void* base, std::size_t count, const datatype& type,
                   bool is_written) {
  rank& by = self();
  access_buffer(base, count, type, is_written);
  hold_buffer(by, base, count, type, is_written, one.number);
  // The buffer may itself be window memory, which others access.
  for_each_piece(base, count, type, [&](std::uintptr_t at, std::size_t bytes, int) {
    if (bytes == 0 || !is_window_memory(reinterpret_cast<const void*>(at), bytes)) return;
    note_access({.begin = at,
                 .end = at + bytes,
                 .kind = is_written ? access_kind::origin_write : access_kind::origin_read,
                 .rank = by.number,
                 .at = by.now(),
                 .done = one.local_done,
                 .epoch = one.epoch,
                 .window = one.at->number,
                 .where = one.where},
                by.knows);
  });
}

[[nodiscard]] int issue(const arguments& with) {
  window& at = window_of(with.win);
  if (with.request != nullptr) *with.request = MPI_REQUEST_NULL;
  if (with.target == MPI_PROC_NULL) {
    if (with.request != nullptr) *with.request = completed_request();
    return MPI_SUCCESS;
  }
  if (with.target < 0 || static_cast<std::size_t>(with.target) >= at.parts.size())
    return error_of(&at, MPI_ERR_RANK, "the window has no rank " + std::to_string(with.target));
  if (with.origin_count < 0 || with.target_count < 0 || with.result_count < 0)
    return error_of(&at, MPI_ERR_COUNT, "a count is negative");
  const epoch_kind epoch = epoch_for(at, with.target);
  if (epoch == epoch_kind::none)
    return error_of(
        &at, MPI_ERR_RMA_SYNC,
        "no epoch of window " + std::to_string(at.number) + " permits access to rank " +
            std::to_string(with.target) +
            ": call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all before",
        "Communication happens only within an access epoch for the target (MPI 4.1, section 12.5)");
  if (with.request != nullptr && (epoch == epoch_kind::fence || epoch == epoch_kind::start))
    return error_of(&at, MPI_ERR_RMA_SYNC,
                    "operations with requests need an epoch of MPI_Win_lock or MPI_Win_lock_all",
                    "MPI 4.1, section 12.3.5");
  const auto target_rank = static_cast<std::size_t>(at.of->members[static_cast<std::size_t>(with.target)]);
  const bool forbids_puts = epoch == epoch_kind::fence
                                ? (at.mine().fence->by[target_rank].number & MPI_MODE_NOPUT) != 0
                                : epoch == epoch_kind::start && at.part(with.target).forbids_puts;
  if (forbids_puts && with.what != kind::get && with.op != MPI_NO_OP)
    return error_of(&at, MPI_ERR_RMA_SYNC,
                    "MPI_MODE_NOPUT of the target is wrong: the rank updates its window",
                    "MPI 4.1, section 12.5.5");
  const bool is_no_op_call = with.what != kind::put && with.op == MPI_NO_OP;
  const datatype& target_type = usable_type(with.target_type);
  auto* const one = make_for_run<rma_operation>();
  static std::uint64_t numbers = 0;
  one->number = ++numbers;
  one->what = with.what;
  one->at = &at;
  one->origin = self().number;
  one->target = with.target;
  one->epoch = epoch;
  one->where = self().here();
  one->done = make_for_run<completion>();
  one->local_done = make_for_run<completion>();
  const auto target_count = static_cast<std::size_t>(with.target_count);
  if ((with.what == kind::fetch_and_op || with.what == kind::compare_and_swap) && !target_type.is_predefined)
    return error_of(
        &at, MPI_ERR_TYPE,
        std::string(with.what == kind::fetch_and_op ? "MPI_Fetch_and_op" : "MPI_Compare_and_swap") +
            " takes predefined datatypes alone",
        "MPI 4.1, section 12.3.4");
  if (with.what != kind::put && with.what != kind::get) {
    one->op = operation_of(with.op);
    if (with.what != kind::compare_and_swap) {
      if (one->op == nullptr) return error_of(&at, MPI_ERR_OP, "the operation does not exist, or was freed");
      if (one->op->function != nullptr)
        return error_of(&at, MPI_ERR_OP,
                        "an operation of the program cannot be used in an accumulate: use a predefined one",
                        "MPI 4.1, section 12.3.4");
    }
    if (with.what == kind::accumulate && is_no_op(one->op))
      return error_of(&at, MPI_ERR_OP, "MPI_Accumulate does not take MPI_NO_OP", "MPI 4.1, section 12.3.4");
    one->basic = only_basic(target_type);
    if (one->basic < 0 && target_type.size > 0)
      return error_of(&at, MPI_ERR_TYPE,
                      "the datatype of an accumulate has elements of different predefined datatypes",
                      "MPI 4.1, section 12.3.4");
    if (one->basic < 0) one->basic = 0;
    if (with.what == kind::compare_and_swap) {
      using enum basic_type::family;
      const basic_type::family is = basic_at(one->basic).is;
      if (is != signed_integer && is != unsigned_integer && is != logical && is != byte)
        return error_of(&at, MPI_ERR_TYPE,
                        std::string("MPI_Compare_and_swap does not take ") + basic_at(one->basic).name,
                        "MPI 4.1, section 12.3.4");
    }
    if (one->op != nullptr && !is_defined_for(*one->op, basic_at(one->basic)))
      return error_of(&at, MPI_ERR_OP,
                      std::string(one->op->name) + " is not defined for " + basic_at(one->basic).name);
  } else if (!target_type.map.empty()) {
    one->basic = target_type.map[0].basic;
  }
  involved partner{.rank = -1, .what = {}, .where = {}};
  if (const std::string problem =
          find_pieces(at, with.target, with.displacement, target_count, target_type, one->pieces, partner);
      !problem.empty())
    return error_of(&at, MPI_ERR_RMA_RANGE, std::string(name_of(with.what)) + " accesses " + problem,
                    "The target's memory must lie in the window (MPI 4.1, section 12.3)",
                    partner.rank < 0 ? nullptr : &partner);
  one->ranges = in_memory_order(one->pieces);
  std::size_t bytes = 0;
  for (const rma_operation::piece& piece : one->pieces) bytes += piece.bytes;
  if (with.what != kind::put && with.what != kind::get) one->elements = bytes / basic_at(one->basic).bytes;

  const datatype* origin_type = nullptr;
  if (with.what != kind::get && !is_no_op_call) {
    origin_type = &usable_type(with.origin_type);
    const auto count = static_cast<std::size_t>(with.origin_count);
    if (origin_type->size * count != bytes)
      return error_of(&at, MPI_ERR_TYPE,
                      "the origin has " + bytes_text(origin_type->size * count) + ", and the target " +
                          bytes_text(bytes));
    if (!have_same_signature(*origin_type, count, target_type, target_count))
      return error_of(&at, MPI_ERR_TYPE, "the datatypes of origin and target have different elements");
    one->data.resize(bytes);
    pack(with.origin_base, count, *origin_type, one->data.data());
    hold_and_note(*one, with.origin_base, count, *origin_type, false);
  }
  if (with.what == kind::compare_and_swap) {
    one->compare.resize(bytes);
    pack(with.compare, 1, target_type, one->compare.data());
    hold_and_note(*one, with.compare, 1, target_type, false);
  }
  if (one->fetches()) {
    one->result_type = &usable_type(with.result_type);
    one->result_count = static_cast<std::size_t>(with.result_count);
    one->result_base = with.result_base;
    if (one->result_type->size * one->result_count != bytes)
      return error_of(&at, MPI_ERR_TYPE,
                      "the result has " + bytes_text(one->result_type->size * one->result_count) +
                          ", and the target " + bytes_text(bytes));
    if (!have_same_signature(*one->result_type, one->result_count, target_type, target_count))
      return error_of(&at, MPI_ERR_TYPE, "the datatypes of result and target have different elements");
    one->result.resize(bytes);
    hold_and_note(*one, with.result_base, one->result_count, *one->result_type, true);
  }
  if (epoch == epoch_kind::fence) at.mine().has_used_fence = true;
  if (epoch == epoch_kind::start)
    one->post = at.mine().as_origin[static_cast<std::size_t>(with.target)].starts;
  one->issued = self().publish();
  auto* const first = make_for_run<delivery>(*one);
  if (epoch != epoch_kind::start ||
      at.mine().as_origin[static_cast<std::size_t>(with.target)].posts.size() >= one->post)
    first->note(self());
  if (run().found()) run().leave(self());
  first->await_earlier(at.mine());
  at.mine().open.push_back(one);
  one->flying = &run().launch(self(), *first);
  if (bytes == 0) {
    one->is_delivered = true;
    one->flying->next = nullptr;
  }
  if (with.request != nullptr) *with.request = add_rma_request(*one);
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace nearfar::program

using nearfar::program::issue;
using kind = nearfar::program::rma_operation::kind;

extern "C" {

int MPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Put);
  return issue({kind::put, origin_addr, origin_count, origin_datatype, nullptr, 0, nullptr, target_rank,
                target_disp, target_count, target_datatype, MPI_REPLACE, nullptr, win, nullptr});
}

int MPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
             MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Rput);
  return issue({kind::put, origin_addr, origin_count, origin_datatype, nullptr, 0, nullptr, target_rank,
                target_disp, target_count, target_datatype, MPI_REPLACE, nullptr, win, request});
}

int MPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Get);
  return issue({kind::get, nullptr, 0, nullptr, origin_addr, origin_count, origin_datatype, target_rank,
                target_disp, target_count, target_datatype, MPI_NO_OP, nullptr, win, nullptr});
}

int MPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
             MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Rget);
  return issue({kind::get, nullptr, 0, nullptr, origin_addr, origin_count, origin_datatype, target_rank,
                target_disp, target_count, target_datatype, MPI_NO_OP, nullptr, win, request});
}

int MPI_Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                   MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Accumulate);
  return issue({kind::accumulate, origin_addr, origin_count, origin_datatype, nullptr, 0, nullptr,
                target_rank, target_disp, target_count, target_datatype, op, nullptr, win, nullptr});
}

int MPI_Raccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                    MPI_Win win, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Raccumulate);
  return issue({kind::accumulate, origin_addr, origin_count, origin_datatype, nullptr, 0, nullptr,
                target_rank, target_disp, target_count, target_datatype, op, nullptr, win, request});
}

int MPI_Get_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                       void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                       MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                       MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Get_accumulate);
  return issue({kind::get_accumulate, origin_addr, origin_count, origin_datatype, result_addr, result_count,
                result_datatype, target_rank, target_disp, target_count, target_datatype, op, nullptr, win,
                nullptr});
}

int MPI_Rget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                        MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                        MPI_Win win, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Rget_accumulate);
  return issue({kind::get_accumulate, origin_addr, origin_count, origin_datatype, result_addr, result_count,
                result_datatype, target_rank, target_disp, target_count, target_datatype, op, nullptr, win,
                request});
}

int MPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Fetch_and_op);
  return issue({kind::fetch_and_op, origin_addr, 1, datatype, result_addr, 1, datatype, target_rank,
                target_disp, 1, datatype, op, nullptr, win, nullptr});
}

int MPI_Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                         MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
  NEARFAR_MPI_CALL(MPI_Compare_and_swap);
  return issue({kind::compare_and_swap, origin_addr, 1, datatype, result_addr, 1, datatype, target_rank,
                target_disp, 1, datatype, MPI_REPLACE, compare_addr, win, nullptr});
}
}
