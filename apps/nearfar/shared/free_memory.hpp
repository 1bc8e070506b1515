/// \file
/// How much memory there is for what a user asks for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace nearfar::command {

/// Memory that can be had without swapping, and how much of it one thing may take.
struct free_memory {
  std::size_t bytes;
  std::size_t usable;

  /// The memory that the system and, where it sets a limit, the control group report; nothing if they do not.
  [[nodiscard]] static std::optional<free_memory> now();
  /// "N MiB of memory: M MiB are free", of what is needed.
  [[nodiscard]] std::string text_for(std::size_t needed) const;
};

}  // namespace nearfar::command
