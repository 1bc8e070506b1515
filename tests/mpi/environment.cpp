#include "tests/mpi/environment.hpp"

#include <memory>

namespace nearfar::testing {

namespace {

std::unique_ptr<mpi::world>& common() {
  static std::unique_ptr<mpi::world> instance;
  return instance;
}

}  // namespace

void make_common_world() { common() = std::make_unique<mpi::world>(MPI_COMM_WORLD); }
void destroy_common_world() { common().reset(); }
mpi::world& common_world() { return *common(); }

std::string virtual_nodes() {
  return "node:" + std::to_string(common_world().one_physical_node() ? 2 : common_world().size());
}

int often(const mpi::world& w) {
  if (!w.one_physical_node()) return 12;
  return w.oversubscribed() ? 300 : 120;
}

}  // namespace nearfar::testing
