# Spack recipe: `spack repo add`, or copied to var/spack/repos/builtin/packages/nearfar.
from spack.package import *


class Nearfar(CMakePackage):
    """Synchronisation on near and far memory: locks, reader-writer locks, maps and queues by MPI one-sided
    communication, channels between threads, NUMA-aware containers, a simulated cluster and a model checker."""

    license("BSD-3-Clause")

    # Built from a tree: `spack dev-build nearfar@main`, or `spack develop --path . nearfar@main`.
    version("main")

    variant("shared", default=True, description="Build a shared library")
    variant("mpi", default=True, description="Provide nearfar::mpi, for any MPI library with one-sided communication")
    variant("engine", default=False, description="Provide nearfar::engine: simulated cluster and model checker")
    variant("openmp", default=True, description="Run loops over containers on OpenMP threads")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.5:")
    depends_on("mpi@3:", when="+mpi")
    depends_on("boost@1.74: +context", when="+engine")

    generator("ninja")

    conflicts("%gcc@:11", msg="nearfar is C++20: it needs GCC 12 or newer")
    conflicts("%clang@:15", msg="nearfar is C++20: it needs Clang 16 or newer")

    def cmake_args(self):
        return [
            self.define("NEARFAR_DEVELOPER", False),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("NEARFAR_MPI", "mpi"),
            self.define_from_variant("NEARFAR_ENGINE", "engine"),
            self.define_from_variant("NEARFAR_OPENMP", "openmp"),
        ]
