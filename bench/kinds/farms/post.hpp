/// \file
/// Letters between the master of a task farm and its workers: by MPI_Send where there is MPI, otherwise by
/// puts into boxes that their owner looks at.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/kinds/farms/task_tree.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace nearfar::bench {

/// From a worker: tasks that it gives away, or that it has nothing left to do.
struct farm_letter {
  std::uint64_t count = 0;
  std::uint64_t asks = 0;
  std::array<farm_task, given_at_once> tasks{};
};

/// From the master: a task, or that there is none and none will come.
struct farm_answer {
  std::uint64_t is_task = 0;
  farm_task task = 0;
};

/// One box for each worker in the master's memory, and one for answers in each worker's: a put for what is
/// said, one that says that it is there, one that says that it is read.
template <world W>
class farm_post {
 public:
  static constexpr int master = 0;

  /// Collective.
  explicit farm_post(W& w)
      : world_(&w),
        boxes_(w, static_cast<std::size_t>(w.size())),
        own_(w),
        seen_(static_cast<std::size_t>(w.size())),
        answered_(static_cast<std::size_t>(w.size())) {}

  void send(const farm_letter& letter) {
    // The box is free again when what it had is read.
    const auto is_read = [this](std::uint64_t read) { return read == sent_; };
    world_->await_direct(own_, world_->rank(), &own::read, is_read);
    const element box{master, static_cast<std::size_t>(world_->rank())};
    boxes_.put(box, &box_words::letter, letter);
    boxes_.flush(master);
    ++sent_;
    boxes_.put(box, &box_words::sent, sent_);
    boxes_.flush(master);
  }
  [[nodiscard]] farm_answer receive_answer() {
    ++answers_;
    world_->await_direct(own_, world_->rank(), &own::answers,
                         [this](std::uint64_t count) { return count == answers_; });
    return own_.read_direct(world_->rank(), &own::answer);
  }

  /// The next letter of any worker.
  [[nodiscard]] std::pair<int, farm_letter> receive() {
    for (;; world_->rest()) {
      for (int looked_at = 1; looked_at < world_->size(); ++looked_at) {
        next_ = next_ + 1 < world_->size() ? next_ + 1 : 1;
        std::uint64_t& seen = seen_[static_cast<std::size_t>(next_)];
        const element box{master, static_cast<std::size_t>(next_)};
        if (boxes_.read_direct(box, &box_words::sent) == seen) continue;
        ++seen;
        const farm_letter letter = boxes_.read_direct(box, &box_words::letter);
        own_.put(next_, &own::read, seen);
        own_.flush(next_);
        return {next_, letter};
      }
    }
  }
  void send_answer(int to, const farm_answer& answer) {
    own_.put(to, &own::answer, answer);
    own_.flush(to);
    const std::uint64_t count = ++answered_[static_cast<std::size_t>(to)];
    own_.put(to, &own::answers, count);
    own_.flush(to);
  }

 private:
  struct alignas(slot_bytes) box_words {
    far<std::uint64_t> sent;
    far_object<farm_letter> letter;
  };
  struct alignas(slot_bytes) own {
    far<std::uint64_t> read;
    far<std::uint64_t> answers;
    far_object<farm_answer> answer;
  };

  W* world_;
  typename W::template far_array<box_words> boxes_;
  typename W::template far_segment<own> own_;
  std::uint64_t sent_ = 0;
  std::uint64_t answers_ = 0;
  int next_ = 0;
  std::vector<std::uint64_t> seen_;
  std::vector<std::uint64_t> answered_;
};

template <>
class farm_post<mpi::world> {
 public:
  static constexpr int master = 0;

  /// Collective.
  explicit farm_post(mpi::world& w) : world_(&w) {
    int mine = 0;
    mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &mine), "MPI_Comm_rank");
    for (const std::int64_t rank : w.gather_to_all(mine)) ranks_.push_back(static_cast<int>(rank));
  }

  void send(const farm_letter& letter) { send_to(master, letter); }
  [[nodiscard]] farm_answer receive_answer() {
    farm_answer answer;
    receive_from(ranks_[master], answer);
    return answer;
  }
  [[nodiscard]] std::pair<int, farm_letter> receive() {
    // Not by a receive from MPI_ANY_SOURCE, which some libraries never end (mpi::world::signal_channel).
    for (;; world_->rest()) {
      int found = 0;
      MPI_Status status{};
      mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &status), "MPI_Iprobe");
      if (found == 0) continue;
      farm_letter letter;
      receive_from(status.MPI_SOURCE, letter);
      const auto from = std::find(ranks_.begin(), ranks_.end(), status.MPI_SOURCE);
      return {static_cast<int>(from - ranks_.begin()), letter};
    }
  }
  void send_answer(int to, const farm_answer& answer) { send_to(to, answer); }

 private:
  static constexpr int tag = 1;

  template <typename Letter>
  void send_to(int rank, const Letter& letter) {
    mpi::check(MPI_Send(&letter, sizeof letter, MPI_BYTE, ranks_[static_cast<std::size_t>(rank)], tag,
                        MPI_COMM_WORLD),
               "MPI_Send");
  }
  template <typename Letter>
  static void receive_from(int rank, Letter& letter) {
    mpi::check(MPI_Recv(&letter, sizeof letter, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
               "MPI_Recv");
  }

  mpi::world* world_;
  std::vector<int> ranks_;  ///< of MPI_COMM_WORLD, by rank of the world
};

}  // namespace nearfar::bench
