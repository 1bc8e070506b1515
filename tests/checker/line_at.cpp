// Apart from all that uses it, since only this depends on where the sources are.
#include <fstream>
#include <string>

#include "tests/checker/mutants.hpp"

namespace nearfar::test {

std::string line_at(const checker::site& where) {
  std::ifstream file(std::string(NEARFAR_SOURCE_DIR) + "/include/" + where.file);
  std::string line;
  for (unsigned i = 0; i < where.line; ++i) std::getline(file, line);
  return line;
}

}  // namespace nearfar::test
