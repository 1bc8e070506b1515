// Apart from all that uses it, since only this depends on where the sources are.
#include <fstream>
#include <string>

#include "tests/checker/mutants.hpp"

namespace nearfar::test {

namespace {

/// A path from the root of the sources. A site's file is a path below include/, or a whole path.
std::string path_of(const checker::site& where) {
  for (const char* folder : {"/src/", "/tests/"})
    if (const auto at = where.file.rfind(folder); at != std::string::npos) return where.file.substr(at);
  return "/include/" + where.file;
}

}  // namespace

std::string line_at(const checker::site& where) {
  std::ifstream file(NEARFAR_SOURCE_DIR + path_of(where));
  std::string line;
  for (unsigned i = 0; i < where.line; ++i) std::getline(file, line);
  return line;
}

}  // namespace nearfar::test
