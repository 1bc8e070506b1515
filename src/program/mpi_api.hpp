// The functions of MPI, as the program under test finds them: symbols of the executable.
#pragma once

#pragma GCC visibility push(default)
#include "nearfar-mpi/mpi.h"
#pragma GCC visibility pop
