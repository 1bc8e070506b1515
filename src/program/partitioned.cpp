// Partitioned communication: a persistent send whose parts the program makes ready one after the other.
#include <algorithm>
#include <string>

#include "hooks.hpp"
#include "messages.hpp"

namespace nearfar::program {

namespace {

/// Partitioned messages match each other alone, so they have a context of their own.
[[nodiscard]] communicator& twin_of(communicator& in) {
  communicator*& twin = mpi().meetings[{in.number, -1, 0, 0}];
  if (twin == nullptr) twin = make_communicator(in.members);
  return *twin;
}

/// The buffer of one partition after the other.
struct partitions {
  std::byte* base = nullptr;
  int number = 0;
  std::size_t count = 0;  ///< elements of each
  const datatype* type = nullptr;
  [[nodiscard]] const void* at(int i) const noexcept {
    return base + static_cast<MPI_Aint>(count) * i * type->extent;
  }
};

[[noreturn]] void report(const char* what) { fail("argument", what, nullptr, "MPI 4.1, section 4.2"); }

struct partitioned_send final : request {
  partitions of;
  send_request whole;
  run_vector<bool> is_ready;

  bool is_complete() override { return missing() == 0 && whole.is_complete(); }
  int finish(MPI_Status& status) override {
    const int code = whole.finish(status);
    status.MPI_TAG = whole.tag;
    return code;
  }
  void start() override {
    is_ready.assign(static_cast<std::size_t>(of.number), false);
    whole.sent = nullptr;
    if (of.number == 0) whole.start();
  }
  void describe(std::string& to) const override {
    if (missing() > 0)
      to += "MPI_Pready of " + std::to_string(missing()) + " of its own partitions";
    else
      whole.describe(to);
  }
  void make_ready(int partition) {
    if (!is_active) report("the partitioned send is not active: call MPI_Start before");
    if (partition < 0 || partition >= of.number) report("the send has no such partition");
    if (is_ready[static_cast<std::size_t>(partition)]) report("the partition is ready already");
    is_ready[static_cast<std::size_t>(partition)] = true;
    access_buffer(of.at(partition), of.count, *of.type, false);
    if (missing() == 0) {
      release_buffers(self(), whole.number);
      whole.start();
    } else {
      hold_buffer(self(), of.at(partition), of.count, *of.type, false, whole.number);
    }
  }

 private:
  [[nodiscard]] std::ptrdiff_t missing() const { return std::count(is_ready.begin(), is_ready.end(), false); }
};

struct partitioned_receive final : request {
  receive_request whole;
  int number = 0;
  bool is_delivered = false;
  MPI_Status got{};

  bool is_complete() override { return whole.is_complete(); }
  int finish(MPI_Status& status) override {
    const int code = deliver();
    status = got;
    return code;
  }
  void touch(footprint& to) override { whole.touch(to); }
  void start() override {
    is_delivered = false;
    whole.start();
  }
  void describe(std::string& to) const override { whole.describe(to); }
  /// The data are in the program's memory as soon as it knows that they have arrived.
  int deliver() {
    if (is_delivered) return MPI_SUCCESS;
    is_delivered = true;
    return whole.finish(got);
  }
};

[[nodiscard]] int check(communicator& in, int partitions, MPI_Count count, int other, int tag) {
  if (partitions < 0 || count < 0)
    return error_of(&in, MPI_ERR_COUNT, "the number of partitions or their count is negative");
  if (other != MPI_PROC_NULL && (other < 0 || static_cast<std::size_t>(other) >= in.members.size()))
    return error_of(&in, MPI_ERR_RANK, "the communicator has no rank " + std::to_string(other));
  if (tag < 0) return error_of(&in, MPI_ERR_TAG, "the tag " + std::to_string(tag) + " is negative");
  if (in.is_inter)
    fail("missing", "partitioned communication between groups is not supported by the checker");
  return MPI_SUCCESS;
}

void make(request& one, MPI_Request* request) {
  one.is_persistent = true;
  one.is_active = false;
  *request = add_request(one);
}

[[nodiscard]] partitioned_send& send_of(MPI_Request handle) {
  auto* const one = dynamic_cast<partitioned_send*>(&request_of(handle));
  if (one == nullptr) report("the request is no partitioned send");
  return *one;
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Info, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Psend_init);
  communicator& in = communicator_of(comm);
  if (const int code = check(in, partitions, count, dest, tag); code != MPI_SUCCESS) return code;
  auto* const one = make_for_run<partitioned_send>();
  const auto n = static_cast<std::size_t>(count);
  one->of = {static_cast<std::byte*>(const_cast<void*>(buf)), partitions, n, &usable_type(datatype)};
  one->whole.call = "MPI_Psend_init";
  one->whole.in = &twin_of(in);
  one->whole.destination = dest;
  one->whole.tag = tag;
  one->whole.base = buf;
  one->whole.count = n * static_cast<std::size_t>(partitions);
  one->whole.type = one->of.type;
  one->whole.waits_for_receive = run().chosen().sends_wait;
  make(*one, request);
  return MPI_SUCCESS;
}

int MPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Info, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Precv_init);
  communicator& in = communicator_of(comm);
  if (const int code = check(in, partitions, count, source, tag); code != MPI_SUCCESS) return code;
  auto* const one = make_for_run<partitioned_receive>();
  one->number = partitions;
  one->whole.call = "MPI_Precv_init";
  one->whole.in = &twin_of(in);
  one->whole.source = source;
  one->whole.tag = tag;
  one->whole.base = buf;
  one->whole.count = static_cast<std::size_t>(count) * static_cast<std::size_t>(partitions);
  one->whole.type = &usable_type(datatype);
  make(*one, request);
  return MPI_SUCCESS;
}

int MPI_Pready(int partition, MPI_Request request) {
  NEARFAR_MPI_CALL(MPI_Pready);
  send_of(request).make_ready(partition);
  return MPI_SUCCESS;
}

int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
  NEARFAR_MPI_CALL(MPI_Pready_range);
  for (int i = partition_low; i <= partition_high; ++i) send_of(request).make_ready(i);
  return MPI_SUCCESS;
}

int MPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  NEARFAR_MPI_CALL(MPI_Pready_list);
  for (int i = 0; i < length; ++i) send_of(request).make_ready(array_of_partitions[i]);
  return MPI_SUCCESS;
}

int MPI_Parrived(MPI_Request request, int partition, int* flag) {
  NEARFAR_MPI_CALL(MPI_Parrived);
  auto* const one = dynamic_cast<partitioned_receive*>(&request_of(request));
  if (one == nullptr) report("the request is no partitioned receive");
  if (partition < 0 || partition >= one->number) report("the receive has no such partition");
  *flag = 1;
  if (!one->is_active || one->is_delivered) return MPI_SUCCESS;
  *flag = look_at(request) ? 1 : 0;
  return *flag != 0 ? one->deliver() : MPI_SUCCESS;
}
}
