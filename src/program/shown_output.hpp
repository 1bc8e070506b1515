// Output of the program under test, where the checker shows it.
#pragma once

namespace nearfar::program {

/// The error number of the first write that failed; 0 if standard output and standard error took everything.
[[nodiscard]] int lost_output() noexcept;

}  // namespace nearfar::program
