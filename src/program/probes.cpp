// Probes: what a receive would get, and the messages that a matched probe takes out of the queue.
#include <algorithm>
#include <string>

#include "messages.hpp"

namespace nearfar::program {

namespace {

class probe_step final : public step {
 public:
  probe_step(communicator& in, int receiver, int source, int tag, bool waits, bool takes) noexcept
      : in_(&in), receiver_(receiver), source_(source), tag_(tag), waits_(waits), takes_(takes) {}

  bool is_enabled() override { return !waits_ || candidates(-1, nullptr) > 0; }
  void touch(footprint& to) override {
    const int context = in_->number;
    if (source_ == MPI_ANY_SOURCE) {
      to.add(keys::messages(context, receiver_, 0), keys::messages(context, receiver_, most_ranks),
             effects::match);
      return;
    }
    const std::uint64_t key =
        keys::messages(context, receiver_, in_->remote(receiver_)[static_cast<std::size_t>(source_)]);
    to.add(key, key + 1, effects::match);
  }
  int choices() override { return std::max(1, candidates(-1, nullptr)); }
  void take(int choice) override {
    candidates(choice, &found);
    seen = found == nullptr ? 0 : static_cast<std::uint64_t>(found->source) + 1;
    changed = found != nullptr;
    if (found == nullptr || !takes_) return;
    std::erase(mailbox_of(*in_, receiver_).arrived, found);
    found->is_taken = true;
    found->taken_in = static_cast<int>(run().size());
  }
  void describe(std::string& to) const override {
    to += waits_ ? "waits for a message from " : "looks for a message from ";
    to += source_ == MPI_ANY_SOURCE ? "any rank" : "rank " + std::to_string(source_);
    if (tag_ != MPI_ANY_TAG) to += " with tag " + std::to_string(tag_);
  }
  message* found = nullptr;

 private:
  int candidates(int n, message** to) const {
    std::uint32_t senders = 0;
    int count = 0;
    for (message* one : mailbox_of(*in_, receiver_).arrived) {
      const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(one->sender);
      if ((source_ != MPI_ANY_SOURCE && source_ != one->source) ||
          (tag_ != MPI_ANY_TAG && tag_ != one->tag) || (senders & bit) != 0)
        continue;
      senders |= bit;
      if (count++ == n && to != nullptr) *to = one;
    }
    return count;
  }
  communicator* in_;
  int receiver_;
  int source_;
  int tag_;
  bool waits_;
  bool takes_;
};

/// The message that the probe finds, or null.
[[nodiscard]] message* probe(int source, int tag, MPI_Comm comm, MPI_Status* status, bool waits, bool takes) {
  communicator& in = communicator_of(comm);
  if (source != MPI_ANY_SOURCE &&
      (source < 0 || static_cast<std::size_t>(source) >= in.remote(self().number).size()))
    fail("argument", "the communicator has no rank " + std::to_string(source) + " (MPI_ERR_RANK)");
  probe_step looking(in, self().number, source, tag, waits, takes);
  run().perform(self(), looking);
  message* const found = looking.found;
  if (found == nullptr) return nullptr;
  self().knows.join(found->knew);
  run().depend(self(), found->flying->last_event);
  if (takes) found->taker_knew = self().publish();
  if (status != MPI_STATUS_IGNORE) {
    clear_status(*status, found->source, found->tag);
    set_status_bytes(*status, found->data.size());
  }
  return found;
}

[[nodiscard]] int receive_matched(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                                  MPI_Status* status) {
  MPI_Status ignored{};
  MPI_Status& to = status == MPI_STATUS_IGNORE ? ignored : *status;
  if (*message == MPI_MESSAGE_NO_PROC) {
    clear_status(to, MPI_PROC_NULL);
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
  }
  auto* const one = own().messages.find(*message);
  if (one == nullptr) fail("argument", "the message does not exist, or was received before");
  own().messages.remove(*message);
  *message = MPI_MESSAGE_NULL;
  return deliver(*one, *one->in, buf, static_cast<std::size_t>(count), usable_type(datatype), to);
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Probe);
  if (source == MPI_PROC_NULL) {
    if (status != MPI_STATUS_IGNORE) clear_status(*status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  static_cast<void>(probe(source, tag, comm, status, true, false));
  return MPI_SUCCESS;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Iprobe);
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    if (status != MPI_STATUS_IGNORE) clear_status(*status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  *flag = probe(source, tag, comm, status, false, false) != nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Mprobe);
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    if (status != MPI_STATUS_IGNORE) clear_status(*status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  *message = own().messages.add(probe(source, tag, comm, status, true, true));
  return MPI_SUCCESS;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Improbe);
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    if (status != MPI_STATUS_IGNORE) clear_status(*status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
  auto* const found = probe(source, tag, comm, status, false, true);
  *flag = found != nullptr ? 1 : 0;
  *message = found != nullptr ? own().messages.add(found) : MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

int MPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Mrecv);
  return receive_matched(buf, count, datatype, message, status);
}

int MPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Imrecv);
  const int code = receive_matched(buf, count, datatype, message, MPI_STATUS_IGNORE);
  *request = completed_request();
  return code;
}
}
