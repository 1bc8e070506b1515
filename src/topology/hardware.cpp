#include "nearfar/topology/hardware.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../core/words.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/topology/cgroup.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

using detail::counted;
using detail::system_text;

// These types need linkage, because `hardware::impl` has fields of them and unity builds join sources.
namespace detail {

struct bitmap_free {
  void operator()(hwloc_bitmap_t set) const noexcept { hwloc_bitmap_free(set); }
};
struct topology_destroy {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};

}  // namespace detail

namespace {

using bitmap = std::unique_ptr<hwloc_bitmap_s, detail::bitmap_free>;
using topology_handle = std::unique_ptr<hwloc_topology, detail::topology_destroy>;

bitmap new_bitmap() {
  bitmap set(hwloc_bitmap_alloc());
  if (!set) {
    throw topology_error("hwloc cannot allocate a CPU set: out of memory");
  }
  return set;
}

/// "0-1,4": a CPU set, or a set of logical ids, as text.
std::string list_text(hwloc_const_bitmap_t set) {
  const int length = hwloc_bitmap_list_snprintf(nullptr, 0, set);
  std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  hwloc_bitmap_list_snprintf(text.data(), text.size(), set);
  text.pop_back();
  return text;
}

/// "core 3", "cores 0-1".
std::string numbered(std::string_view noun, hwloc_const_bitmap_t set) {
  return std::string(noun) + (hwloc_bitmap_weight(set) == 1 ? " " : "s ") + list_text(set);
}

/// The CPUs on which the calling thread may run. This asks the system instead of hwloc, which answers for the
/// machine that it describes.
bitmap thread_cpus() {
  // The kernel refuses masks smaller than its own and does not tell their size, so the loop tries larger
  // ones.
  constexpr std::size_t most_cpus = std::size_t{1} << 20;
  for (std::size_t cpus = CPU_SETSIZE; cpus <= most_cpus; cpus *= 2) {
    const auto release = [](cpu_set_t* mask) { CPU_FREE(mask); };
    const std::unique_ptr<cpu_set_t, decltype(release)> mask(CPU_ALLOC(cpus), release);
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (mask && sched_getaffinity(0, bytes, mask.get()) == 0) {
      bitmap set = new_bitmap();
      for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask.get())) {
          hwloc_bitmap_set(set.get(), static_cast<unsigned>(cpu));
        }
      }
      return set;
    }
    if (mask && errno != EINVAL) {
      break;
    }
  }
  throw topology_error("cannot read the thread's CPU affinity: " + system_text(errno));
}

topology_handle load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    throw topology_error("hwloc cannot start: " + system_text(errno));
  }
  topology_handle topology(raw);
  // If hwloc cannot use these variables, it silently shows the real machine, so they are passed on by hand.
  // If both are set, the file wins, as in hwloc.
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
    return std::string(value == nullptr ? "" : value);
  };
  const std::string file = variable("HWLOC_XMLFILE");
  const std::string synthetic = variable("HWLOC_SYNTHETIC");
  if (!file.empty()) {
    if (hwloc_topology_set_xml(raw, file.c_str()) != 0) {
      throw topology_error("HWLOC_XMLFILE='" + file +
                           "' is no topology file: unset it, or name one that lstopo wrote");
    }
  } else if (!synthetic.empty() && hwloc_topology_set_synthetic(raw, synthetic.c_str()) != 0) {
    throw topology_error("HWLOC_SYNTHETIC='" + synthetic +
                         "' is no topology: unset it, or write one like 'pack:2 [numa] l3:2 core:4 pu:2'");
  }
  if (hwloc_topology_load(raw) != 0) {
    throw topology_error("hwloc cannot discover the machine: " + system_text(errno));
  }
  return topology;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = kib * kib;
  return bytes < mib ? std::to_string(bytes / kib) + " KiB"
                     : std::to_string((bytes + mib / 2) / mib) + " MiB";
}

}  // namespace

struct hardware::impl {
  topology_handle topology = load_topology();
  bitmap process_cpus = thread_cpus();
  int cpu_limit = 1;
  std::vector<hwloc_obj_t> cores;  // allowed ones, by logical id

  // Some machines show no L3 cache, and some virtual ones no cores. The next best object stands in.
  hwloc_obj_type_t cache_type = objects(HWLOC_OBJ_L3CACHE) > 0 ? HWLOC_OBJ_L3CACHE : HWLOC_OBJ_L2CACHE;
  hwloc_obj_type_t core_type = objects(HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;

  impl();

  [[nodiscard]] bool real() const noexcept { return hwloc_topology_is_thissystem(topology.get()) != 0; }
  void require_real(const std::string& failure) const;
  [[nodiscard]] int objects(hwloc_obj_type_t type) const noexcept;
  [[nodiscard]] hwloc_obj_t object(hwloc_obj_type_t type, int index) const noexcept;
  [[nodiscard]] int id_around(hwloc_obj_type_t type, hwloc_const_bitmap_t cpus) const;
  [[nodiscard]] place place_of(hwloc_const_bitmap_t cpus) const;
  [[nodiscard]] bitmap cores_of(hwloc_const_bitmap_t cpus) const;
  [[nodiscard]] std::string cache_name() const { return cache_type == HWLOC_OBJ_L3CACHE ? "L3" : "L2"; }
  [[nodiscard]] std::string cache_summary() const;
  [[nodiscard]] std::string line_of(hwloc_obj_t object) const;
  void print(std::string& text, hwloc_obj_t object, std::size_t depth) const;
  [[nodiscard]] std::optional<machine_part> part_of(hwloc_obj_t object) const;
  void collect(std::vector<machine_part>& to, hwloc_obj_t object) const;
};

hardware::impl::impl() {
  cpu_limit = std::max(1, hwloc_bitmap_weight(process_cpus.get()));
  cpu_limit = std::min(cpu_limit, cgroup_cpu_quota().value_or(cpu_limit));
  for (int i = 0; real() && i < objects(core_type); ++i) {
    if (hwloc_bitmap_intersects(object(core_type, i)->cpuset, process_cpus.get()) != 0) {
      cores.push_back(object(core_type, i));
    }
  }
}

/// Throws if the described machine is not the real one, on which alone the program can act.
void hardware::impl::require_real(const std::string& failure) const {
  if (!real()) {
    throw topology_error(
        failure +
        "the topology is not this machine's: unset HWLOC_SYNTHETIC, HWLOC_XMLFILE and HWLOC_THISSYSTEM");
  }
}

/// Number of objects of a type.
int hardware::impl::objects(hwloc_obj_type_t type) const noexcept {
  // Negative where hwloc keeps such objects at several depths, which it does for none of the types used here.
  return std::max(0, hwloc_get_nbobjs_by_type(topology.get(), type));
}

/// The object of a type with this logical id, which must exist.
hwloc_obj_t hardware::impl::object(hwloc_obj_type_t type, int index) const noexcept {
  return hwloc_get_obj_by_type(topology.get(), type, static_cast<unsigned>(index));
}

/// Logical id of the object of a type that holds all of `cpus`; `unknown_id` if none does. If several do, as
/// with fast and ordinary memory in one NUMA domain, the one nearest to the CPUs, then the first.
int hardware::impl::id_around(hwloc_obj_type_t type, hwloc_const_bitmap_t cpus) const {
  int nearest = unknown_id;
  int fewest = std::numeric_limits<int>::max();
  for (int i = 0; i < objects(type); ++i) {
    const hwloc_const_cpuset_t held = object(type, i)->cpuset;
    if (hwloc_bitmap_isincluded(cpus, held) != 0 && hwloc_bitmap_weight(held) < fewest) {
      nearest = i;
      fewest = hwloc_bitmap_weight(held);
    }
  }
  return nearest;
}

/// The place of a thread that may run on `cpus`.
place hardware::impl::place_of(hwloc_const_bitmap_t cpus) const {
  place where;
  where.fill(unknown_id);
  where[index(level::node)] = 0;
  const bitmap inside = new_bitmap();
  hwloc_bitmap_and(inside.get(), cpus, hwloc_topology_get_topology_cpuset(topology.get()));
  if (hwloc_bitmap_iszero(inside.get()) == 0) {
    where[index(level::package)] = id_around(HWLOC_OBJ_PACKAGE, inside.get());
    where[index(level::numa)] = id_around(HWLOC_OBJ_NUMANODE, inside.get());
    where[index(level::cache)] = id_around(cache_type, inside.get());
    where[index(level::core)] = id_around(core_type, inside.get());
  }
  return where;
}

/// Logical ids of the cores that have any of `cpus`.
bitmap hardware::impl::cores_of(hwloc_const_bitmap_t cpus) const {
  bitmap ids = new_bitmap();
  for (int i = 0; i < objects(core_type); ++i) {
    if (hwloc_bitmap_intersects(object(core_type, i)->cpuset, cpus) != 0) {
      hwloc_bitmap_set(ids.get(), static_cast<unsigned>(i));
    }
  }
  return ids;
}

/// "2 L3 caches of 32 MiB"; sizes that differ as "of 16 MiB to 32 MiB".
std::string hardware::impl::cache_summary() const {
  const int caches = objects(cache_type);
  if (caches == 0) {
    return "no shared cache known";
  }
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  for (int i = 0; i < caches; ++i) {
    const std::uint64_t bytes = object(cache_type, i)->attr->cache.size;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  std::string text = counted(caches, cache_name() + " cache");
  if (most > 0) {
    text += " of " + size_text(least) + (least < most ? " to " + size_text(most) : "");
  }
  return text;
}

/// The text of the tree about an object. Empty for objects that correspond to no level.
std::string hardware::impl::line_of(hwloc_obj_t object) const {
  const std::string id = " " + std::to_string(object->logical_index);
  if (object->type == HWLOC_OBJ_PACKAGE) {
    return std::string(name(level::package)) + id;
  }
  if (object->type == HWLOC_OBJ_NUMANODE) {
    const std::uint64_t bytes = object->attr->numanode.local_memory;
    return std::string(name(level::numa)) + id + (bytes > 0 ? ": " + size_text(bytes) : "");
  }
  if (object->type == cache_type) {
    const std::uint64_t bytes = object->attr->cache.size;
    return std::string(name(level::cache)) + id + ": " + cache_name() +
           (bytes > 0 ? ", " + size_text(bytes) : "");
  }
  if (object->type == core_type) {
    return std::string(name(level::core)) + id + ": " + numbered("CPU", object->cpuset);
  }
  return {};
}

/// Adds an object and all objects inside it to the tree. hwloc attaches memory beside the cores that it is
/// near to; this tree puts the cores inside their NUMA domain, as the levels do.
void hardware::impl::print(std::string& text, hwloc_obj_t object, std::size_t depth) const {
  if (const std::string line = line_of(object); !line.empty()) {
    text.append(2 * depth, ' ').append(line).append("\n");
    ++depth;
  }
  for (hwloc_obj_t memory = object->memory_first_child; memory != nullptr; memory = memory->next_sibling) {
    print(text, memory, depth);
  }
  const std::size_t inner = object->memory_arity > 0 ? depth + 1 : depth;
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    print(text, child, inner);
  }
}

/// Without the parts inside; nothing for objects such as groups, which are no part.
std::optional<machine_part> hardware::impl::part_of(hwloc_obj_t object) const {
  const int number = static_cast<int>(object->logical_index);
  if (object->type == HWLOC_OBJ_PACKAGE) {
    return machine_part{.kind = std::string(name(level::package)), .number = number};
  }
  if (object->type == HWLOC_OBJ_NUMANODE) {
    return machine_part{.kind = std::string(name(level::numa)),
                        .number = number,
                        .bytes = object->attr->numanode.local_memory};
  }
  if (hwloc_obj_type_is_dcache(object->type) != 0) {
    return machine_part{.kind = "L" + std::to_string(object->attr->cache.depth),
                        .number = number,
                        .bytes = object->attr->cache.size};
  }
  if (object->type == HWLOC_OBJ_PU) {
    return machine_part{.kind = "PU", .number = static_cast<int>(object->os_index)};
  }
  if (object->type == core_type) {
    return machine_part{.kind = std::string(name(level::core)), .number = number};
  }
  return std::nullopt;
}

/// Adds the part that an object is, or those inside it. The first NUMA domain beside cores has them inside.
void hardware::impl::collect(std::vector<machine_part>& to, hwloc_obj_t object) const {
  std::vector<machine_part>* within = &to;
  if (std::optional<machine_part> part = part_of(object)) {
    to.push_back(std::move(*part));
    within = &to.back().inside;
  }
  const std::size_t first_domain = within->size();
  for (hwloc_obj_t memory = object->memory_first_child; memory != nullptr; memory = memory->next_sibling) {
    collect(*within, memory);
  }
  if (within->size() > first_domain) {
    within = &(*within)[first_domain].inside;
  }
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    collect(*within, child);
  }
}

hardware::hardware() : impl_(std::make_unique<impl>()) {}
hardware::hardware(hardware&&) noexcept = default;
hardware& hardware::operator=(hardware&&) noexcept = default;
hardware::~hardware() = default;

bool hardware::is_this_system() const noexcept { return impl_->real(); }

place hardware::this_thread_place() const {
  const bitmap nothing = new_bitmap();
  return is_this_system() ? impl_->place_of(thread_cpus().get()) : impl_->place_of(nothing.get());
}

place hardware::place_of_pu(int index) const {
  if (index < 0 || index >= pus()) {
    throw topology_error("no PU " + std::to_string(index) + ": the machine has " + counted(pus(), "PU") +
                         ", numbered from 0");
  }
  return impl_->place_of(impl_->object(HWLOC_OBJ_PU, index)->cpuset);
}

binding hardware::this_thread_binding() const {
  const bitmap cpus = thread_cpus();
  binding bound;
  for (int cpu = hwloc_bitmap_first(cpus.get()); cpu >= 0; cpu = hwloc_bitmap_next(cpus.get(), cpu)) {
    bound.allowed_cpus.push_back(cpu);
  }
  bound.bound_to_one_core = is_this_system() ? hwloc_bitmap_weight(impl_->cores_of(cpus.get()).get()) == 1
                                             : bound.allowed_cpus.size() == 1;
  return bound;
}

int hardware::allowed_cpus() const noexcept { return impl_->cpu_limit; }

int hardware::allowed_cores() const noexcept { return static_cast<int>(impl_->cores.size()); }

int hardware::pus() const noexcept { return impl_->objects(HWLOC_OBJ_PU); }

int hardware::numa_domains() const noexcept { return std::max(1, impl_->objects(HWLOC_OBJ_NUMANODE)); }

std::size_t hardware::last_level_cache_bytes() const noexcept {
  std::uint64_t least = 0;
  for (int i = 0; i < impl_->objects(impl_->cache_type); ++i) {
    const std::uint64_t bytes = impl_->object(impl_->cache_type, i)->attr->cache.size;
    least = i == 0 ? bytes : std::min(least, bytes);
  }
  return static_cast<std::size_t>(least);
}

std::vector<usable_cpu> hardware::usable_cpus() const {
  std::vector<usable_cpu> found = all_cpus();
  if (is_this_system()) {
    std::erase_if(found, [this](const usable_cpu& cpu) {
      return hwloc_bitmap_isset(impl_->process_cpus.get(), static_cast<unsigned>(cpu.number)) == 0;
    });
  }
  return found;
}

std::vector<usable_cpu> hardware::all_cpus() const {
  std::vector<usable_cpu> found;
  for (int i = 0; i < pus(); ++i) {
    const hwloc_obj_t pu = impl_->object(HWLOC_OBJ_PU, i);
    found.push_back({static_cast<int>(pu->os_index), impl_->place_of(pu->cpuset)});
  }
  return found;
}

int hardware::domain_of_node(int number) const noexcept {
  if (number < 0 || !is_this_system()) {
    return unknown_id;
  }
  const hwloc_obj_t node =
      hwloc_get_numanode_obj_by_os_index(impl_->topology.get(), static_cast<unsigned>(number));
  return node == nullptr ? unknown_id : static_cast<int>(node->logical_index);
}

std::string hardware::summary() const {
  return counted(impl_->objects(HWLOC_OBJ_PACKAGE), "package") + ", " +
         counted(impl_->objects(HWLOC_OBJ_NUMANODE), "NUMA domain") + ", " + impl_->cache_summary() + ", " +
         counted(impl_->objects(impl_->core_type), "core") + ", " + counted(pus(), "PU") +
         (is_this_system() ? "" : " (described by the environment, not this machine)");
}

std::vector<machine_part> hardware::parts() const {
  std::vector<machine_part> all;
  impl_->collect(all, hwloc_get_root_obj(impl_->topology.get()));
  return all;
}

std::string hardware::tree_text() const {
  std::string text;
  impl_->print(text, hwloc_get_root_obj(impl_->topology.get()), 0);
  return text;
}

void hardware::bind_this_thread_to_core(int index) const {
  const std::string failure = "cannot bind a thread to core " + std::to_string(index) + ": ";
  impl_->require_real(failure);
  if (index < 0 || index >= allowed_cores()) {
    throw topology_error(failure + "this process may use " + counted(allowed_cores(), "core") +
                         ", numbered from 0: use fewer threads or allow it more cores");
  }
  const bitmap cpus = new_bitmap();
  hwloc_bitmap_and(cpus.get(), impl_->cores[static_cast<std::size_t>(index)]->cpuset,
                   impl_->process_cpus.get());
  if (hwloc_set_cpubind(impl_->topology.get(), cpus.get(), HWLOC_CPUBIND_THREAD) != 0) {
    throw topology_error(failure + system_text(errno));
  }
}

void hardware::bind_this_thread_to_cpus(std::span<const int> numbers) const {
  const bitmap cpus = new_bitmap();
  for (const int number : numbers) {
    if (number < 0 || hwloc_bitmap_isset(impl_->process_cpus.get(), static_cast<unsigned>(number)) == 0) {
      throw topology_error("cannot bind a thread to CPU " + std::to_string(number) +
                           ": this process may use " + numbered("CPU", impl_->process_cpus.get()));
    }
    hwloc_bitmap_set(cpus.get(), static_cast<unsigned>(number));
  }
  if (numbers.empty()) {
    throw topology_error("cannot bind a thread to no CPU: name at least one");
  }
  const std::string failure = "cannot bind a thread to " + numbered("CPU", cpus.get()) + ": ";
  impl_->require_real(failure);
  if (hwloc_set_cpubind(impl_->topology.get(), cpus.get(), HWLOC_CPUBIND_THREAD) != 0) {
    throw topology_error(failure + system_text(errno));
  }
}

void hardware::bind_memory(void* pages, std::size_t bytes, std::span<const int> domains,
                           bool interleaved) const {
  const std::string failure =
      interleaved ? "cannot interleave memory over NUMA domains: " : "cannot bind memory to NUMA domains: ";
  impl_->require_real(failure);
  const bitmap nodes = new_bitmap();
  for (const int domain : domains) {
    if (domain < 0 || domain >= impl_->objects(HWLOC_OBJ_NUMANODE)) {
      throw topology_error(failure + "there is no domain " + std::to_string(domain) + "; the machine has " +
                           counted(numa_domains(), "NUMA domain") + ", numbered from 0");
    }
    hwloc_bitmap_set(nodes.get(), impl_->object(HWLOC_OBJ_NUMANODE, domain)->os_index);
  }
  if (domains.empty()) {
    throw topology_error(failure + "name at least one");
  }
  // HWLOC_MEMBIND_STRICT would make the kernel end processes for lack of memory while other domains have
  // some.
  if (hwloc_set_area_membind(impl_->topology.get(), pages, bytes, nodes.get(),
                             interleaved ? HWLOC_MEMBIND_INTERLEAVE : HWLOC_MEMBIND_BIND,
                             HWLOC_MEMBIND_BYNODESET) != 0) {
    throw topology_error(failure + system_text(errno));
  }
}

const hardware& this_machine() {
  static const hardware machine;
  return machine;
}

std::string hardware::binding_text() const {
  const bitmap cpus = thread_cpus();
  if (!is_this_system()) {
    return numbered("CPU", cpus.get());
  }
  const bitmap ids = impl_->cores_of(cpus.get());
  bool whole = true;
  for (int id = hwloc_bitmap_first(ids.get()); id >= 0; id = hwloc_bitmap_next(ids.get(), id)) {
    whole = whole && hwloc_bitmap_isincluded(impl_->object(impl_->core_type, id)->cpuset, cpus.get()) != 0;
  }
  return numbered("core", ids.get()) + (whole ? "" : " (" + numbered("CPU", cpus.get()) + ")");
}

}  // namespace nearfar
