/* What is recorded around a launch: before it the kernel, its geometry, the argument buffer and, where asked for, the
 * memory that it can reach; after it that memory again, or the error code. */
#include "capture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct launch_record {
  uint64_t kernel, lds, stream;
  uint32_t api, flags, grid[3], block[3], how, arguments_size, memory_count, attributes;
};
struct result_record {
  uint64_t launch;
  int32_t code;
  uint32_t memory_count, flags, reserved;
};

enum { MOST_ARGUMENTS = 1 << 16, ON_STACK = 4096 };
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
/* The runtime may launch through its own exported functions: only the outermost call counts. */
static __thread int depth __attribute__((tls_model("initial-exec")));

/* Tags 1 (pointer), 2 (size), 3 (end) in this order: HIP takes no other, and reads the list no further than this. */
static uint32_t from_extra(void **extra, const void **start, size_t *size) {
  if ((uintptr_t)extra[0] != 1 || (uintptr_t)extra[2] != 2 || (uintptr_t)extra[4] != 3) return BAD_EXTRA;
  if (!extra[1] || !extra[3]) return BAD_EXTRA;
  *start = extra[1];
  *size = *(const size_t *)extra[3];
  return *size <= MOST_ARGUMENTS ? 0 : BAD_EXTRA;
}

/* Hidden arguments have no entry in `parameters`; the runtime fills them in and nobody sees them. */
static uint32_t from_parameters(const struct function *function, void **parameters, uint8_t *packed) {
  uint32_t flags = 0, index = 0;
  for (uint32_t i = 0; i < function->code.count; i++) {
    const struct argument *a = &function->code.arguments[i];
    if (a->kind == HIDDEN_ARGUMENT) continue;
    const void *value = parameters[index++];
    if (!value) flags |= NOT_PACKED | NULL_PARAMETER;
    else if (a->kind != OTHER) memcpy(packed + a->offset, value, a->size);
  }
  return flags;
}

static int stream_is_captured(void *stream) {
  int (*capturing)(void *, int *) = (int (*)(void *, int *))runtime_function("hipStreamIsCapturing");
  int status = 0;
  return capturing && !capturing(stream, &status) && status;
}

static void record(struct launch *launch, const struct function *function) {
  struct launch_record head = {.kernel = function->id, .lds = launch->lds};
  uint8_t stack[ON_STACK], *payload = stack;
  struct memory memory[MOST_MEMORY];
  const void *start = NULL;
  size_t size = 0;
  head.stream = (uint64_t)(uintptr_t)launch->stream;
  head.api = launch->api;
  head.attributes = launch->attributes;
  memcpy(head.grid, launch->grid, sizeof head.grid);
  memcpy(head.block, launch->block, sizeof head.block);
  if (launch->extra) {
    head.how = EXTRA;
    head.flags |= from_extra(launch->extra, &start, &size);
    if (head.flags & BAD_EXTRA) size = 0;
  } else if (launch->parameters && !function->code.arguments) {
    head.how = PARAMETERS;
    head.flags |= NOT_PACKED;
  } else if (launch->parameters) {
    head.how = PARAMETERS;
    size = function->arguments_end;
  }
  size_t most = size + (record_buffers() ? sizeof memory : 0);
  if (most > sizeof stack && !(payload = malloc(most))) return;
  if (start) memcpy(payload, start, size);
  else if (size) {
    memset(payload, 0, size);
    head.flags |= from_parameters(function, launch->parameters, payload);
    if (head.flags & NOT_PACKED) size = 0;
  }
  if (record_buffers()) {
    if (stream_is_captured(launch->stream)) {
      head.flags |= STREAM_CAPTURED;
    } else {
      head.memory_count = memory_found(function, payload, size, memory);
      if (head.memory_count && !memory_copy(memory, head.memory_count)) head.flags |= MEMORY_LEFT_OUT;
      memcpy(payload + size, memory, head.memory_count * sizeof *memory);
      launch->memory_count = head.memory_count;
      if (head.memory_count && (launch->memory = malloc(head.memory_count * sizeof *memory)))
        memcpy(launch->memory, memory, head.memory_count * sizeof *memory);
    }
  }
  head.arguments_size = (uint32_t)size;
  launch->sequence = record_write(LAUNCH, &head, sizeof head, payload, size + head.memory_count * sizeof *memory);
  launch->recorded = 1;
  if (payload != stack) free(payload);
}

void launch_before(struct launch *launch) {
  launch->saved_errno = errno;
  if (depth++ || !record_open()) return;
  const struct function *function = function_find(launch->handle, launch->by_symbol);
  if (function) {
    if (record_buffers()) pthread_mutex_lock(&one_at_a_time);
    record(launch, function);
    if (record_buffers() && !launch->recorded) pthread_mutex_unlock(&one_at_a_time);
  }
  errno = launch->saved_errno;
}

/* Errors are always recorded; success only where it has memory to go with it. */
void launch_after(struct launch *launch, int code) {
  int now = errno;
  if (launch->recorded) {
    struct result_record head = {.launch = launch->sequence, .code = code};
    if (launch->memory) {
      head.memory_count = launch->memory_count;
      if (!memory_copy(launch->memory, launch->memory_count)) head.flags |= MEMORY_LEFT_OUT;
    }
    if (code || launch->memory)
      record_write(RESULT, &head, sizeof head, launch->memory, head.memory_count * sizeof *launch->memory);
    free(launch->memory);
    if (record_buffers()) pthread_mutex_unlock(&one_at_a_time);
  }
  depth--;
  errno = now;
}
