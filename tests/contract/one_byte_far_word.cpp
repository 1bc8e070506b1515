// error: constraints not satisfied.*far_value.*sizeof .T. == 8.*evaluated to 'false'
#include "nearfar/core/layout.hpp"

#ifndef WRONG
using word = nearfar::far<std::int64_t>;
#else
using word = nearfar::far<char>;
#endif

word value;
