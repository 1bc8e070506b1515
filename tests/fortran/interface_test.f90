! The Fortran module on two ranks: that each procedure reaches its function of C with the arguments where they belong.
module expectations
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: error_unit, int16, int64
  use mpi_f08
  use nearfar
  implicit none

  integer :: visited = 0

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    write (error_unit, "(a)") "not so: "//what//" (last message: "//nearfar_last_message()//")"
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine expect

  subroutine expect_status(status, wanted, said, what)
    integer, intent(in) :: status, wanted
    character(*), intent(in) :: said, what
    call expect(status == wanted, what//" is "//nearfar_error_text(wanted)//", not "//nearfar_error_text(status))
    call expect(index(nearfar_last_message(), said) /= 0, what//" says "//said)
  end subroutine expect_status

  subroutine visit(key, value, context) bind(c)
    type(c_ptr), value :: key, value, context
    integer(int64), pointer :: number, factor
    real, pointer :: square
    call c_f_pointer(key, number)
    call c_f_pointer(value, square)
    call c_f_pointer(context, factor)
    call expect(square == real(factor * number * number), "an entry that is visited is whole")
    visited = visited + 1
  end subroutine visit
end module expectations

program interface_test
  use, intrinsic :: iso_c_binding, only: c_loc
  use expectations
  implicit none

  integer(int64), parameter :: moment = 1000, long = huge(0_int64)
  type(nearfar_world) :: world, none
  integer :: rank, ranks, status

  call none%create(MPI_COMM_WORLD, status=status)
  if (status /= NEARFAR_ERROR_NO_MPI) error stop "a world without MPI"
  call MPI_Init()
  call none%create(MPI_COMM_NULL, status=status)
  call expect_status(status, NEARFAR_ERROR_ARGUMENT, "MPI_COMM_NULL", "a world of no ranks")
  call none%create(MPI_COMM_WORLD, topology="nodes:2", status=status)
  call expect_status(status, NEARFAR_ERROR_TOPOLOGY, "did you mean 'node'", "a topology that is none")
  call none%create(MPI_COMM_WORLD, stall_limit_ns=-1_int64, status=status)
  call expect_status(status, NEARFAR_ERROR_ARGUMENT, "stall_limit_ns", "a negative limit")
  call none%barrier(status)
  call expect_status(status, NEARFAR_ERROR_ARGUMENT, "NULL", "what was not made")
  call world%create(MPI_COMM_WORLD, far_bytes=2_int64**22, near_bytes=2_int64**21, stall_limit_ns=long)
  call world%rank(rank)
  call world%size(ranks)
  call expect(ranks >= 2 .and. rank >= 0 .and. rank < ranks, "rank and size")
  call world%progress()
  call test_lock()
  call test_rwlock()
  call test_queue()
  call test_map()
  call test_channel()
  call world%destroy()
  call world%destroy(status)
  call expect_status(status, NEARFAR_ERROR_ARGUMENT, "NULL", "a second destroy")
  call MPI_Finalize()
  if (rank == 0) print "(a)", "the Fortran module does what it says"

contains

  subroutine test_lock()
    type(nearfar_lock) :: lock
    call lock%create(world, home=99, status=status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "no rank 99", "a home that there is not")
    call lock%create(world, home=1)
    call lock%release(status)
    call expect_status(status, NEARFAR_ERROR_NOT_HELD, "never locked", "a release too many")
    call world%barrier()
    if (rank == 0) then
      call lock%acquire()
      call lock%destroy(status)
      call expect_status(status, NEARFAR_ERROR_HELD, "unlock it first", "to destroy what is held")
      call world%destroy(status=status)
      call expect_status(status, NEARFAR_ERROR_IN_USE, "destroy these first", "a world in use")
    else
      call world%destroy(status)
      call expect(status == NEARFAR_ERROR_IN_USE, "a world in use, on other ranks")
      call lock%try_acquire(status)
      call expect(status == NEARFAR_BUSY, "a lock that another rank holds is busy")
      call lock%acquire_for(moment, status)
      call expect(status == NEARFAR_TIMED_OUT, "it does not come in time")
    end if
    call lock%acquire_for(-1_int64, status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "in the past", "a time in the past")
    call world%barrier()
    if (rank == 0) call lock%release()
    call lock%acquire_for(long)
    call lock%release()
    call world%barrier()
    if (rank == 1) then
      call lock%try_acquire()
      call lock%release()
    end if
    call lock%destroy()
  end subroutine test_lock

  subroutine test_rwlock()
    type(nearfar_rwlock) :: lock
    call lock%create(world)
    call lock%acquire_shared()
    call world%barrier() ! all have it
    call lock%release(status)
    call expect_status(status, NEARFAR_ERROR_NOT_HELD, "readers", "a reader is no writer")
    call lock%release_shared()
    call world%barrier()
    if (rank == 0) call lock%acquire()
    call world%barrier()
    if (rank /= 0) then
      call lock%try_acquire_shared(status)
      call expect(status == NEARFAR_BUSY, "readers wait for a writer")
      call lock%acquire_shared_for(moment, status)
      call expect(status == NEARFAR_TIMED_OUT, "and in vain")
      call lock%try_acquire(status)
      call expect(status == NEARFAR_BUSY, "so do writers")
      call lock%acquire_for(moment, status)
      call expect(status == NEARFAR_TIMED_OUT, "in vain, too")
    end if
    call world%barrier()
    if (rank == 0) call lock%release()
    call lock%acquire_shared_for(long)
    call lock%release_shared()
    call lock%acquire_for(long)
    call lock%release()
    call world%barrier()
    if (rank == 0) then
      call lock%try_acquire_shared()
      call lock%release_shared()
      call lock%try_acquire()
      call lock%release()
    end if
    call world%barrier()
    call lock%destroy()
  end subroutine test_rwlock

  subroutine test_queue()
    type(nearfar_queue) :: queue
    integer(int64) :: size
    integer :: numbers(3), kind, i, sum
    call queue%create(world, NEARFAR_QUEUE_TICKET, item_bytes=-1, capacity=4, status=status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "items of a queue", "items of a negative size")
    do kind = NEARFAR_QUEUE_TICKET, NEARFAR_QUEUE_LOCK_FREE
      call queue%create(world, kind, storage_size(numbers) / 8 * 3, 5)
      call queue%pop_for(numbers, moment, status)
      call expect(status == NEARFAR_TIMED_OUT, "nothing comes")
      call queue%try_pop(numbers, status)
      call expect(status == NEARFAR_EMPTY, "nothing is there")
      call test_small_items(queue)
      call world%barrier()
      if (rank == 0) then
        call queue%push([1, 2, 3])
        call queue%try_push([4, 5, 6])
        call queue%push_for([7, 8, 9], moment)
        call queue%size_estimate(size)
        call expect(kind /= NEARFAR_QUEUE_TICKET .or. size == 3, "three are there")
        do
          call queue%try_push([0, 0, 0], status)
          if (status /= NEARFAR_SUCCESS) exit
        end do
        call expect(status == NEARFAR_FULL, "it is full in the end")
        call queue%push_for([0, 0, 0], moment, status)
        call expect(status == NEARFAR_TIMED_OUT, "no room comes")
        call queue%close()
        call queue%push([0, 0, 0], status)
        call expect(status == NEARFAR_CLOSED, "it is closed")
      end if
      call world%barrier()
      if (rank == 1) then
        sum = 0
        do i = 1, 3
          call queue%pop(numbers)
          call expect(all(numbers == [3 * i - 2, 3 * i - 1, 3 * i]), "items come in order, and whole")
        end do
        do
          call queue%pop_for(numbers, long, status)
          if (status /= NEARFAR_SUCCESS) exit
          sum = sum + maxval(numbers)
        end do
        call expect(status == NEARFAR_CLOSED .and. sum == 0, "and then no more")
      end if
      call world%barrier()
      call queue%destroy()
    end do
  end subroutine test_queue

  !> Items of fewer bytes than the 12 of the queue are refused by what would write to them, whatever their type and rank.
  subroutine test_small_items(queue)
    type(nearfar_queue), intent(in) :: queue
    integer(int64) :: one
    integer :: many(24), square(2, 2)
    character(11) :: letters
    character(:), allocatable :: word
    many = 0
    one = 0
    square = 0
    letters = ""
    call queue%pop(letters, status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "11 bytes, where 12", "pop")
    call queue%pop(one, status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "8 bytes, where 12", "pop")
    call queue%pop(many(1:24:12), status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "8 bytes, where 12", "pop into what is not contiguous")
    call queue%try_pop(many(24), status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "4 bytes, where 12", "try_pop")
    call queue%pop_for(many(:0), long, status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "0 bytes, where 12", "pop_for")
    allocate (character(12) :: word)
    call queue%try_pop(word, status)
    call expect(status == NEARFAR_EMPTY, "12 letters are enough")
    call queue%try_pop(square, status)
    call expect(status == NEARFAR_EMPTY, "so are 4 numbers")
  end subroutine test_small_items

  subroutine test_map()
    type(nearfar_map) :: squares
    integer(int64) :: i, count
    integer(int64), target :: factor
    integer :: owner, mine, all_visited
    integer(int16) :: small
    real :: square
    small = 0
    call squares%create(world, key_bytes=0, value_bytes=4, entries=100, status=status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "keys of a map", "keys of no size")
    call squares%create(world, key_bytes=8, value_bytes=4, entries=100)
    call squares%capacity(count)
    call expect(count == 100 * ranks, "the capacity")
    do i = 1, 20
      if (mod(i, int(ranks, int64)) == rank) call squares%insert(i, real(i * i))
    end do
    call squares%size(count)
    call expect(count == 20, "all are in")
    call squares%find(i, small, status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "2 bytes, where 4", "a small place for a value")
    call squares%erase(i, small, status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "2 bytes, where 4", "a small place for what is erased")
    factor = 1
    call squares%visit_local(visit, c_loc(factor))
    call MPI_Allreduce(visited, all_visited, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all_visited == 20, "all are visited")
    do i = 1, 20
      call squares%find(i, square)
      call expect(square == real(i * i), "each is found")
      call squares%owner(i, owner)
      call expect(owner >= 0 .and. owner < ranks, "and has an owner")
    end do
    call world%barrier()
    mine = merge(ranks, rank, rank == 0)
    i = mine
    call squares%insert(i, 0.0, status)
    call expect(status == NEARFAR_EXISTS, "there is one already")
    call squares%update(i, 0.5)
    call squares%erase(i, square)
    call expect(square == 0.5, "the value that was erased")
    call squares%erase(i, status=status)
    call expect(status == NEARFAR_NOT_FOUND, "it is gone")
    call squares%find(i, square, status)
    call expect(status == NEARFAR_NOT_FOUND, "and not found")
    call squares%update(i, square, status)
    call expect(status == NEARFAR_NOT_FOUND, "nor updated")
    call world%barrier()
    call squares%destroy()
  end subroutine test_map

  subroutine test_channel()
    type(nearfar_channel) :: channel
    character(8) :: word
    integer(int64) :: size
    integer :: bytes
    logical :: is_closed
    call channel%create(item_bytes=8, capacity=2)
    call channel%try_receive(word, 8, bytes, status)
    call expect(status == NEARFAR_EMPTY, "nothing is there")
    call channel%receive_for(word, 8, moment, bytes, status)
    call expect(status == NEARFAR_TIMED_OUT, "nothing comes")
    call channel%receive(word, 7, status=status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "not into 7", "too small a place")
    call channel%receive(word, 9, status=status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "8 bytes, where 9", "a place smaller than said")
    call channel%try_receive(word, 9, status=status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "8 bytes, where 9", "and at once")
    call channel%receive_for(word, 9, moment, status=status)
    call expect_status(status, NEARFAR_ERROR_ARGUMENT, "8 bytes, where 9", "and for a time")
    call channel%send("three", 5)
    call channel%send_for("eight  8", 8, moment)
    call channel%try_send("x", 1, status)
    call expect(status == NEARFAR_FULL, "it is full")
    call channel%size_estimate(size)
    call expect(size == 2, "two wait")
    word = ""
    call channel%receive(word, 8, bytes)
    call expect(bytes == 5 .and. word == "three", "the first")
    call channel%close()
    call channel%is_closed(is_closed)
    call expect(is_closed, "it is closed")
    call channel%send("x", 1, status)
    call expect(status == NEARFAR_CLOSED, "nothing can be sent")
    call channel%try_receive(word, 8)
    call expect(word == "eight  8", "the second")
    call channel%receive(word, 8, status=status)
    call expect(status == NEARFAR_CLOSED, "nothing is left")
    call channel%reopen()
    call channel%is_closed(is_closed)
    call expect(.not. is_closed, "it is open again")
    call channel%destroy()
  end subroutine test_channel
end program interface_test
