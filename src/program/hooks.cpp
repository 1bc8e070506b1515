#include "hooks.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "execution.hpp"
#include "loops.hpp"
#include "races.hpp"
#include "signals.hpp"

namespace nearfar::program {

namespace {

struct range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

std::vector<range> windows;
/// A bit for each page modulo 64 in which something is watched. Most accesses end here.
std::uint64_t pages = 0;

constexpr unsigned page_bits = 12;

[[nodiscard]] std::uint64_t pages_of(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const std::uintptr_t first = begin >> page_bits;
  const std::uintptr_t last = (end - 1) >> page_bits;
  if (last - first >= 63) return ~std::uint64_t{0};
  std::uint64_t result = 0;
  for (std::uintptr_t page = first; page <= last; ++page) result |= std::uint64_t{1} << (page % 64);
  return result;
}

void count_pages() noexcept {
  pages = 0;
  for (const range& one : windows) pages |= pages_of(one.begin, one.end);
  for (int i = 0; i < run().ranks(); ++i)
    for (const pending_buffer& one : run().at_rank(i).buffers) pages |= pages_of(one.begin, one.end);
}

void report_buffer(const pending_buffer& held, const std::string& what, const void* pc) {
  fault found{
      .kind = "buffer",
      .text = what + " the buffer of " + held.call + ", which is not complete",
      .places = {},
      .rule =
          "The buffer of an operation belongs to MPI until the operation is complete (MPI 4.1, sections "
          "3.7.2 and 12.3)"};
  found.places.push_back({.rank = self().number, .what = what + " it here", .where = self().here(pc)});
  found.places.push_back({.rank = self().number, .what = "started the operation here", .where = held.where});
  fail(std::move(found));
}

[[nodiscard]] bool overlap(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t other,
                           std::uintptr_t other_end) noexcept {
  return begin < other_end && other < end;
}

void check_buffers(std::uintptr_t begin, std::uintptr_t end, bool is_write, const void* pc) {
  for (const pending_buffer& held : self().buffers)
    if (overlap(begin, end, held.begin, held.end) && (is_write || held.is_written))
      report_buffer(held, is_write ? "writes" : "reads", pc);
}

void note_local(std::uintptr_t at, std::size_t bytes, access_kind kind, const void* pc) {
  rank& by = self();
  const access_record one{
      .begin = at, .end = at + bytes, .kind = kind, .rank = by.number, .at = by.now(), .where = by.here(pc)};
  note_access(one, by.knows);
  if (run().found()) {
    is_inside = false;
    run().leave(by);
  }
}

/// An access of window memory that other ranks may race with by the program's wish: its moment matters.
class shared_access final : public step {
 public:
  shared_access(const rank& by, std::uintptr_t at, std::size_t bytes, bool is_write,
                const char* what) noexcept
      : by_(&by), at_(at), bytes_(bytes), is_write_(is_write), what_(what) {
    changed = is_write;
  }
  void touch(footprint& to) override {
    to.add(at_, at_ + bytes_, is_write_ ? effects::write : effects::read);
    touch_help(to, *by_);
  }
  void take(int /*choice*/) override {
    const auto* from = reinterpret_cast<const unsigned char*>(at_);
    for (std::size_t i = 0; i < bytes_; ++i) seen = seen * 131 + from[i];
  }
  void describe(std::string& to) const override {
    to += what_;
    to += " of window memory";
  }

 private:
  const rank* by_;
  std::uintptr_t at_;
  std::size_t bytes_;
  bool is_write_;
  const char* what_;
};

void access_shared(std::uintptr_t at, std::size_t bytes, access_kind kind, bool acquires, bool releases,
                   const void* pc) {
  rank& by = self();
  const bool is_write = kind == access_kind::volatile_store || kind == access_kind::atomic_store;
  check_buffers(at, at + bytes, is_write, pc);
  by.call_site = pc;
  sleep_if_looping(by);
  shared_access what(by, at, bytes, is_write, name_of(kind));
  run().perform(by, what);
  by.call_site = nullptr;
  if (acquires) learn_from(at, at + bytes, by.knows);
  note_local(at, bytes, kind, pc);
  if (is_write) {
    const vector_clock knew = by.publish();
    note_writer(at, at + bytes, releases ? knew : vector_clock{}, acquires);
  }
}

/// Whether nothing watched can be there, or the access is the checker's own.
[[nodiscard]] bool is_quiet(std::uintptr_t at, std::size_t bytes) noexcept {
  if (!is_inside) return true;
  const std::uintptr_t last = at + bytes - 1;
  return (((pages >> ((at >> page_bits) % 64)) | (pages >> ((last >> page_bits) % 64))) & 1U) == 0 &&
         last - at < (std::uintptr_t{1} << page_bits);
}

void plain(const void* at, std::size_t bytes, bool is_write, const void* pc) {
  if (!is_inside) return;
  current->last_access = pc;
  if (is_spent.load(std::memory_order_relaxed)) give_up_spent(pc);
  if (traces_course) note_course(pc);
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (bytes == 0 || is_quiet(address, bytes)) return;
  const checker_scope scope;
  access_memory(at, bytes, is_write, pc);
}

void loose(const void* at, std::size_t bytes, bool is_write, const void* pc) {
  if (traces_course) note_course(pc);
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (is_quiet(address, bytes)) return;
  const checker_scope scope;
  if (is_window_memory(at, bytes))
    access_shared(address, bytes, is_write ? access_kind::volatile_store : access_kind::volatile_load,
                  !is_write, is_write, pc);
  else
    check_buffers(address, address + bytes, is_write, pc);
}

enum : int { relaxed, consume, acquire, release, acquire_release, sequential };

[[nodiscard]] bool does_acquire(int order) noexcept { return order != relaxed && order != release; }
[[nodiscard]] bool does_release(int order) noexcept { return order >= release; }

/// Returns whether the access was a step.
bool atomic(const volatile void* at, std::size_t bytes, bool is_write, bool reads, int order,
            const void* pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (is_quiet(address, bytes)) return false;
  const checker_scope scope;
  if (!is_window_memory(const_cast<const void*>(at), bytes)) {
    check_buffers(address, address + bytes, is_write, pc);
    return false;
  }
  access_shared(address, bytes, is_write ? access_kind::atomic_store : access_kind::atomic_load,
                reads && does_acquire(order), is_write && does_release(order), pc);
  return true;
}

/// An atomic update, in which a loop that waits may change nothing.
template <typename T, typename Update>
T update_atomic(volatile T* at, int order, const void* pc, Update update) {
  const bool is_step = atomic(at, sizeof(T), true, true, order, pc);
  const T before = *at;
  update();
  if (is_step) run().correct_last(self(), before != *at);
  return before;
}

}  // namespace

bool traces_course = false;

void note_course(const void* pc) {
  if (!is_inside) return;
  const checker_scope scope;
  self().course.push_back(pc);
}

void watch(const void* begin, std::size_t bytes) {
  if (bytes == 0) return;
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  windows.push_back({at, at + bytes});
  pages |= pages_of(at, at + bytes);
}

void unwatch(const void* begin, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const auto one = std::find_if(windows.begin(), windows.end(),
                                [&](const range& r) { return r.begin == at && r.end == at + bytes; });
  if (one != windows.end()) windows.erase(one);
  count_pages();
}

void forget_watched() noexcept {
  windows.clear();
  pages = 0;
}

bool is_window_memory(const void* at, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  return std::any_of(windows.begin(), windows.end(),
                     [&](const range& one) { return overlap(begin, begin + bytes, one.begin, one.end); });
}

void hold_buffer(rank& of, const void* begin, std::size_t bytes, bool is_written, std::uint64_t owner) {
  if (bytes == 0) return;
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  for (const pending_buffer& held : of.buffers)
    if (overlap(at, at + bytes, held.begin, held.end) && (is_written || held.is_written))
      report_buffer(held, "starts an operation that uses", nullptr);
  of.buffers.push_back({at, at + bytes, is_written, of.call, of.here(), owner});
  pages |= pages_of(at, at + bytes);
}

void release_buffers(rank& of, std::uint64_t owner) noexcept {
  const std::size_t before = of.buffers.size();
  std::erase_if(of.buffers, [&](const pending_buffer& one) { return one.owner == owner; });
  if (of.buffers.size() != before) count_pages();
}

void access_memory(const void* at, std::size_t bytes, bool is_write, const void* pc) {
  if (bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  check_buffers(begin, begin + bytes, is_write, pc);
  for (const range& one : windows)
    if (overlap(begin, begin + bytes, one.begin, one.end)) {
      const std::uintptr_t from = std::max(begin, one.begin);
      const std::uintptr_t to = std::min(begin + bytes, one.end);
      note_local(from, to - from, is_write ? access_kind::store : access_kind::load, pc);
    }
}

void end_memory(const void* at, std::size_t bytes, const char* how, const void* pc) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  for (const pending_buffer& held : self().buffers)
    if (overlap(begin, begin + bytes, held.begin, held.end)) report_buffer(held, how, pc);
}

namespace {

/// The compiler reports the caller's address at the begin of each function.
void enter_function(const void* return_address, const void* frame_address) noexcept {
  if (!is_inside) return;
  rank& by = *current;
  const auto stack = reinterpret_cast<std::uintptr_t>(frame_address);
  if (stack < by.lowest_stack) by.lowest_stack = stack;
  if (by.depth < rank::most_frames) by.frames[by.depth] = {return_address, stack};
  ++by.depth;
}

void leave_function(const void* pc) {
  if (!is_inside) return;
  rank& by = *current;
  if (by.depth == 0) return;
  --by.depth;
  if (by.buffers.empty() || by.depth == 0 || by.depth >= rank::most_frames) return;
  const checker_scope scope;
  // The frame that ends lies between the stack pointers of the function and of its caller.
  const std::uintptr_t begin = by.frames[by.depth].stack;
  const std::uintptr_t end = by.frames[by.depth - 1].stack;
  if (begin < end)
    end_memory(reinterpret_cast<const void*>(begin), end - begin, "returns from the function that has", pc);
}

}  // namespace

}  // namespace nearfar::program

// ---- the compiler's hooks
// ------------------------------------------------------------------------------------------

// NOLINTBEGIN(bugprone-reserved-identifier,cppcoreguidelines-macro-usage): the compiler chose the names.
#define NEARFAR_HOOK __attribute__((visibility("default")))
#define NEARFAR_PC __builtin_return_address(0)

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

NEARFAR_HOOK void __tsan_init() {}
NEARFAR_HOOK void __tsan_func_entry(void* pc) { enter_function(pc, __builtin_frame_address(0)); }
// The call belongs to the last statement, and what follows it to the end of the function.
NEARFAR_HOOK void __tsan_func_exit() { leave_function(static_cast<const char*>(NEARFAR_PC) + 1); }
NEARFAR_HOOK void __tsan_vptr_update(void** at, void*) { plain(at, sizeof(void*), true, NEARFAR_PC); }
NEARFAR_HOOK void __tsan_vptr_read(void** at) { plain(at, sizeof(void*), false, NEARFAR_PC); }
NEARFAR_HOOK void __tsan_read_range(void* at, unsigned long bytes) { plain(at, bytes, false, NEARFAR_PC); }
NEARFAR_HOOK void __tsan_write_range(void* at, unsigned long bytes) { plain(at, bytes, true, NEARFAR_PC); }

#define NEARFAR_ACCESSES(bytes)                                                                              \
  NEARFAR_HOOK void __tsan_read##bytes(void* at) { plain(at, bytes, false, NEARFAR_PC); }                    \
  NEARFAR_HOOK void __tsan_write##bytes(void* at) { plain(at, bytes, true, NEARFAR_PC); }                    \
  NEARFAR_HOOK void __tsan_unaligned_read##bytes(void* at) { plain(at, bytes, false, NEARFAR_PC); }          \
  NEARFAR_HOOK void __tsan_unaligned_write##bytes(void* at) { plain(at, bytes, true, NEARFAR_PC); }          \
  NEARFAR_HOOK void __tsan_read_write##bytes(void* at) {                                                     \
    plain(at, bytes, false, NEARFAR_PC);                                                                     \
    plain(at, bytes, true, NEARFAR_PC);                                                                      \
  }                                                                                                          \
  NEARFAR_HOOK void __tsan_unaligned_read_write##bytes(void* at) {                                           \
    plain(at, bytes, false, NEARFAR_PC);                                                                     \
    plain(at, bytes, true, NEARFAR_PC);                                                                      \
  }                                                                                                          \
  NEARFAR_HOOK void __tsan_volatile_read##bytes(void* at) { loose(at, bytes, false, NEARFAR_PC); }           \
  NEARFAR_HOOK void __tsan_volatile_write##bytes(void* at) { loose(at, bytes, true, NEARFAR_PC); }           \
  NEARFAR_HOOK void __tsan_unaligned_volatile_read##bytes(void* at) { loose(at, bytes, false, NEARFAR_PC); } \
  NEARFAR_HOOK void __tsan_unaligned_volatile_write##bytes(void* at) { loose(at, bytes, true, NEARFAR_PC); }
NEARFAR_ACCESSES(1)
NEARFAR_ACCESSES(2)
NEARFAR_ACCESSES(4)
NEARFAR_ACCESSES(8)
NEARFAR_ACCESSES(16)

// NOLINTBEGIN(bugprone-macro-parentheses): types and functions take none.
#define NEARFAR_ATOMIC_UPDATE(bits, type, name, builtin)                                        \
  NEARFAR_HOOK type __tsan_atomic##bits##_##name(volatile type* at, type value, int order) {    \
    return update_atomic(at, order, NEARFAR_PC, [&] { builtin(at, value, __ATOMIC_SEQ_CST); }); \
  }
#define NEARFAR_ATOMIC_COMPARE(bits, type, name)                                                    \
  NEARFAR_HOOK int __tsan_atomic##bits##_compare_exchange_##name(volatile type* at, type* expected, \
                                                                 type desired, int order, int) {    \
    const type before = update_atomic(at, order, NEARFAR_PC, [&] {                                  \
      if (*at == *expected) *at = desired;                                                          \
    });                                                                                             \
    const bool is_equal = before == *expected;                                                      \
    *expected = before;                                                                             \
    return is_equal ? 1 : 0;                                                                        \
  }
#define NEARFAR_ATOMICS(bits, type)                                                              \
  NEARFAR_HOOK type __tsan_atomic##bits##_load(const volatile type* at, int order) {             \
    atomic(at, sizeof(type), false, true, order, NEARFAR_PC);                                    \
    return *at;                                                                                  \
  }                                                                                              \
  NEARFAR_HOOK void __tsan_atomic##bits##_store(volatile type* at, type value, int order) {      \
    atomic(at, sizeof(type), true, false, order, NEARFAR_PC);                                    \
    *at = value;                                                                                 \
  }                                                                                              \
  NEARFAR_ATOMIC_UPDATE(bits, type, exchange, __atomic_exchange_n)                               \
  NEARFAR_ATOMIC_UPDATE(bits, type, fetch_add, __atomic_fetch_add)                               \
  NEARFAR_ATOMIC_UPDATE(bits, type, fetch_sub, __atomic_fetch_sub)                               \
  NEARFAR_ATOMIC_UPDATE(bits, type, fetch_and, __atomic_fetch_and)                               \
  NEARFAR_ATOMIC_UPDATE(bits, type, fetch_or, __atomic_fetch_or)                                 \
  NEARFAR_ATOMIC_UPDATE(bits, type, fetch_xor, __atomic_fetch_xor)                               \
  NEARFAR_ATOMIC_UPDATE(bits, type, fetch_nand, __atomic_fetch_nand)                             \
  NEARFAR_ATOMIC_COMPARE(bits, type, strong)                                                     \
  NEARFAR_ATOMIC_COMPARE(bits, type, weak)                                                       \
  NEARFAR_HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type* at, type expected, \
                                                               type desired, int order, int) {   \
    return update_atomic(at, order, NEARFAR_PC, [&] {                                            \
      if (*at == expected) *at = desired;                                                        \
    });                                                                                          \
  }
// NOLINTEND(bugprone-macro-parentheses)
NEARFAR_ATOMICS(8, unsigned char)
NEARFAR_ATOMICS(16, unsigned short)
NEARFAR_ATOMICS(32, unsigned int)
NEARFAR_ATOMICS(64, unsigned long)
// Clang has these calls instead of memcpy and its like.
NEARFAR_HOOK void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  plain(from, bytes, false, NEARFAR_PC);
  plain(to, bytes, true, NEARFAR_PC);
  return std::memcpy(to, from, bytes);
}
NEARFAR_HOOK void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  plain(from, bytes, false, NEARFAR_PC);
  plain(to, bytes, true, NEARFAR_PC);
  return std::memmove(to, from, bytes);
}
NEARFAR_HOOK void* __tsan_memset(void* at, int value, unsigned long bytes) {
  plain(at, bytes, true, NEARFAR_PC);
  return std::memset(at, value, bytes);
}
NEARFAR_HOOK void __tsan_atomic_thread_fence(int) {}
NEARFAR_HOOK void __tsan_atomic_signal_fence(int) {}
}
// NOLINTEND(bugprone-reserved-identifier,cppcoreguidelines-macro-usage)
