// All benchmarks, and all kinds of objects that they drive.

#include "bench/benchmark.hpp"
#include "bench/kinds/channels/channel.hpp"
#include "bench/kinds/containers/loop_benchmarks.hpp"
#include "bench/kinds/farms/farm.hpp"
#include "bench/kinds/locks/ccwb.hpp"
#include "bench/kinds/locks/ecsb.hpp"
#include "bench/kinds/locks/upb.hpp"
#include "bench/kinds/locks/wbab.hpp"
#include "bench/kinds/maps/dht.hpp"
#include "bench/kinds/queues/queue.hpp"
#include "bench/kinds/rw_locks/rw_benchmarks.hpp"

namespace nearfar::bench {

const std::vector<benchmark>& benchmarks() {
  static const std::vector<benchmark> all{
      registered<ecsb>(),
      registered<upb>(),
      registered<ccwb>(),
      registered<wbab>(),
      registered<rw_lb>(),
      registered<rw_ecsb>(),
      registered<rw_sob>(),
      registered<rw_wcsb>(),
      registered<rw_warb>(),
      registered<dht>(),
      registered<queue_benchmark>(),
      registered<channel_benchmark>(),
      registered<farm>(),
      triad(),
      stream(),
      relax(),
  };
  return all;
}

const std::vector<const object_kind*>& object_kinds() {
  static const std::vector<const object_kind*> all{&locks(),    &rw_locks(), &maps(),      &queues(),
                                                   &channels(), &farms(),    &containers()};
  return all;
}

}  // namespace nearfar::bench
