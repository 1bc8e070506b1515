// Arrays, vectors and objects whose memory is near the threads that work on it.
// [triad headers]
#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_vector.hpp"
// [end]

// [headers]
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <list>
#include <memory>
#include <numeric>
#include <vector>

#include "nearfar/container/near_allocator.hpp"
#include "nearfar/container/numa_allocator.hpp"
#include "nearfar/container/numa_new.hpp"
#include "nearfar/container/numa_vector_arithmetic.hpp"
#include "nearfar/container/team.hpp"
// [end]

namespace {

bool triad(std::size_t n) {
  // [triad]
  // Each thread owns a part of each vector, in memory of its NUMA domain, and computes that part.
  nearfar::numa_vector<double> a(n), b(n, 1.0), c(n, 2.0), d(n, 3.0);
  nearfar::transform(b, c, d, a, [](double x, double y, double z) { return x + y * z; });
  // [end]
  return nearfar::reduce(a, 0.0) == 7.0 * static_cast<double>(n);
}

bool standard_vector(std::size_t n) {
  // [first touch]
  using nearfar::numa_allocator;
  std::vector<double, numa_allocator<double>> a(n);
  std::vector<double, numa_allocator<double>> b(n, 1.0);
  nearfar::transform(b, a, [](double x) { return 2 * x; });  // each thread on its own part
  // [end]
  return nearfar::reduce(a, 0.0) == 2.0 * static_cast<double>(n);
}

bool chunks(std::size_t n) {
  // [chunk]
  constexpr std::size_t chunk = 4096;  // elements: 32 KiB, eight pages
  std::vector<double, nearfar::numa_allocator<double, chunk>> a(n);
  nearfar::team().for_each_block(n, chunk, [&](nearfar::index_range mine) {
    for (std::size_t i = mine.first; i < mine.last; ++i) a[i] = static_cast<double>(i);
  });
  // [end]
  return a[n - 1] == static_cast<double>(n - 1);
}

// [numa_new]
struct particle : nearfar::numa_new<particle> {
  double position[3]{};
  double mass = 1;
};
// [end]

bool objects(std::size_t n) {
  // [objects]
  const auto particles = std::make_unique<particle[]>(n);  // each page on its owner's NUMA domain
  nearfar::for_each(particles.get(), particles.get() + n, [](particle& p) { p.position[0] += p.mass; });
  // [end]
  return std::all_of(particles.get(), particles.get() + n,
                     [](const particle& p) { return p.position[0] == 1; });
}

bool objects_with_heap_data(std::size_t n) {
  // [heap]
  // The owners construct the rows in parallel, so the memory that a row allocates is near its owner, too.
  using row = std::vector<double>;
  const auto rows = nearfar::numa_vector<row>::generate(n, [](std::size_t i) { return row(100, double(i)); });
  // [end]
  return rows.size() == n && rows[n - 1][99] == double(n - 1);
}

bool nodes(std::size_t n) {
  // [nodes]
  // A list for each thread. Each node is near the thread that inserts it and, later, goes through its list.
  nearfar::numa_vector<std::list<double, nearfar::near_allocator<double>>> lists(
      static_cast<std::size_t>(nearfar::team().size()));
  nearfar::for_each(lists, [n](auto& mine) {
    for (std::size_t i = 0; i < n; ++i) mine.push_back(double(i));
  });
  // [end]
  return lists[0].size() == n;
}

bool arithmetic(std::size_t n) {
  // [arithmetic]
  nearfar::numa_vector<double> x(n, 2.0);
  nearfar::numa_vector<double> y(n, 3.0);
  y += 0.5 * x;
  y = hadamard(x, y) + 2.0 * x - y;      // `hadamard` multiplies element by element
  const double product = dot(x, y - x);  // each time the same result, to the last bit
  // [end]
  return product == 12.0 * static_cast<double>(n);
}

bool growing(std::size_t n) {
  // [grow]
  nearfar::numa_vector<int> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<int>(i));  // one thread constructs them here
  v.redistribute();  // moves each part to its owner's domain
  // [end]
  return v.size() == n && std::accumulate(v.begin(), v.end(), 0LL) == static_cast<long long>(n * (n - 1) / 2);
}

}  // namespace

int main() {
  constexpr std::size_t n = 200'000;
  const bool right = triad(n) && standard_vector(n) && chunks(n) && objects(n) &&
                     objects_with_heap_data(1000) && nodes(1000) && arithmetic(n) && growing(n);
  std::printf("%s on %d threads\n", right ? "all right" : "wrong", nearfar::team().size());
  return right ? 0 : 1;
}
