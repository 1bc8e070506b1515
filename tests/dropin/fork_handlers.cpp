// A library that holds its mutex around forks, and registers for that before a preloaded library's
// constructor runs.
#include <pthread.h>

extern pthread_mutex_t kept_around_forks;
pthread_mutex_t kept_around_forks = PTHREAD_MUTEX_INITIALIZER;

namespace {

void take() { pthread_mutex_lock(&kept_around_forks); }
void give_back() { pthread_mutex_unlock(&kept_around_forks); }

[[gnu::constructor]] void begin() { pthread_atfork(take, give_back, give_back); }

}  // namespace
