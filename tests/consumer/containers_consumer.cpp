#include <nearfar/container/algorithm.hpp>
#include <nearfar/container/numa_vector.hpp>

int main() {
  nearfar::numa_vector<double> a(1000);
  const nearfar::numa_vector<double> b(1000, 2.0);
  nearfar::transform(b, a, [](double x) { return 2 * x; });
  return nearfar::reduce(a, 0.0) == 4000 ? 0 : 1;
}
