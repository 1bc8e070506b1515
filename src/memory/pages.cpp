#include "nearfar/memory/pages.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../core/words.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar {

using detail::system_text;

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

// --- what the system refused ------------------------------------------------------------------------------

struct problem_list {
  std::mutex mutex;
  std::vector<std::string> texts;
};

problem_list& problems() {
  static problem_list all;
  return all;
}

void note(std::string text) {
  problem_list& all = problems();
  const std::lock_guard lock(all.mutex);
  if (std::find(all.texts.begin(), all.texts.end(), text) == all.texts.end())
    all.texts.push_back(std::move(text));
}

// --- mapping ----------------------------------------------------------------------------------------------

/// Rounds `bytes` up to a whole number of units; `unit` is a power of two. Returns nothing if the result
/// exceeds the range of sizes.
std::optional<std::size_t> rounded_up(std::size_t bytes, std::size_t unit) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() - (unit - 1)) return std::nullopt;
  return (bytes + unit - 1) & ~(unit - 1);
}

std::byte* map(std::size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(pages);
}

/// Maps `bytes`, a multiple of the page size, at a multiple of `alignment`, a power of two.
std::byte* map_aligned(std::size_t bytes, std::size_t alignment) {
  if (alignment <= page_size()) return map(bytes);
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) throw std::bad_alloc();
  std::byte* const all = map(bytes + alignment);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(all) % alignment) % alignment;
  if (before > 0) munmap(all, before);
  munmap(all + before + bytes, alignment - before);
  return all + before;
}

/// The NUMA domains that a placement names. Throws `topology_error` for domains that do not exist.
std::vector<int> domains_of(const page_placement& placement) {
  if (placement.policy == page_policy::first_touch) return {};
  const int count = this_machine().numa_domains();
  for (const int domain : placement.domains)
    if (domain < 0 || domain >= count)
      throw topology_error("no NUMA domain " + std::to_string(domain) + ": the machine has " +
                           std::to_string(count) + ", numbered from 0");
  if (!placement.domains.empty()) return placement.domains;
  if (placement.policy == page_policy::bind)
    throw topology_error("pages cannot be bound to no NUMA domain: name at least one");
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Whether the system gives huge pages to no process; madvise() does not report that.
bool huge_pages_are_off() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(file, modes);
  return !file || modes.find("[never]") != std::string::npos;
}

void ask_for_huge_pages(void* pages, std::size_t bytes) {
  static const bool off = huge_pages_are_off();
  constexpr std::string_view failure = "no huge pages: ";
  if (off)
    note(std::string(failure) + "the system has transparent huge pages turned off");
  else if (madvise(pages, bytes, MADV_HUGEPAGE) != 0)
    note(std::string(failure) + "madvise: " + system_text(errno));
}

}  // namespace

std::size_t page_size() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* map_pages(std::size_t bytes, const page_placement& placement) {
  if (bytes == 0) throw misuse("no pages can be mapped for 0 bytes");
  const std::vector<int> domains = domains_of(placement);
  const std::optional<std::size_t> length = rounded_up(bytes, page_size());
  if (!length) throw std::bad_alloc();
  std::byte* const pages = map_aligned(*length, placement.huge_pages ? huge_page_bytes : page_size());
  try {
    if (!domains.empty()) {
      try {
        this_machine().bind_memory(pages, *length, domains, placement.policy == page_policy::interleave);
      } catch (const topology_error& refusal) {
        note(std::string(refusal.what()) + "; pages go where they are first touched");
      }
    }
    if (placement.huge_pages) ask_for_huge_pages(pages, *length);
  } catch (...) {
    munmap(pages, *length);
    throw;
  }
  return pages;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept {
  munmap(pages, rounded_up(bytes, page_size()).value_or(0));
}

std::vector<std::string> placement_problems() {
  problem_list& all = problems();
  const std::lock_guard lock(all.mutex);
  return all.texts;
}

// --- where things are -------------------------------------------------------------------------------------

int this_thread_domain() {
  static const std::vector<int> by_cpu = [] {
    const hardware& machine = this_machine();
    std::vector<int> domains;
    if (!machine.is_this_system()) {
      for (int pu = 0; pu < machine.pus(); ++pu)
        domains.push_back(machine.place_of_pu(pu)[index(level::numa)]);
      return domains;
    }
    // Not only the usable ones: the first call may come from a thread that is bound to one CPU.
    for (const usable_cpu& each : machine.all_cpus()) {
      const auto number = static_cast<std::size_t>(each.number);
      if (number >= domains.size()) domains.resize(number + 1, unknown_domain);
      domains[number] = each.where[index(level::numa)];
    }
    return domains;
  }();
  static const bool wraps = !this_machine().is_this_system();
  const int cpu = sched_getcpu();
  if (cpu < 0) return unknown_domain;
  const std::size_t at =
      wraps ? static_cast<std::size_t>(cpu) % by_cpu.size() : static_cast<std::size_t>(cpu);
  return at < by_cpu.size() ? by_cpu[at] : unknown_domain;
}

std::optional<page_locations> locate_pages(const void* data, std::size_t bytes) {
  const hardware& machine = this_machine();
  const std::size_t page = page_size();
  page_locations found{.page_bytes = page};
  if (bytes == 0) return found;

  const std::size_t before = reinterpret_cast<std::uintptr_t>(data) % page;  // in the first page
  // A number instead of a pointer, because the pages may belong to no object, for instance at a null pointer.
  std::uintptr_t next = reinterpret_cast<std::uintptr_t>(data) - before;
  const std::size_t count = (bytes - 1 + before) / page + 1;
  found.domains.reserve(count);
  constexpr std::size_t batch = 2048;
  std::array<void*, batch> addresses{};
  std::array<int, batch> nodes{};
  while (found.domains.size() < count) {
    const std::size_t now = std::min(batch, count - found.domains.size());
    for (std::size_t i = 0; i < now; ++i, next += page)
      addresses[i] = reinterpret_cast<void*>(next);  // NOLINT(performance-no-int-to-ptr)
    // Without target nodes this call moves nothing and only reports.
    if (syscall(SYS_move_pages, 0, now, addresses.data(), nullptr, nodes.data(), 0) < 0) {
      note("the kernel does not say where pages are: move_pages: " + system_text(errno));
      return std::nullopt;
    }
    for (std::size_t i = 0; i < now; ++i) {
      // EFAULT stands for the zero page, which all pages share that were only read.
      if (nodes[i] == -ENOENT || nodes[i] == -EFAULT)
        found.domains.push_back(untouched_page);
      else
        found.domains.push_back(nodes[i] < 0 ? unknown_domain : machine.domain_of_node(nodes[i]));
    }
  }
  if (!machine.is_this_system())
    note("pages are on this machine's NUMA domains, which the environment's description does not show");
  return found;
}

}  // namespace nearfar
