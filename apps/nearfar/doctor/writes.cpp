// The doctor's checks of one-sided writes: where they arrive, what is seen meanwhile, and whether they come
// back.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/doctor/tools.hpp"

namespace nearfar::command::doctor {

namespace {

// ---- where a put arrives ----------------------------------------------------------------------------------

/// Puts a word to every place of the right neighbour's part of an open window and compares what came from the
/// left. Returns on how many ranks something was wrong. Collective.
std::uint64_t misplaced(const examination& e, const mpi::communicator& comm, const mpi::window& w,
                        std::size_t bytes) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  constexpr std::byte untouched{0xa5};
  const int size = comm.size();
  const int rank = comm.rank();
  const auto value = [](int from, std::size_t at) { return to_word(from) << 32U | (at + 1); };

  const int right = (rank + 1) % size;
  const MPI_Aint displacement = comm.gather_to_all({w.displacement()})[static_cast<std::size_t>(right)];
  std::fill_n(w.base(), bytes, untouched);
  mpi::check(MPI_Win_sync(w.get()), "MPI_Win_sync");
  e.barrier();
  std::vector<std::uint64_t> origins(bytes / word);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    origins[i] = value(rank, i);
    mpi::check(MPI_Put(&origins[i], 1, MPI_UINT64_T, right, displacement + static_cast<MPI_Aint>(i * word), 1,
                       MPI_UINT64_T, w.get()),
               "MPI_Put");
  }
  mpi::check(MPI_Win_flush(right, w.get()), "MPI_Win_flush");
  e.barrier();
  mpi::check(MPI_Win_sync(w.get()), "MPI_Win_sync");

  std::vector<std::byte> expected(bytes, untouched);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const std::uint64_t sent = value((rank + size - 1) % size, i);
    std::memcpy(&expected[i * word], &sent, word);
  }
  return e.sum(std::equal(expected.begin(), expected.end(), w.base()) ? 0 : 1);
}

/// Memory for MPI_Win_create at a chosen distance from a 16-byte boundary, with room around for what misses
/// it.
class placed_memory {
 public:
  placed_memory(std::size_t bytes, std::size_t offset) : memory_(bytes / sizeof(unit) + 9), offset_(offset) {}
  [[nodiscard]] std::byte* base() noexcept { return memory_[4].bytes.data() + offset_; }

 private:
  struct alignas(16) unit {
    std::array<std::byte, 16> bytes{};
  };
  std::vector<unit> memory_;
  std::size_t offset_;
};

// ---- what is seen while a word is written -----------------------------------------------------------------

/// Values that can be told from a mixture of two others: both halves are alike.
constexpr std::uint64_t both_halves = (std::uint64_t{1} << 32U) + 1;
constexpr std::uint64_t last_value = ~std::uint64_t{0};

bool is_torn(std::uint64_t value) { return value >> 32U != (value & 0xffffffffU); }

/// Different values that ranks saw, and how many of them nobody had written.
struct sighting {
  std::uint64_t distinct = 0;
  std::uint64_t torn = 0;
};

/// The origin writes values one after the other by `write(word, value)`, and every rank for which `looks`
/// reads them by `read(word)` until it has seen the last. Collective; the sum over the ranks.
template <typename Write, typename Read>
sighting watch_writes(const examination& e, bool looks, Write write, Read read) {
  shared_word word(e);
  sighting mine;
  if (e.is_origin()) {
    hammer(e, [&](std::uint64_t k) {
      write(word, k * both_halves);
      return true;
    });
    write(word, last_value);
  } else if (looks) {
    std::uint64_t before = 0;
    await(e, "a write did not become visible to the rank that polls for it", [&] {
      const std::uint64_t now = read(word);
      if (now != before) ++mine.distinct;
      if (is_torn(now)) ++mine.torn;
      before = now;
      return now == last_value;
    });
  }
  e.barrier();
  return {e.sum(mine.distinct), e.sum(mine.torn)};
}

/// Ranks that only saw the last value came when the writes were over.
bool saw_nothing_else(const sighting& seen, std::uint64_t lookers) { return seen.distinct <= lookers; }

// ---- writes that come back --------------------------------------------------------------------------------

struct alignas(slot_bytes) handshake_words {
  far<std::uint64_t> word;
  alignas(cache_line) far<std::uint64_t> flushed;  ///< at the target: the last write whose flush has returned
  alignas(cache_line) far<std::uint64_t> looked;   ///< at the origin: the last write that was looked after
};

struct comeback {
  std::uint64_t writes = 0;
  std::uint64_t came_back = 0;
};

/// The origin writes by `write(segment, value)` and flushes. The target waits for the value in place, resets
/// the word in place, waits until it knows that the flush has returned, and looks whether the value is back.
/// On the target; zeros elsewhere. Collective.
template <typename Write>
comeback count_comebacks(const examination& e, Write write) {
  constexpr int target = 0;
  constexpr std::uint64_t enough = ~std::uint64_t{0};
  const int origin = e.size() - 1;
  const char* const silence = "a write did not become visible to the rank that polls for it";
  bare_world world(e, sizeof(handshake_words));
  mpi::far_segment<bare_world, handshake_words> words(world);
  comeback mine;
  if (e.is_target()) {
    const auto end = clock::now() + 5 * e.budget();
    bool is_over = false;
    for (std::uint64_t n = 1; !is_over; ++n) {
      await(e, silence, [&] { return words.read_direct(target, &handshake_words::word) == n; });
      words.write_direct(target, &handshake_words::word, std::uint64_t{0});
      await(e, silence, [&] { return words.read_direct(target, &handshake_words::flushed) == n; });
      ++mine.writes;
      if (words.read_direct(target, &handshake_words::word) != 0) {
        ++mine.came_back;
        words.write_direct(target, &handshake_words::word, std::uint64_t{0});
      }
      is_over = clock::now() > end;
      const std::uint64_t answer = is_over ? enough : n;
      words.put(origin, &handshake_words::looked, answer);
      words.flush(origin);
    }
  } else if (e.is_origin()) {
    std::uint64_t looked = 0;
    std::uint64_t n = 0;
    do {
      write(words, ++n);
      words.flush(target);
      words.put(target, &handshake_words::flushed, n);
      words.flush(target);
      await(e, silence, [&] {
        looked = words.read_direct(origin, &handshake_words::looked);
        return looked == n || looked == enough;
      });
    } while (looked != enough);
  }
  e.barrier();
  return mine;
}

}  // namespace

finding put_address(examination& e) {
  std::vector<std::size_t> wrong;
  const std::array<std::size_t, 5> sizes{64, 128, 192, 320, 4096 + 64};
  for (const std::size_t bytes : sizes)
    if (misplaced(e, e.comm(), bare_world(e, bytes).window(), bytes) != 0) wrong.push_back(bytes);
  if (wrong.empty())
    return {outcome::ok, fmt::format("right in {} sizes of nearfar's windows", sizes.size())};
  return {outcome::fail, fmt::format("wrong in nearfar's windows of {} bytes", fmt::join(wrong, ", "))};
}

finding put_awkward(examination& e) {
  constexpr std::array<std::size_t, 5> sizes{8, 24, 40, 72, 100};
  std::vector<std::string> wrong;
  const auto try_kind = [&](const char* kind, const mpi::communicator& comm, auto&& make) {
    std::vector<std::size_t> of_kind;
    for (const std::size_t bytes : sizes) {
      mpi::window w = make(bytes);
      w.open();
      if (misplaced(e, comm, w, bytes) != 0) of_kind.push_back(bytes);
    }
    if (!of_kind.empty()) wrong.push_back(fmt::format("{} ({} bytes)", kind, fmt::join(of_kind, ", ")));
  };
  std::optional<placed_memory> memory;
  const auto create_at = [&](std::size_t offset) {
    return [&memory, &e, offset](std::size_t bytes) {
      return mpi::window::create(e.comm().get(), memory.emplace(bytes, offset).base(), bytes);
    };
  };
  try_kind("MPI_Win_allocate", e.comm(),
           [&](std::size_t bytes) { return mpi::window::allocate(e.comm().get(), bytes); });
  try_kind("MPI_Win_create", e.comm(), create_at(0));
  try_kind("MPI_Win_create at 8 mod 16", e.comm(), create_at(8));
  try_kind("MPI_Win_allocate_shared", e.node(),
           [&](std::size_t bytes) { return mpi::window::allocate_shared(e.node().get(), bytes); });
  if (wrong.empty())
    return {outcome::ok, fmt::format("right in windows of {} bytes", fmt::join(sizes, ", "))};
  return {outcome::warn, fmt::format("wrong in {}", fmt::join(wrong, ", "))};
}

finding whole_words(examination& e) {
  const auto in_place = [](const shared_word& word) { return word.read(); };
  const sighting puts = watch_writes(
      e, e.is_target(), [](shared_word& word, std::uint64_t value) { word.put(value); }, in_place);
  const sighting accumulates = watch_writes(
      e, e.is_target(), [](shared_word& word, std::uint64_t value) { word.replace(value); }, in_place);
  if (puts.torn + accumulates.torn != 0)
    return {outcome::fail,
            fmt::format("{} of {} values seen while they were put were torn, {} of {} while accumulated",
                        puts.torn, puts.distinct, accumulates.torn, accumulates.distinct)};
  if (saw_nothing_else(puts, 1) || saw_nothing_else(accumulates, 1)) return never_met();
  return {outcome::ok,
          fmt::format("{} values seen in place while they were put, {} while accumulated, none torn",
                      puts.distinct, accumulates.distinct)};
}

finding racing_gets(examination& e) {
  const sighting seen = watch_writes(
      e, true, [](shared_word& word, std::uint64_t value) { word.put(value); },
      [](shared_word& word) { return word.get(); });
  if (seen.torn != 0)
    return {outcome::fail,
            fmt::format("{} of {} values got while a word was put were neither the old nor the new one",
                        seen.torn, seen.distinct)};
  if (saw_nothing_else(seen, static_cast<std::uint64_t>(e.size() - 1))) return never_met();
  return {outcome::ok,
          fmt::format("{} values got while they were put, each the old or the new one", seen.distinct)};
}

finding reappearing_writes(examination& e) {
  using segment = mpi::far_segment<bare_world, handshake_words>;
  const comeback put = count_comebacks(
      e, [](segment& words, const std::uint64_t& value) { words.put(0, &handshake_words::word, value); });
  const comeback accumulate = count_comebacks(e, [](segment& words, const std::uint64_t& value) {
    words.accumulate(0, &handshake_words::word, value, far_op::replace);
  });
  std::uint64_t before = 0;
  const comeback fetch = count_comebacks(e, [&before](segment& words, const std::uint64_t& value) {
    words.swap(0, &handshake_words::word, value, before);
  });
  if (!e.is_target()) return {};
  constexpr std::uint64_t few = 1000;
  if (std::min({put.writes, accumulate.writes, fetch.writes}) < few)
    return {outcome::skip, fmt::format("fewer than {} writes in the available time", few),
            "try again with a processor for each rank and nothing else running"};
  const auto text = [](const char* operation, const comeback& counted) {
    return fmt::format("{} {} of {}", operation, counted.came_back, counted.writes);
  };
  const bool none = put.came_back + accumulate.came_back + fetch.came_back == 0;
  return {
      none ? outcome::ok : outcome::warn,
      fmt::format("after a reset in place came back: {}, {}, {}{}", text("put", put),
                  text("accumulate(replace)", accumulate), text("fetch_and_op(replace)", fetch),
                  none ? " (no proof: a write comes back only after an interrupt at the right moment)" : "")};
}

}  // namespace nearfar::command::doctor
