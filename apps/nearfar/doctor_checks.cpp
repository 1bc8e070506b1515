// The doctor's checks, but for those of one-sided writes. They make windows of their own, since a world
// refuses to be made on a transport that is broken.

#include "apps/nearfar/doctor_checks.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/nearfar/doctor_tools.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace nearfar::command::doctor {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string duration_text(std::chrono::nanoseconds span) {
  const auto nanoseconds = static_cast<double>(span.count());
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.0f} ms", nanoseconds / 1e6);
}

// ---- the installation -------------------------------------------------------------------------------------

finding thread_level(examination&) {
  int provided = MPI_THREAD_SINGLE;
  mpi::check(MPI_Query_thread(&provided), "MPI_Query_thread");
  const char* name = provided == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
                     : provided == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                     : provided == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
                                                         : "MPI_THREAD_SINGLE";
  return {provided < MPI_THREAD_FUNNELED ? outcome::warn : outcome::ok,
          fmt::format("{}, asked for MPI_THREAD_FUNNELED", name)};
}

/// The text with which nearfar refuses to run, if it would for ranks placed so.
std::optional<std::string> refusal(const examination& e, bool one_node) {
  try {
    mpi::require_transport(e.comm().get(), one_node);
  } catch (const transport_error& fault) {
    return fault.what();
  }
  return std::nullopt;
}

finding known_faults(examination& e) {
  if (const auto text = refusal(e, e.one_node())) return {outcome::fail, *text};
  if (const auto text = refusal(e, false))
    return {outcome::warn, "MPI_Compare_and_swap crashes on windows that nearfar does not use on one node",
            "for your own windows, and for several nodes: " + *text};
  return {outcome::ok, "none of those that nearfar cannot test for"};
}

finding shared_memory(examination& e) {
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) != 0) return {outcome::warn, "there is no /dev/shm"};
  const mpi::options defaults;
  const std::size_t each = defaults.near_bytes + defaults.far_bytes;
  try {
    mpi::require_shared_memory(e.node().get(), each);
  } catch (const transport_error& fault) {
    return {outcome::fail, fault.what()};
  }
  return {outcome::ok, fmt::format("/dev/shm has {} MiB free, a world takes {} MiB on this node",
                                   status.f_bavail * status.f_frsize >> 20U,
                                   each * static_cast<std::size_t>(e.node().size()) >> 20U)};
}

finding processors(examination& e) {
  const auto& [ranks, available] = e.processors();
  const bool crowded = e.processors().oversubscribed();
  return {crowded ? outcome::warn : outcome::ok,
          fmt::format("{} rank{} on {} processor{}: waiting ranks {}", ranks, ranks == 1 ? "" : "s",
                      available, available == 1 ? "" : "s", crowded ? "yield" : "spin")};
}

finding memory_model(examination& e) {
  return bare_world(e).window().is_unified() ? finding{outcome::ok, "unified"}
                                             : finding{outcome::fail, "separate"};
}

// ---- atomicity --------------------------------------------------------------------------------------------

/// Spreads a value over 64 bits, so that sums over sets of values tell the sets apart. 0 stays 0.
std::uint64_t spread(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
  return value ^ value >> 31U;
}

constexpr unsigned rank_shift = 40;

/// What a rank did to the shared word. Whatever goes into a word must come out once or be there at the end.
struct tally {
  std::uint64_t operations = 0;
  std::uint64_t went_in = 0;   ///< sum of `spread`
  std::uint64_t came_out = 0;  ///< likewise

  void exchanged(std::uint64_t in, std::uint64_t out) {
    went_in += spread(in);
    came_out += spread(out);
  }
};

/// All ranks do `step(word, token, tally)` at once, with a token that no step had before; it returns what it
/// found in the word.
template <typename Step>
finding conserves(const examination& e, Step step, outcome if_lost = outcome::fail) {
  shared_word word(e);
  tally mine;
  const std::uint64_t mine_met = hammer(e, [&](std::uint64_t k) {
    ++mine.operations;
    const std::uint64_t before = step(word, to_word(e.rank()) << rank_shift | k, mine);
    return before != 0 && before >> rank_shift != to_word(e.rank());
  });
  e.barrier();
  const std::uint64_t left = e.is_target() ? spread(word.read()) : 0;
  const std::uint64_t operations = e.sum(mine.operations);
  const std::uint64_t met = e.sum(mine_met);
  if (e.sum(mine.went_in - mine.came_out - left) != 0)
    return {if_lost, fmt::format("{} by {} ranks at once lost or doubled values", operations, e.size())};
  if (met == 0) return never_met();
  return {outcome::ok, fmt::format("{} by {} ranks at once, {} met another rank's value, none was lost",
                                   operations, e.size(), met)};
}

finding atomic_swap(examination& e) {
  return conserves(e, [](shared_word& word, std::uint64_t token, tally& mine) {
    const std::uint64_t before = word.swap(token);
    mine.exchanged(token, before);
    return before;
  });
}

/// What became of increments of one word by all ranks, or of one word on each node by its ranks.
struct increments {
  std::uint64_t done = 0;
  std::uint64_t met = 0;             ///< found another rank's increment
  std::uint64_t sum_of_results = 0;  ///< of what was in the word before each
  std::uint64_t counted = 0;         ///< what is in the words at the end

  /// `add` increments and returns the old value; `read` returns the word on one rank and 0 on the others.
  /// Collective.
  template <typename Add, typename Read>
  static increments of(const examination& e, Add add, Read read) {
    increments mine;
    std::uint64_t next = 0;
    mine.met = hammer(e, [&](std::uint64_t) {
      const std::uint64_t before = add();
      const bool met_another = before != next;
      next = before + 1;
      mine.sum_of_results += before;
      ++mine.done;
      return met_another;
    });
    e.barrier();
    return {e.sum(mine.done), e.sum(mine.met), e.sum(mine.sum_of_results), e.sum(read())};
  }

  [[nodiscard]] finding judge(outcome if_lost) const {
    if (counted != done) return {if_lost, fmt::format("{} increments, {} counted", done, counted)};
    if (met == 0) return never_met();
    return {outcome::ok, fmt::format("{} increments, {} met another rank's, all counted", done, met)};
  }
};

finding atomic_fetch_add(examination& e) {
  shared_word word(e);
  const increments seen = increments::of(
      e, [&] { return word.fetch_add(1); }, [&] { return e.is_target() ? word.read() : 0; });
  if (seen.counted == seen.done && seen.sum_of_results != seen.done * (seen.done - 1) / 2)
    return {outcome::fail,
            fmt::format("{} increments were counted, but their results were wrong", seen.done)};
  return seen.judge(outcome::fail);
}

/// Nothing if compare-and-swap can be tried.
std::optional<finding> unless_it_crashes(const examination& e) {
  if (!refusal(e, e.one_node())) return std::nullopt;
  return finding{outcome::skip, "not tried, because it would crash", "see 'known faults'"};
}

finding atomic_compare_and_swap(examination& e) {
  if (auto skipped = unless_it_crashes(e)) return *skipped;
  std::uint64_t expected = 0;
  return conserves(e, [&](shared_word& word, std::uint64_t token, tally& mine) {
    const std::uint64_t before = word.compare_and_swap(expected, token);
    if (before == expected) mine.exchanged(token, before);
    expected = before == expected ? token : before;
    return before;
  });
}

/// The tail of a queue lock: enter by swap, leave by compare-and-swap if nobody came behind. That these are
/// atomic among themselves is more than MPI promises by default (accumulate_ops=same_op_no_op), and what
/// every queue lock relies on.
finding atomic_tail(examination& e) {
  if (auto skipped = unless_it_crashes(e)) return *skipped;
  return conserves(e, [](shared_word& tail, std::uint64_t token, tally& mine) {
    const std::uint64_t before = tail.swap(token);
    mine.exchanged(token, before);
    const std::uint64_t at_exit = tail.compare_and_swap(token, nobody);
    if (at_exit == token) mine.exchanged(nobody, token);
    return at_exit == token ? before : at_exit;
  });
}

/// The same with a sum between, on which nothing of nearfar relies.
finding atomic_mixture(examination& e) {
  if (auto skipped = unless_it_crashes(e)) return *skipped;
  // Beside the counts of `hammer` and below the ranks of the tokens.
  static constexpr std::uint64_t summand = std::uint64_t{1} << 24U;
  return conserves(
      e,
      [](shared_word& word, std::uint64_t token, tally& mine) {
        const std::uint64_t before = word.swap(token);
        mine.exchanged(token, before);
        const std::uint64_t added_to = word.fetch_add(summand);
        mine.exchanged(added_to + summand, added_to);
        const std::uint64_t expected = token + summand;
        const std::uint64_t at_exit = word.compare_and_swap(expected, nobody);
        if (at_exit == expected) mine.exchanged(nobody, expected);
        return at_exit == expected ? before : at_exit;
      },
      outcome::warn);
}

// ---- progress ---------------------------------------------------------------------------------------------

constexpr milliseconds computation{100};
/// Between what an operation takes at worst, with ranks that wait for processors, and what it takes when it
/// waits for the target to have computed.
constexpr milliseconds prompt{50};

/// How long a fetch-and-add takes whose target repeats `activity` meanwhile: the median of three. Same on all
/// ranks.
template <typename Activity>
std::chrono::nanoseconds latency_during(const examination& e, shared_word& word, Activity activity) {
  std::array<std::uint64_t, 3> took{};
  for (std::uint64_t& span : took) {
    e.barrier();
    if (e.is_target()) {
      const auto end = clock::now() + computation;
      while (clock::now() < end) activity();
    } else if (e.is_origin()) {
      std::this_thread::sleep_for(milliseconds(5));  // for the target to have left the barrier
      const auto begin = clock::now();
      word.fetch_add(1);
      span = static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - begin).count());
    }
  }
  std::nth_element(took.begin(), took.begin() + 1, took.end());
  return std::chrono::nanoseconds(e.largest(took[1]));
}

finding progress_computing(examination& e) {
  shared_word word(e);
  const auto latency = latency_during(e, word, [] {});
  if (latency < prompt)
    return {outcome::ok, "an operation on a rank that computes takes " + duration_text(latency)};
  return {outcome::warn, fmt::format("an operation on a rank that computes for {} takes {}",
                                     duration_text(computation), duration_text(latency))};
}

finding progress_waiting(examination& e) {
  shared_word word(e);
  const auto by_probe = latency_during(e, word, [&] { drive_progress(e); });
  const auto by_sync = latency_during(e, word, [&] { word.sync(); });
  return {by_probe < prompt ? outcome::ok : outcome::fail,
          fmt::format("an operation on a rank that calls MPI_Iprobe takes {}, MPI_Win_sync {}",
                      duration_text(by_probe), duration_text(by_sync))};
}

// ---- near memory ------------------------------------------------------------------------------------------

/// A word that the ranks of a node can also load and store.
class near_word {
 public:
  explicit near_word(const examination& e)
      : window_(mpi::window::allocate_shared(e.node().get(), slot_bytes)),
        word_(reinterpret_cast<std::uint64_t*>(window_.part_of(0))),
        displacement_(e.node().gather_to_all({window_.displacement()}).front()) {
    window_.open();
    if (e.node().rank() == 0) *word_ = 0;
    mpi::check(MPI_Win_sync(window_.get()), "MPI_Win_sync");
    e.barrier();
  }

  std::uint64_t add_by_host() { return std::atomic_ref(*word_).fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t add_by_rma() {
    const std::uint64_t one = 1;
    std::uint64_t before = 0;
    mpi::check(MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, displacement_, MPI_SUM, window_.get()),
               "MPI_Fetch_and_op");
    mpi::check(MPI_Win_flush(0, window_.get()), "MPI_Win_flush");
    return before;
  }
  /// The word, on the node's first rank; 0 on the others.
  [[nodiscard]] std::uint64_t value(const examination& e) const {
    mpi::check(MPI_Win_sync(window_.get()), "MPI_Win_sync");
    return e.node().rank() == 0 ? std::atomic_ref(*word_).load(std::memory_order_relaxed) : 0;
  }

 private:
  mpi::window window_;
  std::uint64_t* word_;
  MPI_Aint displacement_;
};

/// Nothing if some node has several ranks. Collective.
std::optional<finding> unless_alone(const examination& e) {
  if (e.largest(static_cast<std::uint64_t>(e.node().size())) > 1) return std::nullopt;
  return finding{outcome::skip, "every node has one rank only", "start at least 2 ranks on a node"};
}

finding near_atomics(examination& e) {
  if (auto skipped = unless_alone(e)) return *skipped;
  near_word word(e);
  return increments::of(
             e, [&] { return word.add_by_host(); }, [&] { return word.value(e); })
      .judge(outcome::fail);
}

/// The ranks that are odd on their node by RMA, the others by host atomics.
finding mixed_atomics(examination& e) {
  if (auto skipped = unless_alone(e)) return *skipped;
  near_word word(e);
  const bool by_host = e.node().rank() % 2 == 0;
  return increments::of(
             e, [&] { return by_host ? word.add_by_host() : word.add_by_rma(); },
             [&] { return word.value(e); })
      .judge(outcome::warn);
}

// ---- messages and windows ---------------------------------------------------------------------------------

int largest_tag(const examination& e) {
  int* bound = nullptr;
  int found = 0;
  mpi::check(MPI_Comm_get_attr(e.comm().get(), MPI_TAG_UB, static_cast<void*>(&bound), &found),
             "MPI_Comm_get_attr");
  return found != 0 ? *bound : 32767;
}

/// Who has sent on that tag; asked before receiving, as nearfar does, since a receive from any source never
/// ends between nodes on MPICH 5.0.2 over UCX.
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

finding windows(examination& e) {
  constexpr std::size_t needed = 3;   // by a world
  constexpr std::size_t enough = 64;  // for worlds, mpi_win locks and the program's own
  const std::size_t limit = e.is_quick() ? enough : 1024;
  const seconds time_limit{e.is_quick() ? 1 : 3};
  std::vector<mpi::window> made;
  std::string reason;
  const auto begin = clock::now();
  auto spent = clock::duration::zero();
  // The ranks agree on the time between batches only, for one more collective call a window would measure
  // that call.
  for (std::size_t batch = 16; made.size() < limit && reason.empty(); batch = made.size()) {
    try {
      for (std::size_t i = 0; i < batch; ++i)
        made.push_back(mpi::window::allocate(e.comm().get(), slot_bytes));
    } catch (const mpi::mpi_error& fault) {
      reason = fmt::format(", then {}", fault.what());
    }
    spent = clock::duration(e.largest(static_cast<std::uint64_t>((clock::now() - begin).count())));
    if (reason.empty() && made.size() < limit && spent > time_limit)
      reason = ", then the time for it was over";
  }
  const std::size_t count = made.size();
  const auto freeing = clock::now();
  made.clear();
  const auto each = [&](clock::duration span) {
    return duration_text(span / static_cast<long>(std::max<std::size_t>(count, 1)));
  };
  const outcome result = count < needed                          ? outcome::fail
                         : count < enough && spent <= time_limit ? outcome::warn
                                                                 : outcome::ok;
  return {result, fmt::format("{} at once{}; {} to make one, {} to free it", count, reason, each(spent),
                              each(clock::now() - freeing))};
}

finding whole_world(examination& e) {
  const auto begin = clock::now();
  try {
    const mpi::world w(e.comm().get());
    return {outcome::ok,
            fmt::format("made with {} ranks on {} node{} in {}, passed its own test", w.size(),
                        w.locality().groups(level::node), w.locality().groups(level::node) == 1 ? "" : "s",
                        duration_text(clock::now() - begin))};
  } catch (const transport_error& fault) {
    return {outcome::fail, fault.what()};
  }
}

constexpr const char* choose_another_osc =
    "the transport is broken: choose another, on Open MPI 4 '--mca osc sm,pt2pt', on MPICH a newer release "
    "or "
    "'UCX_TLS=tcp,self'";

constexpr std::array checks{
    check{"thread level", 1, thread_level, "ask MPI_Init_thread for MPI_THREAD_FUNNELED or more"},
    check{"known faults", 1, known_faults, "change the setting as said, or install a newer MPI"},
    check{"shared memory", 1, shared_memory,
          "enlarge /dev/shm: mount -o remount,size=..., or docker run --shm-size=..."},
    check{
        "processors", 1, processors,
        "waiting costs scheduling: start no more ranks than processors; if you must, set on Open MPI '--mca "
        "mpi_yield_when_idle 1', and expect MPICH to be slow, whose flush never yields"},
    check{"memory model", 1, memory_model,
          "nearfar needs unified windows: use a cache-coherent machine and transport"},
    check{"signals", 2, signals, choose_another_osc},
    check{"progress while computing", 2, progress_computing,
          "a rank must enter MPI for others to proceed: nearfar's waiting ranks do, long computations should "
          "now and then "
          "(MPI_Iprobe); on MPICH, MPIR_CVAR_ASYNC_PROGRESS=1 starts a thread for it"},
    check{"progress while waiting", 2, progress_waiting,
          "nearfar waits with MPI_Iprobe, which does not drive progress here: choose another transport"},
    check{"swap", 2, atomic_swap, choose_another_osc},
    check{"fetch-and-add", 2, atomic_fetch_add, choose_another_osc},
    check{"compare-and-swap", 2, atomic_compare_and_swap, choose_another_osc},
    check{"swap with compare-and-swap", 2, atomic_tail,
          "queue locks rely on it, though MPI promises it only of one operation on a word "
          "(accumulate_ops=same_op_no_op): choose another transport, on Open MPI 4 '--mca osc sm,pt2pt'"},
    check{"swap, sum, compare-and-swap", 2, atomic_mixture,
          "nearfar uses no sum on a word that is swapped, and MPI does not promise it "
          "(accumulate_ops=same_op_no_op): your own windows must not either"},
    check{"words delivered whole", 2, whole_words, choose_another_osc},
    check{"gets that race with puts", 2, racing_gets, choose_another_osc},
    check{"reappearing writes", 2, reappearing_writes,
          "a write that was seen was not over. The locks of nearfar do not mind, but for those that 'nearfar "
          "list' marks unsound; "
          "these, and programs that write a word anew, in place or by put, once they have seen it change, "
          "can hang: "
          "wait until you know that the writer's flush has returned"},
    check{"near atomics", 2, near_atomics,
          "ranks of a node must share memory coherently: do not force one osc component, Open MPI needs 'sm' "
          "among them"},
    check{"near and far atomics mixed", 2, mixed_atomics,
          "nearfar never mixes them on one word; your own windows must not either"},
    check{"put, nearfar's windows", 2, put_address, choose_another_osc},
    check{"put, awkward windows", 2, put_awkward,
          "nearfar avoids these, all its windows are multiples of 64 bytes; your own windows must too: round "
          "sizes up to "
          "a multiple of 16 and align bases of MPI_Win_create to 16"},
    check{"windows", 1, windows,
          "share windows: nearfar takes three for each world, and one for each mpi_win lock"},
    check{"world", 1, whole_world, "see the failures above"},
};

}  // namespace

void complete(MPI_Request& request, seconds limit, MPI_Status* status) {
  const auto begin = clock::now();
  int done = 0;
  for (unsigned tests = 1;; ++tests) {
    mpi::check(MPI_Test(&request, &done, status), "MPI_Test");
    if (done != 0) return;
    if (tests % 64 != 0) continue;
    // Sleeping leaves the processors to those who measure, which yielding does not while there is work for
    // all.
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (clock::now() - begin > limit)
      throw unanswered(fmt::format("waited {} s for another rank", std::chrono::seconds(limit).count()));
  }
}

examination::examination(MPI_Comm comm, const mpi::processor_share& processors, bool quick)
    : comm_(mpi::communicator::duplicate(comm)),
      node_(mpi::communicator::shared_memory(comm_.get())),
      rank_(comm_.rank()),
      size_(comm_.size()),
      processors_(processors),
      quick_(quick) {}

milliseconds examination::budget() const noexcept { return milliseconds(quick_ ? 20 : 100); }

void examination::barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Ibarrier(comm_.get(), &request), "MPI_Ibarrier");
  complete(request, patience);
}

std::uint64_t examination::reduce(std::uint64_t mine, MPI_Op operation) const {
  // Given up, not freed, when the ranks do not answer, because MPI may still write to it.
  auto value = std::make_unique<std::uint64_t>(mine);
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, value.get(), 1, MPI_UINT64_T, operation, comm_.get(), &request),
             "MPI_Iallreduce");
  try {
    complete(request, patience);
  } catch (...) {
    static_cast<void>(value.release());
    throw;
  }
  return *value;
}

std::span<const check> all_checks() { return checks; }

}  // namespace nearfar::command::doctor