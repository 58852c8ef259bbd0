/* What HIP's handles mean: which code object a module holds, which kernel a function or a host symbol is.
 *
 * Functions live as long as the process, for a handle may be launched from any thread; images as long as their module.
 */
#define _GNU_SOURCE
#include "capture.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Open addressing from address to pointer; a key stays once it is in. */
struct map {
  const void **keys;
  void **values;
  size_t count, room;
};

static struct map modules, functions, symbols;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong next_id = 1;

static size_t slot(const struct map *map, const void *key) {
  size_t at = ((uintptr_t)key >> 3) * (uintptr_t)0x9e3779b97f4a7c15u >> 20;
  for (at &= map->room - 1; map->keys[at] && map->keys[at] != key; at = (at + 1) & (map->room - 1)) continue;
  return at;
}

static void *get(const struct map *map, const void *key) { return map->room && key ? map->values[slot(map, key)] : NULL; }

static void put(struct map *map, const void *key, void *value) {
  if (!key) return;
  if (2 * map->count >= map->room) {
    struct map larger = {.room = map->room ? 2 * map->room : 256};
    larger.keys = calloc(larger.room, sizeof *larger.keys);
    larger.values = calloc(larger.room, sizeof *larger.values);
    if (!larger.keys || !larger.values) abort();
    for (size_t i = 0; i < map->room; i++)
      if (map->keys[i]) {
        size_t at = slot(&larger, map->keys[i]);
        larger.keys[at] = map->keys[i];
        larger.values[at] = map->values[i];
        larger.count++;
      }
    free(map->keys);
    free(map->values);
    *map = larger;
  }
  size_t at = slot(map, key);
  map->count += !map->keys[at];
  map->keys[at] = key;
  map->values[at] = value;
}

static void add_module(void *handle, const void *image, size_t size, int copy) {
  struct module *module = calloc(1, sizeof *module);
  if (!module) return;
  module->image = copy ? malloc(size + 1) : (uint8_t *)image;
  module->size = module->image ? size : 0;
  if (copy && module->image) memcpy(module->image, image, size);
  pthread_mutex_lock(&lock);
  put(&modules, handle, module);
  pthread_mutex_unlock(&lock);
}

/* The program may free the image after the call, so it is copied. */
void module_loaded(void *handle, const void *image, size_t size) { add_module(handle, image, size, 1); }

/* A fat binary is part of the program. */
void module_registered(void *handle, const void *image) { add_module(handle, image, image_size(image), 0); }

void module_unloaded(void *handle) {
  pthread_mutex_lock(&lock);
  struct module *module = get(&modules, handle);
  if (module) {
    free(module->image);
    module->image = NULL;
    module->size = 0;
    put(&modules, handle, NULL);
  }
  pthread_mutex_unlock(&lock);
}

static void add_function(struct map *map, const void *key, void *module, const char *name) {
  const char *pattern = record_pattern();
  struct function *function = calloc(1, sizeof *function);
  if (!function || !(function->name = strdup(name))) {
    free(function);
    return;
  }
  function->id = atomic_fetch_add(&next_id, 1);
  /* Without a name nothing tells whether it is wanted, so it is. */
  function->wanted = !pattern || !*name || !fnmatch(pattern, name, 0);
  pthread_mutex_lock(&lock);
  struct function *before = get(map, key);
  function->module = get(&modules, module);
  /* Asking for the same function again is common and must not make another kernel of it. */
  if (before && before->module == function->module && !strcmp(before->name, name)) {
    free(function->name);
    free(function);
  } else {
    put(map, key, function);
  }
  pthread_mutex_unlock(&lock);
}

void function_named(void *function, void *module, const char *name) { add_function(&functions, function, module, name); }

void symbol_named(const void *symbol, void *module, const char *name) { add_function(&symbols, symbol, module, name); }

void function_of_symbol(void *function, const void *symbol) {
  pthread_mutex_lock(&lock);
  struct function *found = get(&symbols, symbol);
  if (found) put(&functions, function, found);
  pthread_mutex_unlock(&lock);
}

/* Name of the current device's target, such as gfx950:sramecc+:xnack-. The struct of properties differs between
 * releases; its only text that begins with gfx is the target. */
static const char *device_target(void) {
  static char target[64];
  static char properties[16384];
  int (*get_device)(int *) = (int (*)(int *))runtime_function("hipGetDevice");
  int (*get_properties)(void *, int) = (int (*)(void *, int))runtime_function("hipGetDevicePropertiesR0600");
  if (!get_properties) get_properties = (int (*)(void *, int))runtime_function("hipGetDeviceProperties");
  int device = 0;
  if (!get_properties || (get_device && get_device(&device)) || get_properties(properties, device)) return "";
  for (size_t i = 0; i + sizeof target < sizeof properties; i++)
    if (!memcmp(properties + i, "gfx", 3) && (!i || !properties[i - 1])) {
      memcpy(target, properties + i, sizeof target - 1);
      return target;
    }
  return "";
}

struct kernel_record {
  uint64_t id;
  uint8_t digest[DIGEST];
  uint32_t has_code, name_size, count, reserved;
};

static void write_kernel(struct function *function) {
  struct kernel_record head = {.id = function->id, .count = NO_ARGUMENT_TABLE};
  struct code *code = &function->code;
  code->count = NO_ARGUMENT_TABLE;
  if (function->module && function->module->size) {
    const uint8_t *image = function->module->image;
    int needs_device = function->module->size > 4 && memcmp(image, "\177ELF", 4);
    image_find(image, function->module->size, needs_device ? device_target() : "", function->name, code);
    head.has_code = (uint32_t)record_blob(code->data, code->size, head.digest);
    head.count = code->count;
    for (uint32_t i = 0; code->arguments && i < code->count; i++) {
      struct argument *a = &code->arguments[i];
      if (a->kind != HIDDEN_ARGUMENT && a->offset + a->size > function->arguments_end)
        function->arguments_end = a->offset + a->size;
    }
  }
  size_t table = head.count == NO_ARGUMENT_TABLE ? 0 : head.count * sizeof(struct argument);
  size_t name = strlen(function->name);
  head.name_size = (uint32_t)name;
  uint8_t *rest = malloc(table + name + 1);
  if (!rest) return;
  if (table) memcpy(rest, code->arguments, table);
  memcpy(rest + table, function->name, name);
  record_write(KERNEL, &head, sizeof head, rest, table + name);
  free(rest);
}

/* The function that a handle means, its KERNEL record in the file; NULL where it is not to be recorded. A handle that no
 * hooked call gave is a kernel without a name. */
struct function *function_find(const void *handle, int by_symbol) {
  pthread_mutex_lock(&lock);
  struct map *map = by_symbol ? &symbols : &functions;
  struct function *function = get(map, handle);
  pthread_mutex_unlock(&lock);
  if (!function && handle) {
    add_function(map, handle, NULL, "");
    pthread_mutex_lock(&lock);
    function = get(map, handle);
    pthread_mutex_unlock(&lock);
  }
  if (!function || !function->wanted) return NULL;
  int generation = record_generation();
  if (__atomic_load_n(&function->ready, __ATOMIC_ACQUIRE) != generation) {
    static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&writing);
    if (function->ready != generation) {
      write_kernel(function);
      __atomic_store_n(&function->ready, generation, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&writing);
  }
  return function;
}
