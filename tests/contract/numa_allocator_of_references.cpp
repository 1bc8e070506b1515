// error: numa_allocator<T> needs an object type T that is neither const nor volatile
#include "nearfar/container/numa_allocator.hpp"

#ifndef WRONG
nearfar::numa_allocator<int> allocator;
#else
nearfar::numa_allocator<int&> allocator;
#endif
