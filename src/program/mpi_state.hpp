// The state that the functions of MPI keep of one execution, and how each of them begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "execution.hpp"
#include "mpi_api.hpp"
#include "run_memory.hpp"

namespace nearfar::program {

struct communicator;
struct window;
struct datatype;
struct request;
struct group;
struct operation;
struct info_object;
struct error_handler;
struct key_value;
struct message;

/// Objects of one kind that a rank has handles for. A handle is never used twice, so a stale one is found.
template <typename T, typename Handle, std::intptr_t Kind>
class handle_table {
 public:
  [[nodiscard]] Handle add(T* one) {
    all_.push_back(one);
    return reinterpret_cast<Handle>(first + static_cast<std::intptr_t>(all_.size()) - 1);
  }
  /// Null for a handle that is stale or no such handle.
  [[nodiscard]] T* find(Handle handle) const noexcept {
    const auto index = static_cast<std::size_t>(reinterpret_cast<std::intptr_t>(handle) - first);
    return index < all_.size() ? all_[index] : nullptr;
  }
  void remove(Handle handle) noexcept {
    all_[static_cast<std::size_t>(reinterpret_cast<std::intptr_t>(handle) - first)] = nullptr;
  }
  [[nodiscard]] const run_vector<T*>& all() const noexcept { return all_; }
  [[nodiscard]] static Handle handle_at(std::size_t i) noexcept {
    return reinterpret_cast<Handle>(first + static_cast<std::intptr_t>(i));
  }

 private:
  static constexpr std::intptr_t first = Kind << 24;
  run_vector<T*> all_;
};

/// The objects of MPI that a rank has.
struct rank_state {
  enum class stage { before, running, finalized } at = stage::before;
  int thread_level = 0;
  handle_table<communicator, MPI_Comm, 1> communicators;
  handle_table<window, MPI_Win, 2> windows;
  handle_table<datatype, MPI_Datatype, 3> types;
  handle_table<request, MPI_Request, 4> requests;
  handle_table<group, MPI_Group, 5> groups;
  handle_table<operation, MPI_Op, 6> operations;
  handle_table<info_object, MPI_Info, 7> infos;
  handle_table<error_handler, MPI_Errhandler, 8> error_handlers;
  handle_table<message, MPI_Message, 9> messages;
  run_map<std::intptr_t, datatype*> predefined_types;
  run_vector<key_value*> keys;
  /// Bytes that MPI_Buffer_attach has given.
  void* attached_buffer = nullptr;
  int attached_bytes = 0;
};

struct mpi_state {
  run_vector<rank_state*> ranks;
  communicator* world = nullptr;
  communicator* ending = nullptr;  ///< of all ranks, for MPI_Finalize alone
  run_vector<communicator*> selves;
  run_vector<window*> windows;
  int contexts = 0;  ///< communicators so far
  /// Where ranks meet that have no communicator of their own yet: by communicator, tag and ranks.
  run_map<std::array<int, 4>, communicator*> meetings;
};

/// Makes the state of a new execution.
void begin_mpi();
[[nodiscard]] mpi_state& mpi() noexcept;
[[nodiscard]] rank_state& state_of(const rank& one) noexcept;
[[nodiscard]] inline rank_state& own() noexcept { return state_of(self()); }

/// A call of MPI by the running rank, until it returns.
class mpi_call {
 public:
  enum class when { running, any };
  mpi_call(const char* name, const void* from, when allowed = when::running);
  /// The next call, which begins at once, is the program's under this name and from there.
  static void begin_as(const char* name, const void* from) noexcept;
  mpi_call(const mpi_call&) = delete;
  mpi_call& operator=(const mpi_call&) = delete;
  ~mpi_call() {
    self().call = before_;
    self().call_site = before_site_;
  }

 private:
  checker_scope scope_;
  const char* before_;
  const void* before_site_;
};

/// A result other than MPI_SUCCESS: what the error handler makes of an error of this class.
/// `other` is the place of another rank that belongs to it.
[[nodiscard]] int error_of(communicator* in, int error_class, const std::string& text,
                           const std::string& rule = {}, const involved* other = nullptr);
[[nodiscard]] int error_of(window* in, int error_class, const std::string& text, const std::string& rule = {},
                           const involved* other = nullptr);
[[nodiscard]] const char* name_of_error(int error_class) noexcept;

}  // namespace nearfar::program

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the name and the caller's address are those of the function
// it is in.
#define NEARFAR_MPI_CALL(name) \
  const nearfar::program::mpi_call in_this_call(#name, __builtin_return_address(0))
#define NEARFAR_MPI_CALL_AT_ANY_TIME(name)                                          \
  const nearfar::program::mpi_call in_this_call(#name, __builtin_return_address(0), \
                                                nearfar::program::mpi_call::when::any)
