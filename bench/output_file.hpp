/// \file
/// Files that users name as output: they appear complete or not at all, and replace nothing else.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace nearfar::bench {

/// A file that appears under its name only when it is complete.
class output_file {
 public:
  /// Opened at once, so that what cannot be written is known before the work is done. An existing file is
  /// replaced only if it is empty or `mark` is in its first line: `kind` ("nearfar results") says what that
  /// makes it. Throws `nearfar::error`, also while another process writes a file of that name.
  output_file(std::filesystem::path path, std::string_view mark, std::string_view kind);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  /// Leaves what was there before, unless committed.
  ~output_file();

  /// Where the file is until it is complete, of process `process`.
  [[nodiscard]] static std::string partial_name(const std::string& path, std::string_view process);

  /// Appends. Throws `nearfar::error` on a full disk.
  void write(std::string_view text);
  /// Puts the file in its place.
  void commit();
  /// Leaves the file for whoever ends before it is complete: in its place if nothing is there, else where it
  /// is. Returns its name.
  std::string keep();
  /// Leaves it where it is, whatever state it is in. Returns its name.
  std::string leave();
  /// Takes it away, and leaves what was there before.
  void discard();

 private:
  void make_partial();
  [[nodiscard]] bool others_write() const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::filesystem::path written_;
  int lock_ = -1;  // on what is written, if that is not `path_` itself
  std::ofstream stream_;
};

}  // namespace nearfar::bench
