// Messages between ranks, from the send to the receive.
#pragma once

#include "requests.hpp"

namespace nearfar::program {

struct receive_request;

struct message {
  communicator* in = nullptr;
  int sender = 0;    ///< rank of MPI_COMM_WORLD
  int receiver = 0;  ///< rank of MPI_COMM_WORLD
  int source = 0;    ///< the sender's rank, as the receiver sees it
  int tag = 0;
  run_bytes data;
  const datatype* type = nullptr;
  std::size_t count = 0;
  vector_clock knew;
  site where;
  flight* flying = nullptr;
  bool has_arrived = false;
  bool is_taken = false;    ///< by a receive, or by a matched probe
  int taken_in = -1;        ///< the event in which it was taken
  vector_clock taker_knew;  ///< the receiver's knowledge when it posted its receive
};

/// Messages that have arrived and receives that wait, of one rank in one communicator, both in their order.
struct mailbox {
  run_vector<message*> in_flight;
  run_vector<message*> arrived;
  run_vector<receive_request*> waiting;
};

[[nodiscard]] mailbox& mailbox_of(communicator& in, int world_rank);

struct receive_request final : request {
  communicator* in = nullptr;
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  void* base = nullptr;
  std::size_t count = 0;
  const datatype* type = nullptr;
  message* got = nullptr;
  bool is_cancelled = false;
  vector_clock knew;
  std::uint64_t number = 0;
  int by_rank = 0;  ///< of MPI_COMM_WORLD

  bool is_complete() override { return got != nullptr || is_cancelled || source == MPI_PROC_NULL; }
  int finish(MPI_Status& status) override;
  void touch(footprint& to) override;
  void start() override;
  void cancel() override;
  void describe(std::string& to) const override;
  [[nodiscard]] bool matches(const message& one) const noexcept {
    return (source == MPI_ANY_SOURCE || source == one.source) && (tag == MPI_ANY_TAG || tag == one.tag);
  }
};

struct send_request final : request {
  communicator* in = nullptr;
  int destination = 0;
  int tag = 0;
  const void* base = nullptr;
  std::size_t count = 0;
  const datatype* type = nullptr;
  bool waits_for_receive = false;
  message* sent = nullptr;
  std::uint64_t number = 0;

  bool is_complete() override { return !waits_for_receive || sent == nullptr || sent->is_taken; }
  bool may_lag() override { return waits_for_receive && sent != nullptr; }
  void touch(footprint& to) override;
  int finish(MPI_Status& status) override;
  void start() override;
  void describe(std::string& to) const override;
};

/// The message is the receive's. `event`: in which it became so.
void give(message& one, receive_request& to, int event);
/// Tells the receiver's program what came.
[[nodiscard]] int deliver(message& one, communicator& in, void* base, std::size_t count, const datatype& type,
                          MPI_Status& status);

}  // namespace nearfar::program
