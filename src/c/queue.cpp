#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "nearfar.h"
#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/queue/linked_queue.hpp"
#include "nearfar/queue/queue_operations.hpp"
#include "nearfar/queue/ticket_queue.hpp"
#include "src/c/call.hpp"
#include "src/c/world.hpp"

using nearfar::c::patience;
using nearfar::c::with_mpi;

/// A queue of items whose size is known only at run time.
struct nearfar_queue {
  nearfar_queue() = default;
  nearfar_queue(const nearfar_queue&) = delete;
  nearfar_queue& operator=(const nearfar_queue&) = delete;
  virtual ~nearfar_queue() = default;

  virtual nearfar::queue_status push(const void* item, patience how_long) = 0;
  virtual nearfar::queue_status pop(void* item, patience how_long) = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual std::size_t size_estimate() = 0;
};

namespace {

template <std::size_t Bytes>
using bytes = std::array<std::byte, Bytes>;
template <std::size_t Bytes>
using ticket_queue = nearfar::ticket_queue<nearfar::mpi::world, bytes<Bytes>>;
template <std::size_t Bytes>
using lockfree_queue = nearfar::lockfree_queue<nearfar::mpi::world, bytes<Bytes>>;

/// Items occupy the first bytes of the queue's values.
template <typename Queue>
class queue_of final : public nearfar_queue {
  using value_type = typename Queue::value_type;

 public:
  queue_of(nearfar_world& w, std::size_t item_bytes, std::size_t capacity)
      : in_(w), item_bytes_(item_bytes), queue_(w.of, {.capacity = capacity}) {}

  nearfar::queue_status push(const void* item, patience how_long) override {
    value_type value{};
    std::memcpy(value.data(), item, item_bytes_);
    return how_long.run([&] { return queue_.try_push(value); }, [&] { return queue_.push(value); },
                        [&](std::chrono::nanoseconds span) { return queue_.push_for(value, span); });
  }
  nearfar::queue_status pop(void* item, patience how_long) override {
    const nearfar::popped<value_type> value =
        how_long.run([&] { return queue_.try_pop(); }, [&] { return queue_.pop(); },
                     [&](std::chrono::nanoseconds span) { return queue_.pop_for(span); });
    if (value) std::memcpy(item, value->data(), item_bytes_);
    return value.status();
  }
  void close() override { queue_.close(); }
  [[nodiscard]] std::size_t size_estimate() override { return queue_.size_estimate(); }

 private:
  nearfar::c::resident in_;
  std::size_t item_bytes_;
  Queue queue_;
};

/// Makes a queue with the smallest value type that holds the items.
template <template <std::size_t> typename Queue, std::size_t... Sizes>
std::unique_ptr<nearfar_queue> make(nearfar_world& w, std::size_t item_bytes, std::size_t capacity,
                                    std::index_sequence<Sizes...> /*ascending*/) {
  std::unique_ptr<nearfar_queue> made;
  static_cast<void>(((item_bytes <= Sizes &&
                      (made = std::make_unique<queue_of<Queue<Sizes>>>(w, item_bytes, capacity), true)) ||
                     ...));
  return made;
}

std::unique_ptr<nearfar_queue> make(nearfar_world& w, int kind, std::size_t item_bytes,
                                    std::size_t capacity) {
  using sizes = std::index_sequence<8, 16, 64, 256, NEARFAR_QUEUE_MAX_ITEM_BYTES>;
  // Compares arguments before any check that only some ranks might fail.
  nearfar::expect_alike(w.of, "a nearfar_queue",
                        {{"kind", kind}, {"item_bytes", static_cast<std::int64_t>(item_bytes)}});
  if (item_bytes < 1 || item_bytes > NEARFAR_QUEUE_MAX_ITEM_BYTES)
    throw nearfar::misuse("items of a queue have 1 to " + std::to_string(NEARFAR_QUEUE_MAX_ITEM_BYTES) +
                          " bytes, not " + std::to_string(item_bytes));
  switch (kind) {
    case NEARFAR_QUEUE_TICKET:
      return make<ticket_queue>(w, item_bytes, capacity, sizes());
    case NEARFAR_QUEUE_LOCK_FREE:
      return make<lockfree_queue>(w, item_bytes, capacity, sizes());
  }
  throw nearfar::misuse("there is no kind of queue " + std::to_string(kind) +
                        ": give NEARFAR_QUEUE_TICKET or NEARFAR_QUEUE_LOCK_FREE");
}

nearfar_status push(const char* function, nearfar_queue* queue, const void* item, patience how_long) {
  if (item == nullptr) return nearfar::c::fail_by_null(function, "the item");
  return with_mpi(function, queue,
                  [&](nearfar_queue& of) { return nearfar::c::status_of(of.push(item, how_long)); });
}

nearfar_status pop(const char* function, nearfar_queue* queue, void* item, patience how_long) {
  if (item == nullptr) return nearfar::c::fail_by_null(function, "the place for the item");
  return with_mpi(function, queue,
                  [&](nearfar_queue& of) { return nearfar::c::status_of(of.pop(item, how_long)); });
}

}  // namespace

nearfar_status nearfar_queue_create(nearfar_world* world, int kind, size_t item_bytes, size_t capacity,
                                    nearfar_queue** queue) {
  return nearfar::c::create(__func__, world, queue, "the place for the queue",
                            [&](nearfar_world& w) { return make(w, kind, item_bytes, capacity).release(); });
}

nearfar_status nearfar_queue_destroy(nearfar_queue** queue) { return nearfar::c::destroy(__func__, queue); }

nearfar_status nearfar_queue_push(nearfar_queue* queue, const void* item) {
  return push(__func__, queue, item, patience::for_ever());
}
nearfar_status nearfar_queue_try_push(nearfar_queue* queue, const void* item) {
  return push(__func__, queue, item, patience::none());
}
nearfar_status nearfar_queue_push_for(nearfar_queue* queue, const void* item, int64_t timeout_ns) {
  return push(__func__, queue, item, patience::of(timeout_ns));
}

nearfar_status nearfar_queue_pop(nearfar_queue* queue, void* item) {
  return pop(__func__, queue, item, patience::for_ever());
}
nearfar_status nearfar_queue_try_pop(nearfar_queue* queue, void* item) {
  return pop(__func__, queue, item, patience::none());
}
nearfar_status nearfar_queue_pop_for(nearfar_queue* queue, void* item, int64_t timeout_ns) {
  return pop(__func__, queue, item, patience::of(timeout_ns));
}

nearfar_status nearfar_queue_close(nearfar_queue* queue) {
  return with_mpi(__func__, queue, [](nearfar_queue& of) {
    of.close();
    return NEARFAR_SUCCESS;
  });
}

nearfar_status nearfar_queue_size_estimate(nearfar_queue* queue, size_t* size) {
  if (size == nullptr) return nearfar::c::fail_by_null(__func__, "the place for the size");
  return with_mpi(__func__, queue, [&](nearfar_queue& of) {
    *size = of.size_estimate();
    return NEARFAR_SUCCESS;
  });
}
