// error: constraints not satisfied.*far_value.*sizeof .T. == 8.*evaluated to 'false'
#include "nearfar/core/layout.hpp"

#ifndef WRONG
using word = nearfar::far<std::uint64_t>;
#else
using word = nearfar::far<std::uint32_t>;
#endif

word value;
