/* Loaded into the ranks (LD_PRELOAD) by scripts/run-mpi and scripts/two-nodes if NEARFAR_TWO_STORES=1.
 *
 * glibc's memcpy stores the words of a small copy twice: of 8 bytes once as the first and once as the
 * last 8, of 16 and 32 likewise. MPI libraries carry one-sided writes out by memcpy, so a word that its
 * owner has seen, acted upon and written anew can get the old value back from the second store. That
 * takes an interrupt between the two stores, which is one write in a million. Here there is a pause
 * between them, so that a program that takes a write it has seen for complete fails at once.
 *
 * Nothing that is allowed changes: as in glibc, all is loaded before anything is stored, and both stores
 * write the same value before the call returns. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Any place of memory, whatever lives there and however it is aligned. Volatile: each store counts. */
typedef volatile uint64_t __attribute__((may_alias, aligned(1))) any_word;
typedef volatile unsigned char any_byte;
typedef void* copy_function(void*, const void*, size_t);

enum { word = sizeof(uint64_t), most_words = 4 };

/* Both are used by all threads, without order: a lost update is a random number used twice. */
static _Atomic(uint64_t) seed = 1;
static _Atomic(copy_function*) real_copy;

__attribute__((constructor)) static void choose_seed(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  seed = ((uint64_t)getpid() << 32 ^ (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20) * 2 + 1;
}

/* Knuth's linear congruential generator; its high bits are the good ones. */
static unsigned random_bits(void) {
  const uint64_t next =
      __atomic_load_n(&seed, __ATOMIC_RELAXED) * 6364136223846793005U + 1442695040888963407U;
  __atomic_store_n(&seed, next, __ATOMIC_RELAXED);
  return (unsigned)(next >> 40);
}

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("" ::: "memory");
#endif
}

/* Mostly as long as a line takes to another core and back; now and then as long as somebody who waits for
 * the word needs to go on, to reset it, and to do much else; rarely a time slice for others, as long as
 * there are others: without, sched_yield returns at once. */
static void pause_at_random(void) {
  const unsigned bits = random_bits();
  unsigned turns = bits >> 12 & 7;
  unsigned yields = 0;
  if (bits % 64 == 0) turns = bits >> 12 & 1023;
  if (bits % 64 == 1) yields = 1;
  if (bits % 4096 == 2) yields = bits >> 12 & 15;
  for (; turns != 0; --turns) relax();
  for (; yields != 0; --yields) sched_yield();
}

static void copy_in_two_stores(void* to, const void* from, size_t words) {
  uint64_t values[most_words];
  any_word* const target = to;
  const any_word* const source = from;
  for (size_t i = 0; i < words; ++i) values[i] = source[i];
  for (size_t i = 0; i < words; ++i) target[i] = values[i];
  pause_at_random();
  for (size_t i = 0; i < words; ++i) target[i] = values[i];
}

static void copy_by_bytes(void* to, const void* from, size_t size) {
  any_byte* const target = to;
  const any_byte* const source = from;
  if ((uintptr_t)to - (uintptr_t)from >= size)
    for (size_t i = 0; i < size; ++i) target[i] = source[i];
  else
    for (size_t i = size; i != 0; --i) target[i - 1] = source[i - 1];
}

/* glibc's memmove is as fast as its memcpy. Looking it up may itself copy: by bytes, until it is found. */
static void* copy(void* to, const void* from, size_t size) {
  static _Atomic(int) searched;
  if (size % word == 0 && size != 0 && size <= most_words * word) {
    copy_in_two_stores(to, from, size / word);
    return to;
  }
  copy_function* real = __atomic_load_n(&real_copy, __ATOMIC_RELAXED);
  if (real == NULL && __atomic_exchange_n(&searched, 1, __ATOMIC_RELAXED) == 0) {
    real = (copy_function*)dlsym(RTLD_NEXT, "memmove");
    __atomic_store_n(&real_copy, real, __ATOMIC_RELAXED);
  }
  if (real != NULL) return real(to, from, size);
  copy_by_bytes(to, from, size);
  return to;
}

void* memcpy(void* to, const void* from, size_t size) { return copy(to, from, size); }
void* memmove(void* to, const void* from, size_t size) { return copy(to, from, size); }

/* What _FORTIFY_SOURCE makes of them: with the room that there is. */
void* __memcpy_chk(void* to, const void* from, size_t size, size_t room) {
  if (size > room) abort();
  return copy(to, from, size);
}
void* __memmove_chk(void* to, const void* from, size_t size, size_t room) {
  if (size > room) abort();
  return copy(to, from, size);
}
