// A copy of the program under test. Each rank has one, with globals of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nearfar::program {

/// A program file in memory, from which copies are loaded.
class program_file {
 public:
  /// Throws `std::runtime_error`, with what to do, if the file is no program that `nearfar-cc` has linked.
  explicit program_file(std::string path);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::vector<char>& bytes() const noexcept { return bytes_; }

 private:
  std::string path_;
  std::vector<char> bytes_;
};

class image {
 public:
  using main_function = int (*)(int, char**, char**);

  /// Loads a copy; its constructors run on the caller's stack.
  void load(const program_file& from);
  /// Keeps what globals and thread-local variables are now, which `restore` brings back.
  void keep();
  void restore() noexcept;

  [[nodiscard]] main_function entry() const noexcept { return entry_; }
  /// Whether the code of this copy has the address.
  [[nodiscard]] bool contains(const void* address) const noexcept;
  /// The address in the file, as debug information has it.
  [[nodiscard]] std::uintptr_t file_address(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - base_;
  }

 private:
  struct segment {
    std::byte* begin;
    std::size_t bytes;
    std::vector<std::byte> kept;
  };
  void* handle_ = nullptr;
  main_function entry_ = nullptr;
  std::uintptr_t base_ = 0;
  std::uintptr_t end_ = 0;
  std::vector<segment> writable_;
};

/// Whether the code of the dynamic loader has the address. Its memory is never the program's.
[[nodiscard]] bool is_in_loader(const void* address) noexcept;

}  // namespace nearfar::program
