/* For MPICH 4.0 and 5.0 over UCX and TCP, loaded into the ranks by scripts/two-nodes (LD_PRELOAD).
 *
 * MPI_Finalize of MPICH closes its UCX endpoints and then waits for the other ranks in a barrier of
 * the process manager, in which it makes no progress. Closing an endpoint over TCP needs an answer
 * from the peer (UCX ends it with an empty put and waits for its acknowledgement), so a rank whose
 * peer has got to the barrier already waits for ever: about every third run of 4 ranks on 2 cores.
 *
 * The cure: while a rank waits for the process manager, it drives UCX.
 *
 * With the UCX that comes with MPICH 5.0 a rank may also be late: it still makes progress somewhere in
 * MPI_Finalize when its peer, which has closed its endpoint already, resets the connection. To close
 * the own endpoint then is answered with that error, and MPICH aborts: about every fifth run. But the
 * endpoint is released nevertheless, and nobody is left to talk to: that is success here.
 *
 * Also, MPICH never gives its core away while it waits. With NEARFAR_YIELD=1, which the scripts set
 * where there are more ranks than cores, it does so whenever UCX had nothing to do. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

enum { max_workers = 64 };
static void* workers[max_workers];

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

int ucp_worker_create(void* context, const void* parameters, void** worker) {
  int (*create)(void*, const void*, void**) = (int (*)(void*, const void*, void**))next("ucp_worker_create");
  int status = create(context, parameters, worker);
  if (status == 0) {
    for (int i = 0; i < max_workers; ++i) {
      if (workers[i] == NULL) {
        workers[i] = *worker;
        break;
      }
    }
  }
  return status;
}

void ucp_worker_destroy(void* worker) {
  for (int i = 0; i < max_workers; ++i) {
    if (workers[i] == worker) workers[i] = NULL;
  }
  ((void (*)(void*))next("ucp_worker_destroy"))(worker);
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  static int yields;
  if (progress == NULL) {
    const char* text = getenv("NEARFAR_YIELD");
    yields = text != NULL && atoi(text) != 0;
    progress = (unsigned (*)(void*))next("ucp_worker_progress");
  }
  unsigned events = progress(worker);
  if (events == 0 && yields) sched_yield();
  return events;
}

void* ucp_disconnect_nb(void* endpoint) {
  enum { connection_reset = -25 }; /* UCS_ERR_CONNECTION_RESET */
  void* request = ((void* (*)(void*))next("ucp_disconnect_nb"))(endpoint);
  return (intptr_t)request == connection_reset ? NULL : request;
}

ssize_t read(int fd, void* buffer, size_t size) {
  static ssize_t (*real_read)(int, void*, size_t);
  static int manager = -2; /* the file descriptor of the process manager; -1: none */
  if (real_read == NULL) real_read = (ssize_t(*)(int, void*, size_t))next("read");
  if (manager == -2) {
    const char* text = getenv("PMI_FD");
    manager = text != NULL ? atoi(text) : -1;
  }
  if (fd == manager && fd >= 0 && workers[0] != NULL) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (workers[0] != NULL && poll(&wait, 1, 1) == 0) {
      for (int i = 0; i < max_workers; ++i) {
        if (workers[i] != NULL) ucp_worker_progress(workers[i]);
      }
    }
  }
  return real_read(fd, buffer, size);
}
