/// \file
/// Where the nodes of a channel's linked list come from, and where they go.
///
/// Source: Laubert 2021, section 3.4.1: each message's node from the heap and back, or from a free list. Here
/// the free list is R. K. Treiber's stack, "Systems programming: coping with parallelism", IBM RJ 5118, 1986,
/// with a tag in its top; the list of the thesis is open to the ABA problem.
///
/// A node is identified by a number of `number_bits` bits; 0 stands for no node. A thread that looks at nodes
/// that another thread may give back does so under a `guard`. It gives back through the guard the nodes that
/// others may still look at.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar::list_nodes {

/// Allocates nodes from the heap and deletes them when they are given back. Only for the threads of a
/// process, and for lists in which the thread that gives a node back knows that no other thread looks at it.
template <typename Memory, typename Node>
class heap {
 public:
  static constexpr bool stay_readable = false;
  static constexpr bool takes_capacity = false;
  static constexpr unsigned number_bits = 64;

  explicit heap(Memory& /*memory*/) {}
  [[nodiscard]] std::uint64_t obtain() { return reinterpret_cast<std::uintptr_t>(new Node); }
  void give_back(std::uint64_t node) { delete &(*this)[node]; }
  [[nodiscard]] Node& operator[](std::uint64_t node) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of 64 bits is what all the lists know a node by
    return *reinterpret_cast<Node*>(static_cast<std::uintptr_t>(node));
  }
};

namespace detail {

/// For nodes that stay readable for every user.
template <typename Nodes>
class no_guard {
 public:
  static constexpr bool is_needed = false;
  explicit no_guard(Nodes& nodes) noexcept : nodes_(&nodes) {}
  void hold(std::size_t /*which*/, std::uint64_t /*node*/) const noexcept {}
  void give_back(std::uint64_t node) { nodes_->give_back(node); }

 private:
  Nodes* nodes_;
};

/// Numbers of unused nodes. `next_of(node)` is the cell in which a node keeps the next.
template <typename Memory>
class free_list {
 public:
  explicit free_list(Memory& memory) : top_(memory, 1) {}

  /// Returns 0 if the list is empty.
  template <typename NextOf>
  [[nodiscard]] std::uint64_t pop(const NextOf& next_of) {
    auto& top = top_[0].of;
    std::uint64_t seen = top.load(std::memory_order_acquire);  // pairs with (1)
    for (;;) {
      const std::uint64_t node = seen & number_mask;
      if (node == 0) return 0;
      // The node may be in use again and its link meaningless; then the tag has changed.
      const std::uint64_t next = next_of(node).load(std::memory_order_relaxed);
      if (top.compare_exchange(seen, tag_after(seen) | next, std::memory_order_acquire,
                               std::memory_order_acquire))
        return node;
    }
  }
  template <typename NextOf>
  void push(std::uint64_t node, const NextOf& next_of) {
    auto& top = top_[0].of;
    std::uint64_t seen = top.load(std::memory_order_relaxed);
    do next_of(node).store(seen & number_mask, std::memory_order_relaxed);
    while (!top.compare_exchange(seen, tag_after(seen) | node, std::memory_order_release,
                                 std::memory_order_relaxed));  // (1)
  }

 private:
  static constexpr std::uint64_t number_mask = 0xffffffffU;
  [[nodiscard]] static std::uint64_t tag_after(std::uint64_t of) noexcept {
    return (of & ~number_mask) + number_mask + 1;
  }
  struct alignas(cache_line) word {
    typename Memory::template near<std::uint64_t> of{};
  };
  typename Memory::template array<word> top_;
};

}  // namespace detail

/// A fixed number of nodes, allocated at once. A node's memory stays a node. When none is left, the channel
/// is full.
template <typename Memory, typename Node>
class fixed {
 public:
  static constexpr bool stay_readable = true;
  static constexpr bool takes_capacity = true;
  static constexpr unsigned number_bits = 32;
  using guard = detail::no_guard<fixed>;

  /// One node more than messages, for the one before the first.
  fixed(Memory& memory, std::size_t capacity) : free_(memory), nodes_(memory, capacity + 1) {
    if (memory.is_maker())
      for (std::uint64_t node = capacity + 1; node != 0; --node) give_back(node);
    memory.made();
  }
  /// Returns 0 if no node is left.
  [[nodiscard]] std::uint64_t obtain() {
    return free_.pop([this](std::uint64_t node) -> auto& { return at(node).next_free; });
  }
  void give_back(std::uint64_t node) {
    free_.push(node, [this](std::uint64_t of) -> auto& { return at(of).next_free; });
  }
  [[nodiscard]] Node& operator[](std::uint64_t node) const { return at(node).node; }

 private:
  struct kept {
    Node node{};
    typename Memory::template near<std::uint64_t> next_free{};
  };
  [[nodiscard]] kept& at(std::uint64_t node) const { return nodes_[static_cast<std::size_t>(node - 1)]; }

  detail::free_list<Memory> free_;
  typename Memory::template array<kept> nodes_;
};

/// Allocates nodes as they are needed and keeps them until the end. Only for the threads of a process.
template <typename Memory, typename Node>
class recycled {
 public:
  static constexpr bool stay_readable = true;
  static constexpr bool takes_capacity = false;
  static constexpr unsigned number_bits = 32;
  using guard = detail::no_guard<recycled>;

  explicit recycled(Memory& memory) : free_(memory) {}
  recycled(const recycled&) = delete;
  recycled& operator=(const recycled&) = delete;
  ~recycled() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_acquire);
  }

  /// Throws `std::bad_alloc`, and `out_of_memory` beyond 2^32 nodes.
  [[nodiscard]] std::uint64_t obtain() {
    const std::uint64_t node = free_.pop([this](std::uint64_t of) -> auto& { return at(of).next_free; });
    if (node != 0) return node;
    // A number is taken only once its node exists, so that a failed allocation wastes none.
    std::uint64_t made = made_.load(std::memory_order_relaxed);
    do {
      if (made + 1 >= std::uint64_t{1} << 32U) throw out_of_memory("a channel has at most 2^32 messages");
      const chunk_place place(made + 1);
      if (chunks_[place.chunk].load(std::memory_order_acquire) == nullptr) make_chunk(place.chunk);
    } while (!made_.compare_exchange_weak(made, made + 1, std::memory_order_relaxed));
    return made + 1;
  }
  void give_back(std::uint64_t node) {
    free_.push(node, [this](std::uint64_t of) -> auto& { return at(of).next_free; });
  }
  [[nodiscard]] Node& operator[](std::uint64_t node) const { return at(node).node; }

 private:
  struct kept {
    Node node{};
    typename Memory::template near<std::uint64_t> next_free{};
  };
  /// Chunk 0 has the first 64 nodes; each other chunk has as many as all before it.
  struct chunk_place {
    static constexpr unsigned first_bits = 6;
    explicit chunk_place(std::uint64_t node)
        : chunk(static_cast<std::size_t>(std::bit_width((node - 1) >> first_bits))),
          index(static_cast<std::size_t>(
              chunk == 0 ? node - 1 : (node - 1) - (std::uint64_t{1} << (first_bits + chunk - 1)))),
          count(std::size_t{1} << (chunk == 0 ? first_bits : first_bits + chunk - 1)) {}
    std::size_t chunk;
    std::size_t index;
    std::size_t count;
  };
  static constexpr std::size_t most_chunks = 28;

  [[nodiscard]] kept& at(std::uint64_t node) const {
    const chunk_place place(node);
    return chunks_[place.chunk].load(std::memory_order_acquire)[place.index];
  }
  void make_chunk(std::size_t chunk) {
    const std::scoped_lock lock(grows_);
    if (chunks_[chunk].load(std::memory_order_relaxed) != nullptr) return;
    const std::uint64_t first =
        chunk == 0 ? 1 : (std::uint64_t{1} << (chunk_place::first_bits + chunk - 1)) + 1;
    chunks_[chunk].store(new kept[chunk_place(first).count], std::memory_order_release);
  }

  detail::free_list<Memory> free_;
  std::mutex grows_;
  std::atomic<std::uint64_t> made_{0};
  std::array<std::atomic<kept*>, most_chunks> chunks_{};
};

/// Allocates nodes from the heap, and deletes them once they have been given back and no guard holds them.
/// Only for the threads of a process.
///
/// Source: the hazard pointers of M. Michael, "Hazard pointers: safe memory reclamation for lock-free
/// objects", TPDS 15, 2004, doi 10.1109/TPDS.2004.8. Holding a node needs no full fence, owing to the
/// asymmetric fences of channel_memory.hpp. Progress: lock-free, except for the heap. Cost: a guard takes a
/// swap of a word that few others touch, and a store for each node that it holds; every `scan_after` nodes
/// given back take a heavy fence. Memory: the nodes given back but not yet deleted; for as many guards as
/// have existed at once, at most `scan_after` plus 2 per guard.
///
/// Only constructing a guard and `obtain` allocate, and so throw `std::bad_alloc`. A guard gives a message's
/// node back after the message has changed hands, and from there on nothing may throw.
template <typename Memory, typename Node>
class hazard {
  struct alignas(cache_line) record {
    std::atomic<std::uint32_t> in_use{0};
    std::array<std::atomic<std::uint64_t>, 2> held{};  ///< nodes that the record's user looks at
    std::vector<std::uint64_t> given_back;             ///< accessed only by the record's user
    record* next = nullptr;
  };

 public:
  static constexpr bool stay_readable = false;
  static constexpr bool takes_capacity = false;
  static constexpr unsigned number_bits = 48;  ///< of an address in a process
  static constexpr std::size_t scan_after = 128;

  /// Belongs to one thread, for one operation. Giving back does not throw for the first two nodes at least.
  class guard {
   public:
    static constexpr bool is_needed = true;
    explicit guard(hazard& nodes) : nodes_(&nodes), mine_(&nodes.free_record()) {}
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() {
      for (auto& each : mine_->held) each.store(0, std::memory_order_release);  // (2)
      mine_->in_use.store(0, std::memory_order_release);                        // (3)
    }
    /// A node that can be reached after this call is not deleted before the guard ends or holds another in
    /// its place.
    void hold(std::size_t which, std::uint64_t node) const noexcept {
      mine_->held[which].store(node, std::memory_order_release);
      nodes_->memory_->light_fence();  // pairs with (4)
    }
    void give_back(std::uint64_t node) {
      mine_->given_back.push_back(node);  // there is room
      if (mine_->given_back.size() >= scan_after) nodes_->scan(mine_->given_back);
    }

   private:
    hazard* nodes_;
    record* mine_;
  };

  explicit hazard(Memory& memory) : memory_(&memory) {}
  hazard(const hazard&) = delete;
  hazard& operator=(const hazard&) = delete;
  ~hazard() {
    for (record* each = records_.load(std::memory_order_acquire); each != nullptr;) {
      for (const std::uint64_t node : each->given_back) give_back(node);
      delete std::exchange(each, each->next);
    }
  }

  [[nodiscard]] std::uint64_t obtain() {
    const auto result = reinterpret_cast<std::uintptr_t>(new Node);
    if (result >> number_bits != 0) std::abort();  // no system gives such an address unless it is asked to
    return result;
  }
  /// For a node that no other thread has seen.
  void give_back(std::uint64_t node) { delete &(*this)[node]; }
  [[nodiscard]] Node& operator[](std::uint64_t node) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of 64 bits is what all the lists know a node by
    return *reinterpret_cast<Node*>(static_cast<std::uintptr_t>(node));
  }

 private:
  [[nodiscard]] record& free_record() {
    for (record* each = records_.load(std::memory_order_acquire); each != nullptr; each = each->next)
      if (each->in_use.load(std::memory_order_relaxed) == 0 &&
          each->in_use.exchange(1, std::memory_order_acquire) == 0) {  // pairs with (3)
        try {
          make_room(each->given_back);
        } catch (...) {
          each->in_use.store(0, std::memory_order_release);  // as (3)
          throw;
        }
        return *each;
      }
    auto made = std::make_unique<record>();
    made->in_use.store(1, std::memory_order_relaxed);
    make_room(made->given_back);
    made->next = records_.load(std::memory_order_relaxed);
    while (!records_.compare_exchange_weak(made->next, made.get(), std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
    return *made.release();
  }
  /// Reserves room for the nodes that one operation gives back. There are more than `scan_after` only if
  /// guards hold that many.
  static void make_room(std::vector<std::uint64_t>& given_back) {
    const std::size_t needed = std::max(scan_after, given_back.size() + given_back_at_once);
    if (given_back.capacity() < needed) given_back.reserve(2 * needed);
  }
  void scan(std::vector<std::uint64_t>& given_back) {
    memory_->heavy_fence();  // (4)
    // The held nodes are copied in batches: each look costs a line that others write, and a batch needs no
    // allocation.
    std::array<std::uint64_t, 64> held{};
    auto free = given_back.begin();
    std::size_t count = 0;
    const auto keep_held = [&] {
      const auto end = held.begin() + static_cast<std::ptrdiff_t>(count);
      free = std::partition(free, given_back.end(),
                            [&](std::uint64_t node) { return std::find(held.begin(), end, node) != end; });
      count = 0;
    };
    for (record* each = records_.load(std::memory_order_acquire); each != nullptr; each = each->next)
      for (const auto& one : each->held) {
        held[count++] = one.load(std::memory_order_acquire);  // with (2)
        if (count == held.size()) keep_held();
      }
    keep_held();
    std::for_each(free, given_back.end(), [this](std::uint64_t node) { give_back(node); });
    given_back.erase(free, given_back.end());
  }

  static constexpr std::size_t given_back_at_once = 2;

  Memory* memory_;
  std::atomic<record*> records_{nullptr};
};

}  // namespace nearfar::list_nodes
