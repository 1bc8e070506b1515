!> nearfar for Fortran: a module over the C interface. What is not said here is in nearfar.h.
!>
!> Each procedure has an optional last argument, status. Without it, any result other than NEARFAR_SUCCESS ends the
!> program on all ranks, with its text, even an outcome that is not an error, such as NEARFAR_CLOSED. With it, status is
!> one of the constants below: 0, positive for an outcome, negative for an error, of which nearfar_last_message() tells
!> more.
!>
!> Items, keys and values are passed as they are, of any type without pointers and allocatable components. As many of
!> their bytes are read or written as the queue, map or channel was made for: storage_size(item) / 8. A variable to be
!> written that has fewer bytes is refused: NEARFAR_ERROR_ARGUMENT. Timeouts are nanoseconds from the call on.
!>
!> Collective procedures, which all ranks call in the same order with the same arguments: create, except of channels;
!> destroy of worlds; nearfar_world%barrier and nearfar_map%size.
module nearfar
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use mpi_f08, only: MPI_Abort, MPI_Comm, MPI_COMM_WORLD, MPI_Finalized, MPI_Initialized
  implicit none
  private

  public :: nearfar_world, nearfar_lock, nearfar_rwlock, nearfar_queue, nearfar_map, nearfar_channel
  public :: nearfar_error_text, nearfar_last_message, nearfar_visitor

  integer, parameter, public :: NEARFAR_SUCCESS = 0
  integer, parameter, public :: NEARFAR_BUSY = 1
  integer, parameter, public :: NEARFAR_TIMED_OUT = 2
  integer, parameter, public :: NEARFAR_EMPTY = 3
  integer, parameter, public :: NEARFAR_FULL = 4
  integer, parameter, public :: NEARFAR_CLOSED = 5
  integer, parameter, public :: NEARFAR_NOT_FOUND = 6
  integer, parameter, public :: NEARFAR_EXISTS = 7
  integer, parameter, public :: NEARFAR_ERROR_ARGUMENT = -1
  integer, parameter, public :: NEARFAR_ERROR_NOT_HELD = -2
  integer, parameter, public :: NEARFAR_ERROR_HELD = -3
  integer, parameter, public :: NEARFAR_ERROR_IN_USE = -4
  integer, parameter, public :: NEARFAR_ERROR_MISMATCH = -5
  integer, parameter, public :: NEARFAR_ERROR_NO_MPI = -6
  integer, parameter, public :: NEARFAR_ERROR_MPI = -7
  integer, parameter, public :: NEARFAR_ERROR_TRANSPORT = -8
  integer, parameter, public :: NEARFAR_ERROR_TOPOLOGY = -9
  integer, parameter, public :: NEARFAR_ERROR_NO_MEMORY = -10
  integer, parameter, public :: NEARFAR_ERROR_STALLED = -11
  integer, parameter, public :: NEARFAR_ERROR_INTERNAL = -12

  integer, parameter, public :: NEARFAR_QUEUE_TICKET = 0
  integer, parameter, public :: NEARFAR_QUEUE_LOCK_FREE = 1

  !> The ranks of a communicator.
  type :: nearfar_world
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => world_create
    procedure :: destroy => world_destroy
    procedure :: rank => world_rank
    procedure :: size => world_size
    procedure :: barrier => world_barrier
    procedure :: progress => world_progress
  end type nearfar_world

  !> An exclusive lock of all ranks.
  type :: nearfar_lock
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => lock_create
    procedure :: destroy => lock_destroy
    procedure :: acquire => lock_acquire
    procedure :: try_acquire => lock_try_acquire
    procedure :: acquire_for => lock_acquire_for
    procedure :: release => lock_release
  end type nearfar_lock

  !> A reader-writer lock of all ranks.
  type :: nearfar_rwlock
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => rwlock_create
    procedure :: destroy => rwlock_destroy
    procedure :: acquire => rwlock_acquire
    procedure :: try_acquire => rwlock_try_acquire
    procedure :: acquire_for => rwlock_acquire_for
    procedure :: release => rwlock_release
    procedure :: acquire_shared => rwlock_acquire_shared
    procedure :: try_acquire_shared => rwlock_try_acquire_shared
    procedure :: acquire_shared_for => rwlock_acquire_shared_for
    procedure :: release_shared => rwlock_release_shared
  end type nearfar_rwlock

  !> A queue of all ranks.
  type :: nearfar_queue
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: item_bytes = 0
  contains
    procedure :: create => queue_create
    procedure :: destroy => queue_destroy
    procedure :: push => queue_push
    procedure :: try_push => queue_try_push
    procedure :: push_for => queue_push_for
    procedure :: pop => queue_pop
    procedure :: try_pop => queue_try_pop
    procedure :: pop_for => queue_pop_for
    procedure :: close => queue_close
    procedure :: size_estimate => queue_size_estimate
  end type nearfar_queue

  !> A hash table in the memory of all ranks.
  type :: nearfar_map
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: value_bytes = 0
  contains
    procedure :: create => map_create
    procedure :: destroy => map_destroy
    procedure :: find => map_find
    procedure :: insert => map_insert
    procedure :: update => map_update
    procedure :: erase => map_erase
    procedure :: visit_local => map_visit_local
    procedure :: size => map_size
    procedure :: capacity => map_capacity
    procedure :: owner => map_owner
  end type nearfar_map

  !> A channel between the threads of a process.
  type :: nearfar_channel
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => channel_create
    procedure :: destroy => channel_destroy
    procedure :: send => channel_send
    procedure :: try_send => channel_try_send
    procedure :: send_for => channel_send_for
    procedure :: receive => channel_receive
    procedure :: try_receive => channel_try_receive
    procedure :: receive_for => channel_receive_for
    procedure :: close => channel_close
    procedure :: reopen => channel_reopen
    procedure :: is_closed => channel_is_closed
    procedure :: size_estimate => channel_size_estimate
  end type nearfar_channel

  abstract interface
    !> Called by nearfar_map%visit_local for each entry.
    subroutine nearfar_visitor(key, value, context) bind(c)
      import :: c_ptr
      type(c_ptr), value :: key, value, context
    end subroutine nearfar_visitor
  end interface

  type, bind(c) :: world_options
    integer(c_size_t) :: size
    integer(c_size_t) :: far_bytes
    integer(c_size_t) :: near_bytes
    integer(c_int64_t) :: stall_limit_ns
    type(c_ptr) :: topology
  end type world_options

  ! Interfaces shared by several functions of nearfar.h.
  abstract interface
    function of_handle(handle) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int) :: status
    end function of_handle

    function of_handle_for(handle, timeout_ns) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int64_t), value :: timeout_ns
      integer(c_int) :: status
    end function of_handle_for

    function number_of(handle, number) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: number
      integer(c_int) :: status
    end function number_of

    function size_of(handle, size) bind(c) result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), intent(out) :: size
      integer(c_int) :: status
    end function size_of

    function create_lock(world, home, lock) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: world
      integer(c_int), value :: home
      type(c_ptr), intent(inout) :: lock
      integer(c_int) :: status
    end function create_lock

    function destroy(handle) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: status
    end function destroy

    function of_item(queue, item) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: queue, item
      integer(c_int) :: status
    end function of_item

    function of_item_for(queue, item, timeout_ns) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: queue, item
      integer(c_int64_t), value :: timeout_ns
      integer(c_int) :: status
    end function of_item_for

    function of_entry(map, key, value) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: map, key, value
      integer(c_int) :: status
    end function of_entry

    function send(channel, item, bytes) bind(c) result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: channel, item
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function send

    function receive(channel, buffer, buffer_bytes, bytes) bind(c) result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: channel, buffer
      integer(c_size_t), value :: buffer_bytes
      integer(c_size_t), intent(out) :: bytes
      integer(c_int) :: status
    end function receive
  end interface

  ! The functions with these interfaces.
  procedure(destroy), bind(c, name="nearfar_world_destroy") :: c_world_destroy
  procedure(number_of), bind(c, name="nearfar_world_rank") :: c_world_rank
  procedure(number_of), bind(c, name="nearfar_world_size") :: c_world_size
  procedure(of_handle), bind(c, name="nearfar_world_barrier") :: c_world_barrier
  procedure(of_handle), bind(c, name="nearfar_world_progress") :: c_world_progress
  procedure(create_lock), bind(c, name="nearfar_lock_create") :: c_lock_create
  procedure(destroy), bind(c, name="nearfar_lock_destroy") :: c_lock_destroy
  procedure(of_handle), bind(c, name="nearfar_lock_acquire") :: c_lock_acquire
  procedure(of_handle), bind(c, name="nearfar_lock_try_acquire") :: c_lock_try_acquire
  procedure(of_handle), bind(c, name="nearfar_lock_release") :: c_lock_release
  procedure(of_handle_for), bind(c, name="nearfar_lock_acquire_for") :: c_lock_acquire_for
  procedure(create_lock), bind(c, name="nearfar_rwlock_create") :: c_rwlock_create
  procedure(destroy), bind(c, name="nearfar_rwlock_destroy") :: c_rwlock_destroy
  procedure(of_handle), bind(c, name="nearfar_rwlock_acquire") :: c_rwlock_acquire
  procedure(of_handle), bind(c, name="nearfar_rwlock_try_acquire") :: c_rwlock_try_acquire
  procedure(of_handle), bind(c, name="nearfar_rwlock_release") :: c_rwlock_release
  procedure(of_handle), bind(c, name="nearfar_rwlock_acquire_shared") :: c_rwlock_acquire_shared
  procedure(of_handle), bind(c, name="nearfar_rwlock_try_acquire_shared") :: c_rwlock_try_acquire_shared
  procedure(of_handle), bind(c, name="nearfar_rwlock_release_shared") :: c_rwlock_release_shared
  procedure(of_handle_for), bind(c, name="nearfar_rwlock_acquire_for") :: c_rwlock_acquire_for
  procedure(of_handle_for), bind(c, name="nearfar_rwlock_acquire_shared_for") :: c_rwlock_acquire_shared_for
  procedure(destroy), bind(c, name="nearfar_queue_destroy") :: c_queue_destroy
  procedure(of_item), bind(c, name="nearfar_queue_push") :: c_queue_push
  procedure(of_item), bind(c, name="nearfar_queue_try_push") :: c_queue_try_push
  procedure(of_item_for), bind(c, name="nearfar_queue_push_for") :: c_queue_push_for
  procedure(of_item), bind(c, name="nearfar_queue_pop") :: c_queue_pop
  procedure(of_item), bind(c, name="nearfar_queue_try_pop") :: c_queue_try_pop
  procedure(of_item_for), bind(c, name="nearfar_queue_pop_for") :: c_queue_pop_for
  procedure(of_handle), bind(c, name="nearfar_queue_close") :: c_queue_close
  procedure(size_of), bind(c, name="nearfar_queue_size_estimate") :: c_queue_size_estimate
  procedure(destroy), bind(c, name="nearfar_map_destroy") :: c_map_destroy
  procedure(of_entry), bind(c, name="nearfar_map_find") :: c_map_find
  procedure(of_entry), bind(c, name="nearfar_map_insert") :: c_map_insert
  procedure(of_entry), bind(c, name="nearfar_map_update") :: c_map_update
  procedure(of_entry), bind(c, name="nearfar_map_erase") :: c_map_erase
  procedure(size_of), bind(c, name="nearfar_map_size") :: c_map_size
  procedure(size_of), bind(c, name="nearfar_map_capacity") :: c_map_capacity
  procedure(destroy), bind(c, name="nearfar_channel_destroy") :: c_channel_destroy
  procedure(send), bind(c, name="nearfar_channel_send") :: c_channel_send
  procedure(send), bind(c, name="nearfar_channel_try_send") :: c_channel_try_send
  procedure(receive), bind(c, name="nearfar_channel_receive") :: c_channel_receive
  procedure(receive), bind(c, name="nearfar_channel_try_receive") :: c_channel_try_receive
  procedure(of_handle), bind(c, name="nearfar_channel_close") :: c_channel_close
  procedure(of_handle), bind(c, name="nearfar_channel_reopen") :: c_channel_reopen
  procedure(number_of), bind(c, name="nearfar_channel_is_closed") :: c_channel_is_closed
  procedure(size_of), bind(c, name="nearfar_channel_size_estimate") :: c_channel_size_estimate

  ! The other functions.
  interface
    function c_error_text(status) bind(c, name="nearfar_error_text") result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function c_error_text

    function c_last_message() bind(c, name="nearfar_last_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_message

    function c_world_from_fortran_comm(comm, options, world) &
      bind(c, name="nearfar_world_from_fortran_comm") result(status)
      import :: c_int, c_ptr, world_options
      integer(c_int), value :: comm
      type(world_options), intent(in) :: options
      type(c_ptr), intent(inout) :: world
      integer(c_int) :: status
    end function c_world_from_fortran_comm

    function c_queue_create(world, kind, item_bytes, capacity, queue) &
      bind(c, name="nearfar_queue_create") result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: world
      integer(c_int), value :: kind
      integer(c_size_t), value :: item_bytes
      integer(c_size_t), value :: capacity
      type(c_ptr), intent(inout) :: queue
      integer(c_int) :: status
    end function c_queue_create

    function c_map_create(world, key_bytes, value_bytes, entries, map) &
      bind(c, name="nearfar_map_create") result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: world
      integer(c_size_t), value :: key_bytes
      integer(c_size_t), value :: value_bytes
      integer(c_size_t), value :: entries
      type(c_ptr), intent(inout) :: map
      integer(c_int) :: status
    end function c_map_create

    function c_map_visit_local(map, visit, context) bind(c, name="nearfar_map_visit_local") result(status)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: map
      type(c_funptr), value :: visit
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function c_map_visit_local

    function c_map_owner(map, key, rank) bind(c, name="nearfar_map_owner") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: map
      type(c_ptr), value :: key
      integer(c_int), intent(out) :: rank
      integer(c_int) :: status
    end function c_map_owner

    ! src/c/fortran.cpp
    function c_has_bytes(item, elements, bytes) bind(c, name="nearfar_fortran_has_bytes") result(status)
      import :: c_int, c_int64_t, c_size_t
      type(*), intent(in) :: item(..)
      integer(c_size_t), value :: elements
      integer(c_int64_t), value :: bytes
      integer(c_int) :: status
    end function c_has_bytes

    function c_channel_create(item_bytes, capacity, channel) bind(c, name="nearfar_channel_create") result(status)
      import :: c_int, c_ptr, c_size_t
      integer(c_size_t), value :: item_bytes
      integer(c_size_t), value :: capacity
      type(c_ptr), intent(inout) :: channel
      integer(c_int) :: status
    end function c_channel_create

    function c_channel_send_for(channel, item, bytes, timeout_ns) &
      bind(c, name="nearfar_channel_send_for") result(status)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: channel
      type(c_ptr), value :: item
      integer(c_size_t), value :: bytes
      integer(c_int64_t), value :: timeout_ns
      integer(c_int) :: status
    end function c_channel_send_for

    function c_channel_receive_for(channel, buffer, buffer_bytes, bytes, timeout_ns) &
      bind(c, name="nearfar_channel_receive_for") result(status)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: channel
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: buffer_bytes
      integer(c_size_t), intent(out) :: bytes
      integer(c_int64_t), value :: timeout_ns
      integer(c_int) :: status
    end function c_channel_receive_for
  end interface

  interface
    pure function strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: text
      integer(c_size_t) :: length
    end function strlen
  end interface

contains

  !> One sentence on a status.
  function nearfar_error_text(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = copy_of(c_error_text(int(status, c_int)))
  end function nearfar_error_text

  !> What went wrong in the last call of this thread that returned an error, and what to do about it.
  function nearfar_last_message() result(text)
    character(:), allocatable :: text
    text = copy_of(c_last_message())
  end function nearfar_last_message

  function copy_of(c_text) result(text)
    type(c_ptr), intent(in) :: c_text
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(c_text, letters, [strlen(c_text)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function copy_of

  !> Returns the outcome in status if it is present; otherwise ends the program unless the outcome is success.
  subroutine conclude(outcome, status)
    integer(c_int), intent(in) :: outcome
    integer, intent(out), optional :: status
    logical :: is_initialised, is_finalised
    if (present(status)) then
      status = outcome
      return
    end if
    if (outcome == NEARFAR_SUCCESS) return
    if (outcome < 0) then
      write (error_unit, "(a)") nearfar_last_message()
    else
      write (error_unit, "(a)") "a call of nearfar without status: "//nearfar_error_text(outcome)
    end if
    flush (error_unit)
    call MPI_Initialized(is_initialised)
    call MPI_Finalized(is_finalised)
    if (is_initialised .and. .not. is_finalised) call MPI_Abort(MPI_COMM_WORLD, 1) ! others may wait for this rank
    error stop 1
  end subroutine conclude

  !> Whether a variable has so many bytes to write to. gfortran 12 takes a substring for its whole variable, class(*)
  !> for 8 bytes, and an expression for anything; so arguments that are only read are not checked.
  function has_bytes(item, bytes) result(outcome)
    type(*), intent(in) :: item(..)
    integer, intent(in) :: bytes
    integer(c_int) :: outcome
    outcome = c_has_bytes(item, size(item, kind=c_size_t), int(bytes, c_int64_t))
  end function has_bytes

  !> Calls a function that returns a number.
  subroutine ask_number(of, handle, number, status)
    procedure(number_of) :: of
    type(c_ptr), intent(in) :: handle
    integer, intent(out) :: number
    integer, intent(out), optional :: status
    integer(c_int) :: found
    integer(c_int) :: outcome
    found = -1
    outcome = of(handle, found)
    number = found
    call conclude(outcome, status)
  end subroutine ask_number

  !> The same for a size.
  subroutine ask_size(of, handle, size, status)
    procedure(size_of) :: of
    type(c_ptr), intent(in) :: handle
    integer(int64), intent(out) :: size
    integer, intent(out), optional :: status
    integer(c_size_t) :: found
    integer(c_int) :: outcome
    found = 0
    outcome = of(handle, found)
    size = int(found, int64)
    call conclude(outcome, status)
  end subroutine ask_size

  !> Collective. Sizes are per rank; absent or 0: 4 MiB. If stall_limit_ns is absent or 0, ranks wait without limit.
  subroutine world_create(self, comm, far_bytes, near_bytes, stall_limit_ns, topology, status)
    class(nearfar_world), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in), optional :: far_bytes, near_bytes, stall_limit_ns
    character(*), intent(in), optional :: topology
    integer, intent(out), optional :: status
    character(kind=c_char, len=:), allocatable, target :: text
    type(world_options) :: options
    options = world_options(0_c_size_t, 0_c_size_t, 0_c_size_t, 0_c_int64_t, c_null_ptr)
    options%size = c_sizeof(options)
    if (present(far_bytes)) options%far_bytes = far_bytes
    if (present(near_bytes)) options%near_bytes = near_bytes
    if (present(stall_limit_ns)) options%stall_limit_ns = stall_limit_ns
    if (present(topology)) then
      text = topology//c_null_char
      options%topology = c_loc(text)
    end if
    call conclude(c_world_from_fortran_comm(int(comm%MPI_VAL, c_int), options, self%handle), status)
  end subroutine world_create

  !> Collective; call it after destroying the objects in the world, and before MPI_Finalize.
  subroutine world_destroy(self, status)
    class(nearfar_world), intent(inout) :: self
    integer, intent(out), optional :: status
    call conclude(c_world_destroy(self%handle), status)
  end subroutine world_destroy

  subroutine world_rank(self, rank, status)
    class(nearfar_world), intent(in) :: self
    integer, intent(out) :: rank
    integer, intent(out), optional :: status
    call ask_number(c_world_rank, self%handle, rank, status)
  end subroutine world_rank

  subroutine world_size(self, size, status)
    class(nearfar_world), intent(in) :: self
    integer, intent(out) :: size
    integer, intent(out), optional :: status
    call ask_number(c_world_size, self%handle, size, status)
  end subroutine world_size

  subroutine world_barrier(self, status)
    class(nearfar_world), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_world_barrier(self%handle), status)
  end subroutine world_barrier

  subroutine world_progress(self, status)
    class(nearfar_world), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_world_progress(self%handle), status)
  end subroutine world_progress

  subroutine lock_create(self, world, home, status)
    class(nearfar_lock), intent(inout) :: self
    class(nearfar_world), intent(in) :: world
    integer, intent(in), optional :: home
    integer, intent(out), optional :: status
    integer(c_int) :: at
    at = 0
    if (present(home)) at = int(home, c_int)
    call conclude(c_lock_create(world%handle, at, self%handle), status)
  end subroutine lock_create

  !> Not collective; not allowed while this rank holds the lock.
  subroutine lock_destroy(self, status)
    class(nearfar_lock), intent(inout) :: self
    integer, intent(out), optional :: status
    call conclude(c_lock_destroy(self%handle), status)
  end subroutine lock_destroy

  subroutine lock_acquire(self, status)
    class(nearfar_lock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_lock_acquire(self%handle), status)
  end subroutine lock_acquire

  !> NEARFAR_SUCCESS or NEARFAR_BUSY.
  subroutine lock_try_acquire(self, status)
    class(nearfar_lock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_lock_try_acquire(self%handle), status)
  end subroutine lock_try_acquire

  subroutine lock_release(self, status)
    class(nearfar_lock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_lock_release(self%handle), status)
  end subroutine lock_release

  !> NEARFAR_SUCCESS or NEARFAR_TIMED_OUT.
  subroutine lock_acquire_for(self, timeout_ns, status)
    class(nearfar_lock), intent(in) :: self
    integer(int64), intent(in) :: timeout_ns
    integer, intent(out), optional :: status
    call conclude(c_lock_acquire_for(self%handle, timeout_ns), status)
  end subroutine lock_acquire_for

  subroutine rwlock_create(self, world, home, status)
    class(nearfar_rwlock), intent(inout) :: self
    class(nearfar_world), intent(in) :: world
    integer, intent(in), optional :: home
    integer, intent(out), optional :: status
    integer(c_int) :: at
    at = 0
    if (present(home)) at = int(home, c_int)
    call conclude(c_rwlock_create(world%handle, at, self%handle), status)
  end subroutine rwlock_create

  !> Not collective; not allowed while this rank holds the lock.
  subroutine rwlock_destroy(self, status)
    class(nearfar_rwlock), intent(inout) :: self
    integer, intent(out), optional :: status
    call conclude(c_rwlock_destroy(self%handle), status)
  end subroutine rwlock_destroy

  subroutine rwlock_acquire(self, status)
    class(nearfar_rwlock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_rwlock_acquire(self%handle), status)
  end subroutine rwlock_acquire

  !> NEARFAR_SUCCESS or NEARFAR_BUSY.
  subroutine rwlock_try_acquire(self, status)
    class(nearfar_rwlock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_rwlock_try_acquire(self%handle), status)
  end subroutine rwlock_try_acquire

  subroutine rwlock_release(self, status)
    class(nearfar_rwlock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_rwlock_release(self%handle), status)
  end subroutine rwlock_release

  subroutine rwlock_acquire_shared(self, status)
    class(nearfar_rwlock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_rwlock_acquire_shared(self%handle), status)
  end subroutine rwlock_acquire_shared

  subroutine rwlock_try_acquire_shared(self, status)
    class(nearfar_rwlock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_rwlock_try_acquire_shared(self%handle), status)
  end subroutine rwlock_try_acquire_shared

  subroutine rwlock_release_shared(self, status)
    class(nearfar_rwlock), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_rwlock_release_shared(self%handle), status)
  end subroutine rwlock_release_shared

  !> NEARFAR_SUCCESS or NEARFAR_TIMED_OUT.
  subroutine rwlock_acquire_for(self, timeout_ns, status)
    class(nearfar_rwlock), intent(in) :: self
    integer(int64), intent(in) :: timeout_ns
    integer, intent(out), optional :: status
    call conclude(c_rwlock_acquire_for(self%handle, timeout_ns), status)
  end subroutine rwlock_acquire_for

  subroutine rwlock_acquire_shared_for(self, timeout_ns, status)
    class(nearfar_rwlock), intent(in) :: self
    integer(int64), intent(in) :: timeout_ns
    integer, intent(out), optional :: status
    call conclude(c_rwlock_acquire_shared_for(self%handle, timeout_ns), status)
  end subroutine rwlock_acquire_shared_for

  !> Collective. Items of 1 to 1024 bytes; room for capacity items of each rank.
  subroutine queue_create(self, world, kind, item_bytes, capacity, status)
    class(nearfar_queue), intent(inout) :: self
    class(nearfar_world), intent(in) :: world
    integer, intent(in) :: kind
    integer, intent(in) :: item_bytes
    integer, intent(in) :: capacity
    integer, intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = c_queue_create(world%handle, int(kind, c_int), int(item_bytes, c_size_t), int(capacity, c_size_t), &
      self%handle)
    if (outcome == NEARFAR_SUCCESS) self%item_bytes = item_bytes
    call conclude(outcome, status)
  end subroutine queue_create

  subroutine queue_destroy(self, status)
    class(nearfar_queue), intent(inout) :: self
    integer, intent(out), optional :: status
    call conclude(c_queue_destroy(self%handle), status)
  end subroutine queue_destroy

  subroutine queue_push(self, item, status)
    class(nearfar_queue), intent(in) :: self
    type(*), intent(in), contiguous, target :: item(..)
    integer, intent(out), optional :: status
    call conclude(c_queue_push(self%handle, c_loc(item)), status)
  end subroutine queue_push

  subroutine queue_try_push(self, item, status)
    class(nearfar_queue), intent(in) :: self
    type(*), intent(in), contiguous, target :: item(..)
    integer, intent(out), optional :: status
    call conclude(c_queue_try_push(self%handle, c_loc(item)), status)
  end subroutine queue_try_push

  subroutine queue_push_for(self, item, timeout_ns, status)
    class(nearfar_queue), intent(in) :: self
    type(*), intent(in), contiguous, target :: item(..)
    integer(int64), intent(in) :: timeout_ns
    integer, intent(out), optional :: status
    call conclude(c_queue_push_for(self%handle, c_loc(item), timeout_ns), status)
  end subroutine queue_push_for

  !> NEARFAR_CLOSED when the queue is closed and nothing is left.
  subroutine queue_pop(self, item, status)
    class(nearfar_queue), intent(in) :: self
    type(*), intent(inout), contiguous, target :: item(..)
    integer, intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = has_bytes(item, self%item_bytes)
    if (outcome == NEARFAR_SUCCESS) outcome = c_queue_pop(self%handle, c_loc(item))
    call conclude(outcome, status)
  end subroutine queue_pop

  subroutine queue_try_pop(self, item, status)
    class(nearfar_queue), intent(in) :: self
    type(*), intent(inout), contiguous, target :: item(..)
    integer, intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = has_bytes(item, self%item_bytes)
    if (outcome == NEARFAR_SUCCESS) outcome = c_queue_try_pop(self%handle, c_loc(item))
    call conclude(outcome, status)
  end subroutine queue_try_pop

  subroutine queue_pop_for(self, item, timeout_ns, status)
    class(nearfar_queue), intent(in) :: self
    type(*), intent(inout), contiguous, target :: item(..)
    integer(int64), intent(in) :: timeout_ns
    integer, intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = has_bytes(item, self%item_bytes)
    if (outcome == NEARFAR_SUCCESS) outcome = c_queue_pop_for(self%handle, c_loc(item), timeout_ns)
    call conclude(outcome, status)
  end subroutine queue_pop_for

  subroutine queue_close(self, status)
    class(nearfar_queue), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_queue_close(self%handle), status)
  end subroutine queue_close

  subroutine queue_size_estimate(self, size, status)
    class(nearfar_queue), intent(in) :: self
    integer(int64), intent(out) :: size
    integer, intent(out), optional :: status
    call ask_size(c_queue_size_estimate, self%handle, size, status)
  end subroutine queue_size_estimate

  !> Collective. Keys of 1 to 64 bytes, values of 1 to 512; room for so many entries in the memory of each rank.
  subroutine map_create(self, world, key_bytes, value_bytes, entries, status)
    class(nearfar_map), intent(inout) :: self
    class(nearfar_world), intent(in) :: world
    integer, intent(in) :: key_bytes
    integer, intent(in) :: value_bytes
    integer, intent(in) :: entries
    integer, intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = c_map_create(world%handle, int(key_bytes, c_size_t), int(value_bytes, c_size_t), int(entries, c_size_t), &
      self%handle)
    if (outcome == NEARFAR_SUCCESS) self%value_bytes = value_bytes
    call conclude(outcome, status)
  end subroutine map_create

  subroutine map_destroy(self, status)
    class(nearfar_map), intent(inout) :: self
    integer, intent(out), optional :: status
    call conclude(c_map_destroy(self%handle), status)
  end subroutine map_destroy

  subroutine map_find(self, key, value, status)
    class(nearfar_map), intent(in) :: self
    type(*), intent(in), contiguous, target :: key(..)
    type(*), intent(inout), contiguous, target :: value(..)
    integer, intent(out), optional :: status
    integer(c_int) :: outcome
    outcome = has_bytes(value, self%value_bytes)
    if (outcome == NEARFAR_SUCCESS) outcome = c_map_find(self%handle, c_loc(key), c_loc(value))
    call conclude(outcome, status)
  end subroutine map_find

  subroutine map_insert(self, key, value, status)
    class(nearfar_map), intent(in) :: self
    type(*), intent(in), contiguous, target :: key(..)
    type(*), intent(in), contiguous, target :: value(..)
    integer, intent(out), optional :: status
    call conclude(c_map_insert(self%handle, c_loc(key), c_loc(value)), status)
  end subroutine map_insert

  subroutine map_update(self, key, value, status)
    class(nearfar_map), intent(in) :: self
    type(*), intent(in), contiguous, target :: key(..)
    type(*), intent(in), contiguous, target :: value(..)
    integer, intent(out), optional :: status
    call conclude(c_map_update(self%handle, c_loc(key), c_loc(value)), status)
  end subroutine map_update

  !> The value, if present, is copied before the entry is removed.
  subroutine map_erase(self, key, value, status)
    class(nearfar_map), intent(in) :: self
    type(*), intent(in), contiguous, target :: key(..)
    type(*), intent(inout), optional, contiguous, target :: value(..)
    integer, intent(out), optional :: status
    type(c_ptr) :: place
    integer(c_int) :: outcome
    place = c_null_ptr
    outcome = NEARFAR_SUCCESS
    if (present(value)) then
      place = c_loc(value)
      outcome = has_bytes(value, self%value_bytes)
    end if
    if (outcome == NEARFAR_SUCCESS) outcome = c_map_erase(self%handle, c_loc(key), place)
    call conclude(outcome, status)
  end subroutine map_erase

  !> Visits the entries in this rank's memory; context is passed to visit.
  subroutine map_visit_local(self, visit, context, status)
    class(nearfar_map), intent(in) :: self
    procedure(nearfar_visitor) :: visit
    type(c_ptr), intent(in) :: context
    integer, intent(out), optional :: status
    call conclude(c_map_visit_local(self%handle, c_funloc(visit), context), status)
  end subroutine map_visit_local

  !> Collective.
  subroutine map_size(self, size, status)
    class(nearfar_map), intent(in) :: self
    integer(int64), intent(out) :: size
    integer, intent(out), optional :: status
    call ask_size(c_map_size, self%handle, size, status)
  end subroutine map_size

  subroutine map_capacity(self, capacity, status)
    class(nearfar_map), intent(in) :: self
    integer(int64), intent(out) :: capacity
    integer, intent(out), optional :: status
    call ask_size(c_map_capacity, self%handle, capacity, status)
  end subroutine map_capacity

  subroutine map_owner(self, key, rank, status)
    class(nearfar_map), intent(in) :: self
    type(*), intent(in), contiguous, target :: key(..)
    integer, intent(out) :: rank
    integer, intent(out), optional :: status
    integer(c_int) :: found
    integer(c_int) :: outcome
    found = -1
    outcome = c_map_owner(self%handle, c_loc(key), found)
    rank = found
    call conclude(outcome, status)
  end subroutine map_owner

  !> Items of up to item_bytes bytes; room for capacity items.
  subroutine channel_create(self, item_bytes, capacity, status)
    class(nearfar_channel), intent(inout) :: self
    integer, intent(in) :: item_bytes
    integer, intent(in) :: capacity
    integer, intent(out), optional :: status
    call conclude(c_channel_create(int(item_bytes, c_size_t), int(capacity, c_size_t), self%handle), status)
  end subroutine channel_create

  subroutine channel_destroy(self, status)
    class(nearfar_channel), intent(inout) :: self
    integer, intent(out), optional :: status
    call conclude(c_channel_destroy(self%handle), status)
  end subroutine channel_destroy

  subroutine channel_send(self, item, bytes, status)
    class(nearfar_channel), intent(in) :: self
    type(*), intent(in), contiguous, target :: item(..)
    integer, intent(in) :: bytes
    integer, intent(out), optional :: status
    call conclude(c_channel_send(self%handle, c_loc(item), int(bytes, c_size_t)), status)
  end subroutine channel_send

  subroutine channel_try_send(self, item, bytes, status)
    class(nearfar_channel), intent(in) :: self
    type(*), intent(in), contiguous, target :: item(..)
    integer, intent(in) :: bytes
    integer, intent(out), optional :: status
    call conclude(c_channel_try_send(self%handle, c_loc(item), int(bytes, c_size_t)), status)
  end subroutine channel_try_send

  subroutine channel_send_for(self, item, bytes, timeout_ns, status)
    class(nearfar_channel), intent(in) :: self
    type(*), intent(in), contiguous, target :: item(..)
    integer, intent(in) :: bytes
    integer(int64), intent(in) :: timeout_ns
    integer, intent(out), optional :: status
    call conclude(c_channel_send_for(self%handle, c_loc(item), int(bytes, c_size_t), timeout_ns), status)
  end subroutine channel_send_for

  subroutine channel_receive(self, buffer, buffer_bytes, bytes, status)
    class(nearfar_channel), intent(in) :: self
    type(*), intent(inout), contiguous, target :: buffer(..)
    integer, intent(in) :: buffer_bytes
    integer, intent(out), optional :: bytes
    integer, intent(out), optional :: status
    integer(c_size_t) :: found
    integer(c_int) :: outcome
    found = 0
    outcome = has_bytes(buffer, buffer_bytes)
    if (outcome == NEARFAR_SUCCESS) outcome = c_channel_receive(self%handle, c_loc(buffer), int(buffer_bytes, &
      c_size_t), found)
    if (present(bytes)) bytes = int(found)
    call conclude(outcome, status)
  end subroutine channel_receive

  subroutine channel_try_receive(self, buffer, buffer_bytes, bytes, status)
    class(nearfar_channel), intent(in) :: self
    type(*), intent(inout), contiguous, target :: buffer(..)
    integer, intent(in) :: buffer_bytes
    integer, intent(out), optional :: bytes
    integer, intent(out), optional :: status
    integer(c_size_t) :: found
    integer(c_int) :: outcome
    found = 0
    outcome = has_bytes(buffer, buffer_bytes)
    if (outcome == NEARFAR_SUCCESS) outcome = c_channel_try_receive(self%handle, c_loc(buffer), int(buffer_bytes, &
      c_size_t), found)
    if (present(bytes)) bytes = int(found)
    call conclude(outcome, status)
  end subroutine channel_try_receive

  subroutine channel_receive_for(self, buffer, buffer_bytes, timeout_ns, bytes, status)
    class(nearfar_channel), intent(in) :: self
    type(*), intent(inout), contiguous, target :: buffer(..)
    integer, intent(in) :: buffer_bytes
    integer, intent(out), optional :: bytes
    integer(int64), intent(in) :: timeout_ns
    integer, intent(out), optional :: status
    integer(c_size_t) :: found
    integer(c_int) :: outcome
    found = 0
    outcome = has_bytes(buffer, buffer_bytes)
    if (outcome == NEARFAR_SUCCESS) outcome = c_channel_receive_for(self%handle, c_loc(buffer), int(buffer_bytes, &
      c_size_t), found, timeout_ns)
    if (present(bytes)) bytes = int(found)
    call conclude(outcome, status)
  end subroutine channel_receive_for

  subroutine channel_close(self, status)
    class(nearfar_channel), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_channel_close(self%handle), status)
  end subroutine channel_close

  subroutine channel_reopen(self, status)
    class(nearfar_channel), intent(in) :: self
    integer, intent(out), optional :: status
    call conclude(c_channel_reopen(self%handle), status)
  end subroutine channel_reopen

  subroutine channel_is_closed(self, is_closed, status)
    class(nearfar_channel), intent(in) :: self
    logical, intent(out) :: is_closed
    integer, intent(out), optional :: status
    integer(c_int) :: found
    integer(c_int) :: outcome
    found = 0
    outcome = c_channel_is_closed(self%handle, found)
    is_closed = found /= 0
    call conclude(outcome, status)
  end subroutine channel_is_closed

  subroutine channel_size_estimate(self, size, status)
    class(nearfar_channel), intent(in) :: self
    integer(int64), intent(out) :: size
    integer, intent(out), optional :: status
    call ask_size(c_channel_size_estimate, self%handle, size, status)
  end subroutine channel_size_estimate

end module nearfar
