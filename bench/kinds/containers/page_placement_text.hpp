/// \file
/// Placements of pages as users write them.
#pragma once

#include <string>

#include "nearfar/memory/pages.hpp"

namespace nearfar::bench {

/// "first-touch", "interleave:0,1", "bind:0". Throws `nearfar::error`, whose text says what is wrong.
[[nodiscard]] page_placement parse_page_placement(const std::string& text);

/// The same text, for records; pages of 2 MiB are not part of it.
[[nodiscard]] std::string text_of(const page_placement& placement);

}  // namespace nearfar::bench
