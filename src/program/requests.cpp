#include "requests.hpp"

#include <cstring>

namespace nearfar::program {

namespace {

struct done_request final : request {
  bool is_complete() override { return true; }
  int finish(MPI_Status& status) override {
    clear_status(status, MPI_PROC_NULL);
    return MPI_SUCCESS;
  }
};

struct rma_request final : request {
  explicit rma_request(rma_operation& what) noexcept : of(&what) {}
  /// Its data must come. Another operation is complete for the origin before it arrives, if ever.
  void want() override {
    if (of->fetches()) of->want();
  }
  bool is_complete() override { return of->is_delivered || !of->fetches() || of->is_locally_complete; }
  bool may_lag() override { return !of->fetches(); }
  int finish(MPI_Status& status) override {
    clear_status(status);
    rank& by = self();
    if (of->is_delivered) run().depend(by, of->flying->last_event);
    ++by.knows[by.number];
    complete_locally(*of);
    if (of->what == rma_operation::kind::get) std::erase(of->at->mine().open, of);
    return MPI_SUCCESS;
  }
  void touch(footprint& to) override {
    if (!of->fetches()) return;
    for (const rma_operation::piece& piece : of->pieces)
      to.add(piece.at, piece.at + piece.bytes, effects::write);
  }
  rma_operation* of;
};

/// Waits until one or all of some requests are complete.
class request_wait final : public step {
 public:
  request_wait(const MPI_Request* all, int count, bool any) noexcept : all_(all), count_(count), any_(any) {
    changed = false;
    for (int i = 0; i < count_; ++i)
      if (request* const one = at(i); one != nullptr) one->want();
  }
  bool is_enabled() override {
    for (int i = 0; i < count_; ++i) {
      request* const one = at(i);
      if (one == nullptr) continue;
      if (one->is_complete() == any_) return any_;
    }
    return !any_;
  }
  void touch(footprint& to) override {
    if (any_)
      for (int i = 0; i < count_; ++i)
        if (request* const one = at(i)) one->touch(to);
  }
  int choices() override { return any_ ? complete() : 1; }
  void take(int choice) override {
    if (any_) chosen = nth_complete(choice);
    seen = static_cast<std::uint64_t>(chosen) + 2;
  }
  void describe(std::string& to) const override {
    bool waits = false;
    for (int i = 0; i < count_; ++i)
      if (request* const one = at(i); one != nullptr && !one->is_complete()) waits = true;
    if (!waits) {
      to += "completes requests";
      return;
    }
    to += any_ ? "waits for any of " : "waits for ";
    bool is_first = true;
    for (int i = 0; i < count_; ++i)
      if (request* const one = at(i); one != nullptr && !one->is_complete()) {
        if (!is_first) to += ", ";
        is_first = false;
        one->describe(to);
      }
  }
  int chosen = -1;
  [[nodiscard]] int count() const noexcept { return count_; }

  /// Null for a request that takes no part.
  [[nodiscard]] request* at(int i) const {
    if (all_[i] == MPI_REQUEST_NULL) return nullptr;
    request* const one = state_of(*by_).requests.find(all_[i]);
    return one != nullptr && one->is_active ? one : nullptr;
  }
  [[nodiscard]] bool awaits_arrivals() const {
    for (int i = 0; i < count_; ++i)
      if (request* const one = at(i); one != nullptr && one->awaits_arrivals()) return true;
    return false;
  }
  [[nodiscard]] int complete() const {
    int n = 0;
    for (int i = 0; i < count_; ++i)
      if (request* const one = at(i); one != nullptr && one->is_complete()) ++n;
    return n;
  }
  [[nodiscard]] int nth_complete(int n) const {
    for (int i = 0; i < count_; ++i)
      if (request* const one = at(i); one != nullptr && one->is_complete() && n-- == 0) return i;
    return -1;
  }

 private:
  const MPI_Request* all_;
  int count_;
  bool any_;
  rank* by_ = current;
};

/// Looks which requests are complete, and does not wait.
class request_test final : public step {
 public:
  request_test(const MPI_Request* all, int count, bool needs_all) noexcept
      : those(all, count, !needs_all), needs_all_(needs_all) {}
  void touch(footprint& to) override {
    for (int i = 0; i < those.count(); ++i)
      if (request* const one = those.at(i)) one->touch(to);
  }
  /// Where collectives wait, the ranks that are missing come first, if they can.
  bool is_last_resort() override {
    return run().chosen().collectives_wait && !those.is_enabled() && those.awaits_arrivals();
  }
  /// Each that is complete, and last that MPI does not say so yet, once for each request.
  int choices() override { return outcomes() + (those.is_enabled() && may_lag() ? 1 : 0); }
  void take(int choice) override {
    const bool lags = choice == outcomes();
    is_met = those.is_enabled() && !lags;
    if (lags) note_lag();
    awaits_arrivals = !is_met && those.awaits_arrivals();
    if (!needs_all_ && is_met) chosen = those.nth_complete(choice);
    seen = (is_met ? 1U : 0U) + 2 * static_cast<std::uint64_t>(chosen + 1);
    changed = is_met || lags;  // so that the turn of a loop with a lag is like no other
  }
  void describe(std::string& to) const override { to += "tests requests"; }
  request_wait those;
  bool is_met = false;
  int chosen = -1;

 private:
  [[nodiscard]] int outcomes() const { return needs_all_ ? 1 : std::max(1, those.complete()); }
  [[nodiscard]] bool may_lag() const {
    if (!run().how().has_lag) return false;
    bool may = false;
    for (int i = 0; i < those.count(); ++i)
      if (request* const one = those.at(i); one != nullptr && one->is_complete()) {
        if (one->has_lagged) return false;
        may = may || one->may_lag();
      }
    return may;
  }
  void note_lag() {
    for (int i = 0; i < those.count(); ++i)
      if (request* const one = those.at(i); one != nullptr && one->is_complete()) one->has_lagged = true;
  }
  bool needs_all_;
};

/// Whether any of the requests takes part.
[[nodiscard]] bool has_active(const MPI_Request* all, int count) {
  for (int i = 0; i < count; ++i)
    if (all[i] != MPI_REQUEST_NULL && request_of(all[i]).is_active) return true;
  return false;
}

/// Completes a request that `is_complete`, and takes its handle back.
[[nodiscard]] int finish(MPI_Request& handle, MPI_Status* status) {
  MPI_Status ignored{};
  MPI_Status& to = status == MPI_STATUS_IGNORE ? ignored : *status;
  if (handle == MPI_REQUEST_NULL) {
    clear_status(to);
    return MPI_SUCCESS;
  }
  request& one = request_of(handle);
  if (!one.is_active) {
    clear_status(to);
    return MPI_SUCCESS;
  }
  const int code = one.finish(to);
  one.is_active = false;
  if (one.is_persistent) return code;
  own().requests.remove(handle);
  handle = MPI_REQUEST_NULL;
  return code;
}

[[nodiscard]] MPI_Status* nth(MPI_Status* all, int i) noexcept {
  return all == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : all + i;
}

[[nodiscard]] int finish_all(MPI_Request* all, int count, MPI_Status* statuses) {
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (const int code = finish(all[i], nth(statuses, i)); code != MPI_SUCCESS) {
      if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = code;
      result = MPI_ERR_IN_STATUS;
    }
  return result;
}

void check_requests(const MPI_Request* all, int count) {
  for (int i = 0; i < count; ++i)
    if (all[i] != MPI_REQUEST_NULL) static_cast<void>(request_of(all[i]));
}

}  // namespace

MPI_Request add_request(request& one) {
  one.call = self().call;
  one.made = self().here();
  return one.handle = own().requests.add(&one);
}

MPI_Request completed_request() { return add_request(*make_for_run<done_request>()); }
MPI_Request add_rma_request(rma_operation& one) { return add_request(*make_for_run<rma_request>(one)); }

request& request_of(MPI_Request handle) {
  request* const one = own().requests.find(handle);
  if (one == nullptr) fail("argument", "the request does not exist, or is complete already");
  return *one;
}

void clear_status(MPI_Status& status, int source, int tag) noexcept {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  status.MPI_ERROR = MPI_SUCCESS;
  std::memset(status.MPI_internal, 0, sizeof status.MPI_internal);
}

void set_status_bytes(MPI_Status& status, std::size_t bytes) noexcept {
  std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
}

std::size_t status_bytes(const MPI_Status& status) noexcept {
  std::size_t bytes = 0;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}

bool look_at(MPI_Request handle) {
  request_test testing(&handle, 1, true);
  run().perform(self(), testing);
  return testing.is_met;
}

namespace {

/// Removes the request of a call that an exception of the program's own function ends.
struct request_of_call {
  MPI_Request handle;
  request_of_call(const request_of_call&) = delete;
  request_of_call& operator=(const request_of_call&) = delete;
  explicit request_of_call(request& one) : handle(add_request(one)) {}
  ~request_of_call() {
    if (own().requests.find(handle) != nullptr) own().requests.remove(handle);
  }
};

}  // namespace

int complete_now(request& one, MPI_Status* status) {
  request_of_call made(one);
  MPI_Request& handle = made.handle;
  request_wait waiting(&handle, 1, false);
  wait_by(waiting);
  return finish(handle, status);
}

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Wait);
  check_requests(request, 1);
  request_wait waiting(request, 1, false);
  wait_by(waiting);
  return finish(*request, status);
}

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  NEARFAR_MPI_CALL(MPI_Waitall);
  check_requests(array_of_requests, count);
  request_wait waiting(array_of_requests, count, false);
  wait_by(waiting);
  return finish_all(array_of_requests, count, array_of_statuses);
}

int MPI_Waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Waitany);
  *indx = MPI_UNDEFINED;
  if (!has_active(array_of_requests, count)) {
    if (status != MPI_STATUS_IGNORE) clear_status(*status);
    return MPI_SUCCESS;
  }
  request_wait waiting(array_of_requests, count, true);
  run().perform(self(), waiting);
  *indx = waiting.chosen;
  return finish(array_of_requests[waiting.chosen], status);
}

int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[]) {
  NEARFAR_MPI_CALL(MPI_Waitsome);
  *outcount = MPI_UNDEFINED;
  if (!has_active(array_of_requests, incount)) return MPI_SUCCESS;
  request_wait waiting(array_of_requests, incount, true);
  run().perform(self(), waiting);
  *outcount = 1;
  array_of_indices[0] = waiting.chosen;
  return finish(array_of_requests[waiting.chosen], nth(array_of_statuses, 0));
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Test);
  *flag = 1;
  if (!has_active(request, 1)) {
    if (status != MPI_STATUS_IGNORE) clear_status(*status);
    return MPI_SUCCESS;
  }
  request_test testing(request, 1, true);
  run().perform(self(), testing);
  *flag = testing.is_met ? 1 : 0;
  return testing.is_met ? finish(*request, status) : MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  NEARFAR_MPI_CALL(MPI_Testall);
  check_requests(array_of_requests, count);
  request_test testing(array_of_requests, count, true);
  run().perform(self(), testing);
  *flag = testing.is_met ? 1 : 0;
  return testing.is_met ? finish_all(array_of_requests, count, array_of_statuses) : MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Testany);
  *flag = 1;
  *indx = MPI_UNDEFINED;
  if (!has_active(array_of_requests, count)) {
    if (status != MPI_STATUS_IGNORE) clear_status(*status);
    return MPI_SUCCESS;
  }
  request_test testing(array_of_requests, count, false);
  run().perform(self(), testing);
  *flag = testing.is_met ? 1 : 0;
  if (!testing.is_met) return MPI_SUCCESS;
  *indx = testing.chosen;
  return finish(array_of_requests[testing.chosen], status);
}

int MPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[]) {
  NEARFAR_MPI_CALL(MPI_Testsome);
  *outcount = MPI_UNDEFINED;
  if (!has_active(array_of_requests, incount)) return MPI_SUCCESS;
  request_test testing(array_of_requests, incount, false);
  run().perform(self(), testing);
  *outcount = testing.is_met ? 1 : 0;
  if (!testing.is_met) return MPI_SUCCESS;
  array_of_indices[0] = testing.chosen;
  return finish(array_of_requests[testing.chosen], nth(array_of_statuses, 0));
}

int MPI_Request_free(MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Request_free);
  static_cast<void>(request_of(*request));
  own().requests.remove(*request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  NEARFAR_MPI_CALL(MPI_Request_get_status);
  *flag = 1;
  if (status != MPI_STATUS_IGNORE) clear_status(*status);
  if (!has_active(&request, 1)) return MPI_SUCCESS;
  *flag = look_at(request) ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Start(MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Start);
  auto& one = request_of(*request);
  if (!one.is_persistent) return error_of(mpi().world, MPI_ERR_REQUEST, "the request is not persistent");
  if (one.is_active)
    return error_of(mpi().world, MPI_ERR_REQUEST,
                    "the persistent request is active already: wait for it before");
  one.is_active = true;
  one.start();
  return MPI_SUCCESS;
}

int MPI_Startall(int count, MPI_Request array_of_requests[]) {
  NEARFAR_MPI_CALL(MPI_Startall);
  for (int i = 0; i < count; ++i) {
    auto& one = request_of(array_of_requests[i]);
    if (!one.is_persistent || one.is_active)
      return error_of(mpi().world, MPI_ERR_REQUEST, "a request is not persistent, or active already");
    one.is_active = true;
    one.start();
  }
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Cancel);
  request_of(*request).cancel();
  return MPI_SUCCESS;
}

int MPI_Test_cancelled(const MPI_Status* status, int* flag) {
  NEARFAR_MPI_CALL(MPI_Test_cancelled);
  *flag = status->MPI_internal[2];
  return MPI_SUCCESS;
}

int MPI_Status_set_cancelled(MPI_Status* status, int flag) {
  NEARFAR_MPI_CALL(MPI_Status_set_cancelled);
  status->MPI_internal[2] = flag;
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  NEARFAR_MPI_CALL(MPI_Get_count);
  const auto* const type = type_of(datatype);
  if (type == nullptr)
    return error_of(mpi().world, MPI_ERR_TYPE, "the datatype does not exist, or was freed");
  const std::size_t bytes = status_bytes(*status);
  if (type->size == 0)
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  else
    *count = bytes % type->size == 0 ? static_cast<int>(bytes / type->size) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  NEARFAR_MPI_CALL(MPI_Get_elements);
  const auto* const type = type_of(datatype);
  if (type == nullptr)
    return error_of(mpi().world, MPI_ERR_TYPE, "the datatype does not exist, or was freed");
  std::size_t left = status_bytes(*status);
  int n = 0;
  while (left > 0 && type->size > 0)
    for (const element_run& one : type->map)
      for (std::size_t i = 0; i < one.count && left > 0; ++i) {
        left -= std::min(left, basic_at(one.basic).bytes);
        ++n;
      }
  *count = n;
  return MPI_SUCCESS;
}
}
