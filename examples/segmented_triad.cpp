// Vectors in segments: the triad a = b + c * d, padding, streaming stores, and work of unequal size.
// [headers]
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/pieces.hpp"
#include "nearfar/container/segment_queue.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "nearfar/container/sort.hpp"
#include "nearfar/container/team.hpp"
// [end]

namespace {

// [threads]
std::size_t threads() { return static_cast<std::size_t>(nearfar::team().size()); }
// [end]

bool triad(std::size_t n) {
  // [triad]
  using vector = nearfar::segmented_array<double>;
  vector a(threads(), n);  // one segment for each thread, on pages of its own
  const vector b(threads(), n, 1.0);
  const vector c(threads(), n, 2.0);
  const vector d(threads(), n, 3.0);
  nearfar::transform(b, c, d, a, [](double x, double y, double z) { return x + y * z; });
  // [end]
  return std::all_of(a.begin(), a.end(), [](double x) { return x == 7.0; });
}

bool streaming(std::size_t n) {
  nearfar::segmented_array<double> a(threads(), n);
  const nearfar::segmented_array<double> b(threads(), n, 4.0);
  // [streaming]
  // The stores bypass the caches if the algorithm touches more than the last-level cache holds.
  nearfar::copy(b, a.begin(), nearfar::store_kind::automatic);
  // [end]
  return a == b;
}

bool counters() {
  // [padding]
  // Counters that threads change all the time. 128 bytes of padding put each on a cache line of its own.
  using padded = nearfar::segmented_array<long, nearfar::padded_layout>;
  padded counts(threads(), threads(), {.padding = 128, .page_aligned = false});
  nearfar::team().run([&](nearfar::team_member me) {
    for (int i = 0; i < 1000; ++i) ++counts.segment(static_cast<std::size_t>(me.index))[0];
  });
  // [end]
  return nearfar::reduce(counts, 0L) % 1000 == 0 && counts[0] == 1000;
}

bool pieces(std::size_t n) {
  using padded = nearfar::segmented_array<double, nearfar::padded_layout>;
  padded x(threads(), n);
  const padded y(threads(), n, 1.0);
  const padded z(threads() + 1, n, 2.0);
  const std::vector<double> w(n, 3.0);
  // [pieces]
  // A loop of your own over pointers, for each piece that is contiguous in all ranges.
  for (const auto& [a, b, c, d] : nearfar::pieces(x, y, z, w))
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] + c[i] * d[i];
  // [end]
  return std::all_of(x.begin(), x.end(), [](double each) { return each == 7.0; });
}

bool algorithms(std::size_t n) {
  // [algorithms]
  nearfar::segmented_array<int> v(threads(), n);
  int next = 0;
  for (int& x : v) x = next = (next * 5 + 3) % 1009;  // every loop and every standard algorithm works
  nearfar::sort(v);  // nearfar's algorithms work segment by segment, in parallel
  const auto found = nearfar::find(v, v[n / 2]);
  // [end]
  return std::is_sorted(v.begin(), v.end()) && found != v.end() && *found == v[n / 2];
}

bool irregular() {
  // [dynamic]
  // Dynamic distribution of many segments: a thread takes those of its NUMA domain first, then helps others.
  nearfar::segmented_array<double> cells(64, 32'000);
  nearfar::for_each_segment_dynamic(cells, [](std::span<double> mine, std::size_t segment) {
    for (double& x : mine)
      for (std::size_t work = 0; work <= segment; ++work) x += 1;
  });
  // [end]
  return cells.segment(0)[0] == 1 && cells.segment(63).back() == 64;
}

}  // namespace

int main() {
  constexpr std::size_t n = 100'003;
  const bool right = triad(n) && streaming(n) && counters() && pieces(n) && algorithms(n) && irregular();
  std::printf("%s on %d threads\n", right ? "all right" : "wrong", nearfar::team().size());
  return right ? 0 : 1;
}
