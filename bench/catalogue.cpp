#include "bench/catalogue.hpp"

#include <algorithm>

namespace nearfar::bench {

const catalogue& catalogue::instance() {
  static const catalogue all;
  return all;
}

catalogue::catalogue() {
  add_mpi_win(*this);
  add_d_mcs(*this);
  add_dash(*this);
  add_rma_mcs(*this);
  add_tas(*this);
  add_mcs(*this);
  add_cohort(*this);
}

const lock_entry* catalogue::find(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::string> catalogue::names() const {
  std::vector<std::string> result;
  for (const lock_entry& entry : entries_) result.push_back(entry.name);
  return result;
}

}  // namespace nearfar::bench
