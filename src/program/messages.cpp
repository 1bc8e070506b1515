#include "messages.hpp"

#include <algorithm>
#include <string>

#include "hooks.hpp"
#include "loops.hpp"

namespace nearfar::program {

namespace {

[[nodiscard]] std::uint64_t next_number() noexcept {
  static std::uint64_t numbers = std::uint64_t{1} << 60U;
  return ++numbers;
}

/// The way of a message to its receiver. Messages of one sender to one receiver do not overtake each other.
class arrival final : public step {
 public:
  explicit arrival(message& what) noexcept : what_(&what) {}

  bool is_enabled() override {
    for (const message* one : mailbox_of(*what_->in, what_->receiver).in_flight) {
      if (one == what_) return true;
      if (one->sender == what_->sender) return false;
    }
    return true;
  }
  void touch(footprint& to) override {
    const int context = what_->in->number;
    const std::uint64_t key = keys::messages(context, what_->receiver, what_->sender);
    to.add(key, key + 1, effects::arrive);
    // Where a receive of any source waits, the order in which messages arrive decides.
    const mailbox& box = mailbox_of(*what_->in, what_->receiver);
    const bool is_contested = std::any_of(
        box.waiting.begin(), box.waiting.end(),
        [&](const receive_request* one) { return one->source == MPI_ANY_SOURCE && one->matches(*what_); });
    const std::uint64_t any = keys::any_sender(context, what_->receiver);
    if (is_contested) to.add(any, any + 1, effects::write);
  }
  void take(int /*choice*/) override {
    mailbox& box = mailbox_of(*what_->in, what_->receiver);
    std::erase(box.in_flight, what_);
    what_->has_arrived = true;
    what_->flying->next = nullptr;
    for (receive_request* one : box.waiting)
      if (one->matches(*what_)) {
        std::erase(box.waiting, one);
        give(*what_, *one, static_cast<int>(run().size()));
        return;
      }
    box.arrived.push_back(what_);
  }
  void describe(std::string& to) const override {
    to += "arrival of the message with tag " + std::to_string(what_->tag) + " at rank " +
          std::to_string(what_->receiver);
  }
  [[nodiscard]] destination goes_to() const override { return {.rank = what_->receiver, .is_message = true}; }

 private:
  message* what_;
};

/// A receive of any source takes one of the messages that have arrived.
class any_source_step final : public step {
 public:
  any_source_step(receive_request& what, int receiver) noexcept : what_(&what), receiver_(receiver) {}
  void touch(footprint& to) override {
    const int context = what_->in->number;
    to.add(keys::messages(context, receiver_, 0), keys::messages(context, receiver_, most_ranks),
           effects::match);
    const std::uint64_t any = keys::any_sender(context, receiver_);
    to.add(any, any + 1, effects::write);
  }
  int choices() override { return std::max(1, candidates(-1, nullptr)); }
  void take(int choice) override {
    mailbox& box = mailbox_of(*what_->in, receiver_);
    message* one = nullptr;
    candidates(choice, &one);
    if (one == nullptr) {
      box.waiting.push_back(what_);
      return;
    }
    std::erase(box.arrived, one);
    give(*one, *what_, static_cast<int>(run().size()));
  }
  void describe(std::string& to) const override { to += "posts a receive of any source"; }

 private:
  /// The first message of each sender that matches. Counts them, and gives the n-th.
  int candidates(int n, message** to) const {
    std::uint32_t seen_senders = 0;
    int count = 0;
    for (message* one : mailbox_of(*what_->in, receiver_).arrived) {
      const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(one->sender);
      if (!what_->matches(*one) || (seen_senders & bit) != 0) continue;
      seen_senders |= bit;
      if (count++ == n) *to = one;
    }
    return count;
  }
  receive_request* what_;
  int receiver_;
};

}  // namespace

mailbox& mailbox_of(communicator& in, int world_rank) {
  mailbox*& one = in.boxes[static_cast<std::size_t>(world_rank)];
  if (one == nullptr) one = make_for_run<mailbox>();
  return *one;
}

void give(message& one, receive_request& to, int event) {
  to.got = &one;
  one.is_taken = true;
  one.taken_in = event;
  one.taker_knew = to.knew;
}

int deliver(message& one, communicator& in, void* base, std::size_t count, const datatype& type,
            MPI_Status& status) {
  clear_status(status, one.source, one.tag);
  rank& by = self();
  forget_turns(by);
  run().depend(by, one.flying->last_event);
  by.knows.join(one.knew);
  const std::size_t room = count * type.size;
  set_status_bytes(status, std::min(room, one.data.size()));
  if (one.data.size() > room) {
    unpack(one.data.data(), room, base, count, type);
    const involved sender{.rank = one.sender, .what = "sent it", .where = one.where};
    return error_of(&in, MPI_ERR_TRUNCATE,
                    "a message of " + std::to_string(one.data.size()) + " bytes from rank " +
                        std::to_string(one.source) + " does not fit into a receive of " +
                        std::to_string(room) + " bytes",
                    "MPI 4.1, section 3.2.2", &sender);
  }
  if (!have_same_signature(*one.type, one.count, type, count)) {
    fault what{.kind = "argument",
               .text = "the datatypes of a send and of its receive have different elements",
               .places = {},
               .rule = "Types of sender and receiver must match (MPI 4.1, section 3.3.1)"};
    what.places.push_back({.rank = by.number, .what = "receives", .where = by.here()});
    what.places.push_back({.rank = one.sender, .what = "sent", .where = one.where});
    fail(std::move(what));
  }
  for_each_piece(base, count, type,
                 [&, left = one.data.size()](std::uintptr_t at, std::size_t bytes, int) mutable {
                   const std::size_t n = std::min(left, bytes);
                   left -= n;
                   access_memory(reinterpret_cast<const void*>(at), n, true, nullptr);
                 });
  unpack(one.data.data(), one.data.size(), base, count, type);
  return MPI_SUCCESS;
}

int receive_request::finish(MPI_Status& status) {
  release_buffers(self(), number);
  if (is_cancelled) {
    clear_status(status);
    status.MPI_internal[2] = 1;
    return MPI_SUCCESS;
  }
  if (source == MPI_PROC_NULL) {
    clear_status(status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  return deliver(*got, *in, base, count, *type, status);
}

void receive_request::touch(footprint& to) {
  if (source == MPI_PROC_NULL) return;
  const int context = in->number;
  const int receiver = by_rank;
  if (source == MPI_ANY_SOURCE) {
    to.add(keys::messages(context, receiver, 0), keys::messages(context, receiver, most_ranks),
           effects::match);
    return;
  }
  const int sender = in->remote(receiver)[static_cast<std::size_t>(source)];
  const std::uint64_t key = keys::messages(context, receiver, sender);
  to.add(key, key + 1, effects::match);
}

void receive_request::cancel() {
  if (got != nullptr || source == MPI_PROC_NULL) return;
  std::erase(mailbox_of(*in, self().number).waiting, this);
  is_cancelled = true;
}

void receive_request::describe(std::string& to) const {
  to += "a message from ";
  to += source == MPI_ANY_SOURCE ? "any rank" : "rank " + std::to_string(source);
  if (tag != MPI_ANY_TAG) to += " with tag " + std::to_string(tag);
  to += " (" + std::string(call) + ")";
}

void receive_request::start() {
  got = nullptr;
  is_cancelled = false;
  number = next_number();
  by_rank = self().number;
  hold_buffer(self(), base, count, *type, true, number);
  knew = self().publish();
  if (source == MPI_PROC_NULL) return;
  if (source == MPI_ANY_SOURCE) {
    any_source_step taking(*this, self().number);
    run().perform(self(), taking);
    return;
  }
  mailbox& box = mailbox_of(*in, self().number);
  for (message* one : box.arrived)
    if (matches(*one)) {
      std::erase(box.arrived, one);
      give(*one, *this, self().last_event);
      return;
    }
  box.waiting.push_back(this);
}

void send_request::start() {
  rank& by = self();
  number = next_number();
  sent = nullptr;
  access_buffer(base, count, *type, false);
  if (destination == MPI_PROC_NULL) return;
  auto* const one = make_for_run<message>();
  sent = one;
  one->in = in;
  one->sender = by.number;
  one->receiver = in->remote(by.number)[static_cast<std::size_t>(destination)];
  one->source = in->rank_of(by.number);
  one->tag = tag;
  one->type = type;
  one->count = count;
  one->data.resize(count * type->size);
  pack(base, count, *type, one->data.data());
  one->where = by.here();
  one->knew = by.publish();
  hold_buffer(by, base, count, *type, false, number);
  mailbox_of(*in, one->receiver).in_flight.push_back(one);
  one->flying = &run().launch(by, *make_for_run<arrival>(*one));
}

/// Whether its message is taken, which may come with its arrival.
void send_request::touch(footprint& to) {
  if (!may_lag()) return;
  const std::uint64_t key = keys::messages(in->number, sent->receiver, sent->sender);
  to.add(key, key + 1, effects::read);
}

int send_request::finish(MPI_Status& status) {
  clear_status(status);
  rank& by = self();
  release_buffers(by, number);
  if (sent != nullptr && waits_for_receive) {
    run().depend(by, sent->taken_in);
    by.knows.join(sent->taker_knew);
  }
  return MPI_SUCCESS;
}

void send_request::describe(std::string& to) const {
  to += "rank " + std::to_string(destination) + " to receive a message with tag " + std::to_string(tag) +
        " (" + std::string(call) + ")";
}

namespace {

enum class mode : std::uint8_t { standard, buffered, synchronous, ready };

/// Makes a send of the arguments; null with `code` set if they are wrong.
[[nodiscard]] send_request* make_send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                                      MPI_Comm comm, mode how, int& code) {
  communicator& in = communicator_of(comm);
  code = MPI_SUCCESS;
  if (dest != MPI_PROC_NULL &&
      (dest < 0 || static_cast<std::size_t>(dest) >= in.remote(self().number).size()))
    code = error_of(&in, MPI_ERR_RANK, "the communicator has no rank " + std::to_string(dest));
  else if (tag < 0)
    code = error_of(&in, MPI_ERR_TAG, "the tag " + std::to_string(tag) + " is negative");
  else if (count < 0)
    code = error_of(&in, MPI_ERR_COUNT, "the count is negative");
  if (code != MPI_SUCCESS) return nullptr;
  auto* const one = make_for_run<send_request>();
  one->in = &in;
  one->destination = dest;
  one->tag = tag;
  one->base = buf;
  one->count = static_cast<std::size_t>(count);
  one->type = &usable_type(datatype);
  one->waits_for_receive = how == mode::synchronous || (how == mode::standard && run().chosen().sends_wait);
  if (how == mode::buffered && own().attached_buffer == nullptr && dest != MPI_PROC_NULL && count > 0) {
    code = error_of(&in, MPI_ERR_BUFFER, "no buffer for MPI_Bsend: call MPI_Buffer_attach before",
                    "MPI 4.1, section 3.6");
    return nullptr;
  }
  if (how == mode::ready && dest != MPI_PROC_NULL) {
    const int receiver = in.remote(self().number)[static_cast<std::size_t>(dest)];
    message like;
    like.source = in.rank_of(self().number);
    like.tag = tag;
    const mailbox& box = mailbox_of(in, receiver);
    if (std::none_of(box.waiting.begin(), box.waiting.end(),
                     [&](const receive_request* r) { return r->matches(like); })) {
      code =
          error_of(&in, MPI_ERR_OTHER,
                   "a ready send to rank " + std::to_string(dest) + ", which has not posted its receive yet",
                   "MPI 4.1, section 3.4");
      return nullptr;
    }
  }
  return one;
}

[[nodiscard]] receive_request* make_receive(void* buf, int count, MPI_Datatype datatype, int source, int tag,
                                            MPI_Comm comm, int& code) {
  communicator& in = communicator_of(comm);
  code = MPI_SUCCESS;
  if (source != MPI_PROC_NULL && source != MPI_ANY_SOURCE &&
      (source < 0 || static_cast<std::size_t>(source) >= in.remote(self().number).size()))
    code = error_of(&in, MPI_ERR_RANK, "the communicator has no rank " + std::to_string(source));
  else if (tag < 0 && tag != MPI_ANY_TAG)
    code = error_of(&in, MPI_ERR_TAG, "the tag " + std::to_string(tag) + " is negative");
  else if (count < 0)
    code = error_of(&in, MPI_ERR_COUNT, "the count is negative");
  if (code != MPI_SUCCESS) return nullptr;
  auto* const one = make_for_run<receive_request>();
  one->in = &in;
  one->source = source;
  one->tag = tag;
  one->base = buf;
  one->count = static_cast<std::size_t>(count);
  one->type = &usable_type(datatype);
  return one;
}

[[nodiscard]] int send_now(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, mode how) {
  int code = MPI_SUCCESS;
  send_request* const one = make_send(buf, count, datatype, dest, tag, comm, how, code);
  if (one == nullptr) return code;
  one->start();
  return complete_now(*one, MPI_STATUS_IGNORE);
}

[[nodiscard]] int start_send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                             MPI_Comm comm, mode how, MPI_Request* request, bool is_persistent) {
  int code = MPI_SUCCESS;
  send_request* const one = make_send(buf, count, datatype, dest, tag, comm,
                                      is_persistent && how == mode::ready ? mode::standard : how, code);
  if (one == nullptr) return code;
  one->is_persistent = is_persistent;
  one->is_active = !is_persistent;
  *request = add_request(*one);
  if (!is_persistent) one->start();
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the functions differ in name and mode alone.
#define NEARFAR_SEND(letter, how)                                                              \
  int MPI_##letter##send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, \
                         MPI_Comm comm) {                                                      \
    NEARFAR_MPI_CALL(MPI_##letter##send);                                                      \
    return send_now(buf, count, datatype, dest, tag, comm, how);                               \
  }

extern "C" {

int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  NEARFAR_MPI_CALL(MPI_Send);
  return send_now(buf, count, datatype, dest, tag, comm, mode::standard);
}

NEARFAR_SEND(B, mode::buffered)
NEARFAR_SEND(S, mode::synchronous)
NEARFAR_SEND(R, mode::ready)

#define NEARFAR_ISEND(name, how, persistent)                                                    \
  int name(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
           MPI_Request* request) {                                                              \
    NEARFAR_MPI_CALL(name);                                                                     \
    return start_send(buf, count, datatype, dest, tag, comm, how, request, persistent);         \
  }
NEARFAR_ISEND(MPI_Isend, mode::standard, false)
NEARFAR_ISEND(MPI_Ibsend, mode::buffered, false)
NEARFAR_ISEND(MPI_Issend, mode::synchronous, false)
NEARFAR_ISEND(MPI_Irsend, mode::ready, false)
NEARFAR_ISEND(MPI_Send_init, mode::standard, true)
NEARFAR_ISEND(MPI_Bsend_init, mode::buffered, true)
NEARFAR_ISEND(MPI_Ssend_init, mode::synchronous, true)
NEARFAR_ISEND(MPI_Rsend_init, mode::ready, true)

int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Recv);
  int code = MPI_SUCCESS;
  auto* const one = make_receive(buf, count, datatype, source, tag, comm, code);
  if (one == nullptr) return code;
  one->call = "MPI_Recv";
  one->start();
  return complete_now(*one, status);
}

int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Irecv);
  int code = MPI_SUCCESS;
  auto* const one = make_receive(buf, count, datatype, source, tag, comm, code);
  if (one == nullptr) return code;
  *request = add_request(*one);
  one->start();
  return MPI_SUCCESS;
}

int MPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Recv_init);
  int code = MPI_SUCCESS;
  auto* const one = make_receive(buf, count, datatype, source, tag, comm, code);
  if (one == nullptr) return code;
  one->is_persistent = true;
  one->is_active = false;
  *request = add_request(*one);
  return MPI_SUCCESS;
}

int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                 MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Sendrecv);
  int code = MPI_SUCCESS;
  auto* const receiving = make_receive(recvbuf, recvcount, recvtype, source, recvtag, comm, code);
  if (receiving == nullptr) return code;
  auto* const sending = make_send(sendbuf, sendcount, sendtype, dest, sendtag, comm, mode::standard, code);
  if (sending == nullptr) return code;
  receiving->start();
  sending->start();
  code = complete_now(*receiving, status);
  const int sent = complete_now(*sending, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : sent;
}

int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                         int recvtag, MPI_Comm comm, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Sendrecv_replace);
  int code = MPI_SUCCESS;
  auto* const sending = make_send(buf, count, datatype, dest, sendtag, comm, mode::standard, code);
  if (sending == nullptr) return code;
  sending->start();
  // The message has a copy, so the buffer is free.
  release_buffers(self(), sending->number);
  auto* const receiving = make_receive(buf, count, datatype, source, recvtag, comm, code);
  if (receiving == nullptr) return code;
  receiving->start();
  code = complete_now(*receiving, status);
  const int sent = complete_now(*sending, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : sent;
}

int MPI_Buffer_attach(void* buffer, int size) {
  NEARFAR_MPI_CALL(MPI_Buffer_attach);
  if (own().attached_buffer != nullptr)
    return error_of(mpi().world, MPI_ERR_BUFFER, "a buffer is attached already");
  own().attached_buffer = buffer;
  own().attached_bytes = size;
  return MPI_SUCCESS;
}

int MPI_Buffer_detach(void* buffer_addr, int* size) {
  NEARFAR_MPI_CALL(MPI_Buffer_detach);
  if (own().attached_buffer == nullptr) return error_of(mpi().world, MPI_ERR_BUFFER, "no buffer is attached");
  *static_cast<void**>(buffer_addr) = own().attached_buffer;
  *size = own().attached_bytes;
  own().attached_buffer = nullptr;
  return MPI_SUCCESS;
}
}
