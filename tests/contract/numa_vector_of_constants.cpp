// error: numa_vector<T> needs an object type T that is neither const nor volatile
#include "nearfar/container/numa_vector.hpp"

#ifndef WRONG
using element = int;
#else
using element = const int;
#endif

nearfar::numa_vector<element, std::allocator<int>> vector;
