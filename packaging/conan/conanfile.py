"""Conan recipe of the tree that it lies in: `conan create packaging/conan` from the tree's root."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps
from conan.tools.system.package_manager import Apt, Dnf, PacMan, Zypper

required_conan_version = ">=2.0"


class Nearfar(ConanFile):
    name = "nearfar"
    description = "Synchronisation on near and far memory: locks, queues, channels, containers"
    license = "BSD-3-Clause"
    topics = ("mpi", "rma", "lock", "queue", "channel", "numa", "hpc")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "mpi": [True, False],
        "engine": [True, False],
        "openmp": [True, False],
        "system_hwloc": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "mpi": False,
        "engine": False,
        "openmp": True,
        "system_hwloc": False,
    }
    options_description = {
        "mpi": "nearfar::mpi, compiled in the consumer's build with the MPI library found there; this build needs one, too",
        "engine": "nearfar::engine: simulated cluster and model checker",
        "openmp": "loops over containers on OpenMP threads",
        "system_hwloc": "hwloc of the system's package manager instead of Conan's",
    }

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._tree, "CMakeLists.txt"))
        self.version = re.search(r"project\(\s*nearfar\s+VERSION (\S+)", text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff"):
            copy(self, pattern, self._tree, self.export_sources_folder)
        for folder in ("cmake", "docs", "examples", "include", "src"):
            copy(self, f"{folder}/*", self._tree, self.export_sources_folder)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if not self.options.system_hwloc:
            self.requires("hwloc/[>=2.5 <3]")
        if self.options.engine:
            self.requires("boost/[>=1.74 <2]", transitive_headers=True)

    def system_requirements(self):
        if self.options.system_hwloc:
            Apt(self).install(["libhwloc-dev", "pkg-config"])
            Dnf(self).install(["hwloc-devel", "pkgconf"])
            Zypper(self).install(["hwloc-devel", "pkg-config"])
            PacMan(self).install(["hwloc", "pkgconf"])

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["NEARFAR_DEVELOPER"] = False
        toolchain.cache_variables["NEARFAR_MPI"] = bool(self.options.mpi)
        toolchain.cache_variables["NEARFAR_C"] = False  # compiled here, for one MPI library
        toolchain.cache_variables["NEARFAR_ENGINE"] = bool(self.options.engine)
        toolchain.cache_variables["NEARFAR_OPENMP"] = bool(self.options.openmp)
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # The package's own file knows its components and what each needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/nearfar"]
        self.cpp_info.libs = ["nearfar"]
