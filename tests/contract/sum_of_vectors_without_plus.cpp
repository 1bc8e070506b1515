// error: no match for 'operator\+'.*constraints not satisfied
#include "nearfar/container/numa_vector_arithmetic.hpp"

struct point {
  int x = 0;
#ifndef WRONG
  friend point operator+(const point& a, const point& b) { return {a.x + b.x}; }
#endif
};

void add(const nearfar::numa_vector<point>& a) { static_cast<void>(a + a); }
