// Loops over double*: the baseline.

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>

#include "bench/kinds/containers/raw_loop.hpp"
#include "bench/kinds/containers/vector_loop.hpp"
#include "nearfar/container/numa_allocator.hpp"

namespace nearfar::bench {

namespace {

/// Elements before an array that begins where `new[]` lets a large one begin: glibc maps pages for it, and
/// the first 16 bytes are glibc's own.
constexpr std::size_t before_unaligned = 16 / sizeof(double);

/// Untouched memory from the same source as numa_allocator's, so that only the container differs. That is so
/// for arrays that are not aligned, too: new[] itself would take other pages, and not always fresh ones.
class raw_array {
 public:
  explicit raw_array(const triad_case& of)
      : chunked_(of.chunk != 0),
        before_(of.container == loop_container::array_unaligned ? before_unaligned : 0),
        size_(before_ + of.length),
        memory_(allocate(of)) {}
  raw_array(raw_array&& other) noexcept
      : chunked_(other.chunked_),
        before_(other.before_),
        size_(other.size_),
        memory_(std::exchange(other.memory_, nullptr)) {}
  raw_array(const raw_array&) = delete;
  raw_array& operator=(const raw_array&) = delete;
  raw_array& operator=(raw_array&&) = delete;
  ~raw_array() {
    if (memory_ == nullptr) return;
    chunked_ ? page_aligned().deallocate(memory_, size_) : plain().deallocate(memory_, size_);
  }

  [[nodiscard]] double* data() const noexcept { return memory_ + before_; }

 private:
  // With a chunk of any size, arrays begin with a page.
  using page_aligned = numa_allocator<double, 8>;
  using plain = numa_allocator<double>;

  [[nodiscard]] double* allocate(const triad_case& of) const {
    const team alone = team::serial();
    return chunked_ ? page_aligned(alone, of.placement).allocate_untouched(size_)
                    : plain(alone, of.placement).allocate_untouched(size_);
  }

  bool chunked_;
  std::size_t before_;
  std::size_t size_;
  double* memory_;
};

/// The loop with streaming stores, as written by hand.
template <typename Kernel, typename... In>
void streaming_loop(double* out, std::size_t first, std::size_t last, const In*... in) {
  std::size_t i = first;
#ifdef __SSE2__
  constexpr std::size_t pair = sizeof(__m128d) / sizeof(double);
  for (; i < last && reinterpret_cast<std::uintptr_t>(out + i) % sizeof(__m128d) != 0; ++i)
    out[i] = Kernel()(in[i]...);
  for (; i + pair <= last; i += pair) _mm_stream_pd(out + i, Kernel()(_mm_loadu_pd(in + i)...));
#endif
  for (; i < last; ++i) out[i] = Kernel()(in[i]...);
#ifdef __SSE2__
  _mm_sfence();
#endif
}

struct array_vectors {
  using container = raw_array;

  static container make(const triad_case& of) { return raw_array(of); }

  template <typename ValueAt>
  static void fill(const triad_case& of, container& to, const ValueAt& value_at) {
    double* const data = to.data();
    const int threads = of.initialisation == loop_initialisation::serial ? 1 : of.threads;
    raw_for(threads, of.chunk, of.length, [&](std::size_t i) { data[i] = value_at(i); });
  }

  template <typename Kernel, typename... In>
  static void pass(const triad_case& of, container& out, const In&... in) {
    pass_pointers<Kernel>(of, out.data(), in.data()...);
  }

  static const double* first(const container& in) { return in.data(); }

 private:
  template <typename Kernel, typename... In>
  static void pass_pointers(const triad_case& of, double* out, In*... in) {
    if (!stores_stream(of)) {
      raw_pass<Kernel>(of.threads, of.chunk, of.length, out, in...);
      return;
    }
    const auto block_of = [&](std::size_t block) { streaming_block<Kernel>(of, block, out, in...); };
    const std::size_t block = streaming_block_size(of);
    raw_for(of.threads, of.chunk == 0 ? 0 : 1, (of.length + block - 1) / block, block_of);
  }

  // Blocks as in the static schedule of the elements, up to one element.
  static std::size_t streaming_block_size(const triad_case& of) {
    if (of.chunk != 0) return of.chunk;
    const auto threads = static_cast<std::size_t>(of.threads);
    return (of.length + threads - 1) / threads;
  }

  template <typename Kernel, typename... In>
  static void streaming_block(const triad_case& of, std::size_t block, double* out, In*... in) {
    const std::size_t size = streaming_block_size(of);
    streaming_loop<Kernel>(out, block * size, std::min(of.length, (block + 1) * size), in...);
  }
};

}  // namespace

std::unique_ptr<vector_loop> make_array_loop(const triad_case& of) { return make_loop_of<array_vectors>(of); }

}  // namespace nearfar::bench
