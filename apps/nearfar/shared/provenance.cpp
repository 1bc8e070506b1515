#include "apps/nearfar/shared/provenance.hpp"

#include <unistd.h>

#include <array>
#include <ctime>

#include "apps/nearfar/shared/environment.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "nearfar/topology/hardware.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

std::string compiler_name() {
#ifdef __clang__
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string utc_time(std::chrono::nanoseconds ago) {
  using std::chrono::system_clock;
  const std::time_t then =
      system_clock::to_time_t(system_clock::now() - std::chrono::duration_cast<system_clock::duration>(ago));
  std::tm parts{};
  gmtime_r(&then, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

nlohmann::ordered_json provenance(const measurement& of) {
  const bool uses_mpi = of.world == "mpi";
  nlohmann::ordered_json record = {{"schema", of.schema},
                                   {"record", "provenance"},
                                   {"library_version", version},
                                   {"commit", commit},
                                   {"compiler", compiler_name()},
                                   {"flags", build_flags},
                                   {"checked", checked_build},
                                   {"mpi_library", uses_mpi ? nlohmann::ordered_json(mpi::library_version())
                                                            : nlohmann::ordered_json(nullptr)},
                                   {"mpi_transport", uses_mpi ? nlohmann::ordered_json(mpi::transport_text())
                                                              : nlohmann::ordered_json(nullptr)},
                                   {"host", host_name()},
                                   {"hardware", hardware().summary()},
                                   {"topology", of.topology},
                                   {"binding", of.binding},
                                   {"oversubscribed", of.oversubscribed},
                                   {"seed", of.seed},
                                   {"argv", command_line()},
                                   {"environment", variables_record()},
                                   {"start_time", of.start_time},
                                   {"benchmark", of.benchmark},
                                   {"records_expected", of.records_expected}};
  if (!of.machine.is_null()) record["machine"] = of.machine;
  record.update(of.more);
  return record;
}

}  // namespace nearfar::command
