#include "bench/results/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {

namespace {

/// Finds the schema of the outermost object of a text, which may end within that object.
class schema_finder : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] static std::optional<std::string> schema_of(const std::string& text) {
    schema_finder finder;
    nlohmann::json::sax_parse(text, &finder);
    return finder.schema_;
  }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& text) override {
    if (depth_ != 1 || key_ != "schema") return true;
    schema_ = text;
    return false;
  }
  bool binary(binary_t& /*bytes*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t /*elements*/) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& text) override {
    if (depth_ == 1) key_ = text;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }

 private:
  int depth_ = 0;
  std::string key_;
  std::optional<std::string> schema_;
};

/// Of a record with a schema only its own counts: the provenance of results holds a machine description.
bool holds_mark(const std::string& line, std::string_view mark) {
  constexpr std::string_view any_schema = "\"nearfar.";
  if (!mark.starts_with(any_schema)) return line.find(mark) != std::string::npos;
  const std::optional<std::string> schema = schema_finder::schema_of(line);
  return schema && schema->starts_with(mark.substr(1));
}

bool is_replaceable(const std::filesystem::path& path, std::string_view mark) {
  std::ifstream existing(path);
  std::string line;
  return !std::getline(existing, line) || holds_mark(line, mark);
}

/// The file behind a link is replaced, not the link, even if that file does not exist yet. Links that name no
/// file, such as /dev/stdout before a pipe, stay.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int most = 40;  // as the kernel follows
  std::error_code failed;
  if (std::filesystem::is_other(path, failed)) return path;
  for (int depth = 0; depth < most && std::filesystem::is_symlink(path, failed); ++depth)
    path = path.parent_path() / std::filesystem::read_symlink(path, failed);
  return path;
}

/// Numbers that change when the file is written or replaced; nothing if there is no file.
std::optional<std::array<std::int64_t, 5>> state_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return std::array{static_cast<std::int64_t>(found.st_dev), static_cast<std::int64_t>(found.st_ino),
                    static_cast<std::int64_t>(found.st_size), static_cast<std::int64_t>(found.st_mtim.tv_sec),
                    static_cast<std::int64_t>(found.st_mtim.tv_nsec)};
}

/// Whether a process holds the file locked. One that was ended does not, whatever it left.
bool is_locked(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return locked;
}

}  // namespace

std::string refusal_of(const std::filesystem::path& there, const older_output& older) {
  return "'" + there.string() + "' exists: choose another name, " +
         (older.is_extendable ? "add to it with --append, or replace it with --overwrite"
                              : "or replace it with --overwrite");
}

output_file::output_file(std::filesystem::path path, std::string_view mark, std::string_view kind,
                         const older_output& older)
    : path_(behind_links(std::move(path))), written_(path_), before_(state_of(path_)) {
  if (path_ == "-") throw error("'-' names no file here: only results go to standard output that way");
  using enum std::filesystem::file_type;
  std::error_code ignored;
  const std::filesystem::file_type there = std::filesystem::status(path_, ignored).type();
  if (there == directory) refuse("it is a directory");
  // To open a pipe that nobody reads would wait for a reader.
  if (there == fifo || there == socket || there == block)
    refuse("it is not a regular file: choose another name");
  if (there != character) {
    if (there == regular && !is_replaceable(path_, mark))
      throw error("'" + path_.string() + "' exists and holds no " + std::string(kind) +
                  ": choose another name");
    const bool is_filled = there == regular && std::filesystem::file_size(path_, ignored) > 0;
    if (is_filled && !older.is_replaced && !older.is_extended) throw error(refusal_of(path_, older));
    // Else it would be replaced all the same, by who may write to its folder.
    if (there == regular && ::access(path_.c_str(), W_OK) != 0) refuse(std::strerror(errno));
    make_partial();
    if (others_write()) {
      discard();
      refuse("another process is writing it: choose another name, or wait until it has ended");
    }
  }
  stream_.open(written_, std::ios::trunc);
  if (!stream_) {
    const std::string why = std::strerror(errno);
    discard();
    refuse(why);
  }
  if (there == regular && older.is_extended) copy_older();
}

output_file::~output_file() {
  if (stream_.is_open()) discard();
  if (lock_ >= 0) ::close(lock_);
}

/// Makes a file that nobody else writes, though processes of two nodes may have one number.
void output_file::make_partial() {
  const std::string process = std::to_string(getpid());
  constexpr int most = 1000;
  for (int attempt = 0; attempt < most && lock_ < 0; ++attempt) {
    written_ = partial_name(path_.string(), attempt == 0 ? process : process + '-' + std::to_string(attempt));
    constexpr mode_t readable_by_all = 0666;
    lock_ = ::open(written_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable_by_all);
    if (lock_ < 0 && errno != EEXIST) break;
  }
  if (lock_ < 0) refuse(std::strerror(errno));
  // A file system without locks has to do without.
  [[maybe_unused]] const int ignored = ::flock(lock_, LOCK_EX | LOCK_NB);
}

bool output_file::others_write() const {
  const std::string begin = partial_name(path_.filename().string(), "");
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(folder, ignored))
    if (each.path().filename().string().starts_with(begin) && each.path().filename() != written_.filename() &&
        is_locked(each.path()))
      return true;
  return false;
}

/// Ends with a whole line, so that what follows begins one.
void output_file::copy_older() {
  std::ifstream older(path_, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(older), {});
  if (!text.empty() && text.back() != '\n') text += '\n';
  try {
    write(text);
  } catch (const error&) {
    discard();
    throw;
  }
}

void output_file::discard() {
  stream_.close();
  if (lock_ < 0) return;  // written in place
  std::error_code ignored;
  std::filesystem::remove(written_, ignored);
  ::close(std::exchange(lock_, -1));
}

std::string output_file::partial_name(const std::string& path, std::string_view process) {
  return path + ".partial-" + std::string(process);
}

void output_file::write(std::string_view text) {
  // Flushed, so that a full disk is noticed at the record it hits.
  stream_ << text << std::flush;
  if (!stream_) lose(std::strerror(errno));
}

void output_file::commit() {
  stream_.close();
  if (!stream_) lose(std::strerror(errno));
  if (written_ == path_) return;
  const auto now = state_of(path_);
  if (now && now != before_) {
    const std::string place = put_aside();
    throw lost_file("'" + path_.string() + "' has changed since this run began: the results are in '" +
                    place + "'");
  }
  std::error_code failed;
  std::filesystem::rename(written_, path_, failed);
  if (failed) lose(failed.message());
}

std::string output_file::keep() {
  stream_.close();
  if (!stream_) lose(std::strerror(errno));
  return put_aside();
}

std::string output_file::leave() {
  stream_.close();
  return put_aside();
}

std::string output_file::put_aside() {
  if (written_ == path_) return path_.string();
  std::error_code failed;
  std::filesystem::path place = path_;
  for (int number = 1; std::filesystem::exists(place, failed); ++number)
    place = path_.string() + ".interrupted" + (number == 1 ? "" : '-' + std::to_string(number));
  std::filesystem::rename(written_, place, failed);
  if (!failed) written_ = place;
  return written_.string();
}

void output_file::lose(const std::string& why) const {
  throw lost_file("cannot write '" + path_.string() + "': " + why);
}

void output_file::refuse(const std::string& why) const {
  throw error("cannot write '" + path_.string() + "': " + why);
}

}  // namespace nearfar::bench
