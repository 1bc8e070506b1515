// Collectives that move or combine data. A rank brings chunks of bytes, one for each rank or one for all, and
// takes those of others.
#include <algorithm>
#include <cstring>
#include <string>

#include "collectives.hpp"
#include "hooks.hpp"
#include "operations.hpp"
#include "requests.hpp"
#include "topologies.hpp"

namespace nearfar::program {

namespace {

/// A chunk that the running rank takes.
struct taking {
  int from = 0;   ///< rank of MPI_COMM_WORLD
  int chunk = 0;  ///< of those that it brings
  void* base = nullptr;
  std::size_t count = 0;
  const datatype* type = nullptr;
};

struct collective_request final : request {
  collective* what = nullptr;
  std::uint32_t needs = 0;
  std::uint64_t number = 0;
  run_vector<taking> takes;
  // Of a reduction: the contributions of `sources` are combined in their order.
  const operation* op = nullptr;
  run_vector<int> sources;
  run_vector<int> own_chunks;  ///< of each source: the chunk to combine
  const datatype* type = nullptr;
  std::size_t count = 0;
  void* result = nullptr;
  communicator* in = nullptr;

  // A persistent one begins again with the same arguments.
  bool is_complete() override { return is_there(*what, needs); }
  bool awaits_arrivals() override { return !is_complete(); }
  bool may_lag() override { return true; }
  void describe(std::string& to) const override {
    to += missing_from(*what, needs) + " to call " + what->name;
  }

  int finish(MPI_Status& status) override {
    clear_status(status);
    rank& by = self();
    release_buffers(by, number);
    learn(by, *what, needs);
    for (const taking& one : takes)
      if (const int code = take(one); code != MPI_SUCCESS) return code;
    if (op != nullptr && result != nullptr) reduce();
    return MPI_SUCCESS;
  }

 private:
  [[nodiscard]] std::pair<const std::byte*, std::size_t> chunk_of(int from, int chunk) const {
    const contribution& one = what->by[static_cast<std::size_t>(from)];
    if (one.counts.empty()) return {one.data.data(), one.data.size()};
    std::size_t begin = 0;
    for (int i = 0; i < chunk; ++i)
      begin += static_cast<std::size_t>(one.counts[static_cast<std::size_t>(i)]);
    return {one.data.data() + begin, static_cast<std::size_t>(one.counts[static_cast<std::size_t>(chunk)])};
  }

  [[noreturn]] void report_mismatch(int from, const std::string& text) const {
    fault found{
        .kind = "collective",
        .text = std::string(what->name) + ": " + text,
        .places = {},
        .rule =
            "The amount and the types of data must match between sender and receiver (MPI 4.1, section 6.1)"};
    found.places.push_back({.rank = self().number, .what = {}, .where = made});
    found.places.push_back(
        {.rank = from, .what = {}, .where = what->by[static_cast<std::size_t>(from)].where});
    fail(std::move(found));
  }

  int take(const taking& one) const {
    const auto [data, bytes] = chunk_of(one.from, one.chunk);
    const std::size_t room = one.count * one.type->size;
    if (bytes != room)
      report_mismatch(one.from, "the rank takes " + std::to_string(room) + " bytes, and rank " +
                                    std::to_string(one.from) + " brings " + std::to_string(bytes));
    const contribution& brought = what->by[static_cast<std::size_t>(one.from)];
    const auto* const brought_type = static_cast<const datatype*>(brought.object);
    if (brought_type != nullptr && bytes > 0 && brought_type->size > 0 &&
        !have_same_signature(*brought_type, bytes / brought_type->size, *one.type, one.count))
      report_mismatch(one.from, "the datatypes have different elements");
    access_buffer(one.base, one.count, *one.type, true);
    unpack(data, bytes, one.base, one.count, *one.type);
    return MPI_SUCCESS;
  }

  void reduce() const {
    const std::size_t bytes = count * type->size;
    run_bytes sum;
    for (std::size_t i = sources.size(); i-- > 0;) {
      const auto [data, size] = chunk_of(sources[i], own_chunks[i]);
      if (size != bytes)
        report_mismatch(sources[i], "the rank combines " + std::to_string(bytes) + " bytes, and rank " +
                                        std::to_string(sources[i]) + " brings " + std::to_string(size));
      const auto* const brought =
          static_cast<const datatype*>(what->by[static_cast<std::size_t>(sources[i])].object);
      if (brought != nullptr && !have_same_signature(*brought, count, *type, count))
        report_mismatch(sources[i], "the datatypes have different elements");
      if (sum.empty()) {
        sum.assign(data, data + size);
      } else {
        run_bytes other(data, data + size);
        combine(*op, *type, count, other.data(), sum.data());
      }
    }
    access_buffer(result, count, *type, true);
    unpack(sum.data(), bytes, result, count, *type);
  }
};

/// Where the running rank is in a collective.
struct member_of {
  communicator& in;
  const run_vector<int>& members;
  int mine;
  int size;
  explicit member_of(MPI_Comm comm)
      : in(communicator_of(comm)),
        members(in.members),
        mine(in.rank_of(self().number)),
        size(static_cast<int>(in.members.size())) {}
  [[nodiscard]] int world(int i) const { return members[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::uint32_t bit(int i) const { return std::uint32_t{1} << static_cast<unsigned>(world(i)); }
};

void refuse_inter(const communicator& in, const char* name) {
  if (in.is_inter)
    fail("missing", std::string(name) + " of an intercommunicator is not supported by the checker");
}

/// Adds pieces of the rank's memory to its contribution, packed one after the other.
struct bringing {
  contribution* to;
  collective_request* for_request;
  bool keeps_chunks;
  void add(const void* base, std::size_t count, const datatype& type) const {
    access_buffer(base, count, type, false);
    const std::size_t before = to->data.size();
    to->data.resize(before + count * type.size);
    pack(base, count, type, to->data.data() + before);
    if (keeps_chunks) to->counts.push_back(static_cast<int>(count * type.size));
    // Chunks of several datatypes have none in common, which the receivers compare then.
    const bool has_others = before > 0 && to->object != &type;
    to->object = has_others ? nullptr : &type;
    hold_buffer(self(), base, count, type, false, for_request->number);
  }
};

[[nodiscard]] std::uint64_t next_number() noexcept {
  static std::uint64_t numbers = std::uint64_t{3} << 60U;
  return ++numbers;
}

/// Arrives at the collective with what `bring` adds. The buffers that it will write are those of `takes` and
/// `result`.
template <typename Bring>
[[nodiscard]] collective_request* begin(const member_of& at, const char* name, int root,
                                        std::intptr_t signature, const char* signature_name,
                                        bool keeps_chunks, Bring bring) {
  auto* const one = make_for_run<collective_request>();
  one->number = next_number();
  one->call = name;
  one->made = self().here();
  one->in = &at.in;
  collective& what = arrive(at.in, name, root, signature, signature_name, [&](contribution& mine) {
    bring(bringing{&mine, one, keeps_chunks});
  });
  one->what = &what;
  return one;
}

/// Which ranks must have come. With waiting collectives, all.
void settle(collective_request& one, std::uint32_t needs) {
  one.needs = run().chosen().collectives_wait ? one.in->everybody() : needs;
  for (const taking& take : one.takes)
    hold_buffer(self(), take.base, take.count, *take.type, true, one.number);
  if (one.op != nullptr && one.result != nullptr)
    hold_buffer(self(), one.result, one.count, *one.type, true, one.number);
}

[[nodiscard]] const void* at_element(const void* base, MPI_Aint n, const datatype& type) noexcept {
  return static_cast<const std::byte*>(base) + n * type.extent;
}

[[nodiscard]] std::size_t checked_count(int count) {
  if (count < 0) fail("argument", "the count " + std::to_string(count) + " is negative (MPI_ERR_COUNT)");
  return static_cast<std::size_t>(count);
}

/// The data of a variant: equal counts one after the other, counts and displacements of their own, or these
/// with datatypes and displacements in bytes.
struct layout {
  int count = 0;
  const int* counts = nullptr;
  const int* displacements = nullptr;
  const datatype* type = nullptr;
  const MPI_Datatype* types = nullptr;
  const MPI_Aint* addresses = nullptr;  ///< instead of displacements
  [[nodiscard]] std::size_t count_of(int i) const {
    return checked_count(counts != nullptr ? counts[i] : count);
  }
  [[nodiscard]] const datatype& type_of(int i) const {
    return types != nullptr ? usable_type(types[i]) : *type;
  }
  /// Bytes from the begin of the buffer.
  [[nodiscard]] MPI_Aint begin_of(int i) const {
    if (addresses != nullptr) return addresses[i];
    const MPI_Aint n = displacements != nullptr ? displacements[i] : MPI_Aint{count} * i;
    return types != nullptr ? n : n * type->extent;
  }
  [[nodiscard]] const void* at(const void* base, int i) const {
    return static_cast<const std::byte*>(base) + begin_of(i);
  }
  [[nodiscard]] void* at(void* base, int i) const { return static_cast<std::byte*>(base) + begin_of(i); }
};

void check_root(const member_of& at, int root) {
  if (root < 0 || root >= at.size)
    fail("argument",
         "the communicator has no rank " + std::to_string(root) + " to be the root (MPI_ERR_ROOT)");
}

[[nodiscard]] collective_request* begin_barrier(const char* name, MPI_Comm comm) {
  const member_of at(comm);
  auto* const one = begin(at, name, -1, 0, "", false, [](const bringing&) {});
  one->needs = at.in.everybody();
  return one;
}

[[nodiscard]] collective_request* begin_bcast(const char* name, void* buffer, int count,
                                              MPI_Datatype datatype, int root, MPI_Comm comm) {
  const member_of at(comm);
  refuse_inter(at.in, name);
  check_root(at, root);
  const auto& type = usable_type(datatype);
  const std::size_t n = checked_count(count);
  auto* const one = begin(at, name, root, 0, "", false, [&](const bringing& to) {
    if (at.mine == root) to.add(buffer, n, type);
  });
  if (at.mine != root) one->takes.push_back({at.world(root), 0, buffer, n, &type});
  settle(*one, at.mine == root ? 0 : at.bit(root));
  return one;
}

[[nodiscard]] collective_request* begin_gather(const char* name, const void* sendbuf, int sendcount,
                                               MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                               const int* counts, const int* displacements,
                                               MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const member_of at(comm);
  refuse_inter(at.in, name);
  check_root(at, root);
  const bool is_root = at.mine == root;
  const bool is_in_place = is_root && sendbuf == MPI_IN_PLACE;
  auto* const one = begin(at, name, root, 0, "", false, [&](const bringing& to) {
    if (!is_in_place) to.add(sendbuf, checked_count(sendcount), usable_type(sendtype));
  });
  std::uint32_t needs = 0;
  if (is_root) {
    const layout to{
        .count = recvcount, .counts = counts, .displacements = displacements, .type = &usable_type(recvtype)};
    for (int i = 0; i < at.size; ++i) {
      if (i == root && is_in_place) continue;
      one->takes.push_back({at.world(i), 0, to.at(recvbuf, i), to.count_of(i), to.type});
      needs |= at.bit(i);
    }
  }
  settle(*one, needs);
  return one;
}

[[nodiscard]] collective_request* begin_allgather(const char* name, const void* sendbuf, int sendcount,
                                                  MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                                  const int* counts, const int* displacements,
                                                  MPI_Datatype recvtype, MPI_Comm comm) {
  const member_of at(comm);
  refuse_inter(at.in, name);
  const layout to{
      .count = recvcount, .counts = counts, .displacements = displacements, .type = &usable_type(recvtype)};
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  auto* const one = begin(at, name, -1, 0, "", false, [&](const bringing& brought) {
    if (is_in_place)
      brought.add(to.at(recvbuf, at.mine), to.count_of(at.mine), *to.type);
    else
      brought.add(sendbuf, checked_count(sendcount), usable_type(sendtype));
  });
  for (int i = 0; i < at.size; ++i)
    if (i != at.mine || !is_in_place)
      one->takes.push_back({at.world(i), 0, to.at(recvbuf, i), to.count_of(i), to.type});
  if (is_in_place) release_buffers(self(), one->number);
  settle(*one, at.in.everybody());
  return one;
}

[[nodiscard]] collective_request* begin_scatter(const char* name, const void* sendbuf, int sendcount,
                                                const int* counts, const int* displacements,
                                                MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                                MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const member_of at(comm);
  refuse_inter(at.in, name);
  check_root(at, root);
  const bool is_root = at.mine == root;
  auto* const one = begin(at, name, root, 0, "", true, [&](const bringing& to) {
    if (!is_root) return;
    const layout from{
        .count = sendcount, .counts = counts, .displacements = displacements, .type = &usable_type(sendtype)};
    for (int i = 0; i < at.size; ++i) to.add(from.at(sendbuf, i), from.count_of(i), *from.type);
  });
  if (recvbuf != MPI_IN_PLACE)
    one->takes.push_back(
        {at.world(root), at.mine, recvbuf, checked_count(recvcount), &usable_type(recvtype)});
  settle(*one, at.bit(root));
  return one;
}

[[nodiscard]] collective_request* begin_alltoall(const char* name, const void* sendbuf, layout from,
                                                 void* recvbuf, layout to, MPI_Comm comm) {
  const member_of at(comm);
  refuse_inter(at.in, name);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  if (is_in_place) {
    sendbuf = recvbuf;
    from = to;
  }
  auto* const one = begin(at, name, -1, 0, "", true, [&](const bringing& brought) {
    for (int i = 0; i < at.size; ++i) brought.add(from.at(sendbuf, i), from.count_of(i), from.type_of(i));
  });
  if (is_in_place) release_buffers(self(), one->number);
  for (int i = 0; i < at.size; ++i)
    one->takes.push_back({at.world(i), at.mine, to.at(recvbuf, i), to.count_of(i), &to.type_of(i)});
  settle(*one, at.in.everybody());
  return one;
}

/// The neighbours of the running rank, as ranks of the communicator.
struct neighbours {
  const topology& shape;
  run_vector<int> sources;
  run_vector<int> destinations;
  explicit neighbours(const member_of& at)
      : shape(shape_of(at.in)),
        sources(sources_of(at.in, at.mine)),
        destinations(destinations_of(at.in, at.mine)) {}
};

/// The chunk that comes from the n-th source: among those that the source sends to this rank, as many precede
/// it as this rank has earlier sources of the same rank. In a grid, a rank receives from the front of a
/// dimension the chunk that the other one sends backwards.
[[nodiscard]] int chunk_from(const member_of& at, const neighbours& of, int n) {
  if (of.shape.kind == MPI_CART) return n ^ 1;
  const int source = of.sources[static_cast<std::size_t>(n)];
  auto earlier = std::count(of.sources.begin(), of.sources.begin() + n, source);
  const run_vector<int> theirs = destinations_of(at.in, source);
  for (std::size_t i = 0; i < theirs.size(); ++i)
    if (theirs[i] == at.mine && earlier-- == 0) return static_cast<int>(i);
  fail("collective",
       "rank " + std::to_string(at.world(source)) + " does not have this rank as a destination");
}

/// With `sends_same`, all destinations get the same data.
[[nodiscard]] collective_request* begin_neighbours(const char* name, const void* sendbuf, layout from,
                                                   bool sends_same, void* recvbuf, layout to, MPI_Comm comm) {
  const member_of at(comm);
  if (sendbuf == MPI_IN_PLACE) fail("argument", "MPI_IN_PLACE is no buffer of a neighbourhood collective");
  const neighbours of(at);
  auto* const one = begin(at, name, -1, 0, "", !sends_same, [&](const bringing& brought) {
    if (sends_same) return brought.add(sendbuf, checked_count(from.count), *from.type);
    for (int i = 0; i < static_cast<int>(of.destinations.size()); ++i)
      brought.add(from.at(sendbuf, i),
                  of.destinations[static_cast<std::size_t>(i)] < 0 ? 0 : from.count_of(i), from.type_of(i));
  });
  std::uint32_t needs = 0;
  for (int i = 0; i < static_cast<int>(of.sources.size()); ++i) {
    const int source = of.sources[static_cast<std::size_t>(i)];
    if (source < 0) continue;
    needs |= at.bit(source);
    one->takes.push_back({at.world(source), sends_same ? 0 : chunk_from(at, of, i), to.at(recvbuf, i),
                          to.count_of(i), &to.type_of(i)});
  }
  settle(*one, needs);
  return one;
}

[[nodiscard]] const operation& usable_operation(MPI_Op op, const datatype& type) {
  const operation* const one = operation_of(op);
  if (one == nullptr) fail("argument", "the operation does not exist, or was freed (MPI_ERR_OP)");
  for (const element_run& run : type.map)
    if (!is_defined_for(*one, basic_at(run.basic)))
      fail("argument",
           std::string(one->name) + " is not defined for " + basic_at(run.basic).name + " (MPI_ERR_OP)",
           nullptr, "MPI 4.1, section 6.9.2");
  return *one;
}

/// The operation as ranks can compare it: those of the program are numbered alike in all ranks, if they make
/// the same.
[[nodiscard]] std::intptr_t signature_of(MPI_Op op) noexcept { return reinterpret_cast<std::intptr_t>(op); }

/// Combines what the ranks [0, last) bring, for those that `gets` it.
[[nodiscard]] collective_request* begin_reduction(const char* name, const void* sendbuf, void* recvbuf,
                                                  int count, MPI_Datatype datatype, MPI_Op op, int root,
                                                  MPI_Comm comm, int last, bool gets) {
  const member_of at(comm);
  refuse_inter(at.in, name);
  if (root >= 0) check_root(at, root);
  const auto& type = usable_type(datatype);
  const operation& how = usable_operation(op, type);
  const std::size_t n = checked_count(count);
  auto* const one = begin(at, name, root, signature_of(op), "operation", false, [&](const bringing& to) {
    to.add(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, n, type);
  });
  std::uint32_t needs = 0;
  if (sendbuf == MPI_IN_PLACE) release_buffers(self(), one->number);
  if (gets && last > 0) {
    one->op = &how;
    one->type = &type;
    one->count = n;
    one->result = recvbuf;
    for (int i = 0; i < last; ++i) {
      one->sources.push_back(at.world(i));
      one->own_chunks.push_back(0);
      needs |= at.bit(i);
    }
  }
  settle(*one, needs);
  return one;
}

[[nodiscard]] collective_request* begin_reduce_scatter(const char* name, const void* sendbuf, void* recvbuf,
                                                       const int* counts, int count, MPI_Datatype datatype,
                                                       MPI_Op op, MPI_Comm comm) {
  const member_of at(comm);
  refuse_inter(at.in, name);
  const auto& type = usable_type(datatype);
  const operation& how = usable_operation(op, type);
  const void* const from = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const auto count_of = [&](int i) { return checked_count(counts != nullptr ? counts[i] : count); };
  auto* const one = begin(at, name, -1, signature_of(op), "operation", true, [&](const bringing& to) {
    MPI_Aint begin_of = 0;
    for (int i = 0; i < at.size; ++i) {
      to.add(at_element(from, begin_of, type), count_of(i), type);
      begin_of += static_cast<MPI_Aint>(count_of(i));
    }
  });
  if (sendbuf == MPI_IN_PLACE) release_buffers(self(), one->number);
  one->op = &how;
  one->type = &type;
  one->count = count_of(at.mine);
  one->result = recvbuf;
  for (int i = 0; i < at.size; ++i) {
    one->sources.push_back(at.world(i));
    one->own_chunks.push_back(at.mine);
  }
  settle(*one, at.in.everybody());
  return one;
}

/// Each start begins the collective anew, by `begins`.
template <typename Begin>
struct persistent_collective final : request {
  explicit persistent_collective(Begin how) : begins(how) {}
  bool is_complete() override { return current_one == nullptr || current_one->is_complete(); }
  int finish(MPI_Status& status) override { return current_one->finish(status); }
  void start() override { current_one = begins(); }
  void describe(std::string& to) const override { current_one->describe(to); }
  Begin begins;
  collective_request* current_one = nullptr;
};

/// All ranks make persistent collectives in the same order (MPI 4.1, section 6.13).
template <typename Begin>
int make_persistent(const char* name, MPI_Comm comm, MPI_Request* request, Begin begins) {
  static_cast<void>(arrive(communicator_of(comm), name, -1, 0, "", [](contribution&) {}));
  auto* const one = make_for_run<persistent_collective<Begin>>(begins);
  one->is_persistent = true;
  one->is_active = false;
  *request = add_request(*one);
  return MPI_SUCCESS;
}

int finish_now(collective_request* one) { return complete_now(*one, MPI_STATUS_IGNORE); }

int keep(collective_request* one, MPI_Request* request) {
  *request = add_request(*one);
  return MPI_SUCCESS;
}

[[nodiscard]] layout equal(int count, MPI_Datatype type) {
  return {.count = count, .type = &usable_type(type)};
}
[[nodiscard]] layout varied(const int* counts, const int* displacements, MPI_Datatype type) {
  return {.counts = counts, .displacements = displacements, .type = &usable_type(type)};
}
[[nodiscard]] layout mixed(const int* counts, const int* displacements, const MPI_Datatype* types) {
  return {.counts = counts, .displacements = displacements, .types = types};
}
[[nodiscard]] layout mixed(const int* counts, const MPI_Aint* addresses, const MPI_Datatype* types) {
  return {.counts = counts, .types = types, .addresses = addresses};
}
[[nodiscard]] layout send_layout(const void* buffer, layout (*make)(int, MPI_Datatype), int count,
                                 MPI_Datatype type) {
  return buffer == MPI_IN_PLACE ? layout{} : make(count, type);
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

// Each collective has a form that waits, one with a request, and a persistent one.
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define NEARFAR_ARGUMENTS(...) __VA_ARGS__
#define NEARFAR_COLLECTIVE(name, iname, parameters, begins)                          \
  int MPI_##name(parameters, MPI_Comm comm) {                                        \
    NEARFAR_MPI_CALL(MPI_##name);                                                    \
    const char* const called = "MPI_" #name;                                         \
    return finish_now(begins);                                                       \
  }                                                                                  \
  int MPI_##iname(parameters, MPI_Comm comm, MPI_Request* request) {                 \
    NEARFAR_MPI_CALL(MPI_##iname);                                                   \
    const char* const called = "MPI_" #iname;                                        \
    return keep(begins, request);                                                    \
  }                                                                                  \
  int MPI_##name##_init(parameters, MPI_Comm comm, MPI_Info, MPI_Request* request) { \
    NEARFAR_MPI_CALL(MPI_##name##_init);                                             \
    const char* const called = "MPI_" #name "_init";                                 \
    return make_persistent(called, comm, request, [=] { return begins; });           \
  }

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  NEARFAR_MPI_CALL(MPI_Barrier);
  return finish_now(begin_barrier("MPI_Barrier", comm));
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Ibarrier);
  return keep(begin_barrier("MPI_Ibarrier", comm), request);
}

int MPI_Barrier_init(MPI_Comm comm, MPI_Info, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Barrier_init);
  return make_persistent("MPI_Barrier_init", comm, request,
                         [=] { return begin_barrier("MPI_Barrier_init", comm); });
}

NEARFAR_COLLECTIVE(Bcast, Ibcast, NEARFAR_ARGUMENTS(void* buffer, int count, MPI_Datatype datatype, int root),
                   begin_bcast(called, buffer, count, datatype, root, comm))

NEARFAR_COLLECTIVE(Gather, Igather,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype, int root),
                   begin_gather(called, sendbuf, sendcount, sendtype, recvbuf, recvcount, nullptr, nullptr,
                                recvtype, root, comm))

NEARFAR_COLLECTIVE(Gatherv, Igatherv,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                     int root),
                   begin_gather(called, sendbuf, sendcount, sendtype, recvbuf, 0, recvcounts, displs,
                                recvtype, root, comm))

NEARFAR_COLLECTIVE(Allgather, Iallgather,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype),
                   begin_allgather(called, sendbuf, sendcount, sendtype, recvbuf, recvcount, nullptr, nullptr,
                                   recvtype, comm))

NEARFAR_COLLECTIVE(Allgatherv, Iallgatherv,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int displs[], MPI_Datatype recvtype),
                   begin_allgather(called, sendbuf, sendcount, sendtype, recvbuf, 0, recvcounts, displs,
                                   recvtype, comm))

NEARFAR_COLLECTIVE(Scatter, Iscatter,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype, int root),
                   begin_scatter(called, sendbuf, sendcount, nullptr, nullptr, sendtype, recvbuf, recvcount,
                                 recvtype, root, comm))

NEARFAR_COLLECTIVE(Scatterv, Iscatterv,
                   NEARFAR_ARGUMENTS(const void* sendbuf, const int sendcounts[], const int displs[],
                                     MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                     MPI_Datatype recvtype, int root),
                   begin_scatter(called, sendbuf, 0, sendcounts, displs, sendtype, recvbuf, recvcount,
                                 recvtype, root, comm))

NEARFAR_COLLECTIVE(Alltoall, Ialltoall,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype),
                   begin_alltoall(called, sendbuf, send_layout(sendbuf, equal, sendcount, sendtype), recvbuf,
                                  equal(recvcount, recvtype), comm))

NEARFAR_COLLECTIVE(Alltoallv, Ialltoallv,
                   NEARFAR_ARGUMENTS(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                     MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                     const int rdispls[], MPI_Datatype recvtype),
                   begin_alltoall(called, sendbuf,
                                  sendbuf == MPI_IN_PLACE ? layout{} : varied(sendcounts, sdispls, sendtype),
                                  recvbuf, varied(recvcounts, rdispls, recvtype), comm))

NEARFAR_COLLECTIVE(Alltoallw, Ialltoallw,
                   NEARFAR_ARGUMENTS(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                     const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                     const int rdispls[], const MPI_Datatype recvtypes[]),
                   begin_alltoall(called, sendbuf,
                                  sendbuf == MPI_IN_PLACE ? layout{} : mixed(sendcounts, sdispls, sendtypes),
                                  recvbuf, mixed(recvcounts, rdispls, recvtypes), comm))

NEARFAR_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype),
                   begin_neighbours(called, sendbuf, equal(sendcount, sendtype), true, recvbuf,
                                    equal(recvcount, recvtype), comm))

NEARFAR_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int displs[], MPI_Datatype recvtype),
                   begin_neighbours(called, sendbuf, equal(sendcount, sendtype), true, recvbuf,
                                    varied(recvcounts, displs, recvtype), comm))

NEARFAR_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall,
                   NEARFAR_ARGUMENTS(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype),
                   begin_neighbours(called, sendbuf, equal(sendcount, sendtype), false, recvbuf,
                                    equal(recvcount, recvtype), comm))

NEARFAR_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
                   NEARFAR_ARGUMENTS(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                     MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                     const int rdispls[], MPI_Datatype recvtype),
                   begin_neighbours(called, sendbuf, varied(sendcounts, sdispls, sendtype), false, recvbuf,
                                    varied(recvcounts, rdispls, recvtype), comm))

NEARFAR_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
                   NEARFAR_ARGUMENTS(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                     const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]),
                   begin_neighbours(called, sendbuf, mixed(sendcounts, sdispls, sendtypes), false, recvbuf,
                                    mixed(recvcounts, rdispls, recvtypes), comm))

NEARFAR_COLLECTIVE(Reduce, Ireduce,
                   NEARFAR_ARGUMENTS(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                     MPI_Op op, int root),
                   begin_reduction(called, sendbuf, recvbuf, count, datatype, op, root, comm,
                                   member_of(comm).size, member_of(comm).mine == root))

NEARFAR_COLLECTIVE(Allreduce, Iallreduce,
                   NEARFAR_ARGUMENTS(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                     MPI_Op op),
                   begin_reduction(called, sendbuf, recvbuf, count, datatype, op, -1, comm,
                                   member_of(comm).size, true))

NEARFAR_COLLECTIVE(Scan, Iscan,
                   NEARFAR_ARGUMENTS(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                     MPI_Op op),
                   begin_reduction(called, sendbuf, recvbuf, count, datatype, op, -1, comm,
                                   member_of(comm).mine + 1, true))

NEARFAR_COLLECTIVE(Exscan, Iexscan,
                   NEARFAR_ARGUMENTS(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                     MPI_Op op),
                   begin_reduction(called, sendbuf, recvbuf, count, datatype, op, -1, comm,
                                   member_of(comm).mine, true))

NEARFAR_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                   NEARFAR_ARGUMENTS(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                     MPI_Datatype datatype, MPI_Op op),
                   begin_reduce_scatter(called, sendbuf, recvbuf, recvcounts, 0, datatype, op, comm))

NEARFAR_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
                   NEARFAR_ARGUMENTS(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                     MPI_Op op),
                   begin_reduce_scatter(called, sendbuf, recvbuf, nullptr, recvcount, datatype, op, comm))

int MPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op) {
  NEARFAR_MPI_CALL(MPI_Reduce_local);
  const auto& type = usable_type(datatype);
  const auto& how = usable_operation(op, type);
  const std::size_t n = checked_count(count);
  access_buffer(inbuf, n, type, false);
  access_buffer(inoutbuf, n, type, true);
  run_bytes in(n * type.size);
  run_bytes inout(n * type.size);
  pack(inbuf, n, type, in.data());
  pack(inoutbuf, n, type, inout.data());
  combine(how, type, n, in.data(), inout.data());
  unpack(inout.data(), inout.size(), inoutbuf, n, type);
  return MPI_SUCCESS;
}

int MPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  NEARFAR_MPI_CALL(MPI_Op_create);
  auto* const one = make_for_run<operation>();
  one->name = "an operation of the program";
  one->function = user_fn;
  one->made = self().here();
  one->is_commutative = commute != 0;
  *op = own().operations.add(one);
  one->handle = *op;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* op) {
  NEARFAR_MPI_CALL(MPI_Op_free);
  if (own().operations.find(*op) == nullptr)
    return error_of(mpi().world, MPI_ERR_OP, "the operation does not exist, or is predefined");
  own().operations.remove(*op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int MPI_Op_commutative(MPI_Op op, int* commute) {
  NEARFAR_MPI_CALL(MPI_Op_commutative);
  const auto* const one = operation_of(op);
  if (one == nullptr) return error_of(mpi().world, MPI_ERR_OP, "the operation does not exist, or was freed");
  *commute = one->is_commutative ? 1 : 0;
  return MPI_SUCCESS;
}
}
// NOLINTEND(cppcoreguidelines-macro-usage)
