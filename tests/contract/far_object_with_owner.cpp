// error: constraint.*far_object.*is_trivially_copyable_v<T>
#include <memory>

#include "nearfar/core/layout.hpp"

struct elements {
#ifndef WRONG
  nearfar::far_object<int*> value;
#else
  nearfar::far_object<std::unique_ptr<int>> value;
#endif
};
