/* The part of the emulated HIP runtime that lives in the host program: it forwards. Every HIP function below the last
 * line of this file is generated from the Python side's table and calls `forward`; what a call means is decided by a
 * process of its own, which reads and writes the host's memory by asking for it here. A bad host pointer is an error of
 * pread or pwrite and not a crash.
 *
 * PYTHON, PACKAGES and BUILD are defined by the build: the interpreter, the folder that holds argpack, this file's hash.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t word;
typedef struct { unsigned x, y, z; } dim3;

enum { MOST_ARGUMENTS = 16, NOT_INITIALIZED = 3, MISSING_CONFIGURATION = 52, UNKNOWN = 999, DEEPEST = 8 };
enum { RETURN, PEEK, POKE, KEEP, MAP, UNMAP };
/* Device addresses: as many as this, at the address below if the program has nothing there. */
static const word DEVICE_BYTES = 1ull << 40, ALIGNMENT = 1ull << 20, WISHED = 0x7e0000000000ull;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int channel = -1, memory = -1, broken, watched;
static word window;
static __thread int last_error;
static __thread struct { dim3 grid, block; word lds, stream; } configurations[DEEPEST];
static __thread int depth;

extern char **environ;

/* The reserved addresses belong to nobody else, and touching them faults, as device memory does. */
static int reserve(word address, word size) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap((void *)address, size, PROT_NONE, flags, -1, 0) == MAP_FAILED;
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void parent_after_fork(void) { pthread_mutex_unlock(&lock); }
static void child_after_fork(void) {
  /* The runtime stays the parent's; a child that calls HIP gets one of its own. */
  if (channel >= 0) close(channel), close(memory);
  if (window) reserve(window, DEVICE_BYTES);
  channel = memory = -1;
  broken = 0;
  pthread_mutex_unlock(&lock);
}

static int failed(const char *what) {
  fprintf(stderr, "argpack hip: %s: %s\n", what, strerror(errno));
  broken = 1;
  return -1;
}

static int spawn(int theirs) {
  char numbers[3][24];
  snprintf(numbers[0], 24, "%d", theirs);
  snprintf(numbers[1], 24, "%d", memory);
  snprintf(numbers[2], 24, "%llu", (unsigned long long)window);
  char *arguments[] = {PYTHON, "-EP", "-c",
                       "import sys; sys.path.insert(0, sys.argv[1]); "
                       "from argpack.hip_runtime.server import main; main(sys.argv[2:])",
                       PACKAGES, numbers[0], numbers[1], numbers[2], BUILD, NULL};
  /* What is preloaded into the host program is not meant for the emulator. */
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  char **environment = malloc((count + 1) * sizeof *environment);
  if (!environment) return errno = ENOMEM, -1;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "LD_PRELOAD=", 11)) environment[kept++] = environ[i];
  environment[kept] = NULL;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, theirs); /* to itself: kept open over exec */
  posix_spawn_file_actions_adddup2(&actions, memory, memory);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child;
  int error = posix_spawn(&child, PYTHON, &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  if (error) return errno = error, -1;
  /* It detaches itself at once, so that the program never meets a child that it did not start. */
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  return 0;
}

static int start(void) {
  int ends[2];
  if (!watched++) pthread_atfork(before_fork, parent_after_fork, child_after_fork);
  if (!window) {
    void *found = mmap((void *)WISHED, DEVICE_BYTES + ALIGNMENT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
    if (found == MAP_FAILED) return failed("no addresses for device memory");
    window = ((word)found + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
  }
  memory = memfd_create("argpack hip device memory", MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, (off_t)DEVICE_BYTES)) return failed("no device memory");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return failed("no connection to the emulator");
  channel = ends[0];
  int error = spawn(ends[1]);
  close(ends[1]);
  return error ? failed("cannot start " PYTHON) : 0;
}

static int transfer(int writing, void *data, size_t size) {
  for (char *at = data; size;) {
    ssize_t done = writing ? send(channel, at, size, MSG_NOSIGNAL) : recv(channel, at, size, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return -1;
    at += done, size -= (size_t)done;
  }
  return 0;
}

/* Host memory to device memory or back: 0, or what is wrong with the host's address. */
static word copy(int writing, word address, word size, word offset) {
  while (size) {
    size_t part = size < 1u << 30 ? size : 1u << 30;
    ssize_t done = writing ? pwrite(memory, (void *)address, part, (off_t)offset)
                           : pread(memory, (void *)address, part, (off_t)offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done ? (word)errno : EFAULT;
    address += (word)done, offset += (word)done, size -= (word)done;
  }
  return 0;
}

static word serve(word operation, word address, word size, word offset) {
  switch (operation) {
    case PEEK: return copy(1, address, size, offset);
    case POKE: return copy(0, address, size, offset);
    case KEEP: return (word)calloc(1, size);
    case MAP:
      return mmap((void *)address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, (off_t)offset) ==
             MAP_FAILED;
    case UNMAP: return (word)reserve(address, size);
    default: return EINVAL;
  }
}

static word forward(unsigned function, const word *arguments, unsigned count) {
  word request[1 + MOST_ARGUMENTS] = {function}, reply[4], result = UNKNOWN;
  memcpy(request + 1, arguments, count * sizeof *arguments);
  pthread_mutex_lock(&lock);
  if (channel < 0 && !broken) start();
  if (broken) {
    result = NOT_INITIALIZED;
  } else if (transfer(1, request, sizeof request)) {
    broken = 1;
  } else {
    for (;;) {
      if (transfer(0, reply, sizeof reply)) {
        fprintf(stderr, "argpack hip: the emulator ended unexpectedly\n");
        broken = 1;
        break;
      }
      if (reply[0] == RETURN) {
        result = reply[1];
        break;
      }
      word answer = serve(reply[0], reply[1], reply[2], reply[3]);
      if (transfer(1, &answer, sizeof answer)) {
        broken = 1;
        break;
      }
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static int status(unsigned function, const word *arguments, unsigned count) {
  int code = (int)forward(function, arguments, count);
  if (code) last_error = code;
  return code;
}

static word or_null(unsigned function, const word *arguments, unsigned count) {
  word result = forward(function, arguments, count);
  return broken ? 0 : result;
}

static const char *or_unknown(unsigned function, const word *arguments, unsigned count) {
  word result = or_null(function, arguments, count);
  return result ? (const char *)result : "unknown error";
}

int hipGetLastError(void) {
  int code = last_error;
  last_error = 0;
  return code;
}

int hipExtGetLastError(void) { return hipGetLastError(); }
int hipPeekAtLastError(void) { return last_error; }

int __hipPushCallConfiguration(dim3 grid, dim3 block, word lds, word stream) {
  if (depth == DEEPEST) return MISSING_CONFIGURATION;
  configurations[depth].grid = grid;
  configurations[depth].block = block;
  configurations[depth].lds = lds;
  configurations[depth++].stream = stream;
  return 0;
}

int __hipPopCallConfiguration(dim3 *grid, dim3 *block, word *lds, word *stream) {
  if (!depth) return MISSING_CONFIGURATION;
  *grid = configurations[--depth].grid;
  *block = configurations[depth].block;
  *lds = configurations[depth].lds;
  *stream = configurations[depth].stream;
  return 0;
}

/* Everything is done when its call returns, so that callbacks are called here. */
int hipStreamQuery(word stream);
int hipLaunchHostFunc(word stream, void (*function)(void *), void *data) {
  int code = function ? hipStreamQuery(stream) : 1;
  if (code) return last_error = code;
  function(data);
  return 0;
}

int hipStreamAddCallback(word stream, void (*function)(word, int, void *), void *data, unsigned flags) {
  int code = function && !flags ? hipStreamQuery(stream) : 1;
  if (code) return last_error = code;
  function(stream, 0, data);
  return 0;
}
