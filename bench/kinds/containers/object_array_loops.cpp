// Loops over arrays of objects.
//
// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.1.

#include "bench/kinds/containers/raw_loop.hpp"
#include "bench/kinds/containers/vector_loop.hpp"
#include "nearfar/container/numa_new.hpp"

namespace nearfar::bench {

namespace {

/// A number as a class. new[] initialises it, and thereby also places its page.
template <typename Derived>
struct boxed {
  double value = 0;

  friend Derived operator+(const Derived& a, const Derived& b) { return Derived(a.value + b.value); }
  friend Derived operator*(const Derived& a, const Derived& b) { return Derived(a.value * b.value); }
  friend Derived operator*(double a, const Derived& b) { return Derived(a * b.value); }
  friend bool operator!=(const Derived& a, double b) { return a.value != b; }
};

struct plain_box : boxed<plain_box> {
  plain_box() = default;
  explicit plain_box(double of) : boxed{of} {}
};

template <std::size_t Chunk>
struct numa_box : boxed<numa_box<Chunk>>, numa_new<numa_box<Chunk>, Chunk> {
  numa_box() = default;
  explicit numa_box(double of) : boxed<numa_box<Chunk>>{of} {}
};

template <typename Box>
struct box_vectors {
  using container = std::unique_ptr<Box[]>;

  static container make(const triad_case& of) { return container(new Box[of.length]); }

  template <typename ValueAt>
  static void fill(const triad_case& of, container& to, const ValueAt& value_at) {
    for (std::size_t i = 0; i < of.length; ++i) to[i].value = value_at(i);
  }

  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    pass_pointers<Kernel>(of, out.get(), in.get()...);
  }

  static const Box* first(const container& in) { return in.get(); }

 private:
  template <typename Kernel, typename... In>
  static void pass_pointers(const triad_case& of, Box* out, In*... in) {
    raw_pass<Kernel>(of.threads, of.chunk, of.length, out, in...);
  }
};

}  // namespace

std::unique_ptr<vector_loop> make_object_array_loop(const triad_case& of) {
  if (of.initialisation == loop_initialisation::serial) return make_loop_of<box_vectors<plain_box>>(of);
  if (of.chunk == 0) return make_loop_of<box_vectors<numa_box<0>>>(of);
  return with_chunk(of, [&](auto chunk) -> std::unique_ptr<vector_loop> {
    return std::make_unique<vector_loop_of<box_vectors<numa_box<chunk>>, triad_kernel>>(of);
  });
}

}  // namespace nearfar::bench
