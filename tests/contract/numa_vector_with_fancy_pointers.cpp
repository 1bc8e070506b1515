// error: numa_vector needs an allocator whose pointers are plain pointers
#include <cstddef>
#include <memory>

#include "nearfar/container/numa_vector.hpp"

struct offset_pointer {
  using element_type = int;
  using difference_type = std::ptrdiff_t;
  std::ptrdiff_t offset = 0;
};

struct fancy_allocator {
  using value_type = int;
#ifndef WRONG
  using pointer = int*;
#else
  using pointer = offset_pointer;
#endif
  pointer allocate(std::size_t n);
  void deallocate(pointer p, std::size_t n);
};

void use(nearfar::numa_vector<int, fancy_allocator>* vector) { static_cast<void>(vector->data()); }
