#include "bench/results.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {

namespace {

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// An empty file, or one that starts as every results file does.
bool is_results_file(const std::filesystem::path& path) {
  std::ifstream existing(path);
  std::string line;
  return !std::getline(existing, line) || line.find("\"nearfar.results/") != std::string::npos;
}

}  // namespace

void to_json(nlohmann::ordered_json& to, const sample& from) {
  to = {{"schema", results_schema},
        {"record", "sample"},
        {"benchmark", from.benchmark},
        {"lock", from.lock},
        {"parameters", from.parameters},
        {"world", from.world},
        {"machine", from.machine},
        {"nodes", from.nodes},
        {"ranks", from.ranks},
        {"repetition", from.repetition},
        {"duration_ns", from.duration.count()},
        {"iterations", from.iterations},
        {"iterations_per_rank", from.iterations_per_rank},
        {"contended", or_null(from.contended)},
        {"local_handovers", or_null(from.local_handovers)},
        {"followed_other_share", or_null(from.followed_other_share)},
        {"ns_per_acquisition", from.ns_per_acquisition()},
        {"verified", from.verified}};
  if (from.scenario) to["scenario"] = *from.scenario;
}

results_file::results_file(std::filesystem::path path) : path_(std::move(path)), written_(path_) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path_, ignored);
  if (std::filesystem::is_directory(path_, ignored))
    throw error("cannot write '" + path_.string() + "': it is a directory");
  if (!exists || std::filesystem::is_regular_file(path_, ignored)) {
    if (exists && !is_results_file(path_))
      throw error("'" + path_.string() + "' exists and holds no nearfar results: choose another name");
    written_ += ".partial-" + std::to_string(getpid());
  }
  stream_.open(written_, std::ios::trunc);
  if (!stream_) throw error("cannot write '" + path_.string() + "': " + std::strerror(errno));
}

results_file::~results_file() {
  std::error_code ignored;
  if (stream_.is_open() && written_ != path_) std::filesystem::remove(written_, ignored);
}

void results_file::write(const nlohmann::ordered_json& record) {
  // Flushed, so that a full disk is noticed at the record it hits.
  stream_ << record.dump() << '\n' << std::flush;
  if (!stream_) throw error("cannot write '" + path_.string() + "': " + std::strerror(errno));
}

void results_file::commit() {
  stream_.close();
  if (!stream_) throw error("cannot write '" + path_.string() + "': " + std::strerror(errno));
  if (written_ != path_) std::filesystem::rename(written_, path_);
}

}  // namespace nearfar::bench
