/// \file
/// Output files that users name. They appear complete or not at all, and replace only empty files or older
/// output of the same kind.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace nearfar::bench {

/// A file that appears under its name only when it is complete.
class output_file {
 public:
  /// Opens the file at once, so that an unwritable path is reported before the work starts. An existing file
  /// is replaced only if it is empty or its first line contains `mark`. `kind` ("nearfar results") describes
  /// such files in the error. Throws `nearfar::error`, also while another process writes a file of that name.
  output_file(std::filesystem::path path, std::string_view mark, std::string_view kind);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  /// Leaves the previous file in place, unless committed.
  ~output_file();

  /// The name of the file until it is complete, for process `process`.
  [[nodiscard]] static std::string partial_name(const std::string& path, std::string_view process);

  /// Appends. Throws `nearfar::error` on a full disk.
  void write(std::string_view text);
  /// Moves the complete file to its place.
  void commit();
  /// For a process that ends before the file is complete. Moves the file to its place if no file is there,
  /// else leaves it under its partial name. Returns its name.
  std::string keep();
  /// Leaves the file where it is, in whatever state. Returns its name.
  std::string leave();
  /// Removes the file and leaves the previous one in place.
  void discard();

 private:
  void make_partial();
  [[nodiscard]] bool others_write() const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::filesystem::path written_;
  int lock_ = -1;  // on the file being written, unless that is `path_` itself
  std::ofstream stream_;
};

}  // namespace nearfar::bench
