// The benchmarks of exclusive locks alone, in place of benchmarks.cpp.

#include "bench/benchmark.hpp"
#include "bench/kinds/locks/ccwb.hpp"
#include "bench/kinds/locks/ecsb.hpp"
#include "bench/kinds/locks/upb.hpp"
#include "bench/kinds/locks/wbab.hpp"
#include "bench/object.hpp"

namespace nearfar::bench {

const std::vector<benchmark>& benchmarks() {
  static const std::vector<benchmark> all{registered<ecsb>(), registered<upb>(), registered<ccwb>(),
                                          registered<wbab>()};
  return all;
}

const std::vector<const object_kind*>& object_kinds() {
  static const std::vector<const object_kind*> all{&locks()};
  return all;
}

}  // namespace nearfar::bench
