# The scripts in scripts/ do all the work; this file names them.

.DEFAULT_GOAL := help
.PHONY: help build test bench site format clean

help:
	@echo 'make bench    install missing packages, build, measure the locks, draw a page of figures'
	@echo '             make bench FULL=1: every variant of each lock, and more repetitions'
	@echo 'make test     install missing packages, build, run the tests'
	@echo '             make test FULL=1: also sanitizers, mutants, long searches, packages'
	@echo '             make test MPI=openmpi5,mpich5: only the tests that run MPI programs, on these libraries'
	@echo 'make build    build the command: build/nearfar (Open MPI), build/nearfar-mpich'
	@echo 'make site     make HTML pages of the documentation: build/site/index.html'
	@echo 'make format   format the C++ files'
	@echo 'make clean    remove build/'

ifneq ($(filter-out 0 1,$(FULL))$(word 2,$(FULL)),)
$(error FULL is 1 or not given, not '$(FULL)')
endif
full := $(if $(filter 1,$(FULL)),--full)

build:
	@scripts/build

# A variable MPI of the environment, which some sites set, does not choose the tests.
test:
	@scripts/test $(full) $(if $(filter command,$(firstword $(origin MPI))),--mpi '$(subst ','\'',$(MPI))')

bench:
	@scripts/bench $(full)

site:
	@scripts/setup test
	@scripts/site

format:
	@scripts/format

clean:
	@[ ! -e build/.alone ] || flock --nonblock build/.alone true || \
	  { echo 'a make bench or make test runs in this checkout: wait until it ends, or end it' >&2; exit 1; }
	rm -rf build
