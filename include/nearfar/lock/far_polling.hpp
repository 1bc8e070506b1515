/// \file
/// Polling of a far word that any rank may change: in place on its owner's node, elsewhere by far operations.
#pragma once

#include <concepts>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// Waits until the predicate holds for the word. Returns whether it had to wait. `seen` takes the result of
/// the first far read; the caller must keep it alive as long as its other buffers.
template <world W, typename Segment, typename Words, typename V, std::predicate<V> Predicate>
bool await_polled(W& w, Segment& words, int owner, far<V> Words::*field, V& seen, Predicate predicate) {
  if (w.locality().same(level::node, w.rank(), owner)) {
    if (predicate(words.read_direct(owner, field))) return false;
    w.await_direct(words, owner, field, predicate);
  } else {
    words.fetch(owner, field, seen);
    words.flush(owner);
    if (predicate(seen)) return false;
    w.await_fetch(words, owner, field, predicate);
  }
  return true;
}

}  // namespace nearfar
