#include "statistics.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
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

/// Output lines of this process. Several threads may free windows.
std::string kept_text;
std::mutex keeps;

template <typename... Values>
[[nodiscard]] std::string text_of(const char* format, Values... values) {
  std::string result(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
  std::snprintf(result.data(), result.size() + 1, format, values...);
  return result;
}

/// Length in bytes of the UTF-8 character with which `text` begins; 0 if it begins with none.
[[nodiscard]] std::size_t character_at_front(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  return length;
}

/// Replaces bytes that are not UTF-8, which JSON does not allow.
[[nodiscard]] std::string in_json(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = character_at_front(text);
    const char first = text.front();
    if (first == '"' || first == '\\') result += '\\';
    if (length == 0)
      result += "\\ufffd";
    else if (static_cast<unsigned char>(first) < 0x20)
      result += text_of("\\u%04x", static_cast<unsigned>(first));
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
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

void keep(const summary& one) {
  const std::string line = line_of(one);
  const std::lock_guard hold_it(keeps);
  kept_text += line;
}

void print_kept() {
  int rank = 0;
  int size = 0;
  mpi::check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  mpi::check(PMPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  const int mine = static_cast<int>(kept_text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size));
  mpi::check(PMPI_Gather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::vector<int> starts(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
  std::string all(rank == 0 ? static_cast<std::size_t>(starts.back() + lengths.back()) : 0, '\0');
  mpi::check(PMPI_Gatherv(kept_text.data(), mine, MPI_CHAR, all.data(), lengths.data(), starts.data(),
                          MPI_CHAR, 0, MPI_COMM_WORLD),
             "MPI_Gatherv");
  if (rank == 0) write(all);
}

}  // namespace nearfar::pmpi
