/// \file
/// nearfar for C, and for all languages that call C: locks, queues and maps of the ranks of an MPI
/// communicator, and channels between the threads of a process. C11 and C++; link libnearfar_c_LIBRARY, which
/// is built for one MPI library (docs/languages.md says how).
///
/// Every function that can fail returns a `nearfar_status`: 0 for success, a positive number for an outcome
/// that is not an error (the lock was held, the queue was empty), a negative number for an error. After an
/// error, `nearfar_last_message()` in the calling thread says what to do about it. No function throws an
/// exception. Results are written only on success, unless a function says otherwise.
///
/// Collective functions are marked as such: all ranks of the world call them in the same order and with the
/// same arguments, and wait for each other. If ranks pass different arguments, all of them get
/// NEARFAR_ERROR_MISMATCH. A rank that passes no place for the new object gets NEARFAR_ERROR_ARGUMENT, and
/// the others NEARFAR_ERROR_MISMATCH, with its number. Only if a rank passes no handle, or no communicator,
/// do the others wait.
///
/// One thread at a time of each rank uses a world and the objects made in it, at any thread level of MPI
/// (with MPI_THREAD_FUNNELED the main thread). Any threads may use a channel at the same time. Waiting
/// functions let MPI progress, and yield if there are more ranks than processors.
///
/// Timeouts are in nanoseconds from the call on, 0 or more. Sizes are in bytes.
#ifndef NEARFAR_H
#define NEARFAR_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define NEARFAR_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// ---- outcomes
// ----------------------------------------------------------------------------------------------

/// Result of a call. Values do not change between versions; later versions may add some.
typedef enum nearfar_status {
  NEARFAR_SUCCESS = 0,

  // Outcomes.
  NEARFAR_BUSY = 1,       ///< another rank has the lock
  NEARFAR_TIMED_OUT = 2,  ///< the timeout has passed, and nothing has changed
  NEARFAR_EMPTY = 3,      ///< the queue or channel is empty
  NEARFAR_FULL = 4,       ///< no room in the queue, channel or part of the map
  NEARFAR_CLOSED = 5,     ///< the queue or channel was closed, and nothing is left to take
  NEARFAR_NOT_FOUND = 6,  ///< the map has no entry with this key
  NEARFAR_EXISTS = 7,     ///< the map has an entry with this key, which stays as it is

  // Errors.
  NEARFAR_ERROR_ARGUMENT = -1,    ///< no handle, no place for a result, an impossible size or time
  NEARFAR_ERROR_NOT_HELD = -2,    ///< released by a rank that does not hold the lock that way
  NEARFAR_ERROR_HELD = -3,        ///< the rank that holds the lock takes it again, or destroys it
  NEARFAR_ERROR_IN_USE = -4,      ///< a world is destroyed before the objects made in it
  NEARFAR_ERROR_MISMATCH = -5,    ///< the ranks make different objects, or with different arguments
  NEARFAR_ERROR_NO_MPI = -6,      ///< MPI is not initialised yet, or already finalised
  NEARFAR_ERROR_MPI = -7,         ///< a call to MPI failed
  NEARFAR_ERROR_TRANSPORT = -8,   ///< this MPI installation or machine cannot do what nearfar needs
  NEARFAR_ERROR_TOPOLOGY = -9,    ///< the topology cannot be read, or does not fit the ranks
  NEARFAR_ERROR_NO_MEMORY = -10,  ///< the world's memory, or the machine's, is used up
  NEARFAR_ERROR_STALLED = -11,    ///< a wait was longer than `stall_limit_ns`: end the program by MPI_Abort
  NEARFAR_ERROR_INTERNAL = -12,   ///< anything else
} nearfar_status;

/// One sentence on a status, the same for ever. For an unknown number, says that it is unknown. Never NULL.
NEARFAR_API const char* nearfar_error_text(int status);

/// The message of the last call of this thread that returned an error: what went wrong, and what to do about
/// it. Empty if there was none. The text stays until the next error of this thread. Never NULL.
NEARFAR_API const char* nearfar_last_message(void);

/// The version of the library, such as "0.1.0".
NEARFAR_API const char* nearfar_version(void);

/// The MPI library that this library was built for, as in its file name: "openmpi", "mpich".
NEARFAR_API const char* nearfar_mpi_library(void);

// ---- world
// -------------------------------------------------------------------------------------------------

/// The ranks of a communicator, with the memory for locks, queues and maps.
typedef struct nearfar_world nearfar_world;

/// Options of a world. Start from NEARFAR_WORLD_OPTIONS_INIT, and change what should differ.
typedef struct nearfar_world_options {
  size_t size;             ///< of this struct, so that later versions may add to it
  size_t far_bytes;        ///< one-sided memory of each rank; 0: 4 MiB
  size_t near_bytes;       ///< memory of each rank shared with its node, in /dev/shm; 0: 4 MiB
  int64_t stall_limit_ns;  ///< a longer wait returns NEARFAR_ERROR_STALLED; 0: no limit
  const char* topology;    ///< instead of the machine's own, such as "node:2 core:4"; NULL: the machine's
} nearfar_world_options;

#define NEARFAR_WORLD_OPTIONS_INIT \
  { sizeof(nearfar_world_options), 0, 0, 0, NULL }

/// Makes a world of the ranks of `comm`, which it duplicates and otherwise leaves alone. Collective over
/// `comm`, between MPI_Init and MPI_Finalize. `options` may be NULL. Errors: NO_MPI; ARGUMENT for
/// MPI_COMM_NULL, an intercommunicator or a negative limit; TRANSPORT, TOPOLOGY, NO_MEMORY, MISMATCH, the
/// last also if only another rank passes something wrong (these errors come on all ranks, which may go on
/// without this world); MPI.
NEARFAR_API nearfar_status nearfar_world_from_comm(MPI_Comm comm, const nearfar_world_options* options,
                                                   nearfar_world** world);

/// The same for a communicator of Fortran, or for anything with the number of one (`comm.py2f()` of mpi4py).
NEARFAR_API nearfar_status nearfar_world_from_fortran_comm(MPI_Fint comm,
                                                           const nearfar_world_options* options,
                                                           nearfar_world** world);

/// Destroys a world and sets `*world` to NULL. Collective; waits, while MPI progresses, until all ranks call
/// it. If any rank has an object left in it, the world stays as it is: all ranks get IN_USE, destroy the
/// objects, and call again.
///
/// A world that some or all ranks forget ends in MPI_Finalize, where they wait as here, for the last world
/// first. If a rank forgets several, the other ranks must destroy them in the reverse order of their
/// creation, or wait for ever. Afterwards a world's memory, and the objects in it, can still be destroyed,
/// but the result is NO_MPI.
NEARFAR_API nearfar_status nearfar_world_destroy(nearfar_world** world);

/// This rank in the world, from 0.
NEARFAR_API nearfar_status nearfar_world_rank(const nearfar_world* world, int* rank);

/// Number of ranks in the world.
NEARFAR_API nearfar_status nearfar_world_size(const nearfar_world* world, int* size);

/// Waits for all ranks; lets MPI progress and yields, which MPI_Barrier may not do. Collective. A rank that
/// has finished its work waits here for the others, which may need its progress.
NEARFAR_API nearfar_status nearfar_world_barrier(nearfar_world* world);

/// Lets MPI complete operations of other ranks on this one. For loops that wait for something outside
/// nearfar.
NEARFAR_API nearfar_status nearfar_world_progress(nearfar_world* world);

// ---- lock
// --------------------------------------------------------------------------------------------------

/// An exclusive lock of all ranks of a world: nearfar's default, `default_cohort_lock`. Within a node it is
/// handed over through shared memory, and between nodes by a message. Not recursive. Everything that a rank
/// did before it released the lock is visible to the next holder. This includes one-sided operations that the
/// rank completed by a flush.
typedef struct nearfar_lock nearfar_lock;

/// Makes a lock. Collective. `home` is the rank at which nodes queue up: 0 if in doubt. Errors: ARGUMENT for
/// a rank that does not exist; MISMATCH, NO_MEMORY, MPI.
NEARFAR_API nearfar_status nearfar_lock_create(nearfar_world* world, int home, nearfar_lock** lock);

/// Destroys this rank's part of the lock, and sets `*lock` to NULL. Not collective: other ranks may go on. If
/// this rank holds the lock, returns HELD and does nothing.
NEARFAR_API nearfar_status nearfar_lock_destroy(nearfar_lock** lock);

/// Waits for the lock. First come, first served within a node; while another node waits, at most 254 ranks of
/// the holder's node go first. Errors: HELD if this rank has it, STALLED, MPI.
NEARFAR_API nearfar_status nearfar_lock_acquire(nearfar_lock* lock);

/// Takes the lock if it is free: SUCCESS or BUSY. Does not wait for a holder.
NEARFAR_API nearfar_status nearfar_lock_try_acquire(nearfar_lock* lock);

/// Repeats attempts, as nearfar_lock_try_acquire, until one succeeds or the timeout has passed: SUCCESS or
/// TIMED_OUT. Makes at least one attempt, and finishes it.
///
/// A rank cannot leave the lock's queue, so this rank has no place in it: an attempt succeeds only if no rank
/// has the lock, waits for it in `acquire`, or tries at the same moment. Such ranks go first, any number of
/// times; if there is always one, the call times out, however long it waits. A rank that must get the lock
/// calls `acquire`. Between attempts MPI progresses; the rank does not sleep.
NEARFAR_API nearfar_status nearfar_lock_acquire_for(nearfar_lock* lock, int64_t timeout_ns);

/// Releases the lock. Errors: NOT_HELD.
NEARFAR_API nearfar_status nearfar_lock_release(nearfar_lock* lock);

// ---- reader-writer lock
// ------------------------------------------------------------------------------------

/// A lock that one rank holds exclusively, or that any number of ranks share: nearfar's default,
/// `cohort_rw_lock`, in which a reader needs no operation outside its node. Fair: neither readers nor writers
/// starve. A rank holds it once, and in one way, at a time.
typedef struct nearfar_rwlock nearfar_rwlock;

/// As nearfar_lock_create. Collective.
NEARFAR_API nearfar_status nearfar_rwlock_create(nearfar_world* world, int home, nearfar_rwlock** lock);
/// As nearfar_lock_destroy.
NEARFAR_API nearfar_status nearfar_rwlock_destroy(nearfar_rwlock** lock);

/// Waits until this rank alone has the lock.
NEARFAR_API nearfar_status nearfar_rwlock_acquire(nearfar_rwlock* lock);
/// Does not wait: SUCCESS or BUSY.
NEARFAR_API nearfar_status nearfar_rwlock_try_acquire(nearfar_rwlock* lock);
/// SUCCESS or TIMED_OUT. Repeats attempts as nearfar_lock_acquire_for; readers that have the lock defeat
/// them, too.
NEARFAR_API nearfar_status nearfar_rwlock_acquire_for(nearfar_rwlock* lock, int64_t timeout_ns);
/// Releases an exclusive lock. Errors: NOT_HELD, also for a reader.
NEARFAR_API nearfar_status nearfar_rwlock_release(nearfar_rwlock* lock);

/// Waits until no rank has the lock exclusively, then shares it.
NEARFAR_API nearfar_status nearfar_rwlock_acquire_shared(nearfar_rwlock* lock);
/// Does not wait: SUCCESS or BUSY.
NEARFAR_API nearfar_status nearfar_rwlock_try_acquire_shared(nearfar_rwlock* lock);
/// SUCCESS or TIMED_OUT. Waits in its turn, unlike the exclusive form.
NEARFAR_API nearfar_status nearfar_rwlock_acquire_shared_for(nearfar_rwlock* lock, int64_t timeout_ns);
/// Releases a shared lock, without waiting. Errors: NOT_HELD, also for a writer.
NEARFAR_API nearfar_status nearfar_rwlock_release_shared(nearfar_rwlock* lock);

// ---- queue
// -------------------------------------------------------------------------------------------------

/// A first-in, first-out queue of all ranks of a world, for items of one size. Any rank pushes and pops at
/// any time by one-sided operations. Linearizable; bounded.
typedef struct nearfar_queue nearfar_queue;

/// The algorithm of a queue.
typedef enum nearfar_queue_kind {
  NEARFAR_QUEUE_TICKET = 0,     ///< the fast one; a rank that stops in an operation may stop others
  NEARFAR_QUEUE_LOCK_FREE = 1,  ///< a stopped rank stops no other; the more ranks, the slower
} nearfar_queue_kind;

/// Size of the largest item of a queue.
#define NEARFAR_QUEUE_MAX_ITEM_BYTES 1024

/// Makes a queue of a `nearfar_queue_kind`. Collective. Items have `item_bytes`, from 1 to
/// NEARFAR_QUEUE_MAX_ITEM_BYTES (each takes far memory for the next of 8, 16, 64, 256 and 1024). There is
/// room for `capacity` items per rank: in a ticket queue shared by all ranks; in a lock-free queue for each
/// rank's own items, at least 2. Errors: ARGUMENT, MISMATCH, NO_MEMORY, MPI.
NEARFAR_API nearfar_status nearfar_queue_create(nearfar_world* world, int kind, size_t item_bytes,
                                                size_t capacity, nearfar_queue** queue);

/// Destroys this rank's part, and sets `*queue` to NULL. Not collective, but allowed only when no rank uses
/// the queue any more, for example after a barrier.
NEARFAR_API nearfar_status nearfar_queue_destroy(nearfar_queue** queue);

/// Waits for room and appends an item: SUCCESS or CLOSED.
NEARFAR_API nearfar_status nearfar_queue_push(nearfar_queue* queue, const void* item);
/// Does not wait: SUCCESS, FULL or CLOSED.
NEARFAR_API nearfar_status nearfar_queue_try_push(nearfar_queue* queue, const void* item);
/// With a timeout: SUCCESS, CLOSED or TIMED_OUT.
NEARFAR_API nearfar_status nearfar_queue_push_for(nearfar_queue* queue, const void* item, int64_t timeout_ns);

/// Waits for an item and takes the oldest: SUCCESS or CLOSED.
NEARFAR_API nearfar_status nearfar_queue_pop(nearfar_queue* queue, void* item);
/// Does not wait: SUCCESS, EMPTY or CLOSED.
NEARFAR_API nearfar_status nearfar_queue_try_pop(nearfar_queue* queue, void* item);
/// With a timeout: SUCCESS, CLOSED or TIMED_OUT.
NEARFAR_API nearfar_status nearfar_queue_pop_for(nearfar_queue* queue, void* item, int64_t timeout_ns);

/// From now on pushes are CLOSED, and so are pops when nothing is left. Any rank may call it, any number of
/// times.
NEARFAR_API nearfar_status nearfar_queue_close(nearfar_queue* queue);

/// Number of items in the queue as far as this rank knows: an estimate.
NEARFAR_API nearfar_status nearfar_queue_size_estimate(nearfar_queue* queue, size_t* size);

// ---- map
// ---------------------------------------------------------------------------------------------------

/// A hash table in the memory of all ranks of a world, with keys of one size and values of one size. Each
/// rank finds, inserts, updates and erases entries at any time by one-sided operations. Lock-free; operations
/// on one key are linearizable.
typedef struct nearfar_map nearfar_map;

/// Sizes of the largest key and value of a map.
#define NEARFAR_MAP_MAX_KEY_BYTES 64
#define NEARFAR_MAP_MAX_VALUE_BYTES 512

/// Makes a map. Collective. `key_bytes` is 1 to NEARFAR_MAP_MAX_KEY_BYTES (each key takes far memory for 8 or
/// 64), `value_bytes` 1 to NEARFAR_MAP_MAX_VALUE_BYTES (for 8, 64 or 512). Keys are equal if their bytes are.
/// There is room for `entries` in the memory of each rank. Keys are spread by their hash, so that one rank
/// may be full before others; a third more than needed is ample. Errors: ARGUMENT, MISMATCH, NO_MEMORY, MPI.
NEARFAR_API nearfar_status nearfar_map_create(nearfar_world* world, size_t key_bytes, size_t value_bytes,
                                              size_t entries, nearfar_map** map);

/// As nearfar_queue_destroy.
NEARFAR_API nearfar_status nearfar_map_destroy(nearfar_map** map);

/// Copies the value of `key` to `value`: SUCCESS or NOT_FOUND. A rank that polls for what another rank is to
/// bring must call nearfar_world_progress in between.
NEARFAR_API nearfar_status nearfar_map_find(nearfar_map* map, const void* key, void* value);
/// Adds an entry: SUCCESS, EXISTS, or FULL if the rank to which the key belongs has no room.
NEARFAR_API nearfar_status nearfar_map_insert(nearfar_map* map, const void* key, const void* value);
/// Changes the value of the entry of `key`: SUCCESS, NOT_FOUND, or FULL, since the new value is written
/// beside the old one.
NEARFAR_API nearfar_status nearfar_map_update(nearfar_map* map, const void* key, const void* value);
/// Removes an entry, and copies its value to `value` unless that is NULL: SUCCESS or NOT_FOUND.
NEARFAR_API nearfar_status nearfar_map_erase(nearfar_map* map, const void* key, void* value);

/// Calls `visit` for the entries in this rank's memory, in no particular order: those that are there from the
/// call to the return, and maybe others. `visit` may use the map; `context` is passed to it.
NEARFAR_API nearfar_status nearfar_map_visit_local(
    nearfar_map* map, void (*visit)(const void* key, const void* value, void* context), void* context);

/// Collective. Number of entries in the memory of all ranks.
NEARFAR_API nearfar_status nearfar_map_size(nearfar_map* map, size_t* size);
/// The most entries that fit into the memory of all ranks.
NEARFAR_API nearfar_status nearfar_map_capacity(const nearfar_map* map, size_t* capacity);
/// The rank in whose memory the entry of `key` is, or would be.
NEARFAR_API nearfar_status nearfar_map_owner(const nearfar_map* map, const void* key, int* rank);

// ---- channel
// -----------------------------------------------------------------------------------------------

/// A channel between the threads of a process, for items up to a given size. First in, first out. Any threads
/// may call all functions except destroy at the same time. Needs no world, and no MPI.
typedef struct nearfar_channel nearfar_channel;

/// Makes a channel with room for `capacity` items of up to `item_bytes`. Errors: ARGUMENT, NO_MEMORY.
NEARFAR_API nearfar_status nearfar_channel_create(size_t item_bytes, size_t capacity,
                                                  nearfar_channel** channel);

/// Destroys a channel that no thread uses any more, and sets `*channel` to NULL.
NEARFAR_API nearfar_status nearfar_channel_destroy(nearfar_channel** channel);

/// Waits for room and sends a copy of `bytes` bytes, at most `item_bytes`: SUCCESS or CLOSED.
NEARFAR_API nearfar_status nearfar_channel_send(nearfar_channel* channel, const void* item, size_t bytes);
/// Does not wait: SUCCESS, FULL or CLOSED.
NEARFAR_API nearfar_status nearfar_channel_try_send(nearfar_channel* channel, const void* item, size_t bytes);
/// With a timeout: SUCCESS, CLOSED or TIMED_OUT.
NEARFAR_API nearfar_status nearfar_channel_send_for(nearfar_channel* channel, const void* item, size_t bytes,
                                                    int64_t timeout_ns);

/// Waits for an item and copies the oldest to `buffer`, whose size `buffer_bytes` is at least the channel's
/// `item_bytes`; sets `*bytes` to the item's size, unless `bytes` is NULL. SUCCESS or CLOSED.
NEARFAR_API nearfar_status nearfar_channel_receive(nearfar_channel* channel, void* buffer,
                                                   size_t buffer_bytes, size_t* bytes);
/// Does not wait: SUCCESS, EMPTY or CLOSED.
NEARFAR_API nearfar_status nearfar_channel_try_receive(nearfar_channel* channel, void* buffer,
                                                       size_t buffer_bytes, size_t* bytes);
/// With a timeout: SUCCESS, CLOSED or TIMED_OUT.
NEARFAR_API nearfar_status nearfar_channel_receive_for(nearfar_channel* channel, void* buffer,
                                                       size_t buffer_bytes, size_t* bytes,
                                                       int64_t timeout_ns);

/// From now on sends are CLOSED, and so are receives when nothing is left; waiting threads are told. May be
/// called any number of times.
NEARFAR_API nearfar_status nearfar_channel_close(nearfar_channel* channel);
/// Opens the channel again.
NEARFAR_API nearfar_status nearfar_channel_reopen(nearfar_channel* channel);
/// Sets `*is_closed` to 1 if the channel is closed, else to 0.
NEARFAR_API nearfar_status nearfar_channel_is_closed(const nearfar_channel* channel, int* is_closed);
/// Number of items ready to be received; an estimate while others send and receive.
NEARFAR_API nearfar_status nearfar_channel_size_estimate(const nearfar_channel* channel, size_t* size);

// ---- Fortran
// -----------------------------------------------------------------------------------------------

/// Whether a Fortran variable of `elements` elements has at least `bytes` bytes: SUCCESS or ARGUMENT. `item`
/// is its descriptor, a `CFI_cdesc_t*`. For the module nearfar, since Fortran cannot ask for the size of a
/// variable of any type.
NEARFAR_API nearfar_status nearfar_fortran_has_bytes(const void* item, size_t elements, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif  // NEARFAR_H
