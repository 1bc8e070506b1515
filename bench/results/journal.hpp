/// \file
/// A results file that grows over several runs. Its records stay, however the process ends.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace nearfar::bench {

/// A JSON Lines file that is only appended to. The first record says what the others are about. One process
/// at a time may use it.
class journal {
 public:
  /// Opens the file, or makes it with `header` as its first record. Keeps the existing records if their
  /// header has the same `study`, and with `anew` removes results of any study. Removes a last line that was
  /// cut off, as by a kill. Throws `nearfar::error` for another file, for one that another process has open,
  /// and for one that cannot be written.
  journal(const std::filesystem::path& path, const nlohmann::ordered_json& header, bool anew = false);
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;
  ~journal();

  /// The records found at opening, without the header.
  [[nodiscard]] const std::vector<nlohmann::ordered_json>& found() const noexcept { return found_; }
  [[nodiscard]] bool is_new() const noexcept { return is_new_; }
  /// Whether a cut-off last line was removed.
  [[nodiscard]] bool was_torn() const noexcept { return was_torn_; }
  /// The header in the file, which another run may have written.
  [[nodiscard]] const nlohmann::ordered_json& header() const noexcept { return header_; }

  /// Removes the last `count` records of `found`.
  void drop_last(std::size_t count);
  /// Appends all records or none, and waits until the disk has them. Throws `lost_file`, also if another
  /// program has deleted or changed the file.
  void append(std::span<const nlohmann::ordered_json> records);

 private:
  void empty(const nlohmann::ordered_json& header);
  void read(const nlohmann::ordered_json& header);
  void check(const nlohmann::ordered_json& header) const;
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void lose(const std::string& why) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::vector<nlohmann::ordered_json> found_;
  std::vector<std::size_t> ends_;  // of the header and of each found record, in bytes
  std::size_t size_ = 0;
  nlohmann::ordered_json header_;
  bool is_new_ = false;
  bool was_torn_ = false;
};

}  // namespace nearfar::bench
