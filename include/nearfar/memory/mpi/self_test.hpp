/// \file
/// The part of the doctor's self-test that every world runs before it is used.
#pragma once

#include <cstdint>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

namespace detail {

/// Two slots, so that the test writes once to every offset a lock can have within a slot and across slots.
struct alignas(slot_bytes) self_test_words {
  far<std::uint64_t> first;
  far<std::uint64_t> second;
  far<std::uint64_t> third;
  far<std::uint64_t> untouched;
  alignas(slot_bytes) far<std::uint64_t> next_slot;
  far<std::uint64_t> sum;
  far<std::uint64_t> claim;
  far<std::uint64_t> tail;
};

}  // namespace detail

/// Puts to neighbours and checks where the words arrive; adds, claims and swaps from all ranks at once and
/// checks that no update is lost. Collective, a few operations for each rank. Throws `transport_error` on
/// every rank if any rank saw a fault.
template <typename World>
void quick_self_test(World& w) {
  using words = detail::self_test_words;
  typename World::template far_segment<words> segment(w);
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const rank_word me = to_word(w.rank());
  const int neighbour = (w.rank() + 1) % w.size();
  const int left = (w.rank() + w.size() - 1) % w.size();

  for (const auto field : {&words::first, &words::second, &words::third, &words::next_slot})
    segment.put(neighbour, field, me);
  segment.flush(neighbour);
  const std::uint64_t one = 1;
  std::uint64_t before = 0;
  std::uint64_t claimed = 1;
  segment.fetch_add(0, &words::sum, one, before);
  segment.compare_and_swap(0, &words::claim, nobody, me, claimed);
  std::uint64_t predecessor = me;
  segment.swap(0, &words::tail, me, predecessor);
  segment.flush(0);
  w.barrier();

  std::string fault;
  for (const auto field : {&words::first, &words::second, &words::third, &words::next_slot})
    if (segment.read_direct(w.rank(), field) != to_word(left))
      fault = "a put did not arrive at its target word";
  if (segment.read_direct(w.rank(), &words::untouched) != 0) fault = "a put changed a word beside its target";
  std::uint64_t total = 0;
  segment.fetch(0, &words::sum, total);
  segment.flush(0);
  if (total != ranks) fault = "fetch-and-add lost an update";
  const auto counts =
      w.sum_over_ranks({fault.empty() ? 0 : 1, claimed == nobody ? 1 : 0, predecessor == nobody ? 1 : 0});
  if (counts[1] != 1) fault = "compare-and-swap let " + std::to_string(counts[1]) + " ranks claim one word";
  if (counts[2] != 1) fault = "swap told " + std::to_string(counts[2]) + " ranks that they were first";
  if (counts[0] != 0 || counts[1] != 1 || counts[2] != 1)
    throw transport_error(
        "this MPI transport is broken: " + (fault.empty() ? "another rank saw a fault" : fault) +
        "; 'nearfar doctor' says more and names a cure");
}

}  // namespace nearfar
