! A program that knows MPI only, by the Fortran interface that INTERFACE_F08, INTERFACE_MPI or neither, which is mpif.h,
! chooses: run with libnearfar_pmpi preloaded, whose counts of this window's locks say whether the calls reached it.
program fortran_program
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64
#if defined(INTERFACE_F08)
  use mpi_f08
#elif defined(INTERFACE_MPI)
  use mpi
#endif
  implicit none
#if defined(INTERFACE_F08)
#define HANDLE_OF_WINDOW type(MPI_Win)
#else
#define HANDLE_OF_WINDOW integer
#endif
#if !defined(INTERFACE_F08) && !defined(INTERFACE_MPI)
  include "mpif.h"
#endif

  integer, parameter :: rounds = 10
  integer :: rank, ranks, status
  integer(MPI_ADDRESS_KIND), parameter :: bytes = 8
  HANDLE_OF_WINDOW :: window
  integer(int64), asynchronous, save :: own(1)
#if defined(INTERFACE_F08) || defined(INTERFACE_MPI)
  type(c_ptr) :: base
  integer(int64), pointer :: memory(:)
#endif

  call MPI_Init(status)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, status)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, status)

  call MPI_Win_create(own, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, status)
  call MPI_Win_set_name(window, "created", status)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window, status)
  own = 0
  call MPI_Win_unlock(rank, window, status)
  call MPI_Barrier(MPI_COMM_WORLD, status)
  call count_up
  call MPI_Win_free(window, status)

#if defined(INTERFACE_F08) || defined(INTERFACE_MPI)
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, status)
  call MPI_Win_set_name(window, "allocated", status)
  call c_f_pointer(base, memory, [1])
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window, status)
  memory = 0
  call MPI_Win_unlock(rank, window, status)
  call MPI_Barrier(MPI_COMM_WORLD, status)
  call count_up
  call MPI_Win_free(window, status)
#endif
  call MPI_Finalize(status)

contains

  ! Each rank adds to a counter at rank 0 by get and put, which loses additions without exclusion.
  subroutine count_up
    integer(MPI_ADDRESS_KIND), parameter :: first = 0
    integer(int64), asynchronous :: value(1)
    integer :: round
    do round = 1, rounds
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window, status)
      call MPI_Get(value, 1, MPI_INTEGER8, 0, first, 1, MPI_INTEGER8, window, status)
      call MPI_Win_flush(0, window, status)
      value = value + 1
      call MPI_Put(value, 1, MPI_INTEGER8, 0, first, 1, MPI_INTEGER8, window, status)
      call MPI_Win_unlock(0, window, status)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, status)
    call MPI_Win_lock_all(0, window, status)
    call MPI_Get(value, 1, MPI_INTEGER8, 0, first, 1, MPI_INTEGER8, window, status)
    call MPI_Win_unlock_all(window, status)
    if (value(1) /= rounds * ranks) then
      print *, "FAILED: the counter is ", value(1), " and not ", rounds * ranks
      call MPI_Abort(MPI_COMM_WORLD, 1, status)
    end if
  end subroutine count_up
end program fortran_program
