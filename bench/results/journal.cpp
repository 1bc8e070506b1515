#include "bench/results/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "bench/results/output_file.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::bench {

namespace {

/// A user's words may hold what is no text.
std::string text_of(const nlohmann::ordered_json& record) {
  return record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Whether this is the beginning of such a header, and no more.
bool is_torn_header(const std::string& content, const nlohmann::ordered_json& header) {
  if (content.empty() || content.find('\n') != std::string::npos) return false;
  constexpr std::size_t told_by = 40;
  const std::string whole = text_of(header);
  const std::size_t compared = std::min({content.size(), whole.size(), told_by});
  return content.compare(0, compared, whole, 0, compared) == 0;
}

std::string shortened(std::string text) {
  constexpr std::size_t most = 60;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

/// The difference of two results in `name`, in words; for objects, in the first field that differs.
std::string difference(const std::string& name, const nlohmann::ordered_json& before,
                       const nlohmann::ordered_json& now) {
  if (before.is_object() && now.is_object())
    for (const auto* side : {&now, &before})
      for (const auto& [field, ignored] : side->items())
        if (const auto there = before.value(field, nlohmann::ordered_json()),
            here = now.value(field, nlohmann::ordered_json());
            there != here)
          return difference(std::string(name).append(".").append(field), there, here);
  if (before.is_null()) return "results without " + name + ", as an older version of nearfar wrote them";
  return "results of another " + name + ", " + shortened(before.dump()) + ", not " + shortened(now.dump());
}

}  // namespace

journal::journal(const std::filesystem::path& path, const nlohmann::ordered_json& header, bool anew)
    : path_(path) {
  constexpr mode_t readable_by_all = 0666;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, readable_by_all);
  if (file_ < 0) refuse(std::strerror(errno));
  try {
    struct stat status {};
    if (::fstat(file_, &status) != 0) refuse(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
    // A file system without locks has to do without: that is no reason to refuse.
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      refuse("another process is writing it");
    if (anew) empty(header);
    read(header);
    if (!ends_.empty()) check(header);
    if (was_torn_ && ::ftruncate(file_, static_cast<off_t>(size_)) != 0) refuse(std::strerror(errno));
    is_new_ = ends_.empty();
    if (is_new_) {
      header_ = header;
      append(std::array{header});
      ends_ = {size_};
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

journal::~journal() { ::close(file_); }

/// Only of results of this schema.
void journal::empty(const nlohmann::ordered_json& header) {
  std::ifstream existing(path_);
  std::string line;
  if (!std::getline(existing, line)) return;
  const auto first = nlohmann::ordered_json::parse(line, nullptr, false);
  if (!first.is_object() || first.value("schema", nlohmann::ordered_json()) != header["schema"]) return;
  if (::ftruncate(file_, 0) != 0) refuse(std::strerror(errno));
}

void journal::read(const nlohmann::ordered_json& header) {
  std::string content;
  constexpr std::size_t block = std::size_t{1} << 16U;
  std::array<char, block> buffer;
  for (ssize_t got = 0; (got = ::read(file_, buffer.data(), buffer.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::strerror(errno));
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (is_torn_header(content, header)) {
    content.clear();
    was_torn_ = true;
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = content.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto record =
        nlohmann::ordered_json::parse(content.begin() + static_cast<std::ptrdiff_t>(begin),
                                      content.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!record.is_object() || !record.contains("record") || !record["record"].is_string())
      refuse("line " + std::to_string(ends_.size() + 1) + " of it is no record: choose another --output");
    if (ends_.empty())
      header_ = std::move(record);
    else
      found_.push_back(std::move(record));
    ends_.push_back(end + 1);
  }
  size_ = begin;
  if (begin == content.size()) return;
  // A file that is not ours may have a text without an end of line. That text is not ours to remove.
  if (ends_.empty()) refuse("it exists and holds no results of a sweep: choose another --output");
  was_torn_ = true;
}

void journal::check(const nlohmann::ordered_json& header) const {
  if (!header_.contains("schema") || header_["schema"] != header["schema"] || !header_.contains("study") ||
      !header_["study"].is_object())
    refuse("it exists and holds no results of a sweep: choose another --output");
  for (const auto& [name, value] : header["study"].items()) {
    const nlohmann::ordered_json before = header_["study"].value(name, nlohmann::ordered_json());
    if (before != value) refuse("it holds " + difference(name, before, value) + ": choose another --output");
  }
}

void journal::drop_last(std::size_t count) {
  if (count == 0) return;
  found_.resize(found_.size() - count);
  ends_.resize(ends_.size() - count);
  size_ = ends_.back();
  if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) refuse(std::strerror(errno));
}

void journal::append(std::span<const nlohmann::ordered_json> records) {
  std::string text;
  for (const nlohmann::ordered_json& record : records) text += text_of(record) + '\n';
  struct stat now {};
  if (::fstat(file_, &now) != 0) lose(std::strerror(errno));
  if (now.st_nlink == 0) lose("it was deleted or replaced meanwhile");
  if (static_cast<std::size_t>(now.st_size) != size_) lose("another process has changed it meanwhile");
  const off_t before = ::lseek(file_, 0, SEEK_END);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const std::string why = std::strerror(errno);
      // A record that is there in part would be taken for one that a kill has cut off; this is as good.
      [[maybe_unused]] const int ignored = ::ftruncate(file_, before);
      lose(why);
    }
    done += static_cast<std::size_t>(written);
  }
  size_ += text.size();
  if (::fdatasync(file_) != 0) lose(std::strerror(errno));
}

void journal::lose(const std::string& why) const {
  throw lost_file("cannot write '" + path_.string() + "': " + why);
}

void journal::refuse(const std::string& why) const {
  throw error("cannot write '" + path_.string() + "': " + why);
}

}  // namespace nearfar::bench
