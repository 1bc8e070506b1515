/// \file
/// Policies that keep concurrent operations of a `distributed_map` or a `linked_queue` apart.
///
/// A policy is a class with a member template `guards<W>`. Guards are made collectively, for a number of
/// parts at each rank; the parts are a map's buckets or a queue's elements. They run an operation on one
/// part: `reading(part, function)` and `writing(part, function)`. `scope` says how much one guard covers, so
/// that batches take it as seldom as possible, and change values in place where no other rank reads them
/// meanwhile.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// The part of the memory from which a guard keeps other ranks while it runs an operation.
enum class guard_scope : std::uint8_t { nothing, part, volume };

/// Guards nothing: words are changed by compare-and-swap.
struct lock_free {
  template <world W>
  class guards {
   public:
    static constexpr guard_scope scope = guard_scope::nothing;

    guards(W& /*w*/, std::size_t /*parts*/) {}

    template <std::invocable Function>
    auto reading(element /*part*/, const Function& function) {
      return function();
    }
    template <std::invocable Function>
    auto writing(element /*part*/, const Function& function) {
      return function();
    }
  };
};

/// A lock for each rank's volume, which consists of all of the rank's parts. The lock is made from a world
/// and the rank whose volume it guards, for example `lock_per_volume<rma_rw_lock>`. If it is
/// *SharedLockable*, operations that only read share it.
template <template <world> class Lock>
struct lock_per_volume {
  template <world W>
  class guards {
   public:
    static constexpr guard_scope scope = guard_scope::volume;

    guards(W& w, std::size_t /*parts*/) {
      for (int rank = 0; rank < w.size(); ++rank) locks_.push_back(std::make_unique<Lock<W>>(w, rank));
    }

    template <std::invocable Function>
    auto reading(element part, const Function& function) {
      if constexpr (requires(Lock<W>& of) { of.lock_shared(); }) {
        const std::shared_lock guard(lock(part.rank));
        return function();
      } else {
        return writing(part, function);
      }
    }
    template <std::invocable Function>
    auto writing(element part, const Function& function) {
      const std::unique_lock guard(lock(part.rank));
      return function();
    }

   private:
    [[nodiscard]] Lock<W>& lock(int rank) { return *locks_[static_cast<std::size_t>(rank)]; }

    std::vector<std::unique_ptr<Lock<W>>> locks_;
  };
};

/// A word for each part, which readers and writers alike take by test-and-set: 1 swap for each attempt and 1
/// accumulate to release it. Not fair.
struct lock_per_part {
  template <world W>
  class guards {
   public:
    static constexpr guard_scope scope = guard_scope::part;

    guards(W& w, std::size_t parts) : world_(&w), words_(w, parts) {}

    template <std::invocable Function>
    auto reading(element part, const Function& function) {
      const held guard(*this, part);
      return function();
    }
    template <std::invocable Function>
    auto writing(element part, const Function& function) {
      return reading(part, function);
    }

   private:
    struct word {
      far<std::uint64_t> is_taken;
    };
    // Origins of far operations, so they must be objects.
    static constexpr std::uint64_t no = 0;
    static constexpr std::uint64_t yes = 1;

    class held {
     public:
      held(guards& of, element part) : of_(&of), where_(part) {
        std::uint64_t before = yes;
        of.words_.swap(where_, &word::is_taken, yes, before);
        of.words_.flush(where_.rank);
        if (before == no) return;
        of.world_->await_swap(
            of.words_, where_, &word::is_taken, yes, [](std::uint64_t old) { return old == no; }, backoff{});
      }
      held(const held&) = delete;
      held& operator=(const held&) = delete;
      ~held() {
        [[maybe_unused]] const typename W::release_scope releasing(*of_->world_);
        of_->words_.accumulate(where_, &word::is_taken, no, far_op::replace);
        of_->words_.flush(where_.rank);
      }

     private:
      guards* of_;
      element where_;
    };

    W* world_;
    typename W::template far_array<word> words_;
  };
};
/// For a map.
using lock_per_bucket = lock_per_part;
/// For a queue.
using lock_per_element = lock_per_part;

}  // namespace nearfar
