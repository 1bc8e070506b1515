// Loops over numa_vector: by nearfar's algorithms, and by numa_vector's arithmetic.

#include "bench/kinds/containers/vector_loop.hpp"
#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/numa_vector_arithmetic.hpp"

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
    nearfar::transform(execution(team(of.threads), of.chunk), in..., out, Kernel(), of.stores);
  }

  static auto first(const container& in) { return in.begin(); }
};

/// Expressions of whole vectors.
template <std::size_t Chunk>
struct numa_expressions : numa_vectors<Chunk> {
  using container = typename numa_vectors<Chunk>::container;

  template <typename Kernel, typename... In>
  static void pass(const triad_case&, container& out, const In&... in) {
    assign(Kernel(), out, in...);
  }

 private:
  static void assign(triad_kernel, container& a, const container& b, const container& c, const container& d) {
    a = b + hadamard(c, d);
  }
  static void assign(copy_kernel, container& a, const container& b) { a = b; }
  static void assign(scale_kernel, container& a, const container& b) { a = stream_scalar * b; }
  static void assign(add_kernel, container& a, const container& b, const container& c) { a = b + c; }
  static void assign(stream_triad_kernel, container& a, const container& b, const container& c) {
    a = b + stream_scalar * c;
  }
};

template <template <std::size_t> typename Vectors>
std::unique_ptr<vector_loop> loop_with_chunk(const triad_case& of) {
  // A single thread does not need the allocator's chunk.
  if (of.chunk == 0 || of.initialisation == loop_initialisation::serial) return make_loop_of<Vectors<0>>(of);
  return with_chunk(of, [&](auto chunk) -> std::unique_ptr<vector_loop> {
    return std::make_unique<vector_loop_of<Vectors<chunk>, triad_kernel>>(of);
  });
}

}  // namespace

std::unique_ptr<vector_loop> make_numa_vector_loop(const triad_case& of) {
  return of.container == loop_container::numa_expression ? loop_with_chunk<numa_expressions>(of)
                                                         : loop_with_chunk<numa_vectors>(of);
}

}  // namespace nearfar::bench
