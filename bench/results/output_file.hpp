/// \file
/// Output files that users name. They appear complete or not at all. They replace empty files, and older
/// output of the same kind if the user asks for that.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "nearfar/core/error.hpp"

namespace nearfar::bench {

/// A file that takes no more, as on a full disk: what the command found is lost.
struct lost_file : error {
  using error::error;
};

/// The fate of older output of the same kind under the file's name. A user loses it only on request.
struct older_output {
  bool is_replaced = false;    ///< --overwrite
  bool is_extended = false;    ///< --append: the new output follows it
  bool is_extendable = false;  ///< whether the command has --append for this file
};

/// The error about a file that is there, and what the user can do.
[[nodiscard]] std::string refusal_of(const std::filesystem::path& there, const older_output& older);

/// A file that appears under its name only when it is complete.
class output_file {
 public:
  /// Opens the file at once, so that an unwritable path is reported before the work starts. An existing file
  /// stays unless it is empty, or its first line contains `mark` and `older` says what becomes of it. A mark
  /// that begins a schema ("nearfar.results/, with the quote) must begin that of the line's outermost object.
  /// `kind` ("nearfar results") describes such files in the error. Throws `nearfar::error`, also while
  /// another process writes a file of that name.
  output_file(std::filesystem::path path, std::string_view mark, std::string_view kind,
              const older_output& older = {});
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  /// Leaves the previous file in place, unless committed.
  ~output_file();

  /// The name of the file until it is complete, for process `process`.
  [[nodiscard]] static std::string partial_name(const std::string& path, std::string_view process);

  /// Appends. Throws `lost_file` on a full disk.
  void write(std::string_view text);
  /// Moves the complete file to its place. If another file has come there since the beginning, or the older
  /// one has changed, moves it to a free name with ".interrupted" at its end. Throws `lost_file` then, and if
  /// the file cannot be moved.
  void commit();
  /// For a process that ends before the file is complete. Moves the file to its place; if a file is there, to
  /// a free name with ".interrupted" at its end. Returns its name.
  std::string keep();
  /// The same in whatever state the file is, such as after a write that failed.
  std::string leave();
  /// Removes the file and leaves the previous one in place.
  void discard();

 private:
  void make_partial();
  [[nodiscard]] bool others_write() const;
  void copy_older();
  std::string put_aside();
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void lose(const std::string& why) const;

  std::filesystem::path path_;
  std::filesystem::path written_;
  std::optional<std::array<std::int64_t, 5>> before_;  // the state of an older file
  int lock_ = -1;  // on the file being written, unless that is `path_` itself
  std::ofstream stream_;
};

}  // namespace nearfar::bench
