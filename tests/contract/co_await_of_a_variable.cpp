// error: passing .nearfar::detail::awaitable<.*discards qualifiers
#include <string>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/coroutine.hpp"

nearfar::task send(nearfar::channel<std::string>& to) {
#ifndef WRONG
  (void)co_await nearfar::async_send(to, "short of life");
#else
  auto later = nearfar::async_send(to, "short of life");
  (void)co_await later;
#endif
}
