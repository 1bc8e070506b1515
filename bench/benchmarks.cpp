// All benchmarks, and all kinds of objects that they drive.

#include "bench/benchmark.hpp"
#include "bench/ccwb.hpp"
#include "bench/channel.hpp"
#include "bench/dht.hpp"
#include "bench/ecsb.hpp"
#include "bench/farm.hpp"
#include "bench/queue.hpp"
#include "bench/rw_benchmarks.hpp"
#include "bench/upb.hpp"
#include "bench/wbab.hpp"

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
  };
  return all;
}

const std::vector<const object_kind*>& object_kinds() {
  static const std::vector<const object_kind*> all{&locks(),  &rw_locks(), &maps(),
                                                   &queues(), &channels(), &farms()};
  return all;
}

}  // namespace nearfar::bench
