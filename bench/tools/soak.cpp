// Uses locks, values, maps, queues and channels very often, and reports whether an acquisition, a change, an
// entry, an element or a message was lost, or an object stopped. The script scripts/soak runs it for long.
// The tests with a memcpy that stores twice run it for a moment.
//
//   nearfar_soak --world threads --ranks 2 --seconds 10
//   scripts/run-mpi --mpi openmpi --ranks 2 -- build/release-openmpi/bench/nearfar_soak --objects dash,tas
//   NEARFAR_TWO_STORES=1 scripts/two-nodes run --mpi mpich --ranks 4 -- ...
//
// One JSON line for each object. Exit status: 0 if nothing was lost and none stopped, 3 if none of the
// objects exists in that world and on that topology, else 1.

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/kinds/channels/channel_catalogue.hpp"
#include "bench/kinds/channels/channel_rounds.hpp"
#include "bench/kinds/locks/exclusion_check.hpp"
#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/kinds/maps/map_catalogue.hpp"
#include "bench/kinds/queues/queue_catalogue.hpp"
#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "bench/tools/disturbance.hpp"
#include "nearfar/lock/seq_lock.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::bench {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

struct soak_options {
  std::vector<std::string> objects{"sound"};
  std::string world = "mpi";
  int ranks = 2;
  std::uint64_t operations = 0;
  double time = 0;
  std::string topology;
  int stall_limit = 300;
  std::uint32_t seed = 1;
  std::optional<std::size_t> capacity;
  bool disturb = true;
};

/// None of the objects that were asked for exists there; not that their names are wrong.
class nothing_to_use : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ---- which objects ----------------------------------------------------------------------------------------

/// An object of a kind that has one only, and so no catalogue.
struct lone_entry {
  std::string name;
  bool one_node_only = false;
  std::tuple<> factories{};

  [[nodiscard]] static bool is_sound() noexcept { return true; }
  template <world W>
  [[nodiscard]] static bool exists_in() noexcept {
    return true;
  }
};

class value_catalogue : public registry<lone_entry> {
 public:
  static const value_catalogue& instance() {
    static const value_catalogue all;
    return all;
  }

 private:
  value_catalogue() { add({.name = "seq_lock"}, nullptr); }
};

/// By which an object is asked for. Channels have names that locks have, too.
template <typename Entry>
[[nodiscard]] std::string name_of(const Entry& each) {
  return std::is_same_v<Entry, channel_entry> ? "channel." + each.name : each.name;
}

/// Throws `std::invalid_argument` for a name that none has.
void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known{"sound", "unsound", "all", "channels"};
  for (const auto& all :
       {catalogue::instance().names(), rw_catalogue::instance().names(), value_catalogue::instance().names(),
        map_catalogue::instance().names(), queue_catalogue::instance().names()})
    known.insert(known.end(), all.begin(), all.end());
  for (const channel_entry& each : channel_catalogue::instance().entries()) known.push_back(name_of(each));
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument(
          fmt::format("unknown object '{}'; there are: {}", name, fmt::join(known, ", ")));
}

/// The objects of one kind, of that world and tree, that were asked for: by name, or as "sound", "unsound"
/// and "all", or "channels", the sound ones.
template <world W, typename Entry>
std::vector<const Entry*> chosen_of(const W& w, const registry<Entry>& from,
                                    const std::vector<std::string>& names) {
  std::vector<const Entry*> result;
  const bool one_node = w.locality().groups(level::node) == 1;
  for (const std::string& name : names)
    for (const Entry& each : from.entries()) {
      constexpr bool is_channel = std::is_same_v<Entry, channel_entry>;
      const bool is_group = name == "sound" || name == "unsound" || name == "all";
      const bool wanted = is_group             ? name == "all" || each.is_sound() == (name == "sound")
                          : name == "channels" ? is_channel && each.is_sound()
                                               : name_of(each) == name;
      if (wanted && each.template exists_in<W>() && (one_node || !(is_channel || each.one_node_only)))
        result.push_back(&each);
    }
  return result;
}

// ---- what is printed --------------------------------------------------------------------------------------

/// The object that runs, and how far this rank has got.
struct run_record {
  std::string object;
  std::string library;
  std::string world;
  std::string tree;
  int ranks = 1;
  int nodes = 1;

  void print(std::uint64_t operations, std::int64_t lost, std::optional<int> stalled_rank,
             double duration) const {
    nlohmann::ordered_json line{
        {"object", object},         {"library", library}, {"world", world},
        {"topology", tree},         {"ranks", ranks},     {"nodes", nodes},
        {"operations", operations}, {"lost", lost},       {"stalled", stalled_rank.has_value()},
        {"seconds", duration}};
    if (stalled_rank) line["rank"] = *stalled_rank;
    fmt::print("{}\n", line.dump());
    if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write the results");
  }
};

// ---- stalls -----------------------------------------------------------------------------------------------

/// Ends the process, with a line, when a rank does not get on for long. Its thread calls no MPI; the launcher
/// ends the other ranks.
class stall_watch {
 public:
  stall_watch(int rank, int limit_seconds)
      : rank_(rank),
        limit_(limit_seconds),
        thread_([this](const std::stop_token& stopped) { watch(stopped); }) {}

  /// The rank begins something else.
  void begin(const run_record& running) {
    const std::scoped_lock hold(guard_);
    running_ = running;
    done_.store(0, std::memory_order_relaxed);
  }
  /// The rank has done its share, and waits for others.
  void end() {
    const std::scoped_lock hold(guard_);
    running_.object.clear();
  }
  /// The rank has done that many operations by now. Costs a store.
  void did(std::uint64_t count) { done_.store(count, std::memory_order_relaxed); }

 private:
  void watch(const std::stop_token& stopped) {
    using clock = std::chrono::steady_clock;
    std::unique_lock hold(guard_);
    const auto first = clock::now();
    auto since = first;
    std::pair<std::string, std::uint64_t> seen;
    while (!changed_.wait_for(hold, stopped, seconds(1), [&] { return stopped.stop_requested(); })) {
      std::pair now(running_.object, done_.load(std::memory_order_relaxed));
      if (now != seen || now.first.empty()) {
        seen = std::move(now);
        since = clock::now();
      }
      // One rank after the other, so that mostly one of those that wait for each other says it.
      if (clock::now() - since < limit_ + seconds(rank_)) continue;
      running_.print(seen.second, 0, rank_, std::chrono::duration<double>(since - first).count());
      std::_Exit(EXIT_FAILURE);
    }
  }

  int rank_;
  seconds limit_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  run_record running_;
  // Beside nothing that other ranks touch.
  alignas(cache_line) std::atomic<std::uint64_t> done_ = 0;
  alignas(cache_line) std::jthread thread_;
};

// ---- what is done once ------------------------------------------------------------------------------------

/// An exclusive lock, which counts every acquisition.
template <world W>
class soaked_lock {
 public:
  using registered = catalogue;

  soaked_lock(W& w, const lock_entry& of) : check_(w), lock_(of.factory<W>()(w, 0, {})) {}

  void once(std::uint32_t dice) {
    const bool tries = lock_->has_try_lock() && dice % 8 == 0;
    if (!tries || !lock_->try_lock()) lock_->lock();
    check_.count_everywhere();
    lock_->unlock();
  }
  /// Collective.
  [[nodiscard]] std::int64_t lost() { return check_.lost(); }

 private:
  exclusion_check<W> check_;
  std::unique_ptr<any_lock<W>> lock_;
};

/// A reader-writer lock, one time in four as a writer, now and then in another way that it has.
template <world W>
class soaked_rw_lock {
 public:
  using registered = rw_catalogue;

  soaked_rw_lock(W& w, const rw_lock_entry& of) : check_(w), lock_(of.factory<W>()(w, 0, {})) {}

  void once(std::uint32_t dice) {
    const auto can = lock_->can();
    const bool differs = dice / 4 % 4 == 0;
    if (dice % 4 == 0) {
      if (!(differs && can.tries && lock_->try_lock())) lock_->lock();
      check_.write();
      if (!differs || !can.downgrades) return lock_->unlock();
      lock_->unlock_and_lock_shared();
      check_.read();
      return lock_->unlock_shared();
    }
    if (!(differs && can.tries_shared && lock_->try_lock_shared())) lock_->lock_shared();
    check_.read();
    if (!differs || !can.upgrades || !lock_->try_unlock_shared_and_lock()) return lock_->unlock_shared();
    check_.write();
    lock_->unlock();
  }
  /// Collective.
  [[nodiscard]] std::int64_t lost() { return check_.faults(); }

 private:
  rw_check<W> check_;
  std::unique_ptr<any_rw_lock<W>> lock_;
};

/// A value of several words that is read without a lock: no reader finds parts of two, or an older one than
/// before, and no change is lost.
template <world W>
class soaked_value {
 public:
  using registered = value_catalogue;

  soaked_value(W& w, const lone_entry& /*of*/) : world_(&w), value_(w) {}

  void once(std::uint32_t dice) {
    if (dice % 4 == 0) {
      value_.update([](counted& value) { value = counted(value.count + 1); });
      ++written_;
    } else if (dice / 4 % 4 == 0) {
      if (const auto value = value_.try_load()) look_at(*value);
    } else {
      look_at(value_.load());
    }
  }
  /// Collective.
  [[nodiscard]] std::int64_t lost() {
    world_->barrier();
    look_at(value_.load());
    const auto sums = world_->sum_over_ranks({written_, wrong_});
    return std::abs(sums[0] - static_cast<std::int64_t>(seen_)) + sums[1];
  }

 private:
  struct counted {
    counted() : counted(0) {}
    explicit counted(std::uint64_t n) : count(n), doubled(2 * n), inverted(~n) {}
    [[nodiscard]] bool is_whole() const { return doubled == 2 * count && inverted == ~count; }

    std::uint64_t count;
    std::uint64_t doubled;
    std::uint64_t inverted;
  };

  void look_at(const counted& value) {
    wrong_ += value.is_whole() && value.count >= seen_ ? 0 : 1;
    seen_ = value.count;
  }

  W* world_;
  seq_lock<W, counted> value_;
  std::uint64_t seen_ = 0;
  std::int64_t written_ = 0;
  std::int64_t wrong_ = 0;
};

/// A map in which each rank alone changes its own keys, so that it knows what must be there, all change the
/// keys that nobody owns, and all find every key: what others find of a key never goes back. Buckets are few,
/// so that keys of several ranks are in each.
template <world W>
class soaked_map {
 public:
  using registered = map_catalogue;

  soaked_map(W& w, const map_entry& of)
      : world_(&w),
        ranks_(static_cast<std::uint64_t>(w.size())),
        map_(of.factory<W>()(w, 0, {.capacity = {.cells = cells, .buckets = buckets}})),
        mine_(keys_of_each),
        seen_(keys_of_each * (ranks_ + 1)) {}

  void once(std::uint32_t dice) {
    const std::uint32_t what = dice % 8;
    const std::uint32_t which = dice / 8;
    if (what < 2) return find_one(which % seen_.size());
    if (what == 2) return find_some(which);
    if (what < 5) return change_common(keys_of_each * ranks_ + which % keys_of_each);
    change_own(what, which % keys_of_each);
  }

  /// Collective.
  [[nodiscard]] std::int64_t lost() {
    for (std::uint64_t i = 0; i < keys_of_each; ++i) expect(map_->find(own_key(i)) == mine_[i]);
    world_->barrier();
    const auto size = static_cast<std::int64_t>(map_->size());
    const auto sums = world_->sum_over_ranks({balance_, wrong_ + map_->wrong_here()});
    // Only the first rank knows these values.
    return world_->sum_over_ranks(
        {world_->rank() == 0 ? std::abs(sums[0] - size) + sums[1] : std::int64_t{0}})[0];
  }

 private:
  static constexpr std::size_t keys_of_each = 64;
  static constexpr std::size_t cells = 512;
  static constexpr std::size_t buckets = 32;

  void expect(bool holds) { wrong_ += holds ? 0 : 1; }

  [[nodiscard]] std::uint64_t own_key(std::uint64_t i) const {
    return i * ranks_ + static_cast<std::uint64_t>(world_->rank());
  }

  void change_own(std::uint32_t what, std::uint64_t i) {
    const std::uint64_t key = own_key(i);
    const std::uint64_t value = value_of_key(key, ++version_);
    if (what == 5) {
      expect(map_->erase(key) == mine_[i]);
      balance_ -= mine_[i] ? 1 : 0;
      mine_[i].reset();
    } else if (what == 6) {
      expect(map_->insert(key, value) == (mine_[i] ? insert_result::exists : insert_result::inserted));
      balance_ += mine_[i] ? 0 : 1;
      if (!mine_[i]) mine_[i] = value;
    } else {
      expect(map_->update(key, value) == (mine_[i] ? update_result::updated : update_result::absent));
      if (mine_[i]) mine_[i] = value;
    }
  }

  void change_common(std::uint64_t key) {
    if (map_->erase(key)) {
      --balance_;
    } else {
      const insert_result result = map_->insert(key, value_of_key(key, 0));
      expect(result != insert_result::full);
      balance_ += result == insert_result::inserted ? 1 : 0;
    }
  }

  void find_one(std::uint64_t key) { expect_found(key, map_->find(key)); }

  void find_some(std::uint32_t first) {
    constexpr std::size_t at_once = 8;
    std::array<std::uint64_t, at_once> keys{};
    std::array<std::optional<std::uint64_t>, at_once> results;
    for (std::size_t i = 0; i < at_once; ++i) keys[i] = (first + i * i) % seen_.size();
    map_->find(keys, results);
    for (std::size_t i = 0; i < at_once; ++i) expect_found(keys[i], results[i]);
  }

  /// The versions that its owner writes of a key grow.
  void expect_found(std::uint64_t key, const std::optional<std::uint64_t>& value) {
    if (!value) return;
    const std::uint64_t version = *value & 0xfffffU;
    // Versions begin again after 2^20 changes of a rank.
    const std::uint64_t newer_by = (version - seen_[key]) & 0xfffffU;
    expect(*value >> 20U == key && newer_by < 0x80000U);
    seen_[key] = version;
  }

  W* world_;
  std::uint64_t ranks_;
  std::unique_ptr<any_map<W>> map_;
  std::vector<std::optional<std::uint64_t>> mine_;  ///< values that this rank's keys must have
  std::vector<std::uint64_t> seen_;                 ///< the last version found of each key
  std::uint64_t version_ = 0;
  std::int64_t balance_ = 0;
  std::int64_t wrong_ = 0;
};

/// A queue, by pushes and pops in turns of random lengths, so that it is empty and full now and then.
/// Attempts in vain do not count.
template <world W>
class soaked_queue {
 public:
  using registered = queue_catalogue;

  soaked_queue(W& w, const queue_entry& of)
      : world_(&w),
        check_(w.rank()),
        queue_(of.factory<W>()(w, 0, {.capacity = capacity})),
        role_(queue_->role_of(w.rank())) {}

  bool once(std::uint32_t dice) {
    if (left_ == 0) {
      left_ = 1 + dice / 2 % (2 * capacity);
      pushes_ = role_.pushes && (dice % 2 == 0 || !role_.pops);
    }
    --left_;
    if (!role_.pushes && !role_.pops) {
      world_->rest();
      return false;
    }
    const std::size_t count = 1 + dice / 64 % most_at_once;
    if (!pushes_) return pop(count) != 0;
    std::array<std::uint64_t, most_at_once> values{};
    for (std::size_t i = 0; i < count; ++i) values[i] = check_.value_after(i);
    const std::size_t pushed = queue_->try_push_range(std::span(values).first(count)).count;
    check_.pushed(pushed);
    return pushed != 0;
  }
  /// A rank that only pushes, or only pops.
  [[nodiscard]] bool waits_for_others() const { return !role_.pushes || !role_.pops; }
  /// Collective.
  [[nodiscard]] std::int64_t lost() {
    world_->barrier();
    while (role_.pops && pop(most_at_once) != 0) continue;
    world_->barrier();
    return world_->sum_over_ranks({check_.faults(*world_)})[0];
  }

 private:
  static constexpr std::size_t capacity = 16;
  static constexpr std::size_t most_at_once = 4;

  std::size_t pop(std::size_t most) {
    std::array<std::uint64_t, most_at_once> values{};
    const std::size_t count = queue_->try_pop_range(std::span(values).first(most)).count;
    for (std::size_t i = 0; i < count; ++i) check_.popped(values[i]);
    return count;
  }

  W* world_;
  queue_check check_;
  std::unique_ptr<any_queue<W>> queue_;
  queue_role role_;
  std::size_t left_ = 0;
  bool pushes_ = true;
};

/// A channel, by rounds of bench/kinds/channels/channel_rounds.hpp, made anew now and then with room for more
/// or fewer. Messages that are received count.
template <world W>
class soaked_channel {
 public:
  using registered = channel_catalogue;

  soaked_channel(W& w, const channel_entry& of, const soak_options& options)
      : world_(&w),
        of_(&of),
        options_(&options),
        rounds_(w, channel_catalogue::instance().roles_of(of.name), options.seed) {
    if (options.disturb) disturbed_.emplace(options.seed);
  }

  /// Until that many messages have been received, unless that is 0, or so much time has passed, or one was
  /// lost. Returns how many this rank received. Collective.
  std::uint64_t repeat(nanoseconds limit, stall_watch& watch) {
    W& w = *world_;
    const nanoseconds start = w.now();
    std::uint64_t moved = 0;
    std::uint64_t got = 0;
    for (bool goes_on = true; goes_on;) {
      const std::size_t capacity = some_capacity();
      const auto channel =
          of_->factory<W>()(w, 0, {.capacity = capacity, .bytes = message_sizes.front()})->open(w);
      // Where there is little room it takes long.
      std::uint64_t at_once = std::min<std::uint64_t>(1U << 17U, 1024 * std::max<std::size_t>(capacity, 1));
      if (options_->operations != 0)
        at_once = std::clamp<std::uint64_t>(options_->operations / rounds_of_each, 1, at_once);
      for (int i = 0; i < rounds_of_each && goes_on; ++i) {
        const std::uint64_t here = rounds_.run(*channel, at_once, [&] { watch.did(++moved); });
        got += here;
        lost_ = rounds_.faults();
        const bool is_late = w.rank() == 0 && limit != nanoseconds::zero() && w.now() - start >= limit;
        const auto sums = w.sum_over_ranks({static_cast<std::int64_t>(here), is_late ? 1 : 0});
        all_ += static_cast<std::uint64_t>(sums[0]);
        goes_on = lost_ == 0 && sums[1] == 0 && (options_->operations == 0 || all_ < options_->operations);
        watch.did(++moved);
      }
    }
    return got;
  }
  [[nodiscard]] std::int64_t lost() const { return lost_; }

 private:
  static constexpr int rounds_of_each = 16;

  /// One that all draw.
  [[nodiscard]] std::size_t some_capacity() {
    constexpr std::array<std::size_t, 8> some{1, 1, 2, 3, 8, 31, 100, 1000};
    const std::size_t drawn = some[rounds_.draw_alike(some.size())];
    return options_->capacity.value_or(drawn);
  }

  W* world_;
  const channel_entry* of_;
  const soak_options* options_;
  channel_rounds<W> rounds_;
  std::optional<disturbance> disturbed_;
  std::uint64_t all_ = 0;
  std::int64_t lost_ = 0;
};

// ---- the run ----------------------------------------------------------------------------------------------

template <typename Subject>
[[nodiscard]] bool counts_attempts(const Subject& subject) {
  if constexpr (requires { subject.waits_for_others(); }) return subject.waits_for_others();
  return false;
}

/// Does this rank's share, or until `limit` has passed, unless that is 0, with a pause now and then, so that
/// queues are left empty, too. Returns how many operations there were.
template <world W, typename Subject>
std::uint64_t repeat(W& w, Subject& subject, const soak_options& options, nanoseconds limit,
                     stall_watch& watch) {
  constexpr std::uint64_t between_looks = 16;
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const std::uint64_t share =
      options.operations == 0 ? ~std::uint64_t{0} : (options.operations - 1) / ranks + 1;
  std::minstd_rand random(options.seed * 7919U + static_cast<std::uint32_t>(w.rank()) + 1U);
  const nanoseconds start = w.now();
  std::uint64_t tried = 0;
  std::uint64_t done = 0;
  // Where every rank can go on by itself, what it does counts; otherwise what it tries.
  while ((counts_attempts(subject) ? tried : done) < share) {
    const auto dice = static_cast<std::uint32_t>(random());
    if constexpr (std::is_void_v<decltype(subject.once(dice))>) {
      subject.once(dice / 8);
      ++done;
    } else {
      if (subject.once(dice / 8)) ++done;
    }
    watch.did(++tried);
    if (dice % 8 == 0)
      for (auto turns = dice / 64 % 256; turns != 0; --turns)
        std::atomic_signal_fence(std::memory_order_seq_cst);
    if (limit != nanoseconds::zero() && tried % between_looks == 0 && w.now() - start >= limit) break;
  }
  return done;
}

/// Runs the objects of this world and its tree, a kind at a time.
template <world W>
class soaking {
 public:
  soaking(W& w, const soak_options& options, const std::string& library)
      : world_(&w), options_(&options), library_(library), watch_(w.rank(), options.stall_limit) {}

  /// How many of that kind were asked for and exist here.
  template <template <typename> typename Subject>
  [[nodiscard]] std::size_t count() const {
    return chosen<Subject>().size();
  }

  /// Collective. Returns whether all was well.
  template <template <typename> typename Subject>
  bool run(nanoseconds limit) {
    W& w = *world_;
    bool well = true;
    for (const auto* each : chosen<Subject>()) {
      const bool is_unbuffered =
          std::is_same_v<std::remove_cvref_t<decltype(*each)>, channel_entry> && options_->capacity == 0;
      const run_record running{.object = name_of(*each) + (is_unbuffered ? ", unbuffered" : ""),
                               .library = library_,
                               .world = options_->world,
                               .tree = w.locality().tree_text(),
                               .ranks = w.size(),
                               .nodes = w.locality().groups(level::node)};
      watch_.begin(running);
      auto subject = made<Subject<W>>(*each);
      w.barrier();
      const nanoseconds start = w.now();
      std::uint64_t mine = 0;
      if constexpr (requires { subject.repeat(limit, watch_); })
        mine = subject.repeat(limit, watch_);
      else
        mine = repeat(w, subject, *options_, limit, watch_);
      watch_.end();
      const std::int64_t lost = subject.lost();
      const std::int64_t all = w.sum_over_ranks({static_cast<std::int64_t>(mine)})[0];
      const double duration = std::chrono::duration<double>(w.now() - start).count();
      if (w.rank() == 0) running.print(static_cast<std::uint64_t>(all), lost, std::nullopt, duration);
      well = well && lost == 0 && all != 0;
    }
    return well;
  }

 private:
  template <typename Subject, typename Entry>
  [[nodiscard]] Subject made(const Entry& of) {
    if constexpr (std::is_constructible_v<Subject, W&, const Entry&, const soak_options&>)
      return Subject(*world_, of, *options_);
    else
      return Subject(*world_, of);
  }
  template <template <typename> typename Subject>
  [[nodiscard]] auto chosen() const {
    return chosen_of(*world_, Subject<W>::registered::instance(), options_->objects);
  }

  W* world_;
  const soak_options* options_;
  std::string library_;
  stall_watch watch_;
};

/// Collective. Returns whether all was well.
template <world W>
bool soak(W& w, const soak_options& options, const std::string& library) {
  check_names(options.objects);
  soaking<W> all(w, options, library);
  const std::size_t count = all.template count<soaked_lock>() + all.template count<soaked_rw_lock>() +
                            all.template count<soaked_value>() + all.template count<soaked_map>() +
                            all.template count<soaked_queue>() + all.template count<soaked_channel>();
  if (count == 0)
    throw nothing_to_use(fmt::format("none of {} exists in this world and on this topology",
                                     fmt::join(options.objects, ", ")));
  const auto limit = std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(options.time) /
                                                             static_cast<double>(count));
  bool well = all.template run<soaked_lock>(limit);
  well = all.template run<soaked_rw_lock>(limit) && well;
  well = all.template run<soaked_value>(limit) && well;
  well = all.template run<soaked_map>(limit) && well;
  well = all.template run<soaked_queue>(limit) && well;
  return all.template run<soaked_channel>(limit) && well;
}

int run(const soak_options& options) {
  std::optional<topology_spec> topology;
  if (!options.topology.empty()) topology = topology_spec::parse(options.topology);
  if (options.world == "threads") {
    std::atomic<bool> well = true;
    threads::run(options.ranks,
                 [&](threads::world& w) {
                   if (!soak(w, options, "none")) well = false;
                 },
                 {.topology = topology});
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  int provided = MPI_THREAD_SINGLE;
  mpi::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  bool well = false;
  {
    mpi::world w(MPI_COMM_WORLD, {.topology = topology});
    well = soak(w, options, mpi::library_version());
  }
  MPI_Finalize();
  return well ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace nearfar::bench

int main(int argc, char** argv) {
  constexpr int most_seconds = 10'000'000;
  constexpr int most_threads = 4096;
  constexpr std::uint64_t most_operations = 1'000'000'000'000'000;
  constexpr std::size_t most_capacity = 1'000'000;
  CLI::App app(
      "Uses locks, maps, queues and channels very often and says whether anything was lost, or one stopped.");
  nearfar::bench::soak_options options;
  app.add_option("--objects", options.objects, "Names; or sound, unsound, all, channels")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--world", options.world, "mpi (under mpirun) or threads")
      ->check(CLI::IsMember({"mpi", "threads"}))
      ->capture_default_str();
  app.add_option("--ranks", options.ranks, "Threads of the threads world")
      ->check(CLI::Range(1, most_threads))
      ->capture_default_str();
  const auto* operations =
      app.add_option("--operations", options.operations,
                     "On each object, over all ranks [1000000, or with --seconds no limit]")
          ->check(CLI::Range(std::uint64_t{1}, most_operations));
  const auto* time = app.add_option("--seconds", options.time,
                                    "For all objects in equal shares; what has begun is ended [no limit]")
                         ->check(CLI::Range(1e-3, double{most_seconds}));
  app.add_option("--topology", options.topology, "Tree to use in place of the machine's: 'node:2 core:1'");
  app.add_option("--stall-limit", options.stall_limit,
                 "Seconds without an operation of a rank after which the object is taken to have stopped")
      ->check(CLI::Range(1, most_seconds))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the pauses")->capture_default_str();
  app.add_option("--capacity", options.capacity, "Of channels; 0: unbuffered [drawn, 1 to 1000]")
      ->check(CLI::Range(std::size_t{0}, most_capacity));
  app.add_flag("--disturb,!--no-disturb", options.disturb,
               "Stop ranks at random, and crowd them, where channels are used [yes]");
  CLI11_PARSE(app, argc, argv);
  if (operations->empty() && time->empty()) options.operations = 1'000'000;
  try {
    if (!std::isfinite(options.time)) throw std::invalid_argument("--seconds is a number");
    return nearfar::bench::run(options);
  } catch (const nearfar::bench::nothing_to_use& why) {
    constexpr int none = 3;
    fmt::print(stderr, "nearfar_soak: {}\n", why.what());
    std::_Exit(none);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "nearfar_soak: out of memory\n");
    std::_Exit(EXIT_FAILURE);
  } catch (const std::exception& fault) {
    fmt::print(stderr, "nearfar_soak: {}\n", fault.what());
    // Under MPI the launcher ends the other ranks.
    std::_Exit(EXIT_FAILURE);
  }
}
