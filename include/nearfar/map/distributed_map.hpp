/// \file
/// A hash table in the memory of all ranks. Every rank finds, inserts, updates and erases entries anywhere by
/// one-sided operations, without action by the rank whose memory it is.
///
/// Source: the table of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016,
/// doi 10.1145/2907294.2907323, section 5. Each rank has a volume of a bucket array and a heap of cells, a
/// key belongs to one bucket of one rank, and the entries of a bucket are linked. There the bucket holds its
/// first entry. Here the bucket is a word that refers to that entry. So there can be many buckets, which
/// keeps chains short. A new entry is written apart and comes in by one compare-and-swap. `far_chains.hpp`
/// has the lists and why they are right, `far_cells.hpp` the heap, `lock/concurrency.hpp` the policies.
///
/// Guarantees: insert, find, update and erase of one key are linearizable, whatever other ranks do.
/// `for_each` visits each entry that is there from its call to its return; it may visit others, and a key
/// that is updated meanwhile twice. Fixed capacity: an insert at a rank without free cells returns `full`;
/// cells of erased entries are used again, for any key of that rank. Progress: with `lock_free` lock-free,
/// for keys and values of any size; with locks, that of the locks. A find in the memory of the caller's own
/// node does not let in other ranks' operations: a rank that polls for what another rank is to bring must
/// call the world's `rest()` in between.
///
/// Cost, lock-free, in far operations (with a lock, its cost is added to each). All gets, and puts of
/// entries, are in place if the volume is on the rank's own node:
///  - find: 1 get of the bucket, 1 get of each entry of its chain up to the right one, 1 get of the link
///    between two. With 8 buckets for each cell, at a load of 0.75: 2 gets for 95 % of the keys that are
///    there and 2.1 on average, 1 for 92 % of those that are not;
///  - insert: 1 get, 1 put, 1 compare-and-swap if the bucket is empty; otherwise 2 gets for each entry of its
///    chain and 1 accumulate more. New cells come `cells_at_once` at a time by 1 fetch-and-add;
///  - erase: 1 get, 2 gets for each entry up to the right one, 2 compare-and-swaps, 1 accumulate; update: the
///    same and 1 put, but with a lock 1 put in place of the atomics;
///  - batches: as many, but operations of one kind are in flight together, for all inserts into empty buckets
///    and for all finds; the lock of a volume is taken once. With locks of buckets, one after another.
/// Memory of each rank: a far word for each bucket and, for each cell, one and two more for each 8 bytes of
/// an entry. Private memory: a few words for each rank at which it inserts, and 1 byte for each rank of the
/// world.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/lifetime.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/concurrency.hpp"
#include "nearfar/map/far_chains.hpp"

namespace nearfar {

/// Size of a `distributed_map` in the memory of each rank.
struct map_capacity {
  /// Number of cells, each of which holds one entry.
  std::size_t cells = 0;
  /// 0: 8 for each cell. Fewer make longer chains: with 4, a tenth of the finds at a load of 0.75 take 4
  /// gets.
  std::size_t buckets = 0;
  /// The most cells at another rank that each rank keeps for its next inserts, where others do not find them;
  /// all ranks together never keep more than a quarter. 0: every insert asks for a cell, and `full` is exact
  /// except for the cells that operations under way hold.
  std::size_t cells_at_once = 64;
};

namespace detail {

/// The finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, 2014, doi 10.1145/2660193.2660195).
[[nodiscard]] constexpr std::uint64_t mixed_bits(std::uint64_t word) noexcept {
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31U);
}

// Outside the map, so that maps share the compiled code: these for all types, and the chains for all
// policies.

inline void expect_possible(const map_capacity& of) {
  if (of.cells < 1 || of.cells > cell_link::most_cells ||
      of.buckets > std::numeric_limits<std::uint32_t>::max())
    throw misuse("a map has 1 to " + std::to_string(cell_link::most_cells) +
                 " cells and less than 2^32 buckets at each rank, not " + std::to_string(of.cells) + " and " +
                 std::to_string(of.buckets));
}
inline void expect_as_many(std::size_t keys, std::size_t others) {
  if (keys != others)
    throw misuse("a batch of " + std::to_string(keys) + " keys needs as many values or results, not " +
                 std::to_string(others));
}

template <typename K, typename V>
struct map_entry {
  K key;
  V value;
};

/// Whether an entry has the key.
template <typename K, typename V, typename Equal>
struct has_key {
  const Equal& equal;
  const K& key;
  [[nodiscard]] bool operator()(const map_entry<K, V>& entry) const { return equal(entry.key, key); }
};

}  // namespace detail

/// Hashes the bytes of keys; equal keys must have equal bytes. Any other hash will do whose values differ for
/// most keys, even the identity: the map mixes the bits of a hash that has no type `is_avalanching`. With
/// that type a hash declares that it mixes its bits itself.
struct hash_of_bytes {
  using is_avalanching = void;

  template <typename K>
  [[nodiscard]] std::uint64_t operator()(const K& key) const noexcept {
    static_assert(std::has_unique_object_representations_v<K>,
                  "equal keys of this type may differ in their bytes: give the map a hash of your own");
    const auto* from = reinterpret_cast<const std::byte*>(&key);
    std::uint64_t hash = sizeof(K);
    for (std::size_t at = 0; at < sizeof(K); at += sizeof hash) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + at, std::min(sizeof word, sizeof(K) - at));
      hash = detail::mixed_bits(hash ^ word);
    }
    return hash;
  }
};

/// Compares by `==`, or compares the bytes of types without it.
struct equal_keys {
  template <typename K>
  [[nodiscard]] bool operator()(const K& one, const K& other) const noexcept {
    if constexpr (std::equality_comparable<K>) {
      return one == other;
    } else {
      static_assert(std::has_unique_object_representations_v<K>,
                    "keys of this type have no ==: give the map a comparison of your own");
      return std::memcmp(&one, &other, sizeof(K)) == 0;
    }
  }
};

/// Table of all ranks of a world. Each rank has its own object, used by one thread. See the file's comment.
template <world W, far_object_value K, far_object_value V, typename Concurrency = lock_free,
          typename Hash = hash_of_bytes, typename Equal = equal_keys,
          detail::chain_faults Faults = detail::chain_faults{}>
class distributed_map {
  using entry = detail::map_entry<K, V>;
  using chains = detail::far_chains<W, entry, Faults>;
  using guards = typename Concurrency::template guards<W>;
  static constexpr guard_scope scope = guards::scope;

 public:
  using world_type = W;
  using key_type = K;
  using mapped_type = V;

  /// Collective. Throws `misuse` for 0 cells, or more than 2^23 - 1.
  explicit distributed_map(W& w, const map_capacity& of, Hash hash = {}, Equal equal = {})
      : distributed_map(w, complete(w, of), std::move(hash), std::move(equal), detail::checked_arguments{}) {}

  /// Returns the entry's value, if there is one.
  [[nodiscard]] std::optional<V> find(const K& key) {
    const detail::chain in = chain_of(key);
    const std::optional<entry> found = guards_.reading(in, [&] { return chains_.find(in, is(key)); });
    return found ? std::optional<V>(found->value) : std::nullopt;
  }

  [[nodiscard]] insert_result insert(const K& key, const V& value) {
    const detail::chain in = chain_of(key);
    return counted(guards_.writing(in, [&] { return chains_.insert(in, made(key, value), is(key)); }));
  }

  /// Changes the value of an existing entry.
  [[nodiscard]] update_result update(const K& key, const V& value) {
    const detail::chain in = chain_of(key);
    constexpr bool in_place = scope != guard_scope::nothing;
    return guards_.writing(in, [&] { return chains_.update(in, made(key, value), is(key), in_place); });
  }

  /// Erases the entry, and returns the value that it had, if there was one.
  [[nodiscard]] std::optional<V> erase(const K& key) {
    const detail::chain in = chain_of(key);
    const std::optional<entry> gone = guards_.writing(in, [&] { return chains_.erase(in, is(key)); });
    if (!gone) return std::nullopt;
    --mine_;
    return gone->value;
  }

  /// Finds all keys at once. Each is a find of its own; they take effect in any order. Throws `misuse` if the
  /// numbers of keys and results differ.
  void find(std::span<const K> keys, std::span<std::optional<V>> results) {
    detail::expect_as_many(keys.size(), results.size());
    in_batches(keys, [&](detail::chain in, std::span<const std::size_t> batch) {
      std::vector<typename chains::search> searches(batch.size());
      for (std::size_t i = 0; i < batch.size(); ++i) searches[i].in = chain_of(keys[batch[i]]);
      guards_.reading(in, [&] {
        chains_.find(
            std::span(searches),
            [&](std::size_t i, const entry& other) { return equal_(other.key, keys[batch[i]]); },
            [&](std::size_t i, const std::optional<entry>& found) {
              results[batch[i]] = found ? std::optional<V>(found->value) : std::nullopt;
            });
      });
    });
  }

  /// The same for inserts. Of several with the same key, any may be the one that inserts.
  void insert(std::span<const K> keys, std::span<const V> values, std::span<insert_result> results) {
    detail::expect_as_many(keys.size(), values.size());
    detail::expect_as_many(keys.size(), results.size());
    in_batches(keys, [&](detail::chain in, std::span<const std::size_t> batch) {
      std::vector<typename chains::insertion> insertions(batch.size());
      for (std::size_t i = 0; i < batch.size(); ++i) insertions[i].in = chain_of(keys[batch[i]]);
      guards_.writing(in, [&] {
        chains_.insert(
            std::span(insertions), [&](std::size_t i) { return made(keys[batch[i]], values[batch[i]]); },
            [&](std::size_t i, const entry& other) { return equal_(other.key, keys[batch[i]]); },
            [&](std::size_t i, insert_result result) { results[batch[i]] = counted(result); });
      });
    });
  }

  /// Calls `visit(key, value)` for the entries in this rank's memory. `visit` may use the map.
  template <std::invocable<const K&, const V&> Visit>
  void for_each(Visit visit) {
    life_.expect_world();
    // Reads all that one guard covers before visiting any of it.
    const std::size_t at_once = scope == guard_scope::volume ? buckets_ : 1;
    std::vector<entry> there;
    for (std::size_t first = 0; first < buckets_; first += at_once) {
      there.clear();
      guards_.reading({world_->rank(), first}, [&] {
        for (std::size_t bucket = first; bucket < first + at_once; ++bucket)
          chains_.add_entries({world_->rank(), bucket}, there);
      });
      for (const entry& one : there) visit(one.key, one.value);
    }
  }

  /// Collective. Number of entries in the memory of all ranks, without those whose inserts or erases have not
  /// returned.
  [[nodiscard]] std::size_t size() {
    life_.expect_world();
    std::int64_t sum = 0;
    for (const std::int64_t of_rank : world_->gather_to_all(mine_)) sum += of_rank;
    return static_cast<std::size_t>(sum);
  }
  /// The most entries that the map can hold.
  [[nodiscard]] std::size_t capacity() const noexcept { return cells_ * ranks_; }
  /// The rank in whose memory an entry with this key is, or would be.
  [[nodiscard]] int owner(const K& key) const { return chain_of(key).rank; }

 private:
  static map_capacity complete(W& w, map_capacity of) {
    using detail::size_argument;
    expect_alike<distributed_map>(w, {{"cells", size_argument(of.cells)},
                                      {"buckets", size_argument(of.buckets)},
                                      {"cells_at_once", size_argument(of.cells_at_once)}});
    detail::expect_possible(of);
    if (of.buckets == 0) of.buckets = 8 * of.cells;
    of.cells_at_once = std::min(of.cells_at_once, of.cells / 4 / static_cast<std::size_t>(w.size()));
    return of;
  }
  distributed_map(W& w, const map_capacity& of, Hash hash, Equal equal, detail::checked_arguments /*tag*/)
      : world_(&w),
        life_(w),
        ranks_(static_cast<std::size_t>(w.size())),
        cells_(of.cells),
        buckets_(of.buckets),
        hash_(std::move(hash)),
        equal_(std::move(equal)),
        chains_(w, of.buckets, of.cells, of.cells_at_once),
        guards_(w, of.buckets) {}

  /// The upper half of the hash chooses the rank, the lower half the bucket.
  [[nodiscard]] detail::chain chain_of(const K& key) const {
    life_.expect_world();
    auto hash = static_cast<std::uint64_t>(hash_(key));
    if constexpr (!requires { typename Hash::is_avalanching; }) hash = detail::mixed_bits(hash);
    return {static_cast<int>(((hash >> 32U) * ranks_) >> 32U),
            static_cast<std::size_t>(((hash & 0xffffffffU) * buckets_) >> 32U)};
  }
  [[nodiscard]] detail::has_key<K, V, Equal> is(const K& key) const { return {equal_, key}; }
  [[nodiscard]] static entry made(const K& key, const V& value) { return entry{key, value}; }
  [[nodiscard]] insert_result counted(insert_result result) {
    if (result == insert_result::inserted) ++mine_;
    return result;
  }

  /// Calls `run(chain, numbers of keys)` with as many keys at once as one guard covers.
  template <typename Run>
  void in_batches(std::span<const K> keys, const Run& run) {
    if constexpr (scope == guard_scope::part) {
      for (std::size_t i = 0; i < keys.size(); ++i)
        run(chain_of(keys[i]), std::span<const std::size_t>(&i, 1));
    } else {
      const std::size_t parts = scope == guard_scope::volume ? ranks_ : 1;
      std::vector<std::vector<std::size_t>> batches(parts);
      for (std::size_t i = 0; i < keys.size(); ++i)
        batches[parts == 1 ? 0 : static_cast<std::size_t>(chain_of(keys[i]).rank)].push_back(i);
      for (const std::vector<std::size_t>& batch : batches)
        if (!batch.empty()) run(chain_of(keys[batch.front()]), std::span(batch));
    }
  }

  W* world_;
  detail::life_of<W> life_;
  std::size_t ranks_;
  std::size_t cells_;
  std::size_t buckets_;
  Hash hash_;
  Equal equal_;
  chains chains_;
  guards guards_;
  std::int64_t mine_ = 0;  ///< entries inserted by this rank, less those that it erased
};

}  // namespace nearfar
