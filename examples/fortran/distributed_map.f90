! A hash table in the memory of all ranks.
!
!   mpirun -n 4 fortran_distributed_map
program distributed_map
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use nearfar
  implicit none

  type(nearfar_world) :: world
  integer :: missing

  call MPI_Init()
  call world%create(MPI_COMM_WORLD)
  missing = exchange(world)
  print "(i0, a)", missing, " positions are missing"
  call world%destroy()
  call MPI_Finalize()
  if (missing /= 0) error stop "wrong"

contains

  ! [map]
  !> Returns how many of the next rank's positions are missing. Collective.
  integer function exchange(world) result(missing)
    type(nearfar_world), intent(in) :: world
    integer, parameter :: mine = 100
    type(nearfar_map) :: particles
    real(real64) :: position(3)
    integer(int64) :: number
    integer :: i, rank, ranks, status

    call world%rank(rank)
    call world%size(ranks)
    ! A hash chooses the rank, so each rank has twice the room needed on average.
    call particles%create(world, key_bytes=8, value_bytes=24, entries=2 * mine)
    do i = 1, mine
      number = rank * mine + i
      position = real(number, real64)
      call particles%insert(number, position)
    end do
    call world%barrier()
    missing = 0
    do i = 1, mine
      number = mod(rank + 1, ranks) * mine + i
      call particles%find(number, position, status)
      if (status /= NEARFAR_SUCCESS .or. any(position /= real(number, real64))) missing = missing + 1
    end do
    call world%barrier()
    call particles%destroy()
  end function exchange
  ! [end]
end program distributed_map
