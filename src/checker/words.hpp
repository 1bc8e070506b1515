// Words as bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nearfar::checker {

/// Writes the whole value, or its first `bytes` bytes.
inline void write_word(void* to, std::uint64_t value, std::size_t bytes = sizeof(std::uint64_t)) {
  std::memcpy(to, &value, bytes);
}
inline std::uint64_t read_word(const void* from, std::size_t bytes = sizeof(std::uint64_t)) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

/// The value that `read_word` finds where `write_word` has written.
inline std::uint64_t low_bytes_of(std::uint64_t value, std::size_t bytes) { return read_word(&value, bytes); }

/// A hash of both words.
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15U + b + 0x7F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace nearfar::checker
