#include <mutex>
#include <nearfar/lock/mcs_lock.hpp>
#include <nearfar/memory/threads/world.hpp>
#include <nearfar/topology/hardware.hpp>

int main() {
  int count = 0;
  nearfar::threads::run(3, [&](nearfar::threads::world& w) {
    nearfar::mcs_lock<nearfar::threads::world> lock(w);
    for (int i = 0; i < 100; ++i) {
      const std::lock_guard hold(lock);
      ++count;
    }
  });
  return count == 300 && nearfar::hardware().allowed_cpus() > 0 ? 0 : 1;
}
