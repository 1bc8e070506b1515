// A program that knows MPI only, run as it is and with libnearfar_pmpi preloaded. Rank 0 prints a line for
// each part. The exit status says whether a part failed.
//
// usage: PROGRAM [ROUNDS]
#include <mpi.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank = 0;
int ranks = 0;
int rounds = 40;
int failures = 0;

void expect(long found, long expected, const char* what, int line) {
  if (found == expected) return;
  if (++failures <= 20)
    std::printf("rank %d, line %d: %s is %ld, not %ld\n", rank, line, what, found, expected);
}
#define EXPECT(found, expected) \
  expect(static_cast<long>(found), static_cast<long>(expected), #found, __LINE__)

using word = std::int64_t;
constexpr int words = 16;  // words of each rank; a multiple of 64 bytes, aligned to 64 bytes

/// A window of each kind, over the communicator's ranks.
class memory {
 public:
  enum kind { created, allocated, shared, dynamic };

  memory(kind how, MPI_Comm comm) : how_(how) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &me_);
    constexpr MPI_Aint bytes = words * sizeof(word);
    if (how == created) {
      MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base_);
      MPI_Win_create(base_, bytes, sizeof(word), MPI_INFO_NULL, comm, &window_);
    } else if (how == allocated) {
      MPI_Win_allocate(bytes, sizeof(word), MPI_INFO_NULL, comm, &base_, &window_);
    } else if (how == shared) {
      MPI_Win_allocate_shared(bytes, sizeof(word), MPI_INFO_NULL, comm, &base_, &window_);
    } else {
      MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base_);
      MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window_);
      MPI_Win_attach(window_, base_, bytes);
    }
    starts_.assign(static_cast<std::size_t>(size), 0);
    if (how == dynamic) {
      MPI_Aint mine = 0;
      MPI_Get_address(base_, &mine);
      MPI_Allgather(&mine, 1, MPI_AINT, starts_.data(), 1, MPI_AINT, comm);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me_, 0, window_);
    std::memset(base_, 0, bytes);
    MPI_Win_unlock(me_, window_);
    MPI_Barrier(comm);
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  ~memory() {
    if (how_ == dynamic) MPI_Win_detach(window_, base_);
    MPI_Win_free(&window_);
    if (how_ == created || how_ == dynamic) MPI_Free_mem(base_);
  }

  [[nodiscard]] MPI_Win window() const { return window_; }
  [[nodiscard]] word* base() const { return base_; }
  [[nodiscard]] MPI_Aint at(int target, int number) const {
    const MPI_Aint start = starts_[static_cast<std::size_t>(target)];
    return how_ == dynamic ? start + number * static_cast<MPI_Aint>(sizeof(word)) : number;
  }
  [[nodiscard]] word get(int target, int number) const {
    word value = -1;
    MPI_Get(&value, 1, MPI_INT64_T, target, at(target, number), 1, MPI_INT64_T, window_);
    MPI_Win_flush(target, window_);
    return value;
  }
  /// Not complete at the return.
  void put(int target, int number, const word& value) const {
    MPI_Put(&value, 1, MPI_INT64_T, target, at(target, number), 1, MPI_INT64_T, window_);
  }
  /// Complete at the return.
  [[nodiscard]] word read(int target, int number) const {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window_);
    const word value = get(target, number);
    MPI_Win_unlock(target, window_);
    return value;
  }

 private:
  kind how_;
  int me_ = 0;
  word* base_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<MPI_Aint> starts_;
};

void pause() {
  for (int i = 0; i < 3; ++i) sched_yield();
}

/// Each rank adds to a counter at each target by get and put, which loses additions without exclusion.
void counters(const memory& in) {
  for (int round = 0; round < rounds; ++round)
    for (int step = 0; step < ranks; ++step) {
      const int target = (rank + step) % ranks;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, in.window());
      const word before = in.get(target, 0);
      pause();
      const word after = before + 1;
      in.put(target, 0, after);
      MPI_Win_unlock(target, in.window());
    }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int target = 0; target < ranks; ++target) EXPECT(in.read(target, 0), ranks * rounds);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Writers keep two words equal. Readers, which do not exclude each other, check that.
void pairs(const memory& in) {
  for (int round = 1; round <= rounds; ++round) {
    const int target = round % ranks;
    if (rank % 2 == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, in.window());
      const word value = word{rank} * rounds + round;
      in.put(target, 1, value);
      MPI_Win_flush(target, in.window());
      pause();
      in.put(target, 2, value);
      MPI_Win_unlock(target, in.window());
    } else {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, in.window());
      const word first = in.get(target, 1);
      pause();
      EXPECT(in.get(target, 2), first);
      MPI_Win_unlock(target, in.window());
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// All ranks that share a lock are in at once, in each way of sharing.
void readers_meet(const memory& in) {
  for (const int target : {0, ranks - 1}) {
    const bool all = (rank + target) % 2 == 0;
    if (all)
      MPI_Win_lock_all(0, in.window());
    else
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, in.window());
    EXPECT(in.get(target, 9), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (all)
      MPI_Win_unlock_all(in.window());
    else
      MPI_Win_unlock(target, in.window());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Locks two targets at a time, or all, in one order. A rank that shares all of them sees a constant sum.
void transfers(const memory& in) {
  for (int round = 0; round < rounds && ranks > 1; ++round) {
    const int first = (rank + round) % (ranks - 1);
    const int second = first + 1;
    if ((rank + round) % 3 != 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, in.window());
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, 0, in.window());
      const word less = in.get(first, 3) - 1;
      const word more = in.get(second, 3) + 1;
      in.put(first, 3, less);
      pause();
      in.put(second, 3, more);
      MPI_Win_unlock(first, in.window());
      MPI_Win_unlock(second, in.window());
    } else {
      // Without MPI_Win_lock_all, which has an order of its own.
      word sum = 0;
      for (int target = 0; target < ranks; ++target) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, in.window());
        sum += in.get(target, 3);
      }
      EXPECT(sum, 0);
      for (int target = 0; target < ranks; ++target) MPI_Win_unlock(target, in.window());
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// All ranks at once, by atomic operations, with flushes of each kind.
void together(const memory& in) {
  const word one = 1;
  std::vector<word> olds(static_cast<std::size_t>(ranks));
  MPI_Win_lock_all(0, in.window());
  for (int round = 0; round < rounds; ++round) {
    for (int target = 0; target < ranks; ++target)
      MPI_Fetch_and_op(&one, &olds[static_cast<std::size_t>(target)], MPI_INT64_T, target, in.at(target, 4),
                       MPI_SUM, in.window());
    if (round % 2 == 0)
      MPI_Win_flush_all(in.window());
    else
      MPI_Win_flush_local_all(in.window());
    for (const word old : olds) EXPECT(old >= 0 && old < word{ranks} * rounds, 1);
  }
  MPI_Win_unlock_all(in.window());
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(in.read((rank + 1) % ranks, 4), ranks * rounds);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Data put before an unlock is in the memory of a rank that learns of the unlock.
void complete_rounds(const memory& in, int first, int assertion) {
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  for (int round = first; round < first + rounds; ++round) {
    const word value = word{rank} * 1000 + round;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, assertion, in.window());
    in.put(next, 5, value);
    MPI_Win_unlock(next, in.window());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, assertion, in.window());
    EXPECT(in.base()[5], word{before} * 1000 + round);
    MPI_Win_unlock(rank, in.window());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
void completion(const memory& in) { complete_rounds(in, 1, 0); }
/// Each target has one origin at a time, which says so by MPI_MODE_NOCHECK.
void unchecked(const memory& in) {
  complete_rounds(in, 500, MPI_MODE_NOCHECK);
  const int next = (rank + 1) % ranks;
  MPI_Win_lock_all(MPI_MODE_NOCHECK, in.window());
  EXPECT(in.get(next, 5), word{rank} * 1000 + 499 + rounds);
  MPI_Win_unlock_all(in.window());
  MPI_Barrier(MPI_COMM_WORLD);
  // A rank that does not say so still has the target alone.
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, in.window());
  MPI_Win_unlock(next, in.window());
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Accesses of a rank's own memory, by loads and stores.
void own_memory(const memory& in) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, in.window());
    const word before = in.base()[6];
    pause();
    in.base()[6] = before + 1;
    MPI_Win_unlock(rank, in.window());
    const int target = (rank + 1) % ranks;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, in.window());
    const word after = in.get(target, 6) + 1;
    in.put(target, 6, after);
    MPI_Win_unlock(target, in.window());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(in.read(rank, 6), 2 * rounds);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Epochs of the other kinds, between those of this one.
void other_epochs(const memory& in) {
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  const word fenced = rank + 100;
  const word posted = rank + 200;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, in.window());
  in.put(next, 7, fenced);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, in.window());
  EXPECT(in.base()[7], before + 100);
  EXPECT(in.read(next, 7), rank + 100);
  MPI_Barrier(MPI_COMM_WORLD);
  if (ranks == 1) return;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group to = MPI_GROUP_NULL;
  MPI_Group from = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &next, &to);
  MPI_Group_incl(all, 1, &before, &from);
  MPI_Win_post(from, 0, in.window());
  MPI_Win_start(to, 0, in.window());
  in.put(next, 7, posted);
  MPI_Win_complete(in.window());
  MPI_Win_wait(in.window());
  EXPECT(in.base()[7], before + 200);
  for (MPI_Group* each : {&all, &to, &from}) MPI_Group_free(each);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A named pipe: one process wakes another that is not in MPI.
class pipe_for_two {
 public:
  /// Collective.
  pipe_for_two() {
    if (rank == 0) {
      if (mkdtemp(folder_.data()) == nullptr || mkfifo(name().c_str(), 0600) != 0)
        std::perror("a pipe for the test");
    }
    MPI_Bcast(folder_.data(), static_cast<int>(folder_.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  pipe_for_two(const pipe_for_two&) = delete;
  pipe_for_two& operator=(const pipe_for_two&) = delete;
  /// Collective.
  ~pipe_for_two() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      unlink(name().c_str());
      rmdir(folder_.data());
    }
  }

  /// Waits without a call of MPI until another process calls `tell`.
  void hear() const {
    std::FILE* end = std::fopen(name().c_str(), "r");
    EXPECT(end != nullptr && std::fgetc(end) == '!', 1);
    if (end != nullptr) std::fclose(end);
  }
  void tell() const {
    std::FILE* end = std::fopen(name().c_str(), "w");
    EXPECT(end != nullptr && std::fputc('!', end) == '!', 1);
    if (end != nullptr) std::fclose(end);
  }

 private:
  [[nodiscard]] std::string name() const { return std::string(folder_.data()) + "/pipe"; }

  std::array<char, 32> folder_{"/tmp/nearfar-test-XXXXXX"};
};

/// The last holder of a lock waits outside of MPI for another rank, which needs the target's progress only.
void outside_of_mpi(const memory& in) {
  if (ranks == 1) return;
  const pipe_for_two pipe;
  struct roles {
    int target, outside, next;
  };
  const int last = ranks - 1;
  for (const roles& who : {roles{0, last, last - 1}, roles{last, 0, 1}})
    for (const int before : {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED})
      for (const int after : {MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE}) {
        if (rank == who.outside) {
          MPI_Win_lock(before, who.target, 0, in.window());
          MPI_Win_unlock(who.target, in.window());
          MPI_Ssend(nullptr, 0, MPI_INT, who.next, before, MPI_COMM_WORLD);
          pipe.hear();
        } else if (rank == who.next) {
          MPI_Recv(nullptr, 0, MPI_INT, who.outside, before, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          for (const int how : {after, before, after}) {
            MPI_Win_lock(how, who.target, 0, in.window());
            MPI_Win_unlock(who.target, in.window());
          }
          pipe.tell();
        }
        MPI_Barrier(MPI_COMM_WORLD);
      }
}

/// A thread that waits for an absent target must not keep another thread from what the wait depends on.
void absent_target(const memory& in) {
  const pipe_for_two pipe;
  const int absent = ranks - 1;
  if (rank == absent) pipe.hear();
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, in.window());
    std::thread other([&in, absent] {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, absent, 0, in.window());
      MPI_Win_unlock(absent, in.window());
    });
    for (int i = 0; i < 1000; ++i) pause();
    MPI_Win_unlock(0, in.window());
    pipe.tell();
    other.join();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A wrong call gives the MPI library's error, and leaves the window usable.
void errors(const memory& in) {
  MPI_Win_set_errhandler(in.window(), MPI_ERRORS_RETURN);
  std::string classes;
  const auto note = [&classes](int code) {
    int result = MPI_SUCCESS;
    MPI_Error_class(code, &result);
    classes += " " + std::to_string(result);
    return result;
  };
  EXPECT(note(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, in.window())), MPI_ERR_RANK);
  EXPECT(note(MPI_Win_unlock(rank, in.window())), MPI_ERR_RMA_SYNC);
  EXPECT(note(MPI_Win_unlock_all(in.window())), MPI_ERR_RMA_SYNC);
  if (note(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, in.window())) == MPI_SUCCESS)
    EXPECT(note(MPI_Win_unlock(MPI_PROC_NULL, in.window())), MPI_SUCCESS);
  EXPECT(note(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, in.window())), MPI_SUCCESS);
  EXPECT(note(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, in.window())) != MPI_SUCCESS, 1);
  EXPECT(note(MPI_Win_unlock(rank, in.window())), MPI_SUCCESS);
  if (rank == 0) std::printf("classes of errors:%s\n", classes.c_str());
  MPI_Win_set_errhandler(in.window(), MPI_ERRORS_ARE_FATAL);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, in.window());
  MPI_Win_unlock(0, in.window());
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Two threads of each rank lock different targets. Now and then one locks a target that the other's holder
/// waits for.
void threads(const memory& in) {
  const auto count = [&](int number) {
    for (int round = 0; round < rounds; ++round)
      for (int target = number; target < ranks; target += 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, in.window());
        const word before = in.get(target, 8);
        pause();
        const word after = before + 1;
        in.put(target, 8, after);
        MPI_Win_unlock(target, in.window());
      }
  };
  std::thread other(count, 1);
  count(0);
  other.join();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int target = 0; target < ranks; ++target) EXPECT(in.read(target, 8), ranks * rounds);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Windows come and go, some of them on some ranks only.
void windows_of_some() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int size = 0;
  MPI_Comm_size(half, &size);
  for (int round = 0; round < 4; ++round) {
    const memory of_half(round % 2 == 0 ? memory::allocated : memory::created, half);
    const memory of_all(memory::allocated, MPI_COMM_WORLD);
    for (int i = 0; i < 5; ++i) {
      const int target = i % size;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, of_half.window());
      const word after = of_half.get(target, 0) + 1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, of_all.window());
      const word of_both = of_all.get(0, 0) + 1;
      of_all.put(0, 0, of_both);
      MPI_Win_unlock(0, of_all.window());
      of_half.put(target, 0, after);
      MPI_Win_unlock(target, of_half.window());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    word sum = 0;
    for (int target = 0; target < size; ++target) sum += of_half.read(target, 0);
    EXPECT(sum, 5 * size);
    EXPECT(of_all.read(0, 0), 5 * ranks);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&half);
}

/// Transfers of more bytes than MPI libraries send at once.
void large_transfers() {
  constexpr int count = 8192;
  std::vector<word> own(count, 0);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(own.data(), count * sizeof(word), sizeof(word), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const int target = (rank + 1) % ranks;
  const std::vector<word> sent(count, rank + 1);
  for (int round = 1; round <= rounds; ++round) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Put(sent.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, window);
    MPI_Win_unlock(target, window);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Accumulate(sent.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, MPI_SUM, window);
    MPI_Win_unlock(target, window);
    std::vector<word> found(count, -1);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Get(found.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, window);
    MPI_Win_unlock(target, window);
    EXPECT(std::count(found.begin(), found.end(), word{2} * (rank + 1)), count);
  }
  MPI_Win_free(&window);
}

/// The first rank alone promises not to lock a window. The ranks then use the window without locks.
void without_locks() {
  MPI_Info info = MPI_INFO_NULL;
  if (rank == 0) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
  }
  word* own = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(words * sizeof(word), 1, info, MPI_COMM_WORLD, &own, &window);
  const word sent = rank + 1;
  *own = 0;
  MPI_Win_fence(0, window);
  MPI_Accumulate(&sent, 1, MPI_INT64_T, (rank + 1) % ranks, 0, 1, MPI_INT64_T, MPI_SUM, window);
  MPI_Win_fence(0, window);
  EXPECT(*own, (rank + ranks - 1) % ranks + 1);
  MPI_Win_free(&window);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

int copies = 0;
int deletions = 0;

int count_copy(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  ++copies;
  *is_copied = 1;
  return MPI_SUCCESS;
}

int count_deletion(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

/// The library keeps no attribute that a program has set on a communicator.
void attributes() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(count_copy, count_deletion, &key, nullptr);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_attr(own, key, nullptr);
  {
    const memory in(memory::allocated, own);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, in.window());
    MPI_Win_unlock(0, in.window());
    MPI_Barrier(own);
  }
  MPI_Comm_free(&own);
  MPI_Comm_free_keyval(&key);
  // The MPI library's own windows may have a copy.
  EXPECT(deletions, copies + 1);
}

std::set<std::string> only;
std::set<std::string> without;
std::set<std::string> kinds;

void part(const std::string& of, const std::string& name, const std::function<void()>& run) {
  if (without.contains(name) || (!only.empty() && !only.contains(name))) return;
  const int before = failures;
  run();
  int bad = failures - before;
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s%s: %s\n", of.c_str(), name.c_str(), bad == 0 ? "ok" : "FAILED");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  bool multiple = false;
  bool mixed = false;  // only the first rank has several threads
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--multiple") {
      multiple = true;
      continue;
    }
    if (option == "--mixed") {
      mixed = true;
      continue;
    }
    if (i + 1 == argc) {
      std::fprintf(stderr, "what is %s?\n", argv[i]);
      return 2;
    }
    if (option == "--rounds") rounds = std::atoi(argv[i + 1]);
    if (option == "--kind") kinds.insert(argv[i + 1]);
    if (option == "--only") only.insert(argv[i + 1]);
    if (option == "--without") without.insert(argv[i + 1]);
    ++i;
  }
  int level = MPI_THREAD_SINGLE;
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* number = std::getenv(variable); mixed && number != nullptr)
      multiple = multiple || std::string(number) == "0";
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (mixed) multiple = false;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int of_node = 0;
  MPI_Comm_size(node, &of_node);
  MPI_Comm_free(&node);
  // This part is first: the library keeps what it makes for these ranks' first window.
  part("", "attributes", attributes);
  constexpr std::array names{"created", "allocated", "shared", "dynamic"};
  for (const auto kind : {memory::created, memory::allocated, memory::shared, memory::dynamic}) {
    if (kind == memory::shared && of_node != ranks) continue;
    if (!kinds.empty() && !kinds.contains(names[kind])) continue;
    const memory in(kind, MPI_COMM_WORLD);
    MPI_Win_set_name(in.window(), names[kind]);
    const auto of_kind = [&](const char* name, void (*run)(const memory&)) {
      part(std::string(names[kind]) + " ", name, [&] { run(in); });
    };
    of_kind("counters", counters);
    of_kind("pairs", pairs);
    of_kind("readers_meet", readers_meet);
    of_kind("transfers", transfers);
    of_kind("together", together);
    of_kind("completion", completion);
    of_kind("own_memory", own_memory);
    of_kind("outside_of_mpi", outside_of_mpi);
    if (kind == memory::created || kind == memory::allocated) of_kind("other_epochs", other_epochs);
    if (kind == memory::allocated) of_kind("errors", errors);
    if (multiple && level == MPI_THREAD_MULTIPLE && ranks > 1) {
      of_kind("threads", threads);
      of_kind("absent_target", absent_target);
    }
    of_kind("unchecked", unchecked);
  }
  part("", "windows_of_some", windows_of_some);
  part("", "large_transfers", large_transfers);
  part("", "without_locks", without_locks);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
