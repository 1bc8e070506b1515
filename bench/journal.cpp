#include "bench/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {

journal::journal(const std::filesystem::path& path, const nlohmann::ordered_json& header) : path_(path) {
  constexpr mode_t readable_by_all = 0666;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, readable_by_all);
  if (file_ < 0) refuse(std::strerror(errno));
  try {
    struct stat status {};
    if (::fstat(file_, &status) != 0) refuse(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) refuse("it is no regular file");
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) refuse("another process is writing it");
    read();
    is_new_ = ends_.empty();
    if (is_new_) {
      header_ = header;
      append(std::array{header});
      ends_ = {static_cast<std::size_t>(::lseek(file_, 0, SEEK_END))};
    } else {
      check(header);
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

journal::~journal() { ::close(file_); }

void journal::read() {
  std::string content;
  constexpr std::size_t block = std::size_t{1} << 16U;
  std::array<char, block> buffer;
  for (ssize_t got = 0; (got = ::read(file_, buffer.data(), buffer.size())) != 0;) {
    if (got < 0) refuse(std::strerror(errno));
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = content.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto record =
        nlohmann::ordered_json::parse(content.begin() + static_cast<std::ptrdiff_t>(begin),
                                      content.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!record.is_object())
      refuse("line " + std::to_string(ends_.size() + 1) + " of it is no record: choose another name");
    if (ends_.empty())
      header_ = std::move(record);
    else
      found_.push_back(std::move(record));
    ends_.push_back(end + 1);
  }
  if (begin == content.size()) return;
  // Whatever has no end of line in a file that is not ours is not ours to remove.
  if (ends_.empty()) refuse("it exists and holds no results of a sweep: choose another name");
  was_torn_ = true;
  if (::ftruncate(file_, static_cast<off_t>(begin)) != 0) refuse(std::strerror(errno));
}

void journal::check(const nlohmann::ordered_json& header) const {
  if (header_.value("schema", "") != header.value("schema", "") || !header_.contains("study"))
    refuse("it exists and holds no results of a sweep: choose another name");
  if (header_["study"] != header["study"])
    refuse(
        "it holds the results of another study (or the study has been changed since): choose another name");
}

void journal::drop_last(std::size_t count) {
  if (count == 0) return;
  found_.resize(found_.size() - count);
  ends_.resize(ends_.size() - count);
  if (::ftruncate(file_, static_cast<off_t>(ends_.back())) != 0) refuse(std::strerror(errno));
}

void journal::append(std::span<const nlohmann::ordered_json> records) {
  std::string text;
  for (const nlohmann::ordered_json& record : records) text += record.dump() + '\n';
  const off_t before = ::lseek(file_, 0, SEEK_END);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const std::string why = std::strerror(errno);
      // A record that is there in part would be taken for one that a kill has cut off; this is as good.
      [[maybe_unused]] const int ignored = ::ftruncate(file_, before);
      refuse(why);
    }
    done += static_cast<std::size_t>(written);
  }
  if (::fdatasync(file_) != 0) refuse(std::strerror(errno));
}

void journal::refuse(const std::string& why) const {
  throw error("cannot write '" + path_.string() + "': " + why);
}

}  // namespace nearfar::bench
