"""MPICH's own tests of one-sided communication, for the scripts that run them in other ways."""

import re
import shlex
import subprocess

# The results that the suite's configure would find.
CONFIGURATION = """
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_PTHREAD_H 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE_USLEEP 1
#define POINTERINT_t long
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
"""


class Suite:
    """The suite's programs, built when they are asked for."""

    def __init__(self, source, compiler, folder):
        self.tests = source / "test/mpi"
        self.compiler = compiler
        self.folder = folder
        (folder / "mpitestconf.h").write_text(CONFIGURATION)
        rules = (self.tests / "rma/Makefile.am").read_text()
        self.sources = dict(re.findall(r"^(\w+)_SOURCES\s*= *(.*)$", rules, re.MULTILINE))
        self.flags = dict(re.findall(r"^(\w+)_CPPFLAGS\s*= *(.*) \$\(AM_CPPFLAGS\)$", rules, re.MULTILINE))
        self.common = [self.compile(self.tests / "util" / name) for name in ("mtest.c", "mtest_common.c", "mtest_single.c")]

    def runs(self):
        """(program, ranks, arguments) of the suite's list."""
        for line in (self.tests / "rma/testlist.in").read_text().splitlines():
            words = re.sub(r"@\w+@", "", line).split()
            if len(words) >= 2 and not line.startswith("#"):
                yield words[0], int(words[1]), [word[4:] for word in words[2:] if word.startswith("arg=")]

    def files(self, program):
        return [self.tests / "rma" / name for name in self.sources.get(program, f"{program}.c").split() if name.endswith(".c")]

    def locks(self, program):
        return any("MPI_Win_lock" in file.read_text(errors="replace") for file in self.files(program))

    def compile(self, source, flags=(), name=None):
        result = self.folder / f"{name or source.stem}.o"
        command = [*self.compiler, "-w", f"-I{self.folder}", f"-I{self.tests}/include", *flags, "-c", source, "-o", result]
        subprocess.run(command, check=True, stderr=subprocess.PIPE)
        return result

    def build(self, program):
        """The program, or None: some are for the library's own extensions."""
        result = self.folder / program
        flags = shlex.split(self.flags.get(program, ""))
        try:
            objects = [self.compile(file, flags, f"{program}-{file.stem}") for file in self.files(program)]
            subprocess.run([*self.compiler, "-o", result, *objects, *self.common, "-lm"], check=True, stderr=subprocess.PIPE)
        except subprocess.CalledProcessError:
            return None
        return result
