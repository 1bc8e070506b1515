// Loops over segmented_array, contiguous and padded: by its algorithms, element by element, and piece by
// piece.

#include <cstddef>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>

#include "bench/kinds/containers/vector_loop.hpp"
#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/pieces.hpp"
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

/// As if the elements lay in one piece: every thread iterates over its share of them.
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

/// The same by operator[], which finds the segment of each element anew, from the beginning of the array.
template <typename Layout>
struct segmented_indices : segmented_vectors<Layout> {
  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, segmented_array<double, Layout>& out, const In&... in) {
    team(of.threads).for_each_block(of.length, 0, [&](index_range mine) {
      for (std::size_t i = mine.first; i < mine.last; ++i) out[i] = Kernel()(in[i]...);
    });
  }
};

/// A loop over pointers for each piece that all vectors have in common.
struct padded_pieces : segmented_vectors<padded_layout> {
  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    if (of.threads == 1) {
      for (const auto& piece : pieces(out, in...)) std::apply(pass_piece<Kernel, In...>, piece);
      return;
    }
    team(of.threads).for_each_block(of.length, 0, [&](index_range mine) {
      const auto part = [&](auto& all) {
        return std::ranges::subrange(all.begin() + static_cast<std::ptrdiff_t>(mine.first),
                                     all.begin() + static_cast<std::ptrdiff_t>(mine.last));
      };
      for (const auto& piece : pieces(part(out), part(in)...)) std::apply(pass_piece<Kernel, In...>, piece);
    });
  }

 private:
  template <typename Kernel, typename... In>
  static void pass_piece(std::span<double> out, std::span<const typename In::value_type>... in) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = Kernel()(in[i]...);
  }
};

}  // namespace

std::unique_ptr<vector_loop> make_segmented_loop(const triad_case& of) {
  switch (of.container) {
    case loop_container::segmented:
      return make_loop_of<segmented_vectors<contiguous_layout>>(of);
    case loop_container::segmented_index:
      return make_loop_of<segmented_indices<contiguous_layout>>(of);
    case loop_container::segmented_iterator:
      return make_loop_of<segmented_elements<contiguous_layout>>(of);
    default:
      return nullptr;
  }
}

std::unique_ptr<vector_loop> make_padded_loop(const triad_case& of) {
  switch (of.container) {
    case loop_container::padded:
      return make_loop_of<segmented_vectors<padded_layout>>(of);
    case loop_container::padded_index:
      return make_loop_of<segmented_indices<padded_layout>>(of);
    case loop_container::padded_iterator:
      return make_loop_of<segmented_elements<padded_layout>>(of);
    case loop_container::padded_pieces:
      return make_loop_of<padded_pieces>(of);
    default:
      return nullptr;
  }
}

}  // namespace nearfar::bench
