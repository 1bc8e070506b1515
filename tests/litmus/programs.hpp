/// \file Litmus programs: a few accesses by a few ranks to two words. Their outcomes show the orders that
/// memory keeps.
///
/// A program is a shape in a form. The shape says which rank accesses which word in which order; the names
/// are those of the literature, see J. Alglave, L. Maranget, M. Tautschnig, "Herding cats", TOPLAS 2014, doi
/// 10.1145/2627752. The form says by which operations, and which rank owns each word. Nothing here depends on
/// a world: `player.hpp` runs a program in any.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nearfar::litmus {

using value = std::uint64_t;

inline constexpr std::size_t x = 0;
inline constexpr std::size_t y = 1;
inline constexpr std::size_t word_count = 2;
inline constexpr std::array word_names{"x", "y"};

/// A write of `written` to a word; if `written` is 0, a read of the word into the next register.
struct access {
  std::size_t word;
  value written;
};
[[nodiscard]] constexpr access write(std::size_t word, value written) { return {word, written}; }
[[nodiscard]] constexpr access read(std::size_t word) { return {word, 0}; }

struct shape {
  std::string name;
  std::vector<std::vector<access>> threads;

  [[nodiscard]] std::size_t registers() const {
    std::size_t count = 0;
    for (std::size_t thread = 0; thread < threads.size(); ++thread) count += registers_of(thread);
    return count;
  }
  [[nodiscard]] std::size_t registers_of(std::size_t thread) const {
    return static_cast<std::size_t>(std::count_if(threads[thread].begin(), threads[thread].end(),
                                                  [](const access& one) { return one.written == 0; }));
  }
  /// Registers are numbered thread by thread.
  [[nodiscard]] std::size_t first_register(std::size_t thread) const {
    std::size_t first = 0;
    for (std::size_t before = 0; before < thread; ++before) first += registers_of(before);
    return first;
  }
  [[nodiscard]] bool has_rival_writes(std::size_t word) const {
    return std::count_if(threads.begin(), threads.end(), [&](const std::vector<access>& thread) {
             return std::any_of(thread.begin(), thread.end(),
                                [&](const access& one) { return one.word == word && one.written != 0; });
           }) > 1;
  }
  [[nodiscard]] bool uses(std::size_t word) const {
    return std::any_of(threads.begin(), threads.end(), [&](const std::vector<access>& thread) {
      return std::any_of(thread.begin(), thread.end(), [&](const access& one) { return one.word == word; });
    });
  }
};

/// How a word is written. Each far operation is flushed; `add` and `compare_and_swap` expect a zero word.
enum class writing : std::uint8_t {
  put,
  replace,
  swap,
  add,
  compare_and_swap,
  in_place,
  near_relaxed,
  near_release,
  near_exchange,
  near_sequential,
};
/// How a word is read. Two of the operations could write: `add` adds zero, and `compare_and_swap` puts zero
/// for zero.
enum class reading : std::uint8_t {
  get,
  fetch,
  add,
  compare_and_swap,
  in_place,
  near_relaxed,
  near_acquire,
  near_add,
  near_sequential,
};

struct medium {
  writing write;
  reading read;
  std::size_t home;  ///< the thread whose rank owns the word
};

struct form {
  std::string name;
  std::array<medium, word_count> words;
  std::memory_order between =
      std::memory_order_relaxed;  ///< order of a fence between any two accesses; relaxed: none
};

/// Each rank owns the word that it writes in store buffering, unless the last letters say otherwise.
[[nodiscard]] inline form alike(std::string name, writing write, reading read, std::size_t home_of_x = 0,
                                std::size_t home_of_y = 1) {
  return {std::move(name), {{{write, read, home_of_x}, {write, read, home_of_y}}}};
}

[[nodiscard]] inline const std::vector<form>& forms() {
  static const std::vector<form> all{
      alike("put, get", writing::put, reading::get),
      alike("put, get: the other's", writing::put, reading::get, 1, 0),
      alike("replace, fetch", writing::replace, reading::fetch),
      alike("replace, fetch: the other's", writing::replace, reading::fetch, 1, 0),
      alike("swap, fetch", writing::swap, reading::fetch),
      alike("fetch_add", writing::add, reading::add),
      alike("compare_and_swap", writing::compare_and_swap, reading::compare_and_swap),
      alike("in place", writing::in_place, reading::in_place),
      alike("in place: the other's", writing::in_place, reading::in_place, 1, 0),
      alike("in place, get", writing::in_place, reading::get),
      alike("in place, get: of one", writing::in_place, reading::get, 0, 0),
      alike("put, in place", writing::put, reading::in_place, 1, 0),
      alike("put, in place: of one", writing::put, reading::in_place, 1, 1),
      alike("replace, in place", writing::replace, reading::in_place, 1, 0),
      alike("swap, in place", writing::swap, reading::in_place, 1, 0),
      {"one in place, one by put",
       {{{writing::in_place, reading::get, 0}, {writing::put, reading::in_place, 0}}}},
      {"one in place, one by put, fenced",
       {{{writing::in_place, reading::get, 0}, {writing::put, reading::in_place, 0}}},
       std::memory_order_seq_cst},
      {"one in place, one by fetch_add",
       {{{writing::in_place, reading::get, 0}, {writing::add, reading::add, 1}}}},
      {"one in place, one by fetch_add: of one",
       {{{writing::in_place, reading::get, 0}, {writing::add, reading::add, 0}}}},
      alike("near release, acquire", writing::near_release, reading::near_acquire),
      alike("near relaxed", writing::near_relaxed, reading::near_relaxed),
      alike("near exchange, acquire", writing::near_exchange, reading::near_acquire),
      alike("near exchange, add", writing::near_exchange, reading::near_add),
      alike("near sequential", writing::near_sequential, reading::near_sequential),
      {"near relaxed, fences of acquire and release",
       {{{writing::near_relaxed, reading::near_relaxed, 0},
         {writing::near_relaxed, reading::near_relaxed, 1}}},
       std::memory_order_acq_rel},
      {"near relaxed, sequential fences",
       {{{writing::near_relaxed, reading::near_relaxed, 0},
         {writing::near_relaxed, reading::near_relaxed, 1}}},
       std::memory_order_seq_cst},
      {"put, get; near release, acquire",
       {{{writing::put, reading::get, 0}, {writing::near_release, reading::near_acquire, 1}}}},
      {"near relaxed; replace, fetch",
       {{{writing::near_relaxed, reading::near_relaxed, 0}, {writing::replace, reading::fetch, 1}}}},
  };
  return all;
}

[[nodiscard]] inline const std::vector<shape>& shapes() {
  static const std::vector<shape> all{
      {"store buffering", {{write(x, 1), read(y)}, {write(y, 1), read(x)}}},
      {"store forwarding", {{write(x, 1), read(x), read(y)}, {write(y, 1), read(y), read(x)}}},
      {"message passing", {{write(x, 1), write(y, 1)}, {read(y), read(x)}}},
      {"load buffering", {{read(x), write(y, 1)}, {read(y), write(x, 1)}}},
      {"R", {{write(x, 1), write(y, 1)}, {write(y, 2), read(x)}}},
      {"S", {{write(x, 2), write(y, 1)}, {read(y), write(x, 1)}}},
      {"2+2W", {{write(x, 1), write(y, 2)}, {write(y, 1), write(x, 2)}}},
      {"coherence, RR", {{write(x, 1), write(x, 2)}, {read(x), read(x)}}},
      {"coherence, RW", {{read(x), write(x, 1)}, {write(x, 2)}}},
      {"coherence, WR", {{write(x, 1), read(x)}, {write(x, 2)}}},
      {"coherence of two readers", {{write(x, 1)}, {write(x, 2)}, {read(x), read(x)}, {read(x), read(x)}}},
      {"write to read causality", {{write(x, 1)}, {read(x), write(y, 1)}, {read(y), read(x)}}},
      {"read to write causality", {{write(x, 1)}, {read(x), read(y)}, {write(y, 1), read(x)}}},
      {"independent reads", {{write(x, 1)}, {write(y, 1)}, {read(x), read(y)}, {read(y), read(x)}}},
  };
  return all;
}

struct program {
  const shape* what;
  const form* how;

  [[nodiscard]] std::size_t ranks() const { return what->threads.size(); }
  [[nodiscard]] const medium& of(std::size_t word) const { return how->words[word]; }
  /// Whether ranks reach each other's words without a far operation. That takes one node.
  [[nodiscard]] bool shares_memory() const {
    for (std::size_t thread = 0; thread < ranks(); ++thread)
      for (const access& one : what->threads[thread]) {
        const auto& [write, read, home] = of(one.word);
        const bool is_near = write >= writing::near_relaxed;
        const bool is_direct = one.written == 0 ? read == reading::in_place : write == writing::in_place;
        if (is_near || (is_direct && home != thread)) return true;
      }
    return false;
  }
  /// Whether MPI defines the program: a put or a write in place must not race with another write of the word.
  [[nodiscard]] bool is_defined() const {
    for (std::size_t word = 0; word < word_count; ++word) {
      const bool is_plain = of(word).write == writing::put || of(word).write == writing::in_place;
      if (is_plain && what->has_rival_writes(word)) return false;
    }
    return true;
  }
};

/// All programs of a form that MPI defines.
[[nodiscard]] inline std::vector<program> programs_in(const form& how) {
  std::vector<program> all;
  for (const shape& what : shapes())
    if (const program one{&what, &how}; one.is_defined()) all.push_back(one);
  return all;
}

/// The registers, then the final values of the words.
using outcome = std::vector<value>;

[[nodiscard]] inline std::string to_string(const program& of) {
  std::string text = of.what->name + " by " + of.how->name + ": ";
  char next_register = 'a';
  for (const auto& thread : of.what->threads) {
    if (&thread != &of.what->threads.front()) text += "| ";
    for (const auto& [word, written] : thread)
      text += written == 0 ? std::string{next_register++} + "=" + word_names[word] + " "
                           : word_names[word] + ("=" + std::to_string(written)) + " ";
  }
  text.pop_back();
  return text;
}

[[nodiscard]] inline std::string to_string(const program& of, const outcome& observed) {
  std::string text;
  const std::size_t registers = of.what->registers();
  for (std::size_t i = 0; i < registers; ++i)
    text += std::string{static_cast<char>('a' + i)} + "=" + std::to_string(observed[i]) + " ";
  for (std::size_t word = 0; word < word_count; ++word)
    if (of.what->uses(word))
      text += (word == 0 ? "then " : "") + std::string(word_names[word]) + "=" +
              std::to_string(observed[registers + word]) + " ";
  text.pop_back();
  return text;
}

}  // namespace nearfar::litmus
