// Loops over segmented_array, contiguous and padded: by its algorithms, and element by element.

#include <type_traits>

#include "bench/loops/vector_loop.hpp"
#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/segmented_array.hpp"

namespace nearfar::bench {

namespace {

template <typename Layout>
struct segmented_vectors {
  using container = segmented_array<double, Layout>;

  static container make(const triad_case& of) {
    const bool alone = of.initialisation == loop_initialisation::serial || of.threads == 1;
    Layout layout;
    if constexpr (std::is_same_v<Layout, padded_layout>)
      layout = {.padding = of.padding, .page_aligned = of.padding == 0};
    return container(of.segments_used(), of.length, layout, alone ? team::serial() : team(of.threads),
                     of.placement);
  }

  template <typename ValueAt>
  static void fill(const triad_case&, container& to, const ValueAt& value_at) {
    std::size_t i = 0;
    for (double& element : to) element = value_at(i++);
  }

  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    nearfar::transform(team(of.threads), in..., out, Kernel(), of.stores);
  }

  static auto first(const container& in) { return in.begin(); }
};

/// As if the elements lay in one piece: every thread goes over its share of them.
template <typename Layout>
struct segmented_elements : segmented_vectors<Layout> {
  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, segmented_array<double, Layout>& out, const In&... in) {
    team(of.threads).for_each_block(of.length, 0, [&](index_range mine) {
      const auto first = static_cast<std::ptrdiff_t>(mine.first);
      const auto last = static_cast<std::ptrdiff_t>(mine.last);
      pass_elements<Kernel>(out.begin() + last, out.begin() + first, (in.begin() + first)...);
    });
  }

 private:
  template <typename Kernel, typename Out, typename... In>
  static void pass_elements(Out last, Out out, In... in) {
    for (; out != last; ++out, (++in, ...)) *out = Kernel()(*in...);
  }
};

}  // namespace

std::unique_ptr<vector_loop> make_segmented_loop(const triad_case& of) {
  return of.container == loop_container::segmented ? make_loop_of<segmented_vectors<contiguous_layout>>(of)
                                                   : make_loop_of<segmented_elements<contiguous_layout>>(of);
}

std::unique_ptr<vector_loop> make_padded_loop(const triad_case& of) {
  return of.container == loop_container::padded ? make_loop_of<segmented_vectors<padded_layout>>(of)
                                                : make_loop_of<segmented_elements<padded_layout>>(of);
}

}  // namespace nearfar::bench
