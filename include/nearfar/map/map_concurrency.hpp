/// \file
/// How the operations of a `distributed_map` that meet are kept apart.
///
/// A policy is a class with a member template `guards<W>`, which is made collectively, for the map's buckets
/// of each rank, and runs what the map does to one of them: `reading(chain, function)` and `writing(chain,
/// function)`. Its `scope` says how much one guard covers, so that batches take it as seldom as they can, and
/// values are changed in place where nobody reads them meanwhile.
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
#include "nearfar/map/far_chains.hpp"

namespace nearfar {

/// What is kept from others while a guard runs something.
enum class guard_scope : std::uint8_t { nothing, bucket, volume };

/// Nothing is: the chains are changed by compare-and-swap.
struct lock_free {
  template <world W>
  class guards {
   public:
    static constexpr guard_scope scope = guard_scope::nothing;

    guards(W& /*w*/, std::size_t /*buckets*/) {}

    template <std::invocable Function>
    auto reading(detail::chain /*in*/, const Function& function) {
      return function();
    }
    template <std::invocable Function>
    auto writing(detail::chain /*in*/, const Function& function) {
      return function();
    }
  };
};

/// A reader-writer lock for each rank's volume, which is *SharedLockable*, made from a world and the rank
/// whose volume it is for: `lock_per_volume<rma_rw_lock>`, say, as in the paper.
template <template <world> class Lock>
struct lock_per_volume {
  template <world W>
  class guards {
   public:
    static constexpr guard_scope scope = guard_scope::volume;

    guards(W& w, std::size_t /*buckets*/) {
      for (int rank = 0; rank < w.size(); ++rank) locks_.push_back(std::make_unique<Lock<W>>(w, rank));
    }

    template <std::invocable Function>
    auto reading(detail::chain in, const Function& function) {
      const std::shared_lock guard(lock(in.rank));
      return function();
    }
    template <std::invocable Function>
    auto writing(detail::chain in, const Function& function) {
      const std::unique_lock guard(lock(in.rank));
      return function();
    }

   private:
    [[nodiscard]] Lock<W>& lock(int rank) { return *locks_[static_cast<std::size_t>(rank)]; }

    std::vector<std::unique_ptr<Lock<W>>> locks_;
  };
};

/// A word for each bucket, which readers and writers alike take by test-and-set: 1 swap for each attempt and
/// 1 accumulate to give it back. Not fair.
struct lock_per_bucket {
  template <world W>
  class guards {
   public:
    static constexpr guard_scope scope = guard_scope::bucket;

    guards(W& w, std::size_t buckets) : world_(&w), words_(w, buckets) {}

    template <std::invocable Function>
    auto reading(detail::chain in, const Function& function) {
      const held guard(*this, in);
      return function();
    }
    template <std::invocable Function>
    auto writing(detail::chain in, const Function& function) {
      return reading(in, function);
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
      held(guards& of, detail::chain in) : of_(&of), where_(in.rank, in.bucket) {
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

}  // namespace nearfar
