// Groups of ranks.
#include <algorithm>
#include <string>

#include "communicators.hpp"

namespace nearfar::program {

group& group_of(MPI_Group handle) {
  if (handle == MPI_GROUP_EMPTY) {
    auto* const empty = make_for_run<group>();
    return *empty;
  }
  group* const one = own().groups.find(handle);
  if (one == nullptr)
    fail("argument",
         handle == MPI_GROUP_NULL ? "MPI_GROUP_NULL is no group" : "the group does not exist, or was freed");
  return *one;
}

MPI_Group add_group(const run_vector<int>& members) {
  if (members.empty()) return MPI_GROUP_EMPTY;
  auto* const one = make_for_run<group>();
  one->members = members;
  return own().groups.add(one);
}

namespace {

[[nodiscard]] bool has(const run_vector<int>& all, int world_rank) noexcept {
  return communicator::index_in(all, world_rank) >= 0;
}

/// The ranks that the triples of first, last and stride name.
[[nodiscard]] run_vector<int> ranks_of(int n, int ranges[][3]) {
  run_vector<int> result;
  for (int i = 0; i < n; ++i) {
    const int stride = ranges[i][2];
    if (stride == 0) fail("argument", "the stride of a range of ranks is 0");
    for (int one = ranges[i][0]; stride > 0 ? one <= ranges[i][1] : one >= ranges[i][1]; one += stride)
      result.push_back(one);
  }
  return result;
}

[[nodiscard]] int include(group& from, const run_vector<int>& ranks, MPI_Group* to) {
  run_vector<int> members;
  for (const int one : ranks) {
    if (one < 0 || static_cast<std::size_t>(one) >= from.members.size())
      return error_of(mpi().world, MPI_ERR_RANK, "the group has no rank " + std::to_string(one));
    members.push_back(from.members[static_cast<std::size_t>(one)]);
  }
  *to = add_group(members);
  return MPI_SUCCESS;
}

[[nodiscard]] int exclude(group& from, const run_vector<int>& ranks, MPI_Group* to) {
  run_vector<int> members;
  for (std::size_t i = 0; i < from.members.size(); ++i)
    if (!has(ranks, static_cast<int>(i))) members.push_back(from.members[i]);
  *to = add_group(members);
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  NEARFAR_MPI_CALL(MPI_Comm_group);
  *group = add_group(communicator_of(comm).local(self().number));
  return MPI_SUCCESS;
}

int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  NEARFAR_MPI_CALL(MPI_Comm_remote_group);
  *group = add_group(communicator_of(comm).remote(self().number));
  return MPI_SUCCESS;
}

int MPI_Group_size(MPI_Group group, int* size) {
  NEARFAR_MPI_CALL(MPI_Group_size);
  *size = static_cast<int>(group_of(group).members.size());
  return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group group, int* rank) {
  NEARFAR_MPI_CALL(MPI_Group_rank);
  const int index = communicator::index_in(group_of(group).members, self().number);
  *rank = index < 0 ? MPI_UNDEFINED : index;
  return MPI_SUCCESS;
}

int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  NEARFAR_MPI_CALL(MPI_Group_translate_ranks);
  const auto& a = group_of(group1).members;
  const auto& b = group_of(group2).members;
  for (int i = 0; i < n; ++i) {
    ranks2[i] = MPI_PROC_NULL;
    if (ranks1[i] == MPI_PROC_NULL) continue;
    if (ranks1[i] < 0 || static_cast<std::size_t>(ranks1[i]) >= a.size())
      return error_of(mpi().world, MPI_ERR_RANK, "the group has no rank " + std::to_string(ranks1[i]));
    const int index = communicator::index_in(b, a[static_cast<std::size_t>(ranks1[i])]);
    ranks2[i] = index < 0 ? MPI_UNDEFINED : index;
  }
  return MPI_SUCCESS;
}

int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  NEARFAR_MPI_CALL(MPI_Group_compare);
  const auto& a = group_of(group1).members;
  const auto& b = group_of(group2).members;
  if (a == b)
    *result = MPI_IDENT;
  else
    *result = a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](int one) { return has(b, one); })
                  ? MPI_SIMILAR
                  : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  NEARFAR_MPI_CALL(MPI_Group_union);
  auto members = group_of(group1).members;
  for (const int one : group_of(group2).members)
    if (!has(members, one)) members.push_back(one);
  *newgroup = add_group(members);
  return MPI_SUCCESS;
}

int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  NEARFAR_MPI_CALL(MPI_Group_intersection);
  auto members = group_of(group1).members;
  std::erase_if(members, [&](int one) { return !has(group_of(group2).members, one); });
  *newgroup = add_group(members);
  return MPI_SUCCESS;
}

int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  NEARFAR_MPI_CALL(MPI_Group_difference);
  auto members = group_of(group1).members;
  std::erase_if(members, [&](int one) { return has(group_of(group2).members, one); });
  *newgroup = add_group(members);
  return MPI_SUCCESS;
}

int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  NEARFAR_MPI_CALL(MPI_Group_incl);
  return include(group_of(group), run_vector<int>(ranks, ranks + n), newgroup);
}

int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  NEARFAR_MPI_CALL(MPI_Group_excl);
  return exclude(group_of(group), run_vector<int>(ranks, ranks + n), newgroup);
}

int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  NEARFAR_MPI_CALL(MPI_Group_range_incl);
  return include(group_of(group), ranks_of(n, ranges), newgroup);
}

int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  NEARFAR_MPI_CALL(MPI_Group_range_excl);
  return exclude(group_of(group), ranks_of(n, ranges), newgroup);
}

int MPI_Group_free(MPI_Group* group) {
  NEARFAR_MPI_CALL(MPI_Group_free);
  if (*group != MPI_GROUP_EMPTY) {
    static_cast<void>(group_of(*group));
    own().groups.remove(*group);
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
}
