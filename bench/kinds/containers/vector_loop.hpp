/// \file
/// A loop over vectors in memory, ready to run: its containers, passes over them, and the check of the
/// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/kinds/containers/kernels.hpp"
#include "bench/kinds/containers/loop_case.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar::bench {

/// Type-erased; what is timed is virtual as a whole.
class vector_loop {
 public:
  vector_loop() = default;
  vector_loop(const vector_loop&) = delete;
  vector_loop& operator=(const vector_loop&) = delete;
  virtual ~vector_loop() = default;

  virtual void run(std::int64_t passes) = 0;
  /// Whether all vectors hold what they must after any number of passes but none.
  [[nodiscard]] virtual bool verify() const = 0;
  /// Bytes from the beginning of a page to the first element of the output.
  [[nodiscard]] virtual std::size_t offset_in_page() const = 0;
};

/// `Vectors` says how one kind of container is made, filled, worked on and read:
///   using container = ...;
///   static container make(const triad_case&);
///   static void fill(const triad_case&, container&, value_at);  // value_at(i)
///   template <typename Kernel> static void pass(const triad_case&, container& out, const container&... in);
///   static auto first(const container&);  // an iterator
template <typename Vectors, typename Kernel>
class vector_loop_of final : public vector_loop {
 public:
  explicit vector_loop_of(const triad_case& of) : of_(of) {
    for (std::size_t k = 0; k <= Kernel::inputs; ++k) {
      vectors_.push_back(Vectors::make(of_));
      Vectors::fill(of_, vectors_.back(), [k](std::size_t i) { return initial_value(k, i); });
    }
  }

  void run(std::int64_t passes) override { run(passes, std::make_index_sequence<Kernel::inputs>()); }

  [[nodiscard]] bool verify() const override {
    for (std::size_t k = 0; k <= Kernel::inputs; ++k) {
      auto element = Vectors::first(vectors_[k]);
      for (std::size_t i = 0; i < of_.length; ++i, ++element)
        if (*element != (k == 0 ? final_value(Kernel::kind, i) : initial_value(k, i))) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t offset_in_page() const override {
    return reinterpret_cast<std::uintptr_t>(std::addressof(*Vectors::first(vectors_[0]))) % page_size();
  }

 private:
  template <std::size_t... Inputs>
  void run(std::int64_t passes, std::index_sequence<Inputs...>) {
    typename Vectors::container* const vectors = vectors_.data();
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      Vectors::template pass<Kernel>(of_, vectors[0], std::as_const(vectors[Inputs + 1])...);
      keep(*vectors);
    }
  }

  triad_case of_;
  std::vector<typename Vectors::container> vectors_;
};

/// The loop of a case with these vectors.
template <typename Vectors>
[[nodiscard]] std::unique_ptr<vector_loop> make_loop_of(const triad_case& of) {
  switch (of.kernel) {
    case vector_kernel::triad:
      return std::make_unique<vector_loop_of<Vectors, triad_kernel>>(of);
    case vector_kernel::copy:
      return std::make_unique<vector_loop_of<Vectors, copy_kernel>>(of);
    case vector_kernel::scale:
      return std::make_unique<vector_loop_of<Vectors, scale_kernel>>(of);
    case vector_kernel::add:
      return std::make_unique<vector_loop_of<Vectors, add_kernel>>(of);
    case vector_kernel::stream_triad:
      return std::make_unique<vector_loop_of<Vectors, stream_triad_kernel>>(of);
  }
  return nullptr;
}

/// Calls `make(std::integral_constant<std::size_t, chunk>)` for the one of `allocator_chunks` that the case
/// asks for, which must be one of them.
template <typename Make>
[[nodiscard]] std::unique_ptr<vector_loop> with_chunk(const triad_case& of, const Make& make) {
  std::unique_ptr<vector_loop> made;
  [&]<std::size_t... Each>(std::index_sequence<Each...>) {
    ((of.chunk == allocator_chunks[Each]
          ? static_cast<void>(made = make(std::integral_constant<std::size_t, allocator_chunks[Each]>()))
          : static_cast<void>(0)),
     ...);
  }(std::make_index_sequence<allocator_chunks.size()>());
  return made;
}

// One for each container, in files of their own.
[[nodiscard]] std::unique_ptr<vector_loop> make_array_loop(const triad_case& of);
[[nodiscard]] std::unique_ptr<vector_loop> make_object_array_loop(const triad_case& of);
[[nodiscard]] std::unique_ptr<vector_loop> make_std_vector_loop(const triad_case& of);
[[nodiscard]] std::unique_ptr<vector_loop> make_numa_vector_loop(const triad_case& of);
[[nodiscard]] std::unique_ptr<vector_loop> make_segmented_loop(const triad_case& of);
[[nodiscard]] std::unique_ptr<vector_loop> make_padded_loop(const triad_case& of);

}  // namespace nearfar::bench
