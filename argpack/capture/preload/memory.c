/* Allocations of the program, and copies of what is in them. Which allocations a launch can reach is judged by its
 * argument buffer: every aligned word of it that is an address inside one. */
#include "capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct allocation {
  uint64_t base, size;
  int on_host;
};

enum { DEVICE_TO_HOST = 2 };
static struct allocation *list; /* sorted by base, without overlaps */
static size_t count, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Index of the first allocation that begins above `address`. */
static size_t above(uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (list[middle].base <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

void memory_allocated(void *base, size_t size, int on_host) {
  if (!base || !size) return;
  uint64_t start = (uint64_t)(uintptr_t)base;
  pthread_mutex_lock(&lock);
  size_t at = above(start);
  /* What overlaps was freed in a way that was not seen. */
  size_t first = at && list[at - 1].base + list[at - 1].size > start ? at - 1 : at, last = at;
  while (last < count && list[last].base < start + size) last++;
  if (count + 1 - (last - first) > room) {
    size_t wanted = room ? 2 * room : 256;
    struct allocation *more = realloc(list, wanted * sizeof *list);
    if (!more) {
      pthread_mutex_unlock(&lock);
      return;
    }
    list = more;
    room = wanted;
  }
  memmove(list + first + 1, list + last, (count - last) * sizeof *list);
  list[first] = (struct allocation){start, size, on_host};
  count += 1 - (last - first);
  pthread_mutex_unlock(&lock);
}

void memory_freed(void *base) {
  pthread_mutex_lock(&lock);
  size_t at = above((uint64_t)(uintptr_t)base);
  if (at && list[at - 1].base == (uint64_t)(uintptr_t)base) {
    memmove(list + at - 1, list + at, (count - at) * sizeof *list);
    count--;
  }
  pthread_mutex_unlock(&lock);
}

static int inside(uint64_t address, struct allocation *found) {
  pthread_mutex_lock(&lock);
  size_t at = above(address);
  int yes = at && address - list[at - 1].base < list[at - 1].size;
  if (yes) *found = list[at - 1];
  pthread_mutex_unlock(&lock);
  return yes;
}

/* A declared pointer to memory that no hooked call gave, such as a reserved and mapped range. */
static int asked(uint64_t address, struct allocation *found) {
  int (*range)(void **, size_t *, void *) =
      (int (*)(void **, size_t *, void *))runtime_function("hipMemGetAddressRange");
  void *base = NULL;
  size_t size = 0;
  if (!range || range(&base, &size, (void *)(uintptr_t)address) || !base || !size) return 0;
  *found = (struct allocation){(uint64_t)(uintptr_t)base, size, 0};
  return 1;
}

static int declared(const struct function *function, size_t offset) {
  for (uint32_t i = 0; function->code.arguments && i < function->code.count; i++)
    if (function->code.arguments[i].offset == offset) return function->code.arguments[i].kind == POINTER;
  return 0;
}

uint32_t memory_found(const struct function *function, const uint8_t *arguments, size_t size, struct memory *found) {
  uint32_t number = 0;
  /* Pointers on a multiple of 4 exist in kernels for gfx1250. */
  for (size_t offset = 0; offset + 8 <= size && number < MOST_MEMORY; offset += 4) {
    uint64_t address;
    struct allocation here;
    memcpy(&address, arguments + offset, 8);
    if (!address || (!inside(address, &here) && !(declared(function, offset) && asked(address, &here)))) continue;
    uint32_t i = 0;
    while (i < number && found[i].base != here.base) i++;
    if (i < number) continue;
    found[number++] = (struct memory){.base = here.base, .size = here.size};
  }
  return number;
}

/* Copy what is in the allocations now into the file; 0 where one could not be. Its digest stays zero. */
int memory_copy(struct memory *memory, uint32_t number) {
  int (*synchronize)(void) = (int (*)(void))runtime_function("hipDeviceSynchronize");
  int (*copy)(void *, const void *, size_t, int) =
      (int (*)(void *, const void *, size_t, int))runtime_function("hipMemcpy");
  int whole = synchronize && !synchronize();
  for (uint32_t i = 0; i < number; i++) {
    struct allocation here = {0};
    const void *source = (const void *)(uintptr_t)memory[i].base;
    uint8_t *bytes = whole ? malloc(memory[i].size) : NULL;
    int on_host = inside(memory[i].base, &here) && here.on_host;
    memset(memory[i].digest, 0, DIGEST);
    if (!bytes || (!on_host && (!copy || copy(bytes, source, memory[i].size, DEVICE_TO_HOST)))) {
      whole = 0;
    } else {
      if (on_host) memcpy(bytes, source, memory[i].size);
      if (!record_blob(bytes, memory[i].size, memory[i].digest)) whole = 0;
    }
    free(bytes);
  }
  return whole;
}
