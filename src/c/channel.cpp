#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "nearfar.h"
#include "nearfar/channel/byte_channel.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/queue/queue_operations.hpp"
#include "src/c/call.hpp"

using nearfar::c::patience;
using nearfar::c::with;

struct nearfar_channel {
  explicit nearfar_channel(const nearfar::byte_channel_size& size) : of(size) {}

  nearfar::byte_channel<> of;
};

namespace {

nearfar_status send(const char* function, nearfar_channel* channel, const void* item, std::size_t bytes,
                    patience how_long) {
  if (item == nullptr && bytes != 0) return nearfar::c::fail_by_null(function, "the item");
  return with(function, channel, [&](nearfar_channel& to) {
    const std::span<const std::byte> all(static_cast<const std::byte*>(item), bytes);
    return nearfar::c::status_of(
        how_long.run([&] { return to.of.try_send(all); }, [&] { return to.of.send(all); },
                     [&](std::chrono::nanoseconds span) { return to.of.send_for(all, span); }));
  });
}

nearfar_status receive(const char* function, nearfar_channel* channel, void* buffer, std::size_t buffer_bytes,
                       std::size_t* bytes, patience how_long) {
  if (buffer == nullptr) return nearfar::c::fail_by_null(function, "the place for the item");
  return with(function, channel, [&](nearfar_channel& from) {
    if (buffer_bytes < from.of.item_size())
      throw nearfar::misuse("items of this channel have up to " + std::to_string(from.of.item_size()) +
                            " bytes: receive into as many, not into " + std::to_string(buffer_bytes));
    const auto item = how_long.run([&] { return from.of.try_receive(); }, [&] { return from.of.receive(); },
                                   [&](std::chrono::nanoseconds span) { return from.of.receive_for(span); });
    if (!item) return nearfar::c::status_of(item.status());
    std::ranges::copy(item->bytes(), static_cast<std::byte*>(buffer));
    if (bytes != nullptr) *bytes = item->bytes().size();
    return NEARFAR_SUCCESS;
  });
}

}  // namespace

nearfar_status nearfar_channel_create(size_t item_bytes, size_t capacity, nearfar_channel** channel) {
  if (channel == nullptr) return nearfar::c::fail_by_null(__func__, "the place for the channel");
  *channel = nullptr;
  return nearfar::c::guarded(__func__, [&] {
    *channel = new nearfar_channel({.item_size = item_bytes, .capacity = capacity});
    return NEARFAR_SUCCESS;
  });
}

nearfar_status nearfar_channel_destroy(nearfar_channel** channel) {
  return nearfar::c::destroy(__func__, channel);
}

nearfar_status nearfar_channel_send(nearfar_channel* channel, const void* item, size_t bytes) {
  return send(__func__, channel, item, bytes, patience::for_ever());
}
nearfar_status nearfar_channel_try_send(nearfar_channel* channel, const void* item, size_t bytes) {
  return send(__func__, channel, item, bytes, patience::none());
}
nearfar_status nearfar_channel_send_for(nearfar_channel* channel, const void* item, size_t bytes,
                                        int64_t timeout_ns) {
  return send(__func__, channel, item, bytes, patience::of(timeout_ns));
}

nearfar_status nearfar_channel_receive(nearfar_channel* channel, void* buffer, size_t buffer_bytes,
                                       size_t* bytes) {
  return receive(__func__, channel, buffer, buffer_bytes, bytes, patience::for_ever());
}
nearfar_status nearfar_channel_try_receive(nearfar_channel* channel, void* buffer, size_t buffer_bytes,
                                           size_t* bytes) {
  return receive(__func__, channel, buffer, buffer_bytes, bytes, patience::none());
}
nearfar_status nearfar_channel_receive_for(nearfar_channel* channel, void* buffer, size_t buffer_bytes,
                                           size_t* bytes, int64_t timeout_ns) {
  return receive(__func__, channel, buffer, buffer_bytes, bytes, patience::of(timeout_ns));
}

nearfar_status nearfar_channel_close(nearfar_channel* channel) {
  return with(__func__, channel, [](nearfar_channel& of) {
    of.of.close();
    return NEARFAR_SUCCESS;
  });
}

nearfar_status nearfar_channel_reopen(nearfar_channel* channel) {
  return with(__func__, channel, [](nearfar_channel& of) {
    of.of.reopen();
    return NEARFAR_SUCCESS;
  });
}

nearfar_status nearfar_channel_is_closed(const nearfar_channel* channel, int* is_closed) {
  return nearfar::c::get(__func__, channel, is_closed,
                         [](const nearfar_channel& of) { return of.of.is_closed() ? 1 : 0; });
}

nearfar_status nearfar_channel_size_estimate(const nearfar_channel* channel, size_t* size) {
  return nearfar::c::get(__func__, channel, size, [](const nearfar_channel& of) { return of.of.peek(); });
}
