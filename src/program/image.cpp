#include "image.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "execution.hpp"

extern "C" void* __tls_get_addr(void*);  // NOLINT(bugprone-reserved-identifier)

namespace nearfar::program {

program_file::program_file(std::string path) : path_(std::move(path)) {
  if (std::error_code ignored; std::filesystem::is_directory(path_, ignored))
    throw std::runtime_error("'" + path_ + "' is a folder: name a program");
  std::ifstream in(path_, std::ios::binary);
  if (!in)
    throw std::runtime_error("cannot read '" + path_ + "': " + std::strerror(errno) +
                             "; name the program as a path, such as ./program");
  bytes_.assign(std::istreambuf_iterator<char>(in), {});
  if (bytes_.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
    throw std::runtime_error("'" + path_ + "' is no program: compile it with nearfar-cc or nearfar-c++");
  constexpr std::string_view hook = "__tsan_";
  if (std::search(bytes_.begin(), bytes_.end(), hook.begin(), hook.end()) == bytes_.end())
    throw std::runtime_error(
        "'" + path_ +
        "' was not compiled with nearfar-cc or nearfar-c++: the checker would not see its "
        "loads and stores");
}

void image::load(const program_file& from) {
  // The loader takes two names of one file for one object, so each copy is a file of its own. It knows
  // objects by their names as well, so the copies stay open: else the next one would have the same name.
  const int copy = memfd_create("nearfar-program", MFD_CLOEXEC);
  if (copy < 0)
    throw std::runtime_error(std::string("cannot copy the program into memory: ") + std::strerror(errno));
  for (std::size_t done = 0; done < from.bytes().size();) {
    const ssize_t n = write(copy, from.bytes().data() + done, from.bytes().size() - done);
    if (n <= 0)
      throw std::runtime_error(std::string("cannot copy the program into memory: ") + std::strerror(errno));
    done += static_cast<std::size_t>(n);
  }
  const std::string name = "/proc/self/fd/" + std::to_string(copy);
  // The constructors are the program's.
  is_inside = true;
  handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  is_inside = false;
  if (handle_ == nullptr) {
    std::string why = dlerror();
    if (const std::size_t at = why.find(name); at != std::string::npos)
      why.replace(at, name.size(), from.path());
    if (why.find("position independent") != std::string::npos ||
        why.find("dynamically load") != std::string::npos)
      throw std::runtime_error(
          "'" + from.path() +
          "' is an ordinary executable: compile and link it with nearfar-cc or nearfar-c++");
    if (const std::size_t at = why.find("undefined symbol: MPI_"); at != std::string::npos)
      throw std::runtime_error(
          "'" + from.path() + "' uses " + why.substr(at + std::strlen("undefined symbol: ")) +
          ", which the checker does not have; 'nearfar run --list-mpi' lists what it has");
    throw std::runtime_error("cannot load the program: " + why);
  }
  entry_ = reinterpret_cast<main_function>(dlsym(handle_, "main"));
  link_map* map = nullptr;
  dlinfo(handle_, RTLD_DI_LINKMAP, &map);
  base_ = map->l_addr;
  const void* own_main = reinterpret_cast<void*>(entry_);
  struct search {
    image* self;
    bool is_found;
  } what{this, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto& found = *static_cast<search*>(to);
        image& self = *found.self;
        if (info->dlpi_addr != self.base_) return 0;
        found.is_found = true;
        std::uintptr_t constant_begin = 0;
        std::uintptr_t constant_end = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type == PT_GNU_RELRO) {
            const auto page = static_cast<std::uintptr_t>(getpagesize());
            constant_begin = (self.base_ + part.p_vaddr) / page * page;
            constant_end = (self.base_ + part.p_vaddr + part.p_memsz) / page * page;
          }
        }
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD)
            self.end_ = std::max(self.end_, self.base_ + part.p_vaddr + part.p_memsz);
          if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) {
            std::uintptr_t begin = self.base_ + part.p_vaddr;
            const std::uintptr_t end = begin + part.p_memsz;
            // The loader has made the first part read-only.
            if (begin >= constant_begin && begin < constant_end) begin = constant_end;
            if (begin < end) self.writable_.push_back({reinterpret_cast<std::byte*>(begin), end - begin, {}});
          }
          if (part.p_type == PT_TLS && part.p_memsz > 0) {
            // The block exists once somebody asks for an address in it.
            std::size_t index[2] = {info->dlpi_tls_modid, 0};
            self.writable_.push_back({static_cast<std::byte*>(__tls_get_addr(index)), part.p_memsz, {}});
          }
        }
        return 1;
      },
      &what);
  if (entry_ == nullptr || !what.is_found || !contains(own_main))
    throw std::runtime_error("'" + from.path() + "' has no main: name the program, not a library");
}

void image::keep() {
  for (segment& one : writable_) one.kept.assign(one.begin, one.begin + one.bytes);
}

void image::restore() noexcept {
  for (segment& one : writable_) std::memcpy(one.begin, one.kept.data(), one.bytes);
}

bool image::contains(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= base_ && at < end_;
}

bool is_in_loader(const void* address) noexcept {
  struct extent {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  static const extent loader = [] {
    extent found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
          if (std::strstr(info->dlpi_name, "/ld-linux") == nullptr) return 0;
          auto& it = *static_cast<extent*>(to);
          it.begin = info->dlpi_addr;
          for (int i = 0; i < info->dlpi_phnum; ++i)
            if (info->dlpi_phdr[i].p_type == PT_LOAD)
              it.end =
                  std::max(it.end, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
          return 1;
        },
        &found);
    return found;
  }();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= loader.begin && at < loader.end;
}

}  // namespace nearfar::program
