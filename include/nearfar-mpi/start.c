/* What a program of nearfar-cc does if it is started as such: it goes on as the only rank of `nearfar run`,
 * as programs of MPI libraries do without mpirun. nearfar-cc links this. The program has no interpreter, so
 * nothing is relocated here, and no library is there. */

#if defined(__x86_64__)

static long call_system(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

enum { system_write = 1, system_execve = 59, system_exit = 60, system_readlink = 89 };

__asm__(
    ".pushsection .text\n"
    ".globl nearfar_start\n"
    ".hidden nearfar_start\n"
    "nearfar_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call nearfar_start_with\n"
    ".popsection\n");

__attribute__((visibility("hidden"), used)) void nearfar_start_with(char** stack) {
  const long count = (long)stack[0];
  char** const arguments = stack + 1;
  char** const variables = arguments + count + 1;
  char runner[] = NEARFAR_RUNNER;
  char run[] = "run";
  char option[] = "--ranks";
  char one[] = "1";
  char end[] = "--";
  char self[] = "/proc/self/exe";
  char path[4096];
  const long length = call_system(system_readlink, (long)self, (long)path, (long)sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  char* all[count + 6];
  all[0] = runner;
  all[1] = run;
  all[2] = option;
  all[3] = one;
  all[4] = end;
  all[5] = path;
  for (long i = 1; i < count; ++i) all[5 + i] = arguments[i];
  all[5 + count] = 0;
  call_system(system_execve, (long)runner, (long)all, (long)variables);
  char text[] = "this program was compiled by nearfar-cc: start it by 'nearfar run -- PROGRAM'\n";
  call_system(system_write, 2, (long)text, (long)sizeof text - 1);
  for (;;) call_system(system_exit, 2, 0, 0);
}

#endif
