// A rank's next request. Each kind of step is a class that knows all that the searches, schedules and
// messages need. The object lives on the stack of the asking rank until its step is taken.
//
// A new kind of step needs one class here and the function of `execution` that ranks call for it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "critical_section.hpp"
#include "footprint.hpp"
#include "names.hpp"
#include "nearfar/checker/history.hpp"
#include "nearfar/engine/operation.hpp"
#include "shared_memory.hpp"

namespace nearfar::checker {

class execution;

/// Bytes of the value that an operation writes or reads: a word, a byte, or its part of an object.
[[nodiscard]] inline std::size_t width_of(const engine::operation& what) noexcept {
  constexpr std::size_t bits_of_byte = 8;
  return what.is_of_object() ? what.bytes
                             : static_cast<std::size_t>(std::bit_width(what.mask)) / bits_of_byte;
}

/// Hash of all operands of an operation except its word.
[[nodiscard]] std::uint64_t hash_of_operands(const engine::operation& what);

class request {
 public:
  /// The name of a kind of step in schedules, with a hash.
  struct kind {
    // NOLINTNEXTLINE(google-explicit-constructor): a name is a kind
    consteval kind(const char* text) : name(text) {
      for (const char one : name) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001B3U;
    }
    std::string_view name;
    std::uint64_t hash = 0xCBF29CE484222325U;
  };

  request(const request&) = delete;
  request& operator=(const request&) = delete;
  virtual ~request() = default;

  [[nodiscard]] int rank() const noexcept { return rank_; }

  /// The step as schedules show it. `in_vain` marks a step whose request the rank repeats.
  [[nodiscard]] virtual std::string text(bool /*in_vain*/) const { return std::string(kind_.name); }
  /// The same for a blocked rank.
  [[nodiscard]] virtual std::string waiting_text() const { return "is stopped"; }
  /// Hash of the kind of step.
  [[nodiscard]] std::uint64_t hash() const noexcept { return kind_.hash; }

  /// The word that it acts on, or the first of them.
  [[nodiscard]] virtual std::uint64_t word() const = 0;
  /// Adds all its words, and how the step uses them.
  virtual void touch(footprint& into) const { into.add({word(), writes() ? use::write : use::read}); }
  /// The word itself, unless it is a mailbox, an epoch or a guard.
  [[nodiscard]] virtual std::uint64_t* cell() const { return nullptr; }
  /// Whether steps of others that act on this word cannot be exchanged with it.
  [[nodiscard]] virtual bool writes() const { return true; }
  /// The rank in whose memory the step acts, or to whom it sends.
  [[nodiscard]] virtual int acts_on() const { return rank_; }
  /// Tells the request from others of the same kind.
  [[nodiscard]] virtual std::uint64_t operands() const { return word(); }

  /// Whether it may have to wait for steps of others.
  [[nodiscard]] virtual bool waits() const { return false; }
  [[nodiscard]] virtual bool can_be_taken() const { return true; }
  /// Whether the step could have been taken before an event, when a word of both held `value`; nothing if the
  /// step never waits for that word.
  [[nodiscard]] virtual std::optional<bool> could_be_taken(std::uint64_t /*word*/, std::size_t /*event*/,
                                                           std::uint64_t /*value*/) const {
    return std::nullopt;
  }
  /// Whether only an overwritten value lets the step be taken.
  [[nodiscard]] virtual bool waits_for_past() const { return false; }
  /// Whether the step can be taken only because the time of its wait is over.
  [[nodiscard]] virtual bool is_out_of_patience() const { return false; }
  /// Whether the rank stays outside the communication library while this request waits.
  [[nodiscard]] virtual bool is_outside_library() const { return false; }
  /// The rank that carries out the step and has to be in the library for that; -1: none.
  [[nodiscard]] virtual int server() const { return -1; }

  /// The number of results that the step may have, if it can be taken.
  [[nodiscard]] virtual int choices() const { return 1; }
  /// Whether this choice reads a value that is the newest in another order of steps.
  [[nodiscard]] virtual bool is_newest_elsewhere(int /*choice*/) const { return false; }
  /// Takes the step. The rank's result is the value read.
  virtual touched take(int choice) = 0;
  /// Hash of what the rank observes by the step.
  [[nodiscard]] virtual std::uint64_t observed(const touched& /*values*/) const { return 0; }
  /// Whether the rank asks for the same again after this step.
  [[nodiscard]] virtual bool is_asked_again(const touched& /*values*/) const { return false; }
  /// Called after the step has become an event.
  virtual void note_event() const {}
  /// Whether the step gives up the critical section.
  [[nodiscard]] virtual bool leaves() const { return false; }

 protected:
  /// Made for the running rank.
  request(execution& of, kind what);
  [[nodiscard]] execution& run() const noexcept { return *run_; }

 private:
  execution* run_;
  int rank_;
  kind kind_;
};

/// An operation on a word of memory.
class cell_request : public request {
 public:
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] std::uint64_t* cell() const override { return what_.word; }
  [[nodiscard]] bool writes() const override { return is_write(what_.what); }
  [[nodiscard]] int acts_on() const override;
  [[nodiscard]] std::uint64_t operands() const override;

 protected:
  cell_request(execution& of, kind what_kind, const engine::operation& what)
      : request(of, what_kind), what_(what) {}
  [[nodiscard]] const engine::operation& what() const noexcept { return what_; }
  [[nodiscard]] touched take_near(int choice, const engine::wait* waiting) const;
  [[nodiscard]] int choices_of_near(const engine::wait* waiting) const;
  [[nodiscard]] bool is_newest_of_cell_elsewhere(int choice, const engine::wait* waiting) const;

 private:
  engine::operation what_;
};

/// An access of a near cell, or of a far word in place.
class access_request final : public cell_request {
 public:
  access_request(execution& of, const engine::operation& what) : cell_request(of, "access", what) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] int choices() const override;
  [[nodiscard]] bool is_newest_elsewhere(int choice) const override;
  touched take(int choice) override;
  [[nodiscard]] std::uint64_t observed(const touched& values) const override { return values.read; }
};

/// The rank's last RMA operation, delivered at once.
class eager_delivery final : public cell_request {
 public:
  eager_delivery(execution& of, const engine::operation& what) : cell_request(of, "access", what) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  touched take(int choice) override;
  void note_event() const override;
};

/// A wait for the value of a word: of near memory, or by far operations that are repeated.
///
/// With a deadline the wait is one poll, at any step. If the poll reads another value, the time is over. A
/// far poll has to be complete first: while its target keeps it waiting, the deadline cannot end the wait.
class wait_request final : public cell_request {
 public:
  wait_request(execution& of, const engine::wait& what, bool has_deadline);
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::string waiting_text() const override;
  [[nodiscard]] bool waits() const override { return true; }
  [[nodiscard]] bool can_be_taken() const override;
  [[nodiscard]] std::optional<bool> could_be_taken(std::uint64_t word, std::size_t event,
                                                   std::uint64_t value) const override;
  [[nodiscard]] bool waits_for_past() const override;
  [[nodiscard]] bool is_out_of_patience() const override;
  [[nodiscard]] bool is_outside_library() const override { return !wait_->progresses; }
  [[nodiscard]] int server() const override;
  [[nodiscard]] int choices() const override;
  [[nodiscard]] bool is_newest_elsewhere(int choice) const override;
  touched take(int choice) override;
  [[nodiscard]] std::uint64_t observed(const touched& values) const override;
  [[nodiscard]] bool is_asked_again(const touched& values) const override;

  /// Valid once the step is taken.
  [[nodiscard]] bool has_timed_out() const noexcept { return has_timed_out_; }

 private:
  /// The wait as a filter of values; null if the wait accepts any value.
  [[nodiscard]] const engine::wait* filter() const { return has_deadline_ ? nullptr : wait_; }
  touched poll(int choice);
  /// Whether a wait that repeats a swap may try once more, fail, and still change the word.
  [[nodiscard]] bool can_try_in_vain(std::uint64_t value) const;

  [[nodiscard]] std::string sleeping_text(const engine::sleep& how) const;

  const engine::wait* wait_;
  bool has_deadline_;
  bool has_timed_out_ = false;
  std::size_t first_step_;  // the number of steps before the request
  int failed_tries_ = 0;    // tries that failed and still wrote the word
};

/// A wait for the first of several words in place.
class any_wait final : public request {
 public:
  any_wait(execution& of, std::span<const engine::wait> any, bool has_deadline)
      : request(of, "await any"), any_(any), has_deadline_(has_deadline) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::string waiting_text() const override;
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] std::uint64_t* cell() const override { return any_[which_].read.word; }
  [[nodiscard]] bool writes() const override { return false; }
  void touch(footprint& into) const override;
  [[nodiscard]] int acts_on() const override;
  [[nodiscard]] std::uint64_t operands() const override;
  [[nodiscard]] bool waits() const override { return true; }
  [[nodiscard]] bool can_be_taken() const override { return choices() > 0; }
  [[nodiscard]] std::optional<bool> could_be_taken(std::uint64_t word, std::size_t event,
                                                   std::uint64_t value) const override;
  [[nodiscard]] bool waits_for_past() const override;
  [[nodiscard]] bool is_out_of_patience() const override { return has_deadline_ && all_values() == 0; }
  /// One loop reads all words, so the first wait speaks for all.
  [[nodiscard]] bool is_outside_library() const override { return !any_.front().progresses; }
  [[nodiscard]] int choices() const override { return all_values() + (can_time_out() ? 1 : 0); }
  touched take(int choice) override;
  [[nodiscard]] std::uint64_t observed(const touched& values) const override;

  /// Valid once the step is taken: the wait that ended; nothing if the time was over.
  [[nodiscard]] std::optional<std::size_t> which() const;

 private:
  /// The number of values that one of the waits may read and that end it.
  [[nodiscard]] int values(const engine::wait& one) const;
  [[nodiscard]] int all_values() const;
  [[nodiscard]] bool can_time_out() const;

  std::span<const engine::wait> any_;
  bool has_deadline_;
  bool has_timed_out_ = false;
  std::size_t which_ = 0;
};

/// A light fence and a heavy one act on each other like two whole fences, which are sequentially consistent.
enum class fence_kind : std::uint8_t { whole, light, heavy };

/// A fence of one of these kinds. A whole fence can be exchanged with steps of other ranks, as `total_order`
/// says; it is a step so that schedules show it. Fences of weaker memory orders concern their rank alone and
/// are no steps.
class fence_request final : public request {
 public:
  fence_request(execution& of, fence_kind how);
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] bool writes() const override { return how_ == fence_kind::heavy; }
  touched take(int choice) override;

 private:
  fence_kind how_;
};

/// Precedes a wait without progress, in mode `progress`.
class library_exit final : public request {
 public:
  explicit library_exit(execution& of) : request(of, "leave library") {}
  [[nodiscard]] std::uint64_t word() const override;
  touched take(int choice) override;
};

/// Precedes a barrier where ranks may crash. A rank may thus crash also after its last step, before the
/// others can count on it. A crash inside the barrier equals a crash here or behind the barrier.
class barrier_arrival final : public request {
 public:
  explicit barrier_arrival(execution& of) : request(of, "arrive at barrier") {}
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] bool writes() const override { return false; }
  touched take(int choice) override;
};

/// A choice that the environment makes, such as chance. It concerns no other rank.
class choice_request final : public request {
 public:
  choice_request(execution& of, int possibilities)
      : request(of, "choose"), possibilities_(possibilities), chosen_(0) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] bool writes() const override { return false; }
  [[nodiscard]] std::uint64_t operands() const override { return static_cast<std::uint64_t>(possibilities_); }
  [[nodiscard]] int choices() const override { return possibilities_; }
  touched take(int choice) override;
  [[nodiscard]] std::uint64_t observed(const touched& values) const override { return values.read; }

 private:
  int possibilities_;
  int chosen_;
};

/// A look at the rank's clock, which stands where the rank saw it last or has passed every deadline. Concerns
/// no other rank.
class time_request final : public request {
 public:
  explicit time_request(execution& of) : request(of, "look at clock") {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] bool writes() const override { return false; }
  [[nodiscard]] int choices() const override { return 2; }
  touched take(int choice) override;
  [[nodiscard]] std::uint64_t observed(const touched& values) const override { return values.read; }

 private:
  bool passes_ = false;
};

class signal_request final : public request {
 public:
  signal_request(execution& of, int channel, int to) : request(of, "signal"), channel_(channel), to_(to) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] int acts_on() const override { return to_; }
  touched take(int choice) override;

 private:
  int channel_;
  int to_;
};

/// With a deadline the wait may end at any step: a message that was sent need not have arrived yet.
class signal_wait final : public request {
 public:
  signal_wait(execution& of, int channel, int from, bool has_deadline)
      : request(of, "await signal"), channel_(channel), from_(from), has_deadline_(has_deadline) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::string waiting_text() const override;
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] bool waits() const override { return true; }
  [[nodiscard]] bool can_be_taken() const override { return choices() > 0; }
  [[nodiscard]] std::optional<bool> could_be_taken(std::uint64_t word, std::size_t event,
                                                   std::uint64_t value) const override;
  [[nodiscard]] bool is_out_of_patience() const override { return has_deadline_ && choices() == 1; }
  [[nodiscard]] int choices() const override;
  touched take(int choice) override;
  [[nodiscard]] std::uint64_t observed(const touched& /*values*/) const override {
    return has_timed_out_ ? 1 : 0;
  }

  /// Valid once the step is taken.
  [[nodiscard]] bool has_timed_out() const noexcept { return has_timed_out_; }

 private:
  /// The ranks whose messages can be received now, the longest waiting message first.
  [[nodiscard]] std::vector<int> senders() const;

  int channel_;
  int from_;
  bool has_deadline_;
  bool has_timed_out_ = false;
};

/// The beginning or the end of an epoch. Steps of ranks that share the epoch can be exchanged: the coming and
/// the going of one change nothing for the others.
class epoch_request : public request {
 public:
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] bool writes() const override { return is_exclusive(); }

 protected:
  epoch_request(execution& of, kind what, int epoch, int home, engine::epoch_kind how)
      : request(of, what), epoch_(epoch), home_(home), how_(how) {}
  [[nodiscard]] bool is_exclusive() const noexcept { return how_ == engine::epoch_kind::exclusive; }
  [[nodiscard]] engine::epoch_kind how() const noexcept { return how_; }
  [[nodiscard]] int home() const noexcept { return home_; }
  /// Name of the word that counts the ranks that share the epoch.
  [[nodiscard]] std::uint64_t sharers() const;

 private:
  int epoch_;
  int home_;
  engine::epoch_kind how_;
};

class epoch_begin final : public epoch_request {
 public:
  epoch_begin(execution& of, int epoch, int home, engine::epoch_kind how)
      : epoch_request(of, kind_of(how), epoch, home, how) {}
  [[nodiscard]] std::string waiting_text() const override;
  [[nodiscard]] bool waits() const override { return true; }
  [[nodiscard]] bool can_be_taken() const override;
  [[nodiscard]] std::optional<bool> could_be_taken(std::uint64_t word, std::size_t event,
                                                   std::uint64_t value) const override;
  touched take(int choice) override;

 private:
  [[nodiscard]] static kind kind_of(engine::epoch_kind how) {
    return how == engine::epoch_kind::exclusive ? kind("begin exclusive epoch") : kind("begin shared epoch");
  }
};

class epoch_end final : public epoch_request {
 public:
  epoch_end(execution& of, int epoch, int home, engine::epoch_kind how)
      : epoch_request(of, kind_of(how), epoch, home, how) {}
  touched take(int choice) override;

 private:
  [[nodiscard]] static kind kind_of(engine::epoch_kind how) {
    return how == engine::epoch_kind::exclusive ? kind("end exclusive epoch") : kind("end shared epoch");
  }
};

/// The entry into the critical section.
class section_entry final : public request {
 public:
  section_entry(execution& of, holding how) : request(of, kind_of(how)), how_(how) {}
  [[nodiscard]] std::uint64_t word() const override { return guard_name; }
  [[nodiscard]] bool writes() const override { return how_ == holding::exclusive; }
  touched take(int choice) override;
  void note_event() const override;

 private:
  [[nodiscard]] static kind kind_of(holding how) {
    return how == holding::exclusive ? kind("ENTER") : kind("ENTER SHARED");
  }

  holding how_;
};

class section_exit final : public request {
 public:
  /// With `stays` the rank gives up what is exclusive, and shares the section from then on.
  section_exit(execution& of, holding how, bool stays = false)
      : request(of, stays ? kind("LEAVE TO SHARE") : kind_of(how)), how_(how), stays_(stays) {}
  [[nodiscard]] std::uint64_t word() const override { return guard_name; }
  [[nodiscard]] bool writes() const override { return how_ == holding::exclusive; }
  touched take(int choice) override;
  void note_event() const override;
  [[nodiscard]] bool leaves() const override { return true; }

 private:
  [[nodiscard]] static kind kind_of(holding how) {
    return how == holding::exclusive ? kind("LEAVE") : kind("LEAVE SHARED");
  }

  holding how_;
  bool stays_;
};

/// The call of an operation whose history is judged.
class operation_call final : public request {
 public:
  operation_call(execution& of, std::uint64_t object, int method, const value_list& arguments)
      : request(of, "CALL"), object_(object), method_(method), arguments_(&arguments) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::uint64_t word() const override;
  void touch(footprint& into) const override { into.add({word(), use::call}); }
  [[nodiscard]] std::uint64_t operands() const override;
  touched take(int choice) override;

 private:
  std::uint64_t object_;
  int method_;
  const value_list* arguments_;
};

class operation_return final : public request {
 public:
  operation_return(execution& of, std::uint64_t object, const value_list& result)
      : request(of, "RETURN"), object_(object), result_(&result) {}
  [[nodiscard]] std::string text(bool in_vain) const override;
  [[nodiscard]] std::uint64_t word() const override;
  [[nodiscard]] std::uint64_t operands() const override;
  void touch(footprint& into) const override { into.add({word(), use::finish}); }
  touched take(int choice) override;

 private:
  std::uint64_t object_;
  const value_list* result_;
};

}  // namespace nearfar::checker
