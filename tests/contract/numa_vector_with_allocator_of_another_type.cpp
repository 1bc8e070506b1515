// error: numa_vector<T, Allocator> needs an allocator of T
#include "nearfar/container/numa_vector.hpp"

#ifndef WRONG
nearfar::numa_vector<int, nearfar::numa_allocator<int>> vector;
#else
nearfar::numa_vector<int, nearfar::numa_allocator<long>> vector;
#endif
