/// \file
/// A system that forbids the calls of NUMA placement, as many containers do.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace nearfar::testing {

/// From here on the kernel answers mbind, move_pages and set_mempolicy of the calling thread, and of all that
/// it starts, programs included, with EPERM. False if the system does not permit that; errno says why.
[[nodiscard]] inline bool forbid_placement_calls() {
#if defined(__x86_64__)
  constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "name the architecture for seccomp here"
#endif
  constexpr auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  constexpr auto skip_if = [](std::uint32_t value, std::uint8_t then, std::uint8_t otherwise) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, then, otherwise, value};
  };
  constexpr auto answer = [](std::uint32_t action) { return sock_filter{BPF_RET | BPF_K, 0, 0, action}; };
  std::array<sock_filter, 8> program{
      load(offsetof(seccomp_data, arch)), skip_if(architecture, 0, 4),       load(offsetof(seccomp_data, nr)),
      skip_if(SYS_mbind, 3, 0),           skip_if(SYS_move_pages, 2, 0),     skip_if(SYS_set_mempolicy, 1, 0),
      answer(SECCOMP_RET_ALLOW),          answer(SECCOMP_RET_ERRNO | EPERM),
  };
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace nearfar::testing
