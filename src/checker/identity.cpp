// Hashes by which searches recognise states and traces.

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "execution.hpp"
#include "names.hpp"
#include "words.hpp"

namespace nearfar::checker {

std::uint64_t execution::state_hash() const {
  std::uint64_t hash = mixed(section_.identity(), static_cast<std::uint64_t>(ended_));
  for (const rank_state& one : ranks_) {
    hash = mixed(hash, one.observed);
    hash = mixed(hash, static_cast<std::uint64_t>(one.at));
    hash = mixed(hash, static_cast<std::uint64_t>(one.clock.count()));
    hash = mixed(hash, static_cast<std::uint64_t>(one.looks_in_a_row));
    if (one.next != nullptr) hash = mixed(hash, one.next->hash());
    for (const rma& operation : one.outstanding)
      hash = mixed(hash, operation.delivered ? mixed(operation.comes_again ? 3 : 1, operation.old) : 2);
  }
  std::uint64_t words = 0;
  for (const shared_word& word : words_.words()) {
    if (word.cell != nullptr && word.version != 0) words += mixed(word.name, mixed(*word.cell, word.writer));
    for (std::size_t i = 1; i * sizeof *word.cell < word.plain_bytes; ++i)
      words += mixed(word.name + i, word.cell[i]);
    for (const rank_state& one : ranks_)
      for (const rma& operation : one.outstanding)
        if (operation.comes_again && operation.what.word == word.cell)
          words += mixed(word.name, operation.access == word.last_accumulate ? 5 : 4);
    if (word.cell != nullptr || (word.value == 0 && word.mail.empty())) continue;
    std::uint64_t content = word.value;
    for (const auto& [sender, known] : word.mail)
      content = mixed(content, static_cast<std::uint64_t>(sender));
    words += mixed(word.name, content);
  }
  return mixed(mixed(hash, words), hash_of_knowledge());
}

std::uint64_t execution::hash_of_knowledge() const {
  // Numbers of accesses depend on the order of commuting accesses. The hash must depend only on which
  // accesses are known.
  struct question {
    std::uint64_t name;
    std::size_t place;
    version_number number;
  };
  std::vector<question> questions;
  std::uint64_t hash = 0;
  for (const shared_word& word : words_.words()) {
    const bool may_race = word.used == usage::far && !word.is_of_object;
    if (may_race && options_->conflict == conflicts::enacted) continue;
    for (std::size_t origin = 0; origin < word.by_origin.size(); ++origin) {
      const std::uint64_t writer = mixed(word.name, origin);
      std::uint64_t access = 0;
      for (const version_number number : word.by_origin[origin].that_may_race(options_->promised)) {
        const std::uint64_t name = mixed(writer, ++access);
        if (number != 0) questions.push_back({name, word.in_view + origin, number});
        // A rank that learns of the completion of a later access of this origin learns it of this one, too.
        for (const rma& one : ranks_[origin].outstanding)
          if (one.delivered && one.what.word == word.cell && one.access >= number)
            hash += mixed(name, static_cast<std::uint64_t>(one.number));
      }
    }
  }
  const auto note = [&](std::uint64_t holder, const view& of) {
    for (const question& one : questions)
      if (of.at(one.place) >= one.number) hash += mixed(holder, mixed(one.name, 1));
  };
  std::uint64_t holder = 0;
  for (const rank_state& one : ranks_) {
    note(++holder, one.seen);
    for (const rma& operation : one.outstanding) note(++holder, operation.seen);
  }
  for (const shared_word& word : words_.words()) {
    note(mixed(word.name, 0), word.message);
    if (!word.history.empty()) note(mixed(word.name, 1), word.history.back().message);
    for (std::size_t i = 0; i < word.mail.size(); ++i) note(mixed(word.name, i + 2), word.mail[i].second);
  }
  return hash;
}

bool execution::may_be_exchanged(int a, int b) const {
  const auto steps_of = [this](int rank) {
    return std::count_if(events_.begin(), events_.end(),
                         [rank](const event& one) { return one.by.rank == rank; });
  };
  if (steps_of(a) != steps_of(b)) return false;
  // Counts steps of each rank: the i-th step of one becomes the i-th of the other.
  std::vector<std::size_t> of_a;
  std::vector<std::size_t> of_b;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].by.rank == a) of_a.push_back(i);
    if (events_[i].by.rank == b) of_b.push_back(i);
  }
  std::vector<std::size_t> image(events_.size());
  std::iota(image.begin(), image.end(), std::size_t{0});
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    image[of_a[i]] = of_b[i];
    image[of_b[i]] = of_a[i];
  }
  const std::uint64_t words = bytes() / sizeof(std::uint64_t);
  const auto is_image = [&](std::size_t one, std::size_t other) {
    return one == touched::no_event || other == touched::no_event ? one == other : image[one] == other;
  };
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const event& mine = events_[i];
    const event& other = events_[image[i]];
    const bool does_the_same =
        mine.by.delivery == other.by.delivery && mine.read == other.read &&
        schedule_[i].choice == schedule_[image[i]].choice && is_image(mine.behind, other.behind) &&
        std::equal(mine.touched.begin(), mine.touched.end(), other.touched.begin(), other.touched.end(),
                   [&](const word_access& one, const word_access& its_image) {
                     return one.how == its_image.how && renamed(one.word, a, b, words) == its_image.word;
                   });
    if (!does_the_same) return false;
  }
  for (std::size_t i = 0; i < events_.size(); ++i)
    for (std::size_t j = 0; j < events_.size(); ++j)
      if (events_[i].happens_before.contains(j) != events_[image[i]].happens_before.contains(image[j]))
        return false;
  return true;
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
