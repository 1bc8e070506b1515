#include "total_order.hpp"

#include <algorithm>
#include <utility>

namespace nearfar::checker {

void total_order::clear() {
  if (!is_used_) return;
  is_used_ = false;
  all_.clear();
  for (numbers& each : fences_) each.clear();
  for (numbers& each : steps_) each.clear();
  words_.clear();
}

std::size_t total_order::begin(std::size_t place_in_views) {
  is_used_ = true;
  first_in_view_ = place_in_views;
  return place_in_views + 3 * ranks_;
}

void total_order::join(event_set& to, std::size_t number) const {
  if (to.contains(number)) return;
  to.join(all_[number].before);
  to.insert(number);
}

event_set total_order::before_next(const view& seen) const {
  event_set result;
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    if (const version_number count = seen.at(strong_in_view(rank)); count > 0)
      join(result, steps_[rank][count - 1]);
  return result;
}

total_order::numbers total_order::fences_before(const view& seen, const view* acquired) const {
  numbers result;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const std::size_t place = fences_in_view(rank);
    const version_number count = std::max(seen.at(place), acquired != nullptr ? acquired->at(place) : 0);
    if (count > 0) result.push_back(fences_[rank][count - 1]);
  }
  return result;
}

void total_order::join_before(event_set& to, std::size_t word, version_number last) const {
  if (word >= words_.size()) return;
  const std::vector<accesses>& all = words_[word];
  const auto end =
      std::partition_point(all.begin(), all.end(), [&](const accesses& each) { return each.place <= last; });
  for (auto each = std::make_reverse_iterator(end); each != all.rend(); ++each) {
    each->sources.for_each([&](std::size_t number) { join(to, number); });
    if (!each->ordered.empty()) return;  // earlier steps come before these
  }
}

total_order::numbers total_order::steps_behind(std::size_t word, version_number version) const {
  numbers result;
  for (const numbers& of_rank : fences_) {
    const auto first = std::partition_point(of_rank.begin(), of_rank.end(), [&](std::size_t number) {
      return all_[number].seen.at(word) <= version;
    });
    if (first != of_rank.end()) result.push_back(*first);
  }
  if (word >= words_.size()) return result;
  const std::vector<accesses>& all = words_[word];
  for (auto each = all.rbegin(); each != all.rend() && each->place > place_of_reads(version); ++each)
    result.insert(result.end(), each->ordered.begin(), each->ordered.end());
  return result;
}

bool total_order::admits(const place_of_access& at, const view& seen, const view* acquired) const {
  const numbers fences = fences_before(seen, acquired);
  if (fences.empty() && !at.is_ordered) return true;
  const numbers later = steps_behind(at.word, at.behind);
  if (later.empty()) return true;
  event_set earlier;
  for (const std::size_t fence : fences) join(earlier, fence);
  if (at.is_ordered) {
    earlier.join(before_next(seen));
    join_before(earlier, at.word, at.writes ? place_of_reads(at.behind) : place_of_write(at.behind));
  }
  return std::none_of(later.begin(), later.end(),
                      [&](std::size_t number) { return earlier.contains(number); });
}

std::size_t total_order::add(int rank, member one) {
  const std::size_t number = all_.size();
  all_.push_back(std::move(one));
  steps_[static_cast<std::size_t>(rank)].push_back(number);
  return number;
}

void total_order::note_access(int rank, const place_of_access& at, event_set before, view& seen) {
  numbers sources = fences_before(seen, nullptr);
  if (sources.empty() && !at.is_ordered) return;
  const version_number version = at.writes ? seen.at(at.word) : at.behind;
  const version_number place = at.writes ? place_of_write(version) : place_of_reads(version);
  if (at.is_ordered) {
    join_before(before, at.word, place - 1);
    sources.push_back(add(rank, {.seen = {}, .before = std::move(before)}));
    note_end_of_step(rank, seen);
  }
  accesses& here = at_place(at.word, place);
  if (at.is_ordered) here.ordered.push_back(sources.back());
  event_set earlier;
  for (const std::size_t number : sources) {
    here.sources.insert(number);
    join(earlier, number);
  }
  put_before(earlier, steps_behind(at.word, version));
}

total_order::accesses& total_order::at_place(std::size_t word, version_number place) {
  if (word >= words_.size()) words_.resize(word + 1);
  std::vector<accesses>& all = words_[word];
  const auto here =
      std::partition_point(all.begin(), all.end(), [&](const accesses& each) { return each.place < place; });
  if (here != all.end() && here->place == place) return *here;
  return *all.insert(here, {.place = place});
}

void total_order::put_before(const event_set& earlier, const numbers& later) {
  if (later.empty()) return;
  event_set behind;
  for (const std::size_t number : later) behind.insert(number);
  for (std::size_t number = 0; number < all_.size(); ++number)
    if (behind.contains(number) || behind.intersects(all_[number].before)) all_[number].before.join(earlier);
}

void total_order::note_fence(int rank, event_set before, view& seen) {
  const numbers& mine = fences_[static_cast<std::size_t>(rank)];
  const view* known = mine.empty() ? nullptr : &all_[mine.back()].seen;
  for (std::size_t word = 0; word < words_.size(); ++word) {
    // Behind all other words the rank's previous fence comes already.
    if (known == nullptr || known->at(word) < seen.at(word))
      join_before(before, word, place_of_write(seen.at(word)));
  }
  const std::size_t number = add(rank, {.seen = seen, .before = std::move(before)});
  numbers& fences = fences_[static_cast<std::size_t>(rank)];
  fences.push_back(number);
  seen.raise(fences_in_view(static_cast<std::size_t>(rank)), fences.size());
  seen.raise(steps_in_view(static_cast<std::size_t>(rank)), steps_[static_cast<std::size_t>(rank)].size());
}

void total_order::note_end_of_step(int rank, view& seen) const {
  const auto of = static_cast<std::size_t>(rank);
  seen.raise(strong_in_view(of), steps_[of].size());
}

void total_order::note_beginning(int rank, view& seen) const {
  const auto of = static_cast<std::size_t>(rank);
  seen.raise(steps_in_view(of), steps_[of].size() + 1);
}

void total_order::note_return(view& message, const view& seen) const {
  for (std::size_t rank = 0; is_used_ && rank < ranks_; ++rank)
    message.raise(strong_in_view(rank), seen.at(steps_in_view(rank)));
}

void total_order::note_call(view& seen, const view& message) const {
  for (std::size_t rank = 0; is_used_ && rank < ranks_; ++rank)
    seen.raise(strong_in_view(rank), message.at(strong_in_view(rank)));
}

void total_order::renumber(std::size_t word,
                           const std::function<version_number(version_number)>& renumbered) {
  for (member& each : all_) each.seen.replace(word, renumbered(each.seen.at(word)));
  if (word >= words_.size()) return;
  for (accesses& each : words_[word]) each.place = 2 * renumbered(each.place / 2) + each.place % 2;
}

}  // namespace nearfar::checker
