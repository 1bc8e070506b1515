// Loops over numa_vector, through nearfar's algorithms.

#include "bench/loops/vector_loop.hpp"
#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_vector.hpp"

namespace nearfar::bench {

namespace {

template <std::size_t Chunk>
struct numa_vectors {
  using allocator = numa_allocator<double, Chunk>;
  using container = nearfar::numa_vector<double, allocator>;

  static container make(const triad_case& of) {
    const bool alone = of.initialisation == loop_initialisation::serial || of.threads == 1;
    return container(of.length, allocator(alone ? team::serial() : team(of.threads), of.placement));
  }

  template <typename ValueAt>
  static void fill(const triad_case& of, container& to, const ValueAt& value_at) {
    for (std::size_t i = 0; i < of.length; ++i) to[i] = value_at(i);
  }

  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    nearfar::transform(execution(team(of.threads), of.chunk), out, Kernel(), in..., of.stores);
  }

  static auto first(const container& in) { return in.begin(); }
};

}  // namespace

std::unique_ptr<vector_loop> make_numa_vector_loop(const triad_case& of) {
  // One thread has no use for the allocator's chunk.
  if (of.chunk == 0 || of.initialisation == loop_initialisation::serial)
    return make_loop_of<numa_vectors<0>>(of);
  return with_chunk(of, [&](auto chunk) -> std::unique_ptr<vector_loop> {
    return std::make_unique<vector_loop_of<numa_vectors<chunk>, triad_kernel>>(of);
  });
}

}  // namespace nearfar::bench
