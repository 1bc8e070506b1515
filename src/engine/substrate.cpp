#include "nearfar/engine/substrate.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/engine/world.hpp"

namespace nearfar::engine {

thread_local substrate* substrate::current_ = nullptr;

std::string_view name(action what) noexcept {
  switch (what) {
    case action::load:
      return "load";
    case action::store:
      return "store";
    case action::exchange:
      return "exchange";
    case action::compare_exchange:
      return "compare_exchange";
    case action::add:
      return "add";
    case action::read_direct:
      return "read_direct";
    case action::write_direct:
      return "write_direct";
    case action::put:
      return "put";
    case action::get:
      return "get";
    case action::fetch:
      return "fetch";
    case action::swap:
      return "swap";
    case action::fetch_add:
      return "fetch_add";
    case action::compare_and_swap:
      return "compare_and_swap";
    case action::replace:
      return "accumulate(replace)";
    case action::sum:
      return "accumulate(sum)";
  }
  return "?";
}

substrate::substrate(nearfar::locality where, std::size_t bytes, stack_pool& stacks)
    : locality_(std::move(where)), bytes_(bytes), memory_(nullptr), stacks_(&stacks) {
  const auto ranks = static_cast<std::size_t>(size());
  void* mapped = mmap(nullptr, bytes_ * ranks, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw out_of_memory("the system has no address space for the memory of " + std::to_string(ranks) +
                        " ranks: take fewer");
  memory_ = static_cast<std::byte*>(mapped);
  fibres_.resize(ranks);
  exchanged_.resize(ranks);
}

substrate::~substrate() {
  abandon();
  munmap(memory_, bytes_ * static_cast<std::size_t>(size()));
}

void substrate::start(const rank_body& body) {
  body_ = body;
  described_.clear();
  in_sums_ = 0;
  for (int rank = 0; rank < size(); ++rank)
    fibres_[static_cast<std::size_t>(rank)] = std::make_unique<fibre>(*stacks_, [this, rank] {
      world w(*this, rank);
      body_(w);
    });
}

void substrate::abandon() noexcept {
  const current_substrate here(*this);  // destructors of the ranks use the current substrate
  for (std::size_t rank = 0; rank < fibres_.size(); ++rank) {
    if (!fibres_[rank]) continue;
    running_ = static_cast<int>(rank);
    fibres_[rank]->cancel();
  }
  running_ = nobody_runs;
}

void substrate::finish() {
  std::exception_ptr first;
  for (const auto& one : fibres_)
    if (one && one->thrown() && !first) first = one->thrown();
  abandon();
  if (first) std::rethrow_exception(first);
}

std::vector<std::int64_t> substrate::gather_to_all(std::int64_t mine) {
  exchanged_[static_cast<std::size_t>(running_)] = mine;
  barrier();
  std::vector<std::int64_t> all = exchanged_;
  barrier();
  return all;
}

std::vector<std::int64_t> substrate::gather_to_first(std::int64_t mine) {
  exchanged_[static_cast<std::size_t>(running_)] = mine;
  barrier();
  std::vector<std::int64_t> all;
  if (running_ == 0) all = exchanged_;
  barrier();
  return all;
}

std::vector<std::int64_t> substrate::sum_over_ranks(std::vector<std::int64_t> mine) {
  if (in_sums_ == 0) sums_.assign(mine.size(), 0);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    // Unsigned addition makes an overflow defined.
    const std::uint64_t sum = static_cast<std::uint64_t>(sums_.at(i)) + static_cast<std::uint64_t>(mine[i]);
    sums_.at(i) = static_cast<std::int64_t>(sum);
  }
  in_sums_ = (in_sums_ + 1) % size();
  barrier();
  mine = sums_;
  barrier();
  return mine;
}

bool substrate::all_alike(std::int64_t mine) {
  const std::uint64_t before = disagreements_;
  exchanged_[static_cast<std::size_t>(running_)] = mine;
  barrier();
  if (mine != exchanged_[0]) ++disagreements_;
  barrier();
  const bool alike = disagreements_ == before;
  // No rank starts another comparison before all ranks have seen the outcome of this one.
  barrier();
  return alike;
}

void substrate::describe(std::size_t offset, const layout_names& layout, std::size_t count) {
  const auto ordinal = std::count_if(described_.begin(), described_.end(), [&](const described& one) {
    return one.layout->owner == layout.owner && one.offset != offset;
  });
  std::erase_if(described_, [&](const described& one) { return one.offset == offset; });
  described_.push_back({offset, &layout, count, static_cast<int>(ordinal)});
}

word_name substrate::name_of(const void* word) const {
  const auto distance = static_cast<std::size_t>(static_cast<const std::byte*>(word) - memory_);
  const std::size_t offset = distance % bytes_;
  word_name result{.text = "word " + std::to_string(offset), .rank = static_cast<int>(distance / bytes_)};
  const described* owner = nullptr;
  for (const described& one : described_)
    if (one.offset <= offset && (owner == nullptr || one.offset > owner->offset)) owner = &one;
  if (owner == nullptr) return result;
  const std::size_t index = (offset - owner->offset) / owner->layout->bytes;
  const std::size_t in_element = (offset - owner->offset) % owner->layout->bytes;
  if (index >= owner->count) return result;
  const field_name* within = nullptr;
  for (const field_name& field : owner->layout->fields)
    if (field.offset <= in_element && (within == nullptr || field.offset > within->offset)) within = &field;
  if (within == nullptr || in_element >= within->offset + within->bytes) return result;
  result.text = owner->layout->owner;
  if (owner->ordinal > 0) result.text += "#" + std::to_string(owner->ordinal + 1);
  if (owner->count > 1) result.text += "[" + std::to_string(index) + "]";
  result.text += "." + std::string(within->name);
  // A word after the first of a field of several words gets a number.
  if (const std::size_t number = (in_element - within->offset) / sizeof(std::uint64_t); number > 0)
    result.text += "+" + std::to_string(number);
  return result;
}

}  // namespace nearfar::engine
