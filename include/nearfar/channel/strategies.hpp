/// \file
/// The strategies of channels by name, each a buffer for `channel` and `node_channel`: MPMC, and where a name
/// begins so for one receiver (mpsc) or also one sender (spsc).
///
/// Source: Laubert 2021, chapter 3; the names in brackets are those there.
#pragma once

#include <cstddef>

#include "nearfar/channel/flagged_ring.hpp"
#include "nearfar/channel/list_nodes.hpp"
#include "nearfar/channel/lock_free_list.hpp"
#include "nearfar/channel/locked_list.hpp"
#include "nearfar/channel/locked_ring.hpp"
#include "nearfar/channel/locks.hpp"
#include "nearfar/channel/mailbox.hpp"
#include "nearfar/channel/rendezvous.hpp"
#include "nearfar/channel/ring_buffer.hpp"
#include "nearfar/channel/segment_list.hpp"
#include "nearfar/channel/spsc_ring.hpp"  // IWYU pragma: export

namespace nearfar {

/// With one lock for each end: `ring_of<channel_lock::spin>::mpmc`, and `mailbox` of one place.
template <template <typename> typename Lock>
struct ring_of {
  template <typename Memory, typename T>
  using mpmc = locked_ring<Memory, T, Lock<Memory>, Lock<Memory>>;
  template <typename Memory, typename T>
  using mpsc = locked_ring<Memory, T, Lock<Memory>, channel_lock::none<Memory>>;
  template <typename Memory, typename T>
  using mailbox = locked_mailbox<Memory, T, Lock<Memory>>;
};

/// The same as lists, of nodes from there: `list_of<channel_lock::ticket, list_nodes::recycled>::mpmc`.
template <template <typename> typename Lock, template <typename, typename> typename Nodes>
struct list_of {
  template <typename Memory, typename T>
  using mpmc = locked_list<Memory, T, Lock<Memory>, Lock<Memory>, Nodes>;
  template <typename Memory, typename T>
  using mpsc = locked_list<Memory, T, Lock<Memory>, channel_lock::none<Memory>, Nodes>;
};

/// From one to one, of any number of messages.
template <template <typename, typename> typename Nodes>
struct spsc_list_of {
  template <typename Memory, typename T>
  using spsc = locked_list<Memory, T, channel_lock::none<Memory>, channel_lock::none<Memory>, Nodes>;
};

/// Places with flags (PA); `flags` has what there are.
template <template <typename> typename Flags>
struct flagged_by {
  template <typename Memory, typename T>
  using mpmc = flagged_ring<Memory, T, Flags, false>;
  template <typename Memory, typename T>
  using mpsc = flagged_ring<Memory, T, Flags, true>;
};

/// Without locks (LF LL).
template <template <typename, typename> typename Nodes>
struct lock_free_list_of {
  template <typename Memory, typename T>
  using mpmc = lock_free_list<Memory, T, Nodes>;
};

/// Without locks but where segments end: any number of messages if there is memory for them.
template <template <typename, typename> typename Nodes, std::size_t Places = 31>
struct segments_of {
  template <typename Memory, typename T>
  using mpmc = segment_list<Memory, T, Nodes, Places, false>;
  template <typename Memory, typename T>
  using mpsc = segment_list<Memory, T, Nodes, Places, true>;
};

}  // namespace nearfar
