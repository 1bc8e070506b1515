#include "statistics.hpp"

#include <mpi.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::pmpi {

namespace {

[[nodiscard]] std::string_view where() {
  const char* value = std::getenv("NEARFAR_PMPI_STATS");
  const std::string_view text = value == nullptr ? "" : value;
  return text == "0" ? "" : text;
}
[[nodiscard]] bool is_for_people() { return where() == "1"; }

/// Lines of this process.
std::string kept;

template <typename... Values>
[[nodiscard]] std::string text_of(const char* format, Values... values) {
  std::string result(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
  std::snprintf(result.data(), result.size() + 1, format, values...);
  return result;
}

[[nodiscard]] std::string in_json(std::string_view text) {
  std::string result = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') result += '\\';
    if (static_cast<unsigned char>(each) < 0x20)
      result += text_of("\\u%04x", static_cast<unsigned>(each));
    else
      result += each;
  }
  return result + '"';
}

[[nodiscard]] std::string line_of(const summary& one) {
  const counts& of = one.of_all;
  const auto number = [](std::int64_t value) { return static_cast<long long>(value); };
  if (is_for_people())
    return text_of("%-20s %5d %11lld %9lld %8lld %7lld %9lld %11lld %12.6f\n",
                   one.name.empty() ? "(no name)" : one.name.c_str(), one.ranks, number(of.exclusive),
                   number(of.shared), number(of.all), number(of.unchecked), number(of.waited),
                   number(of.local), static_cast<double>(of.waiting_ns) * 1e-9);
  return text_of(
      "{\"window\":%s,\"ranks\":%d,\"exclusive\":%lld,\"shared\":%lld,\"lock_all\":%lld,\"nocheck\":%lld,"
      "\"waited\":%lld,\"handed_over_in_node\":%lld,\"waiting_ns\":%lld}\n",
      in_json(one.name).c_str(), one.ranks, number(of.exclusive), number(of.shared), number(of.all),
      number(of.unchecked), number(of.waited), number(of.local), number(of.waiting_ns));
}

void write(const std::string& lines) {
  if (is_for_people()) {
    std::fprintf(
        stderr, "nearfar: locks of windows, by all their ranks\n%-20s %5s %11s %9s %8s %7s %9s %11s %12s\n%s",
        "window", "ranks", "exclusive", "shared", "lock_all", "nocheck", "waited", "in node", "waiting (s)",
        lines.c_str());
    return;
  }
  const std::string name(where());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(name.c_str(), "w"), [](std::FILE* one) { return one == nullptr ? 0 : std::fclose(one); });
  if (!file || std::fwrite(lines.data(), 1, lines.size(), file.get()) != lines.size() ||
      std::fflush(file.get()) != 0)
    std::fprintf(stderr, "libnearfar_pmpi: cannot write %s, which NEARFAR_PMPI_STATS names: %s\n",
                 name.c_str(), std::strerror(errno));
}

}  // namespace

bool wants_statistics() { return !where().empty(); }

void keep(const summary& one) { kept += line_of(one); }

void print_kept() {
  int rank = 0;
  int size = 0;
  mpi::check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  mpi::check(PMPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  const int mine = static_cast<int>(kept.size());
  std::vector<int> lengths(static_cast<std::size_t>(size));
  mpi::check(PMPI_Gather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::vector<int> starts(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
  std::string all(rank == 0 ? static_cast<std::size_t>(starts.back() + lengths.back()) : 0, '\0');
  mpi::check(PMPI_Gatherv(kept.data(), mine, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
                          MPI_COMM_WORLD),
             "MPI_Gatherv");
  if (rank == 0) write(all);
}

}  // namespace nearfar::pmpi
