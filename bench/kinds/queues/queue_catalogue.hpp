/// \file
/// The registry of distributed queues.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "bench/kinds/queues/any_queue.hpp"
#include "bench/registry.hpp"

namespace nearfar::bench {

/// One set of values for all queues.
struct queue_parameters {
  std::size_t capacity = 0;  ///< elements per rank
};

/// Queues, as a kind of registered objects.
struct registered_queues {
  template <typename W>
  using any = any_queue<W>;
  using parameters = queue_parameters;
  struct bypass {};
};

/// One registered queue.
using queue_entry = entry<registered_queues>;

/// All registered queues.
class queue_catalogue : public registry<queue_entry> {
 public:
  /// The one catalogue, made at first use.
  static const queue_catalogue& instance();

  /// Whether home alone pops, and the next rank alone pushes.
  [[nodiscard]] bool is_one_to_one(const std::string& name) const { return one_to_one_.contains(name); }
  void set_one_to_one(const std::string& name) { one_to_one_.insert(name); }

 private:
  queue_catalogue();

  std::set<std::string> one_to_one_;
};

/// Collective, like the construction of the queue.
template <typename Queue, typename W>
[[nodiscard]] std::unique_ptr<any_queue<W>> make_any_queue(W& w, const typename Queue::parameters& of) {
  return std::make_unique<any_queue_of<W, Queue>>(w, of);
}

// One function for each family, in bench/kinds/queues/.
void add_ticket_queue(queue_catalogue& to);
void add_linked_queues(queue_catalogue& to);
void add_central_queue(queue_catalogue& to);
void add_spsc_queue(queue_catalogue& to);

}  // namespace nearfar::bench
