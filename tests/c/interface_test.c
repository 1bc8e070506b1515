// The C interface on two ranks or more: the effect of each function, and the result of its misuse. An
// argument reduces sizes and rounds, for slow operations.
#include <mpi.h>
#include <nearfar.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank = -1;
static int ranks = 0;
static int is_quick = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: rank %d: not so: %s (last message: %s)\n", __FILE__, __LINE__, rank, \
              #condition, nearfar_last_message());                                                 \
      if (rank >= 0) MPI_Abort(MPI_COMM_WORLD, 1);                                                 \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#define SUCCEED(call) EXPECT((call) == NEARFAR_SUCCESS)

/// Checks that the call fails with this status, and that the error, which begins with the function's name,
/// has this text.
#define FAIL(status, text, call)                                                               \
  do {                                                                                         \
    EXPECT((call) == (status));                                                                \
    EXPECT(strstr(nearfar_last_message(), text) != NULL);                                      \
    EXPECT(strncmp(nearfar_last_message(), #call, strcspn(nearfar_last_message(), ":")) == 0); \
  } while (0)

static void test_texts(void) {
  for (int status = NEARFAR_ERROR_INTERNAL; status <= NEARFAR_EXISTS; ++status)
    EXPECT(strcmp(nearfar_error_text(status), nearfar_error_text(12345)) != 0);
  EXPECT(strcmp(nearfar_version(), NEARFAR_EXPECTED_VERSION) == 0);
  EXPECT(strcmp(nearfar_mpi_library(), NEARFAR_EXPECTED_MPI) == 0);
}

static void test_world_without_mpi(void) {
  nearfar_world* world = NULL;
  FAIL(NEARFAR_ERROR_NO_MPI, "MPI_Init", nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  EXPECT(world == NULL);
}

static void test_null(nearfar_world* world) {
  int number = 0;
  size_t size = 0;
  nearfar_world* no_world = NULL;
  nearfar_lock* no_lock = NULL;
  nearfar_rwlock* no_rwlock = NULL;
  nearfar_queue* no_queue = NULL;
  nearfar_map* no_map = NULL;
  nearfar_channel* no_channel = NULL;
  const nearfar_status null = NEARFAR_ERROR_ARGUMENT;
  FAIL(null, "NULL", nearfar_world_from_comm(MPI_COMM_WORLD, NULL, NULL));
  FAIL(null, "NULL", nearfar_world_destroy(NULL));
  FAIL(null, "NULL", nearfar_world_destroy(&no_world));
  FAIL(null, "NULL", nearfar_world_rank(NULL, &number));
  FAIL(null, "NULL", nearfar_world_rank(world, NULL));
  FAIL(null, "NULL", nearfar_world_size(NULL, &number));
  FAIL(null, "NULL", nearfar_world_barrier(NULL));
  FAIL(null, "NULL", nearfar_world_progress(NULL));
  FAIL(null, "NULL", nearfar_lock_create(NULL, 0, &no_lock));
  FAIL(null, "NULL", nearfar_lock_create(world, 0, NULL));
  FAIL(null, "NULL", nearfar_lock_destroy(NULL));
  FAIL(null, "NULL", nearfar_lock_destroy(&no_lock));
  FAIL(null, "NULL", nearfar_lock_acquire(NULL));
  FAIL(null, "NULL", nearfar_lock_try_acquire(NULL));
  FAIL(null, "NULL", nearfar_lock_acquire_for(NULL, 0));
  FAIL(null, "NULL", nearfar_lock_release(NULL));
  FAIL(null, "NULL", nearfar_rwlock_create(NULL, 0, &no_rwlock));
  FAIL(null, "NULL", nearfar_rwlock_destroy(&no_rwlock));
  FAIL(null, "NULL", nearfar_rwlock_acquire(NULL));
  FAIL(null, "NULL", nearfar_rwlock_try_acquire(NULL));
  FAIL(null, "NULL", nearfar_rwlock_acquire_for(NULL, 0));
  FAIL(null, "NULL", nearfar_rwlock_release(NULL));
  FAIL(null, "NULL", nearfar_rwlock_acquire_shared(NULL));
  FAIL(null, "NULL", nearfar_rwlock_try_acquire_shared(NULL));
  FAIL(null, "NULL", nearfar_rwlock_acquire_shared_for(NULL, 0));
  FAIL(null, "NULL", nearfar_rwlock_release_shared(NULL));
  FAIL(null, "NULL", nearfar_queue_create(NULL, NEARFAR_QUEUE_TICKET, 8, 8, &no_queue));
  FAIL(null, "NULL", nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, 8, 8, NULL));
  FAIL(null, "NULL", nearfar_queue_destroy(&no_queue));
  FAIL(null, "NULL", nearfar_queue_push(NULL, &number));
  FAIL(null, "NULL", nearfar_queue_try_push(NULL, &number));
  FAIL(null, "NULL", nearfar_queue_push_for(NULL, &number, 0));
  FAIL(null, "NULL", nearfar_queue_pop(NULL, &number));
  FAIL(null, "NULL", nearfar_queue_try_pop(NULL, &number));
  FAIL(null, "NULL", nearfar_queue_pop_for(NULL, &number, 0));
  FAIL(null, "NULL", nearfar_queue_close(NULL));
  FAIL(null, "NULL", nearfar_queue_size_estimate(NULL, &size));
  FAIL(null, "NULL", nearfar_map_create(NULL, 8, 8, 8, &no_map));
  FAIL(null, "NULL", nearfar_map_create(world, 8, 8, 8, NULL));
  FAIL(null, "NULL", nearfar_map_destroy(&no_map));
  FAIL(null, "NULL", nearfar_map_find(NULL, &number, &number));
  FAIL(null, "NULL", nearfar_map_insert(NULL, &number, &number));
  FAIL(null, "NULL", nearfar_map_update(NULL, &number, &number));
  FAIL(null, "NULL", nearfar_map_erase(NULL, &number, NULL));
  FAIL(null, "NULL", nearfar_map_visit_local(NULL, NULL, NULL));
  FAIL(null, "NULL", nearfar_map_size(NULL, &size));
  FAIL(null, "NULL", nearfar_map_capacity(NULL, &size));
  FAIL(null, "NULL", nearfar_map_owner(NULL, &number, &number));
  FAIL(null, "NULL", nearfar_channel_create(8, 8, NULL));
  FAIL(null, "NULL", nearfar_channel_destroy(&no_channel));
  FAIL(null, "NULL", nearfar_channel_send(NULL, &number, sizeof number));
  FAIL(null, "NULL", nearfar_channel_try_send(NULL, &number, sizeof number));
  FAIL(null, "NULL", nearfar_channel_send_for(NULL, &number, sizeof number, 0));
  FAIL(null, "NULL", nearfar_channel_receive(NULL, &number, sizeof number, NULL));
  FAIL(null, "NULL", nearfar_channel_try_receive(NULL, &number, sizeof number, NULL));
  FAIL(null, "NULL", nearfar_channel_receive_for(NULL, &number, sizeof number, NULL, 0));
  FAIL(null, "NULL", nearfar_channel_close(NULL));
  FAIL(null, "NULL", nearfar_channel_reopen(NULL));
  FAIL(null, "NULL", nearfar_channel_is_closed(NULL, &number));
  FAIL(null, "NULL", nearfar_channel_size_estimate(NULL, &size));
}

/// A rank without a place for the new object keeps no rank waiting.
static void test_no_place_on_one_rank(nearfar_world* world) {
  nearfar_lock* lock = NULL;
  nearfar_rwlock* rwlock = NULL;
  nearfar_queue* queue = NULL;
  nearfar_map* map = NULL;
  const int is_wrong = rank == 1;
  const nearfar_status status = is_wrong ? NEARFAR_ERROR_ARGUMENT : NEARFAR_ERROR_MISMATCH;
  const char* said = is_wrong ? "NULL" : "rank 1 makes nothing";
  FAIL(status, said, nearfar_lock_create(world, 0, is_wrong ? NULL : &lock));
  FAIL(status, said, nearfar_rwlock_create(world, 0, is_wrong ? NULL : &rwlock));
  FAIL(status, said, nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, 8, 8, is_wrong ? NULL : &queue));
  FAIL(status, said, nearfar_map_create(world, 8, 8, 8, is_wrong ? NULL : &map));
  EXPECT(lock == NULL && rwlock == NULL && queue == NULL && map == NULL);
}

static void test_worlds(void) {
  nearfar_world* world = NULL;
  nearfar_lock* lock = NULL;
  FAIL(NEARFAR_ERROR_ARGUMENT, "MPI_COMM_NULL", nearfar_world_from_comm(MPI_COMM_NULL, NULL, &world));
  nearfar_world_options options = NEARFAR_WORLD_OPTIONS_INIT;
  options.stall_limit_ns = -1;
  FAIL(NEARFAR_ERROR_ARGUMENT, "stall_limit_ns is -1",
       nearfar_world_from_comm(MPI_COMM_WORLD, &options, &world));
  options = (nearfar_world_options){0};
  FAIL(NEARFAR_ERROR_ARGUMENT, "NEARFAR_WORLD_OPTIONS_INIT",
       nearfar_world_from_comm(MPI_COMM_WORLD, &options, &world));
  options = (nearfar_world_options)NEARFAR_WORLD_OPTIONS_INIT;
  options.topology = "nodes everywhere";
  FAIL(NEARFAR_ERROR_TOPOLOGY, "did you mean 'node'",
       nearfar_world_from_comm(MPI_COMM_WORLD, &options, &world));
  // The argument is wrong on one rank only.
  if (rank == 0)
    FAIL(NEARFAR_ERROR_TOPOLOGY, "did you mean 'node'",
         nearfar_world_from_comm(MPI_COMM_WORLD, &options, &world));
  else
    FAIL(NEARFAR_ERROR_MISMATCH, "rank 0 makes no world",
         nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  if (rank == 1)
    FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_world_from_comm(MPI_COMM_WORLD, NULL, NULL));
  else
    FAIL(NEARFAR_ERROR_MISMATCH, "rank 1 makes no world",
         nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  options.topology = NULL;
  options.far_bytes = rank == 0 ? 4096 : 8192;
  FAIL(NEARFAR_ERROR_MISMATCH, "far_bytes", nearfar_world_from_comm(MPI_COMM_WORLD, &options, &world));
  EXPECT(world == NULL);
  // The struct of an older program ends before this option.
  options.far_bytes = 4096;
  options.topology = "nodes everywhere";
  options.size = offsetof(nearfar_world_options, topology);
  SUCCEED(nearfar_world_from_fortran_comm(MPI_Comm_c2f(MPI_COMM_WORLD), &options, &world));

  nearfar_queue* queue = NULL;
  FAIL(NEARFAR_ERROR_NO_MEMORY, "nearfar_world_options.far_bytes",
       nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, 1024, 100, &queue));
  EXPECT(queue == NULL);
  FAIL(NEARFAR_ERROR_ARGUMENT, "no rank 77", nearfar_lock_create(world, 77, &lock));
  FAIL(NEARFAR_ERROR_MISMATCH, "home", nearfar_lock_create(world, rank == 0 ? 0 : 1, &lock));
  SUCCEED(nearfar_lock_create(world, 0, &lock));
  // All ranks get a refusal if one of them has an object left.
  if (rank == 0) SUCCEED(nearfar_lock_destroy(&lock));
  FAIL(NEARFAR_ERROR_IN_USE, "destroy these first", nearfar_world_destroy(&world));
  EXPECT(world != NULL);
  if (rank != 0) SUCCEED(nearfar_lock_destroy(&lock));
  EXPECT(lock == NULL);
  SUCCEED(nearfar_world_destroy(&world));
  EXPECT(world == NULL);
}

static void test_stall_limit(void) {
  nearfar_world* world = NULL;
  nearfar_queue* queue = NULL;
  nearfar_world_options options = NEARFAR_WORLD_OPTIONS_INIT;
  options.stall_limit_ns = 1000 * 1000;
  // One rank alone, as no rank may use the world afterwards.
  SUCCEED(nearfar_world_from_comm(MPI_COMM_SELF, &options, &world));
  SUCCEED(nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, 8, 8, &queue));
  uint64_t item = 0;
  FAIL(NEARFAR_ERROR_STALLED, "has waited", nearfar_queue_pop(queue, &item));
  SUCCEED(nearfar_queue_destroy(&queue));
  SUCCEED(nearfar_world_destroy(&world));
}

static void test_lock(nearfar_world* world) {
  nearfar_lock* lock = NULL;
  SUCCEED(nearfar_lock_create(world, 0, &lock));
  FAIL(NEARFAR_ERROR_NOT_HELD, "never locked", nearfar_lock_release(lock));
  FAIL(NEARFAR_ERROR_ARGUMENT, "in the past", nearfar_lock_acquire_for(lock, -1));
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 0) {
    SUCCEED(nearfar_lock_acquire(lock));
    FAIL(NEARFAR_ERROR_HELD, "not recursive", nearfar_lock_acquire(lock));
    FAIL(NEARFAR_ERROR_HELD, "not recursive", nearfar_lock_try_acquire(lock));
    FAIL(NEARFAR_ERROR_HELD, "unlock it first", nearfar_lock_destroy(&lock));
    EXPECT(lock != NULL);
  }
  SUCCEED(nearfar_world_barrier(world));
  if (rank != 0) {
    EXPECT(nearfar_lock_try_acquire(lock) == NEARFAR_BUSY);
    EXPECT(nearfar_lock_acquire_for(lock, 0) == NEARFAR_TIMED_OUT);
    EXPECT(nearfar_lock_acquire_for(lock, 1000) == NEARFAR_TIMED_OUT);
  }
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 0) SUCCEED(nearfar_lock_release(lock));
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 1) {
    SUCCEED(nearfar_lock_acquire_for(lock, 0));
    SUCCEED(nearfar_lock_release(lock));
    EXPECT(nearfar_lock_acquire_for(lock, INT64_MAX) == NEARFAR_SUCCESS);
    SUCCEED(nearfar_lock_release(lock));
  }
  SUCCEED(nearfar_world_barrier(world));
  SUCCEED(nearfar_lock_destroy(&lock));
}

/// Sums that lose additions if two ranks are in at once.
static void test_lock_excludes(nearfar_world* world) {
  const int rounds = is_quick ? 20 : 200;
  uint64_t* memory = NULL;
  MPI_Win window = MPI_WIN_NULL;
  nearfar_lock* lock = NULL;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memory[0] = 0;
  MPI_Win_lock_all(0, window);
  MPI_Win_sync(window);
  SUCCEED(nearfar_lock_create(world, 1, &lock));
  uint64_t count = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i % 3 == 0)
      while (nearfar_lock_try_acquire(lock) == NEARFAR_BUSY) continue;
    else
      SUCCEED(i % 3 == 1 ? nearfar_lock_acquire(lock) : nearfar_lock_acquire_for(lock, INT64_MAX));
    MPI_Get(&count, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(0, window);
    ++count;
    MPI_Put(&count, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(0, window);
    SUCCEED(nearfar_lock_release(lock));
  }
  SUCCEED(nearfar_world_barrier(world));
  MPI_Get(&count, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, window);
  MPI_Win_flush(0, window);
  EXPECT(count == (uint64_t)rounds * (uint64_t)ranks);
  SUCCEED(nearfar_lock_destroy(&lock));
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void test_rwlock(nearfar_world* world) {
  nearfar_rwlock* lock = NULL;
  SUCCEED(nearfar_rwlock_create(world, 0, &lock));
  SUCCEED(nearfar_rwlock_acquire_shared(lock));
  SUCCEED(nearfar_world_barrier(world));  // all have it
  FAIL(NEARFAR_ERROR_NOT_HELD, "readers unlock_shared()", nearfar_rwlock_release(lock));
  FAIL(NEARFAR_ERROR_HELD, "not recursive", nearfar_rwlock_acquire(lock));
  FAIL(NEARFAR_ERROR_HELD, "unlock it first", nearfar_rwlock_destroy(&lock));
  SUCCEED(nearfar_rwlock_release_shared(lock));
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 1) SUCCEED(nearfar_rwlock_acquire(lock));
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 1) FAIL(NEARFAR_ERROR_NOT_HELD, "unlock", nearfar_rwlock_release_shared(lock));
  if (rank != 1) {
    EXPECT(nearfar_rwlock_try_acquire(lock) == NEARFAR_BUSY);
    EXPECT(nearfar_rwlock_try_acquire_shared(lock) == NEARFAR_BUSY);
    EXPECT(nearfar_rwlock_acquire_for(lock, 1000) == NEARFAR_TIMED_OUT);
    EXPECT(nearfar_rwlock_acquire_shared_for(lock, 1000) == NEARFAR_TIMED_OUT);
    FAIL(NEARFAR_ERROR_ARGUMENT, "in the past", nearfar_rwlock_acquire_for(lock, INT64_MIN));
    FAIL(NEARFAR_ERROR_ARGUMENT, "in the past", nearfar_rwlock_acquire_shared_for(lock, -5));
  }
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 1) SUCCEED(nearfar_rwlock_release(lock));
  SUCCEED(nearfar_world_barrier(world));
  SUCCEED(nearfar_rwlock_acquire_shared_for(lock, INT64_MAX));
  SUCCEED(nearfar_rwlock_release_shared(lock));
  SUCCEED(nearfar_rwlock_acquire_for(lock, INT64_MAX));
  SUCCEED(nearfar_rwlock_release(lock));
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 0) {
    SUCCEED(nearfar_rwlock_try_acquire_shared(lock));
    SUCCEED(nearfar_rwlock_release_shared(lock));
    SUCCEED(nearfar_rwlock_try_acquire(lock));
    SUCCEED(nearfar_rwlock_release(lock));
  }
  SUCCEED(nearfar_world_barrier(world));
  SUCCEED(nearfar_rwlock_destroy(&lock));
}

/// Items of this size, pushed by all and popped by all, come out whole and once.
static void test_queue_of(nearfar_world* world, nearfar_queue_kind kind, size_t bytes) {
  enum { each = 50 };
  unsigned char item[NEARFAR_QUEUE_MAX_ITEM_BYTES + 1];
  nearfar_queue* queue = NULL;
  SUCCEED(nearfar_queue_create(world, (int)kind, bytes, each + 2, &queue));
  for (int i = 0; i < each; ++i) {
    memset(item, 1 + (rank * each + i) % 255, bytes);
    SUCCEED(nearfar_queue_push(queue, item));
  }
  long mine = 0;
  for (int i = 0; i < each; ++i) {
    item[bytes] = 0xa5;
    SUCCEED(nearfar_queue_pop(queue, item));
    EXPECT(item[bytes] == 0xa5);
    for (size_t at = 1; at < bytes; ++at) EXPECT(item[at] == item[0]);
    mine += item[0];
  }
  long popped = 0;
  long pushed = 0;
  MPI_Allreduce(&mine, &popped, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < each * ranks; ++i) pushed += 1 + i % 255;
  EXPECT(popped == pushed);

  EXPECT(nearfar_queue_try_pop(queue, item) == NEARFAR_EMPTY);
  EXPECT(nearfar_queue_pop_for(queue, item, 1000) == NEARFAR_TIMED_OUT);
  FAIL(NEARFAR_ERROR_ARGUMENT, "in the past", nearfar_queue_pop_for(queue, item, -1));
  FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_queue_pop(queue, NULL));
  FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_queue_push(queue, NULL));
  SUCCEED(nearfar_world_barrier(world));
  if (rank == 0) {
    int count = 0;
    nearfar_status status = NEARFAR_SUCCESS;
    while ((status = nearfar_queue_try_push(queue, item)) == NEARFAR_SUCCESS) ++count;
    EXPECT(status == NEARFAR_FULL && count >= each);
    EXPECT(nearfar_queue_push_for(queue, item, 1000) == NEARFAR_TIMED_OUT);
    FAIL(NEARFAR_ERROR_ARGUMENT, "in the past", nearfar_queue_push_for(queue, item, -1));
    size_t size = 0;
    SUCCEED(nearfar_queue_size_estimate(queue, &size));
    EXPECT(kind != NEARFAR_QUEUE_TICKET || size == (size_t)count);
    SUCCEED(nearfar_queue_close(queue));
    SUCCEED(nearfar_queue_close(queue));
    EXPECT(nearfar_queue_push(queue, item) == NEARFAR_CLOSED);
    for (; count > 0; --count) SUCCEED(nearfar_queue_pop_for(queue, item, INT64_MAX));
  }
  SUCCEED(nearfar_world_barrier(world));
  EXPECT(nearfar_queue_pop(queue, item) == NEARFAR_CLOSED);
  SUCCEED(nearfar_queue_destroy(&queue));
}

static void test_queue(nearfar_world* world) {
  nearfar_queue* queue = NULL;
  const size_t sizes[] = {9, 1, 8, 16, 64, 100, 256, NEARFAR_QUEUE_MAX_ITEM_BYTES};
  for (size_t i = 0; i < (is_quick ? 1 : sizeof sizes / sizeof *sizes); ++i) {
    test_queue_of(world, NEARFAR_QUEUE_TICKET, sizes[i]);
    test_queue_of(world, NEARFAR_QUEUE_LOCK_FREE, sizes[i]);
  }
  const size_t bytes = NEARFAR_QUEUE_MAX_ITEM_BYTES + 1;
  FAIL(NEARFAR_ERROR_ARGUMENT, "not 0", nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, 0, 8, &queue));
  FAIL(NEARFAR_ERROR_ARGUMENT, "1 to 1024",
       nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, bytes, 8, &queue));
  FAIL(NEARFAR_ERROR_ARGUMENT, "not 0", nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, 8, 0, &queue));
  FAIL(NEARFAR_ERROR_ARGUMENT, "no kind of queue 7", nearfar_queue_create(world, 7, 8, 8, &queue));
  const size_t differs = rank == 0 ? 8 : 0;
  FAIL(NEARFAR_ERROR_MISMATCH, "item_bytes",
       nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, differs, 8, &queue));
  EXPECT(queue == NULL);
}

static void count_entry(const void* key, const void* value, void* context) {
  const unsigned char* of_key = key;
  const unsigned char* of_value = value;
  EXPECT(of_value[0] == (unsigned char)(of_key[0] + 1));
  ++*(size_t*)context;
}

static void test_map_of(nearfar_world* world, size_t key_bytes, size_t value_bytes) {
  enum { each = 20 };
  nearfar_map* map = NULL;
  SUCCEED(nearfar_map_create(world, key_bytes, value_bytes, 4 * each * (size_t)ranks, &map));
  size_t number = 0;
  SUCCEED(nearfar_map_capacity(map, &number));
  EXPECT(number == 4 * each * (size_t)ranks * (size_t)ranks);
  // The bytes behind a key do not belong to it.
  unsigned char key[NEARFAR_MAP_MAX_KEY_BYTES + 1];
  unsigned char value[NEARFAR_MAP_MAX_VALUE_BYTES + 1];
  for (int i = 0; i < each; ++i) {
    memset(key, 2 * (rank * each + i), key_bytes);
    key[key_bytes] = (unsigned char)i;
    memset(value, key[0] + 1, value_bytes);
    SUCCEED(nearfar_map_insert(map, key, value));
    EXPECT(nearfar_map_insert(map, key, value) == NEARFAR_EXISTS);
  }
  SUCCEED(nearfar_map_size(map, &number));
  EXPECT(number == (size_t)(each * ranks));
  for (int i = 0; i < each * ranks; ++i) {
    memset(key, 2 * i, key_bytes);
    key[key_bytes] = 0xa5;
    value[value_bytes] = 0x5a;
    SUCCEED(nearfar_map_find(map, key, value));
    for (size_t at = 0; at < value_bytes; ++at) EXPECT(value[at] == (unsigned char)(2 * i + 1));
    EXPECT(value[value_bytes] == 0x5a);
    memset(key, 2 * i + 1, key_bytes);
    EXPECT(nearfar_map_find(map, key, value) == NEARFAR_NOT_FOUND);
    int owner = -1;
    SUCCEED(nearfar_map_owner(map, key, &owner));
    EXPECT(0 <= owner && owner < ranks);
  }
  size_t here = 0;
  SUCCEED(nearfar_map_visit_local(map, count_entry, &here));
  long all = 0;
  const long mine = (long)here;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(all == each * ranks);

  memset(key, 2 * rank * each, key_bytes);
  memset(value, 77, value_bytes);
  SUCCEED(nearfar_map_update(map, key, value));
  memset(value, 0, value_bytes);
  SUCCEED(nearfar_map_erase(map, key, value));
  EXPECT(value[0] == 77 && value[value_bytes - 1] == 77);
  EXPECT(nearfar_map_update(map, key, value) == NEARFAR_NOT_FOUND);
  EXPECT(nearfar_map_erase(map, key, NULL) == NEARFAR_NOT_FOUND);
  memset(key, 2 * (rank * each + 1), key_bytes);
  SUCCEED(nearfar_map_erase(map, key, NULL));
  SUCCEED(nearfar_map_size(map, &number));
  EXPECT(number == (size_t)((each - 2) * ranks));
  // A rank without a place keeps no rank waiting.
  if (rank == 1) {
    FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_map_size(map, NULL));
  } else {
    SUCCEED(nearfar_map_size(map, &number));
  }
  FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_map_find(map, key, NULL));
  FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_map_visit_local(map, NULL, NULL));
  SUCCEED(nearfar_world_barrier(world));
  SUCCEED(nearfar_map_destroy(&map));
}

static void test_map(nearfar_world* world) {
  nearfar_map* map = NULL;
  const size_t sizes[][2] = {{1, 1}, {8, 8},   {4, 64},  {8, NEARFAR_MAP_MAX_VALUE_BYTES},
                             {9, 8}, {20, 60}, {64, 512}};
  for (size_t i = 0; i < (is_quick ? 1 : sizeof sizes / sizeof *sizes); ++i)
    test_map_of(world, sizes[i][0], sizes[i][1]);
  FAIL(NEARFAR_ERROR_ARGUMENT, "not 0 and 8", nearfar_map_create(world, 0, 8, 8, &map));
  FAIL(NEARFAR_ERROR_ARGUMENT, "1 to 64", nearfar_map_create(world, 65, 8, 8, &map));
  FAIL(NEARFAR_ERROR_ARGUMENT, "1 to 512", nearfar_map_create(world, 8, 513, 8, &map));
  FAIL(NEARFAR_ERROR_ARGUMENT, "not 0", nearfar_map_create(world, 8, 8, 0, &map));
  FAIL(NEARFAR_ERROR_MISMATCH, "key_bytes", nearfar_map_create(world, rank == 0 ? 8 : 65, 8, 8, &map));
  SUCCEED(nearfar_map_create(world, 8, 8, 1, &map));
  nearfar_status status = NEARFAR_SUCCESS;
  for (uint64_t key = 0; status == NEARFAR_SUCCESS; ++key)
    status = nearfar_map_insert(map, &(uint64_t){key * (uint64_t)ranks + (uint64_t)rank}, &key);
  EXPECT(status == NEARFAR_FULL);
  SUCCEED(nearfar_world_barrier(world));
  SUCCEED(nearfar_map_destroy(&map));
}

enum { messages = 10000 };

static void* send_numbers(void* channel) {
  for (int i = 1; i <= messages; ++i) SUCCEED(nearfar_channel_send(channel, &i, sizeof i));
  SUCCEED(nearfar_channel_close(channel));
  return NULL;
}

static void test_channel(void) {
  nearfar_channel* channel = NULL;
  FAIL(NEARFAR_ERROR_ARGUMENT, "1 byte or more", nearfar_channel_create(0, 8, &channel));
  EXPECT(nearfar_channel_create(8, 0, &channel) == NEARFAR_ERROR_ARGUMENT);
  EXPECT(nearfar_channel_create(SIZE_MAX / 4, 8, &channel) == NEARFAR_ERROR_ARGUMENT);
  EXPECT(channel == NULL);
  char item[8] = {0};
  size_t bytes = 0;
  int is_closed = -1;
  SUCCEED(nearfar_channel_create(sizeof item, 2, &channel));
  EXPECT(nearfar_channel_try_receive(channel, item, sizeof item, &bytes) == NEARFAR_EMPTY);
  EXPECT(nearfar_channel_receive_for(channel, item, sizeof item, &bytes, 1000) == NEARFAR_TIMED_OUT);
  FAIL(NEARFAR_ERROR_ARGUMENT, "in the past",
       nearfar_channel_receive_for(channel, item, sizeof item, &bytes, -1));
  SUCCEED(nearfar_channel_send(channel, "three", 3));
  SUCCEED(nearfar_channel_send(channel, NULL, 0));
  EXPECT(nearfar_channel_try_send(channel, "x", 1) == NEARFAR_FULL);
  EXPECT(nearfar_channel_send_for(channel, "x", 1, 1000) == NEARFAR_TIMED_OUT);
  FAIL(NEARFAR_ERROR_ARGUMENT, "in the past", nearfar_channel_send_for(channel, "x", 1, -1));
  FAIL(NEARFAR_ERROR_ARGUMENT, "larger item_size", nearfar_channel_try_send(channel, "too long", 9));
  FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_channel_send(channel, NULL, 1));
  FAIL(NEARFAR_ERROR_ARGUMENT, "not into 7", nearfar_channel_receive(channel, item, 7, &bytes));
  SUCCEED(nearfar_channel_size_estimate(channel, &bytes));
  EXPECT(bytes == 2);
  SUCCEED(nearfar_channel_receive(channel, item, sizeof item, &bytes));
  EXPECT(bytes == 3 && memcmp(item, "thr", 4) == 0);
  SUCCEED(nearfar_channel_close(channel));
  SUCCEED(nearfar_channel_is_closed(channel, &is_closed));
  EXPECT(is_closed == 1);
  EXPECT(nearfar_channel_send(channel, "x", 1) == NEARFAR_CLOSED);
  SUCCEED(nearfar_channel_receive(channel, item, sizeof item, &bytes));
  EXPECT(bytes == 0);
  EXPECT(nearfar_channel_receive(channel, item, sizeof item, NULL) == NEARFAR_CLOSED);
  SUCCEED(nearfar_channel_reopen(channel));
  SUCCEED(nearfar_channel_is_closed(channel, &is_closed));
  EXPECT(is_closed == 0);

  pthread_t sender;
  EXPECT(pthread_create(&sender, NULL, send_numbers, channel) == 0);
  long sum = 0;
  int number = 0;
  char buffer[sizeof item];
  for (int last = 0; nearfar_channel_receive(channel, buffer, sizeof buffer, &bytes) == NEARFAR_SUCCESS;
       last = number) {
    EXPECT(bytes == sizeof number);
    memcpy(&number, buffer, sizeof number);
    EXPECT(number == last + 1);
    sum += number;
  }
  EXPECT(sum == (long)messages * (messages + 1) / 2);
  EXPECT(pthread_join(sender, NULL) == 0);
  SUCCEED(nearfar_channel_destroy(&channel));
}

static void* fail_elsewhere(void* unused) {
  (void)unused;
  EXPECT(strcmp(nearfar_last_message(), "") == 0);
  FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_channel_close(NULL));
  return NULL;
}

static void test_messages_are_each_threads_own(void) {
  pthread_t other;
  FAIL(NEARFAR_ERROR_ARGUMENT, "NULL", nearfar_lock_acquire(NULL));
  EXPECT(pthread_create(&other, NULL, fail_elsewhere, NULL) == 0);
  EXPECT(pthread_join(other, NULL) == 0);
  EXPECT(strncmp(nearfar_last_message(), "nearfar_lock_acquire:", 21) == 0);
}

int main(int argc, char** argv) {
  nearfar_world* world = NULL;
  nearfar_lock* lock = NULL;
  test_texts();
  test_world_without_mpi();
  test_channel();
  MPI_Init(&argc, &argv);
  is_quick = argc > 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  EXPECT(ranks >= 2);
  test_worlds();
  test_stall_limit();
  SUCCEED(nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  int number = -1;
  SUCCEED(nearfar_world_rank(world, &number));
  EXPECT(number == rank);
  SUCCEED(nearfar_world_size(world, &number));
  EXPECT(number == ranks);
  SUCCEED(nearfar_world_progress(world));
  test_null(world);
  test_no_place_on_one_rank(world);
  test_messages_are_each_threads_own();
  test_lock(world);
  test_lock_excludes(world);
  test_rwlock(world);
  test_queue(world);
  test_map(world);
  SUCCEED(nearfar_world_destroy(&world));

  // MPI_Finalize reports a forgotten world after the end. The program can still give it back.
  SUCCEED(nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  SUCCEED(nearfar_lock_create(world, 0, &lock));
  // A world may be forgotten by some ranks only: here the others are in MPI_Finalize already.
  nearfar_world* half_forgotten = NULL;
  SUCCEED(nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &half_forgotten));
  if (rank == 0) {
    SUCCEED(nearfar_world_destroy(&half_forgotten));
    FAIL(NEARFAR_ERROR_IN_USE, "destroy these first", nearfar_world_destroy(&world));
  }
  MPI_Finalize();
  const int was_rank = rank;
  rank = -1;  // MPI_Abort is impossible from here on
  FAIL(NEARFAR_ERROR_NO_MPI, "before MPI_Finalize", nearfar_lock_acquire(lock));
  FAIL(NEARFAR_ERROR_NO_MPI, "before MPI_Finalize", nearfar_world_barrier(world));
  FAIL(NEARFAR_ERROR_IN_USE, "1 locks", nearfar_world_destroy(&world));
  SUCCEED(nearfar_lock_destroy(&lock));
  FAIL(NEARFAR_ERROR_NO_MPI, "before MPI_Finalize", nearfar_world_destroy(&world));
  EXPECT(world == NULL);
  if (was_rank != 0)
    FAIL(NEARFAR_ERROR_NO_MPI, "before MPI_Finalize", nearfar_world_destroy(&half_forgotten));
  test_world_without_mpi();
  if (was_rank == 0) puts("the C interface does what it says");
  return 0;
}
