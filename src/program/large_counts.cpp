// The functions with large counts: those with ordinary counts, for counts that fit into them. A count that
// does not fit is refused. Variants with arrays of counts are missing.
#include <climits>
#include <string>

#include "mpi_state.hpp"

namespace nearfar::program {

namespace {

[[nodiscard]] int narrow(MPI_Count count) {
  if (count > INT_MAX) {
    const mpi_call in_this_call("", nullptr, mpi_call::when::any);  // the one that has begun
    fail("missing", "the checker does not support counts above " + std::to_string(INT_MAX));
  }
  return count < 0 ? -1 : static_cast<int>(count);
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

// The functions differ in name and arguments alone. NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define NEARFAR_LIST(...) __VA_ARGS__
#define NEARFAR_LARGE(name, parameters, arguments)               \
  int name##_c(parameters) {                                     \
    mpi_call::begin_as(#name "_c", __builtin_return_address(0)); \
    return name(arguments);                                      \
  }
// NOLINTEND(cppcoreguidelines-macro-usage)

extern "C" {

NEARFAR_LARGE(MPI_Accumulate,
              NEARFAR_LIST(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, op, win))
NEARFAR_LARGE(MPI_Allgather,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm))
NEARFAR_LARGE(MPI_Allgather_init,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           info, request))
NEARFAR_LARGE(MPI_Allreduce,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm))
NEARFAR_LARGE(MPI_Allreduce_init,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm, info, request))
NEARFAR_LARGE(MPI_Alltoall,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm))
NEARFAR_LARGE(MPI_Alltoall_init,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           info, request))
NEARFAR_LARGE(MPI_Bcast,
              NEARFAR_LIST(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm),
              NEARFAR_LIST(buffer, narrow(count), datatype, root, comm))
NEARFAR_LARGE(MPI_Bcast_init,
              NEARFAR_LIST(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                           MPI_Info info, MPI_Request* request),
              NEARFAR_LIST(buffer, narrow(count), datatype, root, comm, info, request))
NEARFAR_LARGE(MPI_Bsend,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm))
NEARFAR_LARGE(MPI_Bsend_init,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Buffer_attach, NEARFAR_LIST(void* buffer, MPI_Count size),
              NEARFAR_LIST(buffer, narrow(size)))
NEARFAR_LARGE(MPI_Exscan,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm))
NEARFAR_LARGE(MPI_Exscan_init,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm, info, request))
NEARFAR_LARGE(MPI_Gather,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, root,
                           comm))
NEARFAR_LARGE(MPI_Gather_init,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, root,
                           comm, info, request))
NEARFAR_LARGE(MPI_Get_accumulate,
              NEARFAR_LIST(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, result_addr,
                           narrow(result_count), result_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, op, win))
NEARFAR_LARGE(MPI_Get,
              NEARFAR_LIST(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Win win),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, win))
NEARFAR_LARGE(MPI_Iallgather,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           request))
NEARFAR_LARGE(MPI_Iallreduce,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm, request))
NEARFAR_LARGE(MPI_Ialltoall,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           request))
NEARFAR_LARGE(MPI_Ibcast,
              NEARFAR_LIST(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                           MPI_Request* request),
              NEARFAR_LIST(buffer, narrow(count), datatype, root, comm, request))
NEARFAR_LARGE(MPI_Ibsend,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Iexscan,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm, request))
NEARFAR_LARGE(MPI_Igather,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, root,
                           comm, request))
NEARFAR_LARGE(MPI_Imrecv,
              NEARFAR_LIST(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                           MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, message, request))
NEARFAR_LARGE(MPI_Ineighbor_allgather,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           request))
NEARFAR_LARGE(MPI_Ineighbor_alltoall,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           request))
NEARFAR_LARGE(MPI_Irecv,
              NEARFAR_LIST(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, source, tag, comm, request))
NEARFAR_LARGE(MPI_Ireduce,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, root, comm, request))
NEARFAR_LARGE(MPI_Ireduce_scatter_block,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(recvcount), datatype, op, comm, request))
NEARFAR_LARGE(MPI_Irsend,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Iscan,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm, request))
NEARFAR_LARGE(MPI_Iscatter,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, root,
                           comm, request))
NEARFAR_LARGE(MPI_Isend,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Issend,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Mrecv,
              NEARFAR_LIST(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                           MPI_Status* status),
              NEARFAR_LIST(buf, narrow(count), datatype, message, status))
NEARFAR_LARGE(MPI_Neighbor_allgather,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm))
NEARFAR_LARGE(MPI_Neighbor_allgather_init,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           info, request))
NEARFAR_LARGE(MPI_Neighbor_alltoall,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm))
NEARFAR_LARGE(MPI_Neighbor_alltoall_init,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, comm,
                           info, request))
NEARFAR_LARGE(MPI_Put,
              NEARFAR_LIST(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Win win),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, win))
NEARFAR_LARGE(MPI_Raccumulate,
              NEARFAR_LIST(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, op, win, request))
NEARFAR_LARGE(MPI_Recv,
              NEARFAR_LIST(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                           MPI_Comm comm, MPI_Status* status),
              NEARFAR_LIST(buf, narrow(count), datatype, source, tag, comm, status))
NEARFAR_LARGE(MPI_Recv_init,
              NEARFAR_LIST(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, source, tag, comm, request))
NEARFAR_LARGE(MPI_Reduce,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, root, comm))
NEARFAR_LARGE(MPI_Reduce_init,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, root, comm, info, request))
NEARFAR_LARGE(MPI_Reduce_local,
              NEARFAR_LIST(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op),
              NEARFAR_LIST(inbuf, inoutbuf, narrow(count), datatype, op))
NEARFAR_LARGE(MPI_Reduce_scatter_block,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(recvcount), datatype, op, comm))
NEARFAR_LARGE(MPI_Reduce_scatter_block_init,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(recvcount), datatype, op, comm, info, request))
NEARFAR_LARGE(MPI_Rget_accumulate,
              NEARFAR_LIST(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, result_addr,
                           narrow(result_count), result_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, op, win, request))
NEARFAR_LARGE(MPI_Rget,
              NEARFAR_LIST(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, win, request))
NEARFAR_LARGE(MPI_Rput,
              NEARFAR_LIST(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request),
              NEARFAR_LIST(origin_addr, narrow(origin_count), origin_datatype, target_rank, target_disp,
                           narrow(target_count), target_datatype, win, request))
NEARFAR_LARGE(MPI_Rsend,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm))
NEARFAR_LARGE(MPI_Rsend_init,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Scan,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm))
NEARFAR_LARGE(MPI_Scan_init,
              NEARFAR_LIST(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request),
              NEARFAR_LIST(sendbuf, recvbuf, narrow(count), datatype, op, comm, info, request))
NEARFAR_LARGE(MPI_Scatter,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, root,
                           comm))
NEARFAR_LARGE(MPI_Scatter_init,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, recvbuf, narrow(recvcount), recvtype, root,
                           comm, info, request))
NEARFAR_LARGE(MPI_Send,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm))
NEARFAR_LARGE(MPI_Send_init,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Sendrecv,
              NEARFAR_LIST(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                           int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
                           int recvtag, MPI_Comm comm, MPI_Status* status),
              NEARFAR_LIST(sendbuf, narrow(sendcount), sendtype, dest, sendtag, recvbuf, narrow(recvcount),
                           recvtype, source, recvtag, comm, status))
NEARFAR_LARGE(MPI_Sendrecv_replace,
              NEARFAR_LIST(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Status* status),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, sendtag, source, recvtag, comm, status))
NEARFAR_LARGE(MPI_Ssend,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm))
NEARFAR_LARGE(MPI_Ssend_init,
              NEARFAR_LIST(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, MPI_Request* request),
              NEARFAR_LIST(buf, narrow(count), datatype, dest, tag, comm, request))
NEARFAR_LARGE(MPI_Type_contiguous, NEARFAR_LIST(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype),
              NEARFAR_LIST(narrow(count), oldtype, newtype))
NEARFAR_LARGE(MPI_Type_create_hvector,
              NEARFAR_LIST(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                           MPI_Datatype* newtype),
              NEARFAR_LIST(narrow(count), narrow(blocklength), stride, oldtype, newtype))
NEARFAR_LARGE(MPI_Type_create_resized,
              NEARFAR_LIST(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype),
              NEARFAR_LIST(oldtype, lb, extent, newtype))
NEARFAR_LARGE(MPI_Type_vector,
              NEARFAR_LIST(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                           MPI_Datatype* newtype),
              NEARFAR_LIST(narrow(count), narrow(blocklength), narrow(stride), oldtype, newtype))
NEARFAR_LARGE(MPI_Win_allocate,
              NEARFAR_LIST(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                           MPI_Win* win),
              NEARFAR_LIST(size, narrow(disp_unit), info, comm, baseptr, win))
NEARFAR_LARGE(MPI_Win_allocate_shared,
              NEARFAR_LIST(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                           MPI_Win* win),
              NEARFAR_LIST(size, narrow(disp_unit), info, comm, baseptr, win))
NEARFAR_LARGE(MPI_Win_create,
              NEARFAR_LIST(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                           MPI_Win* win),
              NEARFAR_LIST(base, size, narrow(disp_unit), info, comm, win))
}
