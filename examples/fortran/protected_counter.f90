! A counter in the memory of rank 0 that every rank increments, guarded by a lock.
!
!   mpirun -n 4 fortran_protected_counter
program protected_counter
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  ! [names]
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use nearfar
  implicit none
  ! [end]

  ! [variables]
  integer, parameter :: rounds = 100, keeper = 0
  type(nearfar_world) :: world
  type(nearfar_lock) :: lock
  type(MPI_Win) :: window
  integer(int64), asynchronous :: count
  integer(MPI_ADDRESS_KIND), parameter :: first = 0
  integer :: i
  ! [end]
  type(c_ptr) :: memory
  integer(int64), pointer :: words(:)
  integer :: rank, ranks

  call MPI_Init()
  ! An ordinary window. MPICH puts to wrong addresses if a window's size is no multiple of 16 bytes.
  call MPI_Win_allocate(64_MPI_ADDRESS_KIND, 1, MPI_INFO_NULL, MPI_COMM_WORLD, memory, window)
  call c_f_pointer(memory, words, [8])
  words = 0
  call MPI_Win_lock_all(0, window)
  call MPI_Win_sync(window)

  ! [counter]
  ! All ranks make the world and the lock in the same order. Without the argument `status`, an error ends the
  ! program, and the message says what to do.
  call world%create(MPI_COMM_WORLD)
  call lock%create(world)

  do i = 1, rounds
    call lock%acquire()
    call MPI_Get(count, 1, MPI_INTEGER8, keeper, first, 1, MPI_INTEGER8, window)
    call MPI_Win_flush(keeper, window)
    count = count + 1
    call MPI_Put(count, 1, MPI_INTEGER8, keeper, first, 1, MPI_INTEGER8, window)
    call MPI_Win_flush(keeper, window) ! completes the put before the lock is released
    call lock%release()
  end do
  call world%barrier() ! a rank that waits here drives MPI's progress for the others
  ! [end]

  call MPI_Get(count, 1, MPI_INTEGER8, keeper, first, 1, MPI_INTEGER8, window)
  call MPI_Win_flush(keeper, window)
  call world%rank(rank)
  call world%size(ranks)
  if (rank == keeper) print "(i0, a, i0)", ranks, " ranks counted to ", count

  call lock%destroy()
  call world%destroy() ! collective, and before MPI_Finalize
  call MPI_Win_unlock_all(window)
  call MPI_Win_free(window)
  call MPI_Finalize()
  if (count /= rounds * ranks) error stop "wrong"
end program protected_counter
