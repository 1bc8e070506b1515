// How datatypes are made of others, and what they say of themselves.
#include <algorithm>
#include <cstring>
#include <string>

#include "datatypes.hpp"

namespace nearfar::program {

namespace {

[[nodiscard]] datatype& existing(MPI_Datatype handle) {
  datatype* const one = type_of(handle);
  if (one == nullptr)
    fail("argument", handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL is no datatype"
                                                 : "the datatype does not exist, or was freed");
  return *one;
}

/// Puts datatypes one beside the other.
class builder {
 public:
  explicit builder(int combiner) : made_(make_for_run<datatype>()) { made_->combiner = combiner; }

  /// `count` elements of `type`, one behind the other, from `offset` on.
  void add(MPI_Aint offset, std::size_t count, const datatype& type) {
    if (count == 0) return;
    if (type.is_contiguous() && !type.map.empty()) {
      const element_run& run = type.map[0];
      append({offset, run.basic, run.count * count});
    } else {
      for (std::size_t i = 0; i < count; ++i)
        for (const element_run& run : type.map)
          append({offset + static_cast<MPI_Aint>(i) * type.extent + run.offset, run.basic, run.count});
    }
    made_->size += type.size * count;
    include(offset, type);
    include(offset + static_cast<MPI_Aint>(count - 1) * type.extent, type);
  }
  [[nodiscard]] int done(MPI_Datatype* to, bool rounds_up = false) {
    made_->extent = ub_ - made_->lb;
    if (rounds_up) {  // as a C compiler pads a struct
      MPI_Aint alignment = 1;
      for (const element_run& run : made_->map)
        alignment =
            std::max(alignment, static_cast<MPI_Aint>(std::min<std::size_t>(basic_at(run.basic).bytes, 16)));
      made_->extent = (made_->extent + alignment - 1) / alignment * alignment;
    }
    *to = add_type(made_);
    return MPI_SUCCESS;
  }
  [[nodiscard]] datatype& type() noexcept { return *made_; }
  void integers(std::initializer_list<int> all) { made_->integers.insert(made_->integers.end(), all); }
  void integers(const int* all, int n) { made_->integers.insert(made_->integers.end(), all, all + n); }
  void addresses(const MPI_Aint* all, int n) {
    made_->addresses.insert(made_->addresses.end(), all, all + n);
  }
  void types(const MPI_Datatype* all, int n) { made_->types.insert(made_->types.end(), all, all + n); }

 private:
  /// Extends the bounds to an element at `at`.
  void include(MPI_Aint at, const datatype& type) {
    if (is_empty_) {
      made_->lb = at + type.lb;
      ub_ = at + type.lb + type.extent;
      made_->true_lb = at + type.true_lb;
      made_->true_ub = at + type.true_ub;
      is_empty_ = false;
    }
    made_->lb = std::min(made_->lb, at + type.lb);
    ub_ = std::max(ub_, at + type.lb + type.extent);
    if (type.size > 0) {
      made_->true_lb = std::min(made_->true_lb, at + type.true_lb);
      made_->true_ub = std::max(made_->true_ub, at + type.true_ub);
    }
  }
  void append(const element_run& run) {
    if (!made_->map.empty()) {
      element_run& last = made_->map.back();
      if (last.basic == run.basic &&
          last.offset + static_cast<MPI_Aint>(last.count * basic_at(last.basic).bytes) == run.offset) {
        last.count += run.count;
        return;
      }
    }
    made_->map.push_back(run);
  }
  datatype* made_;
  MPI_Aint ub_ = 0;
  bool is_empty_ = true;
};

[[nodiscard]] std::size_t checked(int count) {
  if (count < 0) fail("argument", "a count of the datatype is negative (MPI_ERR_COUNT)");
  return static_cast<std::size_t>(count);
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_contiguous);
  builder made(MPI_COMBINER_CONTIGUOUS);
  made.add(0, checked(count), existing(oldtype));
  made.integers({count});
  made.types(&oldtype, 1);
  return made.done(newtype);
}

int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_vector);
  const auto& old = existing(oldtype);
  builder made(MPI_COMBINER_VECTOR);
  for (std::size_t i = 0; i < checked(count); ++i)
    made.add(static_cast<MPI_Aint>(i) * stride * old.extent, checked(blocklength), old);
  made.integers({count, blocklength, stride});
  made.types(&oldtype, 1);
  return made.done(newtype);
}

int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                            MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_create_hvector);
  builder made(MPI_COMBINER_HVECTOR);
  for (std::size_t i = 0; i < checked(count); ++i)
    made.add(static_cast<MPI_Aint>(i) * stride, checked(blocklength), existing(oldtype));
  made.integers({count, blocklength});
  made.addresses(&stride, 1);
  made.types(&oldtype, 1);
  return made.done(newtype);
}

int MPI_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[],
                     MPI_Datatype oldtype, MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_indexed);
  const auto& old = existing(oldtype);
  builder made(MPI_COMBINER_INDEXED);
  for (std::size_t i = 0; i < checked(count); ++i)
    made.add(array_of_displacements[i] * old.extent, checked(array_of_blocklengths[i]), old);
  made.integers({count});
  made.integers(array_of_blocklengths, count);
  made.integers(array_of_displacements, count);
  made.types(&oldtype, 1);
  return made.done(newtype);
}

int MPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                             const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                             MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_create_hindexed);
  builder made(MPI_COMBINER_HINDEXED);
  for (std::size_t i = 0; i < checked(count); ++i)
    made.add(array_of_displacements[i], checked(array_of_blocklengths[i]), existing(oldtype));
  made.integers({count});
  made.integers(array_of_blocklengths, count);
  made.addresses(array_of_displacements, count);
  made.types(&oldtype, 1);
  return made.done(newtype);
}

int MPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                  MPI_Datatype oldtype, MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_create_indexed_block);
  const auto& old = existing(oldtype);
  builder made(MPI_COMBINER_INDEXED_BLOCK);
  for (std::size_t i = 0; i < checked(count); ++i)
    made.add(array_of_displacements[i] * old.extent, checked(blocklength), old);
  made.integers({count, blocklength});
  made.integers(array_of_displacements, count);
  made.types(&oldtype, 1);
  return made.done(newtype);
}

int MPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_create_hindexed_block);
  builder made(MPI_COMBINER_HINDEXED_BLOCK);
  for (std::size_t i = 0; i < checked(count); ++i)
    made.add(array_of_displacements[i], checked(blocklength), existing(oldtype));
  made.integers({count, blocklength});
  made.addresses(array_of_displacements, count);
  made.types(&oldtype, 1);
  return made.done(newtype);
}

int MPI_Type_create_struct(int count, const int array_of_blocklengths[],
                           const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
                           MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_create_struct);
  builder made(MPI_COMBINER_STRUCT);
  for (std::size_t i = 0; i < checked(count); ++i)
    made.add(array_of_displacements[i], checked(array_of_blocklengths[i]), existing(array_of_types[i]));
  made.integers({count});
  made.integers(array_of_blocklengths, count);
  made.addresses(array_of_displacements, count);
  made.types(array_of_types, count);
  return made.done(newtype, true);
}

int MPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                             const int array_of_starts[], int order, MPI_Datatype oldtype,
                             MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_create_subarray);
  const auto& old = existing(oldtype);
  if (ndims < 1) return error_of(mpi().world, MPI_ERR_ARG, "the array has no dimensions");
  // In the order of C the last index runs fastest.
  const auto axis = [&](int i) { return order == MPI_ORDER_C ? i : ndims - 1 - i; };
  MPI_Aint all = old.extent;
  for (int i = 0; i < ndims; ++i) {
    if (array_of_starts[i] < 0 || array_of_subsizes[i] < 1 ||
        array_of_starts[i] + array_of_subsizes[i] > array_of_sizes[i])
      return error_of(mpi().world, MPI_ERR_ARG, "the subarray does not lie in the array");
    all *= array_of_sizes[i];
  }
  builder made(MPI_COMBINER_SUBARRAY);
  const auto each = [&](const auto& again, int dimension, MPI_Aint element) -> void {
    const int a = axis(dimension);
    element *= array_of_sizes[a];
    if (dimension == ndims - 1) {
      made.add((element + array_of_starts[a]) * old.extent, static_cast<std::size_t>(array_of_subsizes[a]),
               old);
      return;
    }
    for (int i = 0; i < array_of_subsizes[a]; ++i)
      again(again, dimension + 1, element + array_of_starts[a] + i);
  };
  each(each, 0, 0);
  made.integers({ndims});
  made.integers(array_of_sizes, ndims);
  made.integers(array_of_subsizes, ndims);
  made.integers(array_of_starts, ndims);
  made.integers({order});
  made.types(&oldtype, 1);
  const int code = made.done(newtype);
  made.type().lb = 0;
  made.type().extent = all;
  return code;
}

int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_create_resized);
  builder made(MPI_COMBINER_RESIZED);
  made.add(0, 1, existing(oldtype));
  const MPI_Aint both[2] = {lb, extent};
  made.addresses(both, 2);
  made.types(&oldtype, 1);
  const int code = made.done(newtype);
  made.type().lb = lb;
  made.type().extent = extent;
  return code;
}

int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  NEARFAR_MPI_CALL(MPI_Type_dup);
  auto* const copy = make_for_run<datatype>(existing(oldtype));
  copy->is_predefined = false;
  copy->combiner = MPI_COMBINER_DUP;
  copy->integers.clear();
  copy->addresses.clear();
  copy->types.assign(1, oldtype);
  *newtype = add_type(copy);
  return MPI_SUCCESS;
}

int MPI_Type_commit(MPI_Datatype* datatype) {
  NEARFAR_MPI_CALL(MPI_Type_commit);
  existing(*datatype).is_committed = true;
  return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* datatype) {
  NEARFAR_MPI_CALL(MPI_Type_free);
  if (existing(*datatype).is_predefined)
    return error_of(mpi().world, MPI_ERR_TYPE, "a predefined datatype cannot be freed");
  own().types.remove(*datatype);  // operations in flight keep it
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int MPI_Type_size(MPI_Datatype datatype, int* size) {
  NEARFAR_MPI_CALL(MPI_Type_size);
  *size = static_cast<int>(existing(datatype).size);
  return MPI_SUCCESS;
}

int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  NEARFAR_MPI_CALL(MPI_Type_size_x);
  *size = static_cast<MPI_Count>(existing(datatype).size);
  return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  NEARFAR_MPI_CALL(MPI_Type_get_extent);
  const auto& one = existing(datatype);
  *lb = one.lb;
  *extent = one.extent;
  return MPI_SUCCESS;
}

int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
  NEARFAR_MPI_CALL(MPI_Type_get_true_extent);
  const auto& one = existing(datatype);
  *true_lb = one.true_lb;
  *true_extent = one.true_ub - one.true_lb;
  return MPI_SUCCESS;
}

int MPI_Type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes,
                          int* combiner) {
  NEARFAR_MPI_CALL(MPI_Type_get_envelope);
  const auto& one = existing(datatype);
  *num_integers = static_cast<int>(one.integers.size());
  *num_addresses = static_cast<int>(one.addresses.size());
  *num_datatypes = static_cast<int>(one.types.size());
  *combiner = one.combiner;
  return MPI_SUCCESS;
}

int MPI_Type_get_contents(MPI_Datatype datatype, int, int, int, int array_of_integers[],
                          MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]) {
  NEARFAR_MPI_CALL(MPI_Type_get_contents);
  const auto& one = existing(datatype);
  std::copy(one.integers.begin(), one.integers.end(), array_of_integers);
  std::copy(one.addresses.begin(), one.addresses.end(), array_of_addresses);
  std::copy(one.types.begin(), one.types.end(), array_of_datatypes);
  return MPI_SUCCESS;
}

int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm, int* size) {
  NEARFAR_MPI_CALL(MPI_Pack_size);
  *size = incount * static_cast<int>(existing(datatype).size);
  return MPI_SUCCESS;
}

int MPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
             MPI_Comm) {
  NEARFAR_MPI_CALL(MPI_Pack);
  const auto& type = usable_type(datatype);
  const std::size_t bytes = checked(incount) * type.size;
  if (static_cast<std::size_t>(*position) + bytes > static_cast<std::size_t>(outsize))
    return error_of(mpi().world, MPI_ERR_TRUNCATE, "the buffer is too small to pack the data");
  access_buffer(inbuf, checked(incount), type, false);
  pack(inbuf, checked(incount), type, static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<int>(bytes);
  return MPI_SUCCESS;
}

int MPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
               MPI_Datatype datatype, MPI_Comm) {
  NEARFAR_MPI_CALL(MPI_Unpack);
  const auto& type = usable_type(datatype);
  const std::size_t bytes = checked(outcount) * type.size;
  if (static_cast<std::size_t>(*position) + bytes > static_cast<std::size_t>(insize))
    return error_of(mpi().world, MPI_ERR_TRUNCATE, "the buffer has too little data to unpack");
  access_buffer(outbuf, checked(outcount), type, true);
  unpack(static_cast<const std::byte*>(inbuf) + *position, bytes, outbuf, checked(outcount), type);
  *position += static_cast<int>(bytes);
  return MPI_SUCCESS;
}
}
