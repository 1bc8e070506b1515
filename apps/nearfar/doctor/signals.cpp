// The doctor's check of the messages that ranks wake each other with.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <thread>

#include "apps/nearfar/doctor/tools.hpp"

namespace nearfar::command::doctor {

namespace {

int largest_tag(const examination& e) {
  int* bound = nullptr;
  int found = 0;
  mpi::check(MPI_Comm_get_attr(e.comm().get(), MPI_TAG_UB, static_cast<void*>(&bound), &found),
             "MPI_Comm_get_attr");
  return found != 0 ? *bound : 32767;
}

/// The rank that has sent on that tag. Asked before receiving, as nearfar does, since a receive from any
/// source never ends between nodes on MPICH 5.0.2 over UCX.
int next_sender(const examination& e, int tag) {
  const auto end = clock::now() + patience;
  for (;;) {
    int found = 0;
    MPI_Status status{};
    mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag, e.comm().get(), &found, &status), "MPI_Iprobe");
    if (found != 0) return status.MPI_SOURCE;
    if (clock::now() > end) throw unanswered("a message did not arrive");
    std::this_thread::yield();
  }
}

}  // namespace

/// Zero-byte messages round a ring on two tags, taken in the order opposite to that in which they were sent.
finding signals(examination& e) {
  constexpr int rounds = 100;
  const int right = (e.rank() + 1) % e.size();
  const int left = (e.rank() + e.size() - 1) % e.size();
  const std::array<int, 2> tags{1, largest_tag(e)};
  std::uint64_t wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const int tag : tags)
      mpi::check(MPI_Send(nullptr, 0, MPI_BYTE, right, tag, e.comm().get()), "MPI_Send");
    for (const int tag : {tags[1], tags[0]}) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Status status{};
      mpi::check(MPI_Irecv(nullptr, 0, MPI_BYTE, next_sender(e, tag), tag, e.comm().get(), &request),
                 "MPI_Irecv");
      complete(request, patience, &status);
      if (status.MPI_SOURCE != left || status.MPI_TAG != tag) ++wrong;
    }
  }
  e.barrier();
  wrong = e.sum(wrong);
  return {wrong == 0 ? outcome::ok : outcome::fail,
          fmt::format("{} by {} ranks, {} in the wrong channel; the largest tag is {}", rounds * 2 * e.size(),
                      e.size(), wrong, tags[1])};
}

}  // namespace nearfar::command::doctor
