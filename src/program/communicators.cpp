#include "communicators.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "infos.hpp"
#include "requests.hpp"

namespace nearfar::program {

const run_vector<int>& communicator::local(int world_rank) const noexcept {
  return is_inter && index_in(members, world_rank) < 0 ? others : members;
}

const run_vector<int>& communicator::remote(int world_rank) const noexcept {
  if (!is_inter) return members;
  return index_in(members, world_rank) < 0 ? members : others;
}

int communicator::index_in(const run_vector<int>& all, int world_rank) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == world_rank) return static_cast<int>(i);
  return -1;
}

std::uint32_t communicator::everybody() const noexcept {
  std::uint32_t all = 0;
  for (const int one : members) all |= std::uint32_t{1} << static_cast<unsigned>(one);
  for (const int one : others) all |= std::uint32_t{1} << static_cast<unsigned>(one);
  return all;
}

communicator* make_communicator(const run_vector<int>& members) {
  auto* const one = make_for_run<communicator>();
  one->number = mpi().contexts++;
  one->members = members;
  return one;
}

communicator& communicator_of(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return *mpi().world;
  if (handle == MPI_COMM_SELF) return *mpi().selves[static_cast<std::size_t>(self().number)];
  communicator* const one = own().communicators.find(handle);
  if (one == nullptr)
    fail("argument", handle == MPI_COMM_NULL ? "MPI_COMM_NULL is no communicator"
                                             : "the communicator does not exist, or was freed");
  return *one;
}

MPI_Comm add_communicator(communicator* made) {
  made->mine().made = self().here();
  return own().communicators.add(made);
}

MPI_Comm handle_of(communicator* one) {
  if (one == mpi().world) return MPI_COMM_WORLD;
  const run_vector<communicator*>& all = own().communicators.all();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == one) return decltype(own().communicators)::handle_at(i);
  return MPI_COMM_SELF;
}

int node_of(int world_rank) noexcept {
  return run().how().ranks_per_node > 0 ? world_rank / run().how().ranks_per_node : 0;
}

namespace {

/// The communicator of the ranks that gave the same color, in the order of their keys.
[[nodiscard]] int split(const char* name, communicator& in, int color, int key, MPI_Comm* newcomm) {
  struct wish {
    int color;
    int key;
  };
  const wish mine{color, key};
  collective& one = arrive(in, name, -1, 0, "", [&](contribution& to) {
    to.data.resize(sizeof mine);
    std::memcpy(to.data.data(), &mine, sizeof mine);
  });
  await(one, in.everybody());
  *newcomm = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) return MPI_SUCCESS;
  const auto wish_of = [&](int world_rank) {
    wish other{};
    std::memcpy(&other, one.of(world_rank).data.data(), sizeof other);
    return other;
  };
  run_vector<int> members;
  for (const int member : in.local(self().number))
    if (wish_of(member).color == color) members.push_back(member);
  std::stable_sort(members.begin(), members.end(),
                   [&](int a, int b) { return wish_of(a).key < wish_of(b).key; });
  // The first member that comes makes it for all.
  contribution& leader = one.of(members[0]);
  if (leader.object == nullptr) leader.object = make_communicator(members);
  auto* const made = static_cast<communicator*>(const_cast<void*>(leader.object));
  made->mine().handler = in.mine().handler;
  *newcomm = add_communicator(made);
  return MPI_SUCCESS;
}

/// With `waits`, the call synchronises the ranks.
[[nodiscard]] communicator* duplicate(const char* name, communicator& in, bool waits = true) {
  collective& one = arrive(in, name, -1, 0, "", [](contribution&) {});
  if (one.result == nullptr) {
    communicator* const made = make_communicator(in.members);
    made->others = in.others;
    made->is_inter = in.is_inter;
    made->shape = in.shape;
    one.result = made;
  }
  auto* const made = static_cast<communicator*>(one.result);
  made->mine().handler = in.mine().handler;
  if (waits) await(one, in.everybody());
  return made;
}

[[nodiscard]] int duplicate_in_background(const char* name, MPI_Comm comm, MPI_Comm* newcomm,
                                          MPI_Request* request) {
  communicator& in = communicator_of(comm);
  communicator* const made = duplicate(name, in, false);
  *newcomm = add_communicator(made);
  if (const int code = copy_attributes(in, comm, *made); code != MPI_SUCCESS)
    return error_of(&in, code, "an attribute cannot be copied");
  *request = completed_request();
  return MPI_SUCCESS;
}

[[nodiscard]] bool has_same_members(const run_vector<int>& a, const run_vector<int>& b) {
  return a.size() == b.size() &&
         std::all_of(a.begin(), a.end(), [&](int one) { return communicator::index_in(b, one) >= 0; });
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Comm_size(MPI_Comm comm, int* size) {
  NEARFAR_MPI_CALL(MPI_Comm_size);
  *size = static_cast<int>(communicator_of(comm).local(self().number).size());
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  NEARFAR_MPI_CALL(MPI_Comm_rank);
  *rank = communicator_of(comm).rank_of(self().number);
  return MPI_SUCCESS;
}

int MPI_Comm_remote_size(MPI_Comm comm, int* size) {
  NEARFAR_MPI_CALL(MPI_Comm_remote_size);
  communicator& in = communicator_of(comm);
  if (!in.is_inter) return error_of(&in, MPI_ERR_COMM, "the communicator is no intercommunicator");
  *size = static_cast<int>(in.remote(self().number).size());
  return MPI_SUCCESS;
}

int MPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  NEARFAR_MPI_CALL(MPI_Comm_test_inter);
  *flag = communicator_of(comm).is_inter ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  NEARFAR_MPI_CALL(MPI_Comm_compare);
  const auto& a = communicator_of(comm1);
  const auto& b = communicator_of(comm2);
  if (&a == &b)
    *result = MPI_IDENT;
  else if (a.members == b.members && a.others == b.others)
    *result = MPI_CONGRUENT;
  else
    *result = has_same_members(a.members, b.members) && has_same_members(a.others, b.others) ? MPI_SIMILAR
                                                                                             : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  NEARFAR_MPI_CALL(MPI_Comm_dup);
  communicator& in = communicator_of(comm);
  communicator* const made = duplicate("MPI_Comm_dup", in);
  *newcomm = add_communicator(made);
  if (const int code = copy_attributes(in, comm, *made); code != MPI_SUCCESS)
    return error_of(&in, code, "an attribute cannot be copied");
  return MPI_SUCCESS;
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info, MPI_Comm* newcomm) {
  NEARFAR_MPI_CALL(MPI_Comm_dup_with_info);
  communicator& in = communicator_of(comm);
  communicator* const made = duplicate("MPI_Comm_dup_with_info", in);
  *newcomm = add_communicator(made);
  if (const int code = copy_attributes(in, comm, *made); code != MPI_SUCCESS)
    return error_of(&in, code, "an attribute cannot be copied");
  return MPI_SUCCESS;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Comm_idup);
  return duplicate_in_background("MPI_Comm_idup", comm, newcomm, request);
}

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info, MPI_Comm* newcomm, MPI_Request* request) {
  NEARFAR_MPI_CALL(MPI_Comm_idup_with_info);
  return duplicate_in_background("MPI_Comm_idup_with_info", comm, newcomm, request);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  NEARFAR_MPI_CALL(MPI_Comm_split);
  communicator& in = communicator_of(comm);
  if (color < 0 && color != MPI_UNDEFINED)
    return error_of(&in, MPI_ERR_ARG, "the color " + std::to_string(color) + " is negative");
  if (in.is_inter) fail("missing", "MPI_Comm_split of an intercommunicator is not supported by the checker");
  return split("MPI_Comm_split", in, color, key, newcomm);
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info, MPI_Comm* newcomm) {
  NEARFAR_MPI_CALL(MPI_Comm_split_type);
  communicator& in = communicator_of(comm);
  const bool is_shared = split_type == MPI_COMM_TYPE_SHARED;
  if (!is_shared && split_type != MPI_UNDEFINED)
    fail("missing", "MPI_Comm_split_type is supported by the checker for MPI_COMM_TYPE_SHARED only");
  return split("MPI_Comm_split_type", in, is_shared ? node_of(self().number) : MPI_UNDEFINED, key, newcomm);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  NEARFAR_MPI_CALL(MPI_Comm_create);
  communicator& in = communicator_of(comm);
  if (in.is_inter) fail("missing", "MPI_Comm_create of an intercommunicator is not supported by the checker");
  const run_vector<int> members = group_of(group).members;
  for (const int member : members)
    if (communicator::index_in(in.members, member) < 0)
      return error_of(&in, MPI_ERR_GROUP, "the group has a rank that the communicator has not");
  const int index = communicator::index_in(members, self().number);
  return split("MPI_Comm_create", in, index < 0 ? MPI_UNDEFINED : members[0], index, newcomm);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  NEARFAR_MPI_CALL(MPI_Comm_create_group);
  communicator& in = communicator_of(comm);
  const run_vector<int>& members = group_of(group).members;
  *newcomm = MPI_COMM_NULL;
  if (communicator::index_in(members, self().number) < 0) return MPI_SUCCESS;
  // Only the ranks of the group take part: they meet in a communicator that the first of them has made for
  // this tag.
  communicator*& meeting = mpi().meetings[{in.number, tag, members[0], static_cast<int>(members.size())}];
  if (meeting == nullptr) meeting = make_communicator(members);
  collective& one = arrive(*meeting, "MPI_Comm_create_group", -1, 0, "", [](contribution&) {});
  if (one.result == nullptr) one.result = make_communicator(members);
  auto* const made = static_cast<communicator*>(one.result);
  made->mine().handler = in.mine().handler;
  await(one, meeting->everybody());
  *newcomm = add_communicator(made);
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* comm) {
  NEARFAR_MPI_CALL(MPI_Comm_free);
  communicator& in = communicator_of(*comm);
  if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
    return error_of(&in, MPI_ERR_COMM, "a predefined communicator cannot be freed");
  delete_attributes(in.mine().attributes, *comm);
  await(arrive(in, "MPI_Comm_free", -1, 0, "", [](contribution&) {}), 0);
  own().communicators.remove(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  NEARFAR_MPI_CALL(MPI_Comm_disconnect);
  communicator& in = communicator_of(*comm);
  delete_attributes(in.mine().attributes, *comm);
  synchronise(in, "MPI_Comm_disconnect");
  own().communicators.remove(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  NEARFAR_MPI_CALL(MPI_Comm_set_name);
  std::strncpy(communicator_of(comm).mine().name, comm_name, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  NEARFAR_MPI_CALL(MPI_Comm_get_name);
  const char* name = communicator_of(comm).mine().name;
  if (*name == '\0')
    name = comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : comm == MPI_COMM_SELF ? "MPI_COMM_SELF" : "";
  std::strcpy(comm_name, name);
  *resultlen = static_cast<int>(std::strlen(name));
  return MPI_SUCCESS;
}

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info) {
  NEARFAR_MPI_CALL(MPI_Comm_set_info);
  static_cast<void>(communicator_of(comm));
  return MPI_SUCCESS;
}

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  NEARFAR_MPI_CALL(MPI_Comm_get_info);
  static_cast<void>(communicator_of(comm));
  *info_used = new_info();
  return MPI_SUCCESS;
}

int MPI_Comm_get_parent(MPI_Comm* parent) {
  NEARFAR_MPI_CALL(MPI_Comm_get_parent);
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                         int tag, MPI_Comm* newintercomm) {
  NEARFAR_MPI_CALL(MPI_Intercomm_create);
  communicator& local = communicator_of(local_comm);
  const int own_leader = local.members[static_cast<std::size_t>(local_leader)];
  // The leaders meet by the ranks that they have in the peer communicator, and the others learn of it from
  // them.
  collective& one = arrive(local, "MPI_Intercomm_create", local_leader, 0, "", [](contribution&) {});
  if (own_leader == self().number) {
    communicator& peer = communicator_of(peer_comm);
    const int other_leader = peer.remote(self().number)[static_cast<std::size_t>(remote_leader)];
    communicator*& meeting = mpi().meetings[{peer.number, tag, -1 - std::min(own_leader, other_leader),
                                             std::max(own_leader, other_leader)}];
    if (meeting == nullptr) {
      run_vector<int> both;
      both.push_back(std::min(own_leader, other_leader));
      both.push_back(std::max(own_leader, other_leader));
      meeting = make_communicator(both);
    }
    collective& leaders = arrive(*meeting, "MPI_Intercomm_create", -1, 0, "",
                                 [&](contribution& mine) { mine.object = &local; });
    await(leaders, meeting->everybody());
    if (leaders.result == nullptr) {
      communicator* const made = make_communicator(local.members);
      made->others = static_cast<const communicator*>(leaders.of(other_leader).object)->members;
      made->is_inter = true;
      leaders.result = made;
    }
    one.result = leaders.result;
  }
  await(one, local.everybody());
  synchronise(local, "MPI_Intercomm_create");
  *newintercomm = add_communicator(static_cast<communicator*>(one.result));
  return MPI_SUCCESS;
}

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  NEARFAR_MPI_CALL(MPI_Intercomm_merge);
  communicator& in = communicator_of(intercomm);
  if (!in.is_inter) return error_of(&in, MPI_ERR_COMM, "the communicator is no intercommunicator");
  collective& one =
      arrive(in, "MPI_Intercomm_merge", -1, 0, "", [&](contribution& mine) { mine.number = high; });
  await(one, in.everybody());
  if (one.result == nullptr) {
    const bool is_first_high = one.of(in.members[0]).number != 0 && one.of(in.others[0]).number == 0;
    run_vector<int> all = is_first_high ? in.others : in.members;
    const run_vector<int>& rest = is_first_high ? in.members : in.others;
    all.insert(all.end(), rest.begin(), rest.end());
    one.result = make_communicator(all);
  }
  *newintracomm = add_communicator(static_cast<communicator*>(one.result));
  return MPI_SUCCESS;
}
}
