// Loops over std::vector, with the standard's allocator and with nearfar's.

#include <vector>

#include "bench/kinds/containers/raw_loop.hpp"
#include "bench/kinds/containers/vector_loop.hpp"
#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_allocator.hpp"

namespace nearfar::bench {

namespace {

template <typename Allocator>
struct std_vectors {
  using container = std::vector<double, Allocator>;
  static constexpr bool is_numa = requires(const Allocator& allocator) { allocator.placement(); };

  static container make(const triad_case& of) {
    if constexpr (is_numa) {
      const bool alone = of.initialisation == loop_initialisation::serial || of.threads == 1;
      return container(of.length, Allocator(alone ? team::serial() : team(of.threads), of.placement));
    } else {
      return container(of.length);
    }
  }

  template <typename ValueAt>
  static void fill(const triad_case& of, container& to, const ValueAt& value_at) {
    for (std::size_t i = 0; i < of.length; ++i) to[i] = value_at(i);
  }

  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    if (of.stores == store_kind::regular) {
      raw_pass<Kernel>(of.threads, of.chunk, of.length, out, in...);
    } else {
      nearfar::transform(execution(team(of.threads), of.chunk), in..., out, Kernel(), of.stores);
    }
  }

  static auto first(const container& in) { return in.begin(); }
};

/// Element i is *(begin + i), with each iterator taken before the loop. operator[] asks the vector for its
/// begin at each element.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.2.
struct std_vectors_by_iterator : std_vectors<std::allocator<double>> {
  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    pass_iterators<Kernel>(of, out.begin(), in.begin()...);
  }

 private:
  template <typename Kernel, typename Out, typename... In>
  static void pass_iterators(const triad_case& of, Out out, In... in) {
    raw_for(of.threads, of.chunk, of.length, [=](std::size_t index) {
      const auto i = static_cast<std::ptrdiff_t>(index);
      *(out + i) = Kernel()(*(in + i)...);
    });
  }
};

}  // namespace

std::unique_ptr<vector_loop> make_std_vector_loop(const triad_case& of) {
  if (of.container == loop_container::vector) return make_loop_of<std_vectors<std::allocator<double>>>(of);
  if (of.container == loop_container::vector_iterator) return make_loop_of<std_vectors_by_iterator>(of);
  // A single thread does not need the allocator's chunk.
  if (of.chunk == 0 || of.initialisation == loop_initialisation::serial)
    return make_loop_of<std_vectors<numa_allocator<double>>>(of);
  return with_chunk(of, [&](auto chunk) -> std::unique_ptr<vector_loop> {
    return std::make_unique<vector_loop_of<std_vectors<numa_allocator<double, chunk>>, triad_kernel>>(of);
  });
}

}  // namespace nearfar::bench
