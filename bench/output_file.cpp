#include "bench/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {

namespace {

bool is_replaceable(const std::filesystem::path& path, std::string_view mark) {
  std::ifstream existing(path);
  std::string line;
  return !std::getline(existing, line) || line.find(mark) != std::string::npos;
}

/// What a link names is replaced, not the link, also where nothing is there yet.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int most = 40;  // as the kernel follows
  std::error_code failed;
  for (int depth = 0; depth < most && std::filesystem::is_symlink(path, failed); ++depth)
    path = path.parent_path() / std::filesystem::read_symlink(path, failed);
  return path;
}

/// Makes a file that nobody else writes, though processes of two nodes may have one number. Empty if it
/// cannot be made.
std::filesystem::path make_partial(const std::string& path) {
  const std::string process = std::to_string(getpid());
  constexpr int most = 1000;
  for (int attempt = 0; attempt < most; ++attempt) {
    const std::string name =
        output_file::partial_name(path, attempt == 0 ? process : process + '-' + std::to_string(attempt));
    constexpr mode_t readable_by_all = 0666;
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable_by_all);
    if (made >= 0) {
      ::close(made);
      return name;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

output_file::output_file(std::filesystem::path path, std::string_view mark, std::string_view kind)
    : path_(behind_links(std::move(path))), written_(path_) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path_, ignored);
  if (std::filesystem::is_directory(path_, ignored))
    throw error("cannot write '" + path_.string() + "': it is a directory");
  if (!exists || std::filesystem::is_regular_file(path_, ignored)) {
    if (exists && !is_replaceable(path_, mark))
      throw error("'" + path_.string() + "' exists and holds no " + std::string(kind) +
                  ": choose another name");
    written_ = make_partial(path_.string());
    if (written_.empty()) refuse();
  }
  stream_.open(written_, std::ios::trunc);
  if (!stream_) refuse();
}

output_file::~output_file() {
  std::error_code ignored;
  if (stream_.is_open() && written_ != path_) std::filesystem::remove(written_, ignored);
}

std::string output_file::partial_name(const std::string& path, std::string_view process) {
  return path + ".partial-" + std::string(process);
}

void output_file::write(std::string_view text) {
  // Flushed, so that a full disk is noticed at the record it hits.
  stream_ << text << std::flush;
  if (!stream_) refuse();
}

void output_file::commit() {
  stream_.close();
  if (!stream_) refuse();
  if (written_ == path_) return;
  std::error_code failed;
  std::filesystem::rename(written_, path_, failed);
  if (failed) throw error("cannot write '" + path_.string() + "': " + failed.message());
}

std::string output_file::keep() {
  stream_.close();
  if (!stream_) refuse();
  std::error_code ignored;
  if (written_ != path_ && !std::filesystem::exists(path_, ignored)) {
    std::filesystem::rename(written_, path_);
    return path_.string();
  }
  return written_.string();
}

std::string output_file::leave() {
  stream_.close();
  return written_.string();
}

void output_file::refuse() const {
  throw error("cannot write '" + path_.string() + "': " + std::strerror(errno));
}

}  // namespace nearfar::bench
