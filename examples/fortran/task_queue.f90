! One rank pushes tasks into a queue. All ranks pop tasks until the queue is closed.
!
!   mpirun -n 4 fortran_task_queue
program task_queue
  use mpi_f08
  use nearfar
  implicit none

  ! [queue]
  type :: task
    integer :: from
    integer :: to
  end type task
  ! [end]

  type(nearfar_world) :: world
  integer :: mine, all, rank

  call MPI_Init()
  call world%create(MPI_COMM_WORLD)
  mine = sum_together(world, 10005)
  call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call world%rank(rank)
  if (rank == 0) print "(a, i0)", "the sum is ", all
  call world%destroy()
  call MPI_Finalize()
  if (all /= 10005 * 5003) error stop "wrong"

contains

  ! [sum]
  !> Returns this rank's share of 1 + 2 + ... + last. Collective.
  integer function sum_together(world, last) result(mine)
    type(nearfar_world), intent(in) :: world
    integer, intent(in) :: last
    integer, parameter :: at_once = 10
    type(nearfar_queue) :: tasks
    type(task) :: next
    integer :: i, rank, status

    call tasks%create(world, NEARFAR_QUEUE_TICKET, item_bytes=storage_size(next) / 8, capacity=100)
    call world%rank(rank)
    mine = 0
    if (rank == 0) then
      do i = 1, last, at_once
        next = task(i, min(i + at_once - 1, last))
        call tasks%try_push(next, status)
        ! If the queue is full, this rank does the task itself: as the only rank it would wait for ever.
        if (status == NEARFAR_FULL) mine = mine + sum_of(next)
      end do
      call tasks%close()
    end if
    do ! waits while the queue is empty, ends when the queue is closed and empty
      call tasks%pop(next, status)
      if (status /= NEARFAR_SUCCESS) exit
      mine = mine + sum_of(next)
    end do
    call world%barrier()
    call tasks%destroy()
  end function sum_together

  pure integer function sum_of(one)
    type(task), intent(in) :: one
    integer :: i
    sum_of = sum([(i, i=one%from, one%to)])
  end function sum_of
  ! [end]
end program task_queue
