// Faults, as the checker finds them.
#pragma once

#include <string>
#include <vector>

#include "site.hpp"

namespace nearfar::program {

enum class verdict {
  fault,      ///< the program is wrong
  undecided,  ///< the checker cannot say
};

struct involved {
  int rank = 0;
  std::string what;  ///< "put of 4 bytes to window 0 of rank 1"
  site where;
};

struct fault {
  verdict outcome = verdict::fault;
  std::string kind;  ///< "race", "hang", "epoch", "buffer", "crash", "exit", "leak", "argument"
  std::string text;  ///< one line
  std::vector<involved> places;
  std::string rule;  ///< the words of the standard, with the section
};

}  // namespace nearfar::program
