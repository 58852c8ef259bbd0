/* The capture file: one append of one whole record per call, so that processes and threads need no lock between them.
 *
 * A process that is killed leaves whole records and at most the beginning of one. `argpack capture` makes the file and
 * its header; this library only ever appends, and only to that file.
 */
#define _GNU_SOURCE
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 64, MARKER = 16, CHUNK = 4 << 20, FIRST_DESCRIPTOR = 512 };
static const char magic[17] = "argpack capture\n";

struct header {
  uint8_t marker[MARKER];
  uint32_t kind, size;
  uint64_t process, sequence, time;
  uint32_t thread, reserved, payload_crc, crc;
};
_Static_assert(sizeof(struct header) == HEADER, "a record's header is 64 bytes");

static struct {
  const char *path, *pattern;
  int buffers, descriptor;
  dev_t device;
  ino_t inode;
  uint8_t marker[MARKER];
  uint64_t process;
} file = {.descriptor = -1};
static atomic_int working;
static atomic_ullong sequence;
static int generation = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t blob_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread uint32_t thread __attribute__((tls_model("initial-exec")));

static uint8_t (*blobs)[DIGEST];
static size_t blob_count, blob_room;

static void stop(const char *what, const char *why) {
  if (atomic_exchange(&working, 0))
    fprintf(stderr, "argpack capture: %s: %s: %s; nothing more is recorded\n", file.path, what, why);
}

/* A high number: programs close or reuse the low ones. */
static int open_file(void) {
  int low = open(file.path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (low < 0) return -1;
  int high = fcntl(low, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
  if (high < 0) return low;
  close(low);
  return high;
}

static void begin_process(void) {
  if (getrandom(&file.process, sizeof file.process, 0) != sizeof file.process)
    file.process = (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL);
  atomic_store(&sequence, 0);
  uint32_t ids[2] = {(uint32_t)getpid(), (uint32_t)getppid()};
  char command[4096];
  ssize_t length = 0;
  int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    length = read(descriptor, command, sizeof command);
    close(descriptor);
  }
  record_write(PROCESS, ids, sizeof ids, command, length > 0 ? (size_t)length : 0);
}

/* The child of a fork is a process of its own, with one thread. */
static void in_child(void) {
  thread = 0;
  generation++;
  pthread_mutex_init(&blob_lock, NULL);
  if (atomic_load(&working)) begin_process();
}

static void open_once(void) {
  uint8_t start[HEADER];
  struct stat status;
  file.path = getenv("ARGPACK_CAPTURE_FILE");
  if (!file.path || !*file.path) return;
  file.path = strdup(file.path);
  const char *pattern = getenv("ARGPACK_CAPTURE_KERNEL"), *buffers = getenv("ARGPACK_CAPTURE_BUFFERS");
  file.pattern = pattern && *pattern ? strdup(pattern) : NULL;
  file.buffers = buffers && !strcmp(buffers, "1");
  atomic_store(&working, 1);
  int reading = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t got = reading < 0 ? -1 : pread(reading, start, HEADER, 0);
  if (reading >= 0) close(reading);
  if (got < 0 || (file.descriptor = open_file()) < 0 || fstat(file.descriptor, &status)) {
    stop("cannot open it", strerror(errno));
    return;
  }
  if (got != HEADER || memcmp(start, magic, 16) || start[16] != 1) {
    stop("cannot record", "not a capture file of version 1");
    return;
  }
  file.device = status.st_dev;
  file.inode = status.st_ino;
  memcpy(file.marker, start + 24, MARKER);
  pthread_atfork(NULL, NULL, in_child);
  begin_process();
}

int record_open(void) {
  pthread_once(&once, open_once);
  return atomic_load_explicit(&working, memory_order_relaxed);
}

const char *record_pattern(void) { return file.pattern; }

int record_generation(void) { return generation; }

int record_buffers(void) { return file.buffers; }

/* Programs close descriptors that are not theirs (daemons close all), and the number then means another file. */
static int still_ours(void) {
  struct stat status;
  if (!fstat(file.descriptor, &status) && status.st_dev == file.device && status.st_ino == file.inode) return 1;
  int again = open_file();
  if (again >= 0 && !fstat(again, &status) && status.st_dev == file.device && status.st_ino == file.inode) {
    file.descriptor = again;
    return 1;
  }
  if (again >= 0) close(again);
  return 0;
}

/* Append one record; its sequence number. Nothing is written twice: a failure stops the recording. */
uint64_t record_write(uint32_t kind, const void *first, size_t first_size, const void *second, size_t second_size) {
  struct header header = {.kind = kind, .size = (uint32_t)(first_size + second_size), .process = file.process};
  header.sequence = atomic_fetch_add(&sequence, 1);
  if (!atomic_load_explicit(&working, memory_order_relaxed)) return header.sequence;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (!thread) thread = (uint32_t)syscall(SYS_gettid);
  memcpy(header.marker, file.marker, MARKER);
  header.time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  header.thread = thread;
  header.payload_crc = crc32_of(crc32_of(0, first, first_size), second, second_size);
  header.crc = crc32_of(0, &header, HEADER - 4);
  struct iovec parts[3] = {{&header, HEADER}, {(void *)first, first_size}, {(void *)second, second_size}};
  if (!still_ours()) {
    stop("cannot write", "it was closed or replaced");
    return header.sequence;
  }
  ssize_t wrote;
  do wrote = writev(file.descriptor, parts, 3);
  while (wrote < 0 && errno == EINTR);
  if (wrote != (ssize_t)(HEADER + first_size + second_size))
    stop("cannot write", wrote < 0 ? strerror(errno) : "no space left");
  return header.sequence;
}

/* Write bytes once per process, in chunks, under their SHA-256. 1 if they are in the file. */
int record_blob(const void *data, size_t size, uint8_t digest[DIGEST]) {
  sha256_of(data, size, digest);
  pthread_mutex_lock(&blob_lock);
  for (size_t i = 0; i < blob_count; i++)
    if (!memcmp(blobs[i], digest, DIGEST)) {
      pthread_mutex_unlock(&blob_lock);
      return 1;
    }
  size_t offset = 0;
  do {
    struct {
      uint8_t digest[DIGEST];
      uint64_t total, offset;
    } head = {.total = size, .offset = offset};
    memcpy(head.digest, digest, DIGEST);
    size_t length = size - offset < CHUNK ? size - offset : CHUNK;
    record_write(BLOB, &head, sizeof head, (const uint8_t *)data + offset, length);
    offset += length;
  } while (offset < size);
  int written = atomic_load(&working);
  if (written) {
    if (blob_count == blob_room) {
      size_t room = blob_room ? 2 * blob_room : 64;
      void *more = realloc(blobs, room * DIGEST);
      if (more) blobs = more, blob_room = room;
    }
    if (blob_count < blob_room) memcpy(blobs[blob_count++], digest, DIGEST);
  }
  pthread_mutex_unlock(&blob_lock);
  return written;
}

void record_note(const char *format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (length > 0) record_write(NOTE, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1, NULL, 0);
}

__attribute__((destructor)) static void finish(void) {
  if (!atomic_load(&working)) return;
  record_write(END, NULL, 0, NULL, 0);
}
