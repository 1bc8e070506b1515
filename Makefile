# Everything is done by the scripts in scripts/; this file only names them.

.DEFAULT_GOAL := help
.PHONY: help build test bench site format clean

help:
	@echo 'make bench    install what is missing, build, measure the locks, make a page of figures'
	@echo '             make bench FULL=1: every variant of each lock, and more repetitions'
	@echo 'make test     install what is missing, build, run the tests'
	@echo '             make test FULL=1: also sanitizers, mutants, long searches, packages'
	@echo '             make test MPI=openmpi5,mpich5: only the tests that run MPI programs, on these libraries'
	@echo 'make build    build the command: build/nearfar (Open MPI), build/nearfar-mpich'
	@echo 'make site     the documentation as HTML pages: build/site/index.html'
	@echo 'make format   format the C++ files'
	@echo 'make clean    remove build/'

build:
	@scripts/build

test:
	@scripts/test $(if $(FULL),--full) $(if $(MPI),--mpi '$(MPI)')

bench:
	@scripts/bench $(if $(FULL),--full)

site:
	@scripts/setup test
	@scripts/site

format:
	@scripts/format

clean:
	rm -rf build
