/// \file
/// Memory operations as data, as a simulated rank passes them to the engine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nearfar/core/backoff.hpp"

namespace nearfar::engine {

/// The kind of an operation on one word.
enum class action : std::uint8_t {
  // On a near cell.
  load,
  store,
  exchange,
  compare_exchange,
  add,
  // On a far word in the memory of a rank of the same node, in place.
  read_direct,
  write_direct,
  // On a far word by RMA.
  put,
  get,
  fetch,
  swap,
  fetch_add,
  compare_and_swap,
  replace,  ///< accumulate
  sum,      ///< accumulate
};

[[nodiscard]] constexpr bool is_near(action what) noexcept { return what <= action::add; }
[[nodiscard]] constexpr bool is_direct(action what) noexcept {
  return what == action::read_direct || what == action::write_direct;
}
[[nodiscard]] constexpr bool is_rma(action what) noexcept { return what >= action::put; }
/// Whether MPI orders this operation among the accumulates of the same origin, target and location.
[[nodiscard]] constexpr bool is_accumulate(action what) noexcept { return what >= action::fetch; }
[[nodiscard]] constexpr bool is_write(action what) noexcept {
  return what != action::load && what != action::read_direct && what != action::get && what != action::fetch;
}
[[nodiscard]] constexpr bool is_read(action what) noexcept {
  return what != action::store && what != action::write_direct && what != action::put &&
         what != action::replace && what != action::sum;
}

/// The name that schedules show.
[[nodiscard]] std::string_view name(action what) noexcept;

/// How a rank holds a lock epoch: alone, or together with all ranks that share it.
enum class epoch_kind : std::uint8_t { exclusive, shared };

[[nodiscard]] constexpr std::string_view name(epoch_kind how) noexcept {
  return how == epoch_kind::exclusive ? "exclusive" : "shared";
}

/// One operation on one word, or on an object of several. Values are the word's bits, zero-extended.
struct operation {
  action what = action::load;
  int target = 0;                          ///< the rank whose memory holds the word
  std::uint64_t* word = nullptr;           ///< the word itself
  std::uint64_t operand = 0;               ///< the value to store, swap in or add
  std::uint64_t expected = 0;              ///< the value that a comparison expects
  std::uint64_t mask = ~std::uint64_t{0};  ///< the bits that belong to the word
  std::memory_order order = std::memory_order_seq_cst;
  std::memory_order failure = std::memory_order_seq_cst;
  // RMA only: buffers that belong to the operation until its flush.
  const void* origin = nullptr;
  const void* compare = nullptr;
  void* result = nullptr;
  // For a put, a get or an access in place of a far object. `word` is the object's first word, and `origin`
  // or `result` points to the value.
  std::size_t bytes = 0;             ///< size of the value; 0 for a word instead of an object
  std::uint64_t* writers = nullptr;  ///< for a read that may race: room to name the writer of each word
  bool is_of_values = false;         ///< each word is a value by itself and may race as any word may

  [[nodiscard]] bool is_of_object() const noexcept { return bytes != 0; }
  /// Number of words that the operation covers.
  [[nodiscard]] std::size_t words() const noexcept {
    return is_of_object() ? (bytes + sizeof *word - 1) / sizeof *word : 1;
  }
};

/// The value of the word after the operation `of`, if it was `old` before.
[[nodiscard]] constexpr std::uint64_t result_of(const operation& of, std::uint64_t old) noexcept {
  switch (of.what) {
    case action::load:
    case action::read_direct:
    case action::get:
    case action::fetch:
      return old;
    case action::store:
    case action::exchange:
    case action::write_direct:
    case action::put:
    case action::swap:
    case action::replace:
      return of.operand;
    case action::compare_exchange:
    case action::compare_and_swap:
      return old == of.expected ? of.operand : old;
    case action::add:
    case action::fetch_add:
    case action::sum:
      return (old + of.operand) & of.mask;
  }
  return old;
}

/// A reference to a predicate over a word. The predicate must outlive it.
class word_predicate {
 public:
  template <typename Predicate>
  // NOLINTNEXTLINE(google-explicit-constructor): a parameter type, as std::function_ref will be
  word_predicate(const Predicate& predicate)
      : object_(&predicate), call_([](const void* object, std::uint64_t value) {
          return static_cast<bool>((*static_cast<const Predicate*>(object))(value));
        }) {}
  [[nodiscard]] bool operator()(std::uint64_t value) const { return call_(object_, value); }

 private:
  const void* object_;
  bool (*call_)(const void*, std::uint64_t);
};

/// An access to data that is not atomic.
struct plain_access {
  const std::uint64_t* first = nullptr;
  std::size_t bytes = 0;
  bool writes = false;
  const void* stored = nullptr;  ///< the value that is about to be written
};

/// Where a rank is while it sleeps. Others can complete operations on its memory if it is in the
/// communication library now and then. `nowhere`: the sleep is over at once.
enum class sleep_place : std::uint8_t { in_library, outside_library, nowhere };

/// A rank that sleeps on a word, in the model of memory/parking.hpp. It waits for another word to say that it
/// is awake.
struct sleep {
  const std::uint64_t* word = nullptr;
  std::uint64_t seen = 0;  ///< the word's value when the rank read it before it fell asleep
};

/// A wait for a word. The engine repeats `read`, which may also be a swap, an exchange or a compare-and-swap,
/// until the value it read satisfies the predicate.
struct wait {
  operation read;
  word_predicate satisfied;
  bool progresses = true;  ///< whether the waiting rank enters the communication library meanwhile
  backoff pause{};         ///< before each attempt that may write, or before each look:
  bool looks_after_pauses = false;
  std::optional<sleep> asleep{};  ///< the sleep of a rank that sleeps meanwhile; for messages only
};

/// Which of several waits ended, and with which value. `which` is empty if the deadline came first.
struct waited {
  std::optional<std::size_t> which;
  std::uint64_t value = 0;
};

}  // namespace nearfar::engine
