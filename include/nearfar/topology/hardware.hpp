/// \file
/// The machine as hwloc sees it: where a thread runs, which cores it may use, how to bind it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// The CPUs on which the operating system lets a thread run.
struct binding {
  std::vector<int> allowed_cpus;   ///< numbers of the CPUs (PUs) in the operating system, ascending
  bool bound_to_one_core = false;  ///< whether all of them are on one core
};

/// A CPU (PU, hardware thread) of the machine.
struct usable_cpu {
  int number = 0;  ///< in the operating system
  place where{};   ///< as `hardware::place_of_pu` returns it
};

/// A package, NUMA domain, cache, core or PU of the machine, with all that is inside it.
struct machine_part {
  std::string kind;       ///< "package", "numa", "core", "PU"; of a cache its level, such as "L2"
  int number = 0;         ///< hwloc's logical id; of a PU the operating system's number
  std::size_t bytes = 0;  ///< of a cache or a domain's memory; 0 if the machine does not tell
  std::vector<machine_part> inside{};
};

/// The topology of this node. Discovering it takes milliseconds (more on large machines): make one object and
/// keep it. Any number of threads may call `const` members at once. A moved-from object can only be destroyed
/// or assigned to.
///
/// The environment variables HWLOC_XMLFILE and HWLOC_SYNTHETIC replace the real machine by a described one,
/// as in every program that uses hwloc. Then `is_this_system()` is false, places come from `place_of_pu`, and
/// threads cannot be bound; `allowed_cpus()` still counts the real CPUs of this process.
///
/// The CPUs that the process may use are those of the calling thread at construction, so make the object
/// before binding threads.
class hardware {
 public:
  /// Throws `topology_error` if hwloc fails, or if it cannot use the value of the environment variables
  /// above.
  hardware();
  hardware(hardware&&) noexcept;
  hardware& operator=(hardware&&) noexcept;
  hardware(const hardware&) = delete;
  hardware& operator=(const hardware&) = delete;
  ~hardware();

  /// Whether this describes the machine the process runs on.
  [[nodiscard]] bool is_this_system() const noexcept;

  /// The place of the calling thread: hwloc's logical ids of the package, NUMA domain, cache and core that
  /// contain all CPUs it may run on. An id is `unknown_id` if these CPUs span several objects or the machine
  /// does not show that level; all ids are if not `is_this_system()`. The node is 0, for the caller to fill
  /// in. The cache is the L3, or the L2 on machines without L3. Throws `topology_error` if the system does
  /// not tell.
  [[nodiscard]] place this_thread_place() const;

  /// The place of a thread bound to the PU of this logical index, 0 to pus() - 1. Throws `topology_error` for
  /// another index.
  [[nodiscard]] place place_of_pu(int index) const;

  /// The CPUs the calling thread may run on now. Throws `topology_error` if the system does not tell.
  [[nodiscard]] binding this_thread_binding() const;

  /// Number of CPUs that this process can keep busy: those of its affinity mask, or its cgroup's CPU quota
  /// rounded up if that is smaller. At least 1. With more busy threads the process is oversubscribed.
  [[nodiscard]] int allowed_cpus() const noexcept;

  /// Number of cores with at least one CPU in the affinity mask, from which `bind_this_thread_to_core`
  /// chooses. 0 if not `is_this_system()`.
  [[nodiscard]] int allowed_cores() const noexcept;

  /// Number of PUs (hardware threads) of the machine described.
  [[nodiscard]] int pus() const noexcept;

  /// Number of NUMA domains of the machine described, at least 1. Their logical ids are 0 to numa_domains() -
  /// 1.
  [[nodiscard]] int numa_domains() const noexcept;

  /// Size of one last-level cache (the L3, or the L2 on machines without L3; the smallest where they differ)
  /// in bytes; 0 if the machine does not tell.
  [[nodiscard]] std::size_t last_level_cache_bytes() const noexcept;

  /// The CPUs of the affinity mask, in the order of their logical indices: neighbours in the list are near
  /// each other. All CPUs of the machine described if not `is_this_system()`.
  [[nodiscard]] std::vector<usable_cpu> usable_cpus() const;

  /// All CPUs of the machine described, in the same order, whether or not this process may use them.
  [[nodiscard]] std::vector<usable_cpu> all_cpus() const;

  /// Logical id of the NUMA domain that has this number in the operating system; `unknown_id` if there is
  /// none or if not `is_this_system()`.
  [[nodiscard]] int domain_of_node(int number) const noexcept;

  /// One line, no newline: "1 package, 1 NUMA domain, 1 L3 cache of 32 MiB, 2 cores, 2 PUs".
  [[nodiscard]] std::string summary() const;

  /// The outermost parts of the machine described, each with all caches and PUs. Cores are inside their NUMA
  /// domain, as in the levels.
  [[nodiscard]] std::vector<machine_part> parts() const;

  /// Packages, NUMA domains, caches, cores as an indented tree, one a line, each line ended by a newline.
  /// Objects have hwloc's logical ids, as in places; CPUs have the operating system's numbers.
  [[nodiscard]] std::string tree_text() const;

  /// Binds the calling thread to all its process's CPUs of one core: the `index`th allowed core, 0 to
  /// allowed_cores() - 1. Throws `topology_error` if there is no such core, if not `is_this_system()`, or
  /// with the system's text if the system refuses.
  void bind_this_thread_to_core(int index) const;

  /// Binds the calling thread to these CPUs, by the operating system's numbers. Throws `topology_error` if
  /// the list is empty, if a CPU is not in the affinity mask, if not `is_this_system()`, or with the system's
  /// text if the system refuses.
  void bind_this_thread_to_cpus(std::span<const int> numbers) const;

  /// Asks the system to place `bytes` bytes from `pages` on these NUMA domains (logical ids). They must be
  /// whole pages that have not been touched yet. The pages go to the domains as long as these have room, or,
  /// if `interleaved`, to each in turn page by page. Throws `topology_error` if the list is empty, if a
  /// domain does not exist, if not `is_this_system()`, or with the system's text if the system refuses.
  void bind_memory(void* pages, std::size_t bytes, std::span<const int> domains, bool interleaved) const;

  /// The calling thread's binding for people: "cores 0-1", "core 3", or "core 3 (CPU 7)" if it may not use
  /// all hardware threads of its cores; "CPUs 0-1" if not `is_this_system()`. Cores by logical id.
  [[nodiscard]] std::string binding_text() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// The machine of this process: one `hardware` for all callers. The first call makes it, and throws what the
/// constructor throws. Any thread may call this; the affinity mask is that of the thread that called first.
[[nodiscard]] const hardware& this_machine();

}  // namespace nearfar
