/// \file
/// The strategies of channels by name, each a buffer for `channel` and `node_channel`. They are MPMC, except
/// where a name begins with mpsc (one receiver) or spsc (one sender and one receiver).
///
/// Source: Laubert 2021, chapter 3; the names in brackets are those there.
#pragma once

#include <cstddef>

#include "nearfar/channel/flagged_ring.hpp"
#include "nearfar/channel/headless_ring.hpp"  // IWYU pragma: export
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

/// A ring with one lock for each end: `ring_of<channel_lock::spin>::mpmc`; and `mailbox`, with a single
/// place.
template <template <typename> typename Lock>
struct ring_of {
  template <typename Memory, typename T>
  using mpmc = locked_ring<Memory, T, Lock<Memory>, Lock<Memory>>;
  template <typename Memory, typename T>
  using mpsc = locked_ring<Memory, T, Lock<Memory>, channel_lock::none<Memory>>;
  template <typename Memory, typename T>
  using mailbox = locked_mailbox<Memory, T, Lock<Memory>>;
};

/// The same as a list, with the given nodes: `list_of<channel_lock::ticket, list_nodes::recycled>::mpmc`.
template <template <typename> typename Lock, template <typename, typename> typename Nodes>
struct list_of {
  template <typename Memory, typename T>
  using mpmc = locked_list<Memory, T, Lock<Memory>, Lock<Memory>, Nodes>;
  template <typename Memory, typename T>
  using mpsc = locked_list<Memory, T, Lock<Memory>, channel_lock::none<Memory>, Nodes>;
};

/// From one sender to one receiver; with nodes of the heap, any number of messages.
template <template <typename, typename> typename Nodes>
struct spsc_list_of {
  template <typename Memory, typename T>
  using spsc = locked_list<Memory, T, channel_lock::none<Memory>, channel_lock::none<Memory>, Nodes>;
};

/// Places with flags (PA), one of the namespace `flags`.
template <template <typename> typename Flags>
struct flagged_by {
  template <typename Memory, typename T>
  using mpmc = flagged_ring<Memory, T, Flags, false>;
  template <typename Memory, typename T>
  using mpsc = flagged_ring<Memory, T, Flags, true>;
};

/// A list without locks (LF LL).
template <template <typename, typename> typename Nodes>
struct lock_free_list_of {
  template <typename Memory, typename T>
  using mpmc = lock_free_list<Memory, T, Nodes>;
  template <typename Memory, typename T>
  using mpsc = lock_free_list<Memory, T, Nodes, true>;
};

/// A list of segments, without locks except where a segment ends. With nodes of the heap, memory alone limits
/// the number of messages.
template <template <typename, typename> typename Nodes, std::size_t Places = 31>
struct segments_of {
  template <typename Memory, typename T>
  using mpmc = segment_list<Memory, T, Nodes, Places, false>;
  template <typename Memory, typename T>
  using mpsc = segment_list<Memory, T, Nodes, Places, true>;
};

}  // namespace nearfar
