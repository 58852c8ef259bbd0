/* Parts of the preload library that records HIP launches: what each gives to the others. Sizes are bytes.
 *
 * record.c    the file: records with length, checksum and sequence number, content-addressed blobs
 * digest.c    CRC-32 and SHA-256
 * metadata.c  code objects: their size, their kernels' arguments, bundles
 * table.c     which module, function and host symbol a handle of HIP's means
 * memory.c    allocations and copies of their contents
 * launch.c    what is recorded around a launch
 * hooks.c     the functions of HIP that are taken over, and dlsym
 */
#ifndef ARGPACK_CAPTURE_H
#define ARGPACK_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Kinds of records and what follows their header: docs/capture.md. */
enum { PROCESS = 1, BLOB = 2, KERNEL = 3, LAUNCH = 4, RESULT = 5, NOTE = 6, END = 7 };
enum { DIGEST = 32, NO_ARGUMENT_TABLE = 0xffffffffu };

/* digest.c */
HIDDEN uint32_t crc32_of(uint32_t crc, const void *data, size_t size);
HIDDEN void sha256_of(const void *data, size_t size, uint8_t digest[DIGEST]);

/* record.c: `record_open` is called by every hook first and does its work once. */
HIDDEN int record_open(void);
HIDDEN const char *record_pattern(void);
HIDDEN int record_buffers(void);
HIDDEN int record_generation(void); /* another in the child of a fork, whose kernels are to be recorded again */
HIDDEN uint64_t record_write(uint32_t kind, const void *first, size_t first_size, const void *second, size_t second_size);
HIDDEN int record_blob(const void *data, size_t size, uint8_t digest[DIGEST]);
HIDDEN void record_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* metadata.c: `kind` of an argument as the file has it. */
enum { BY_VALUE = 0, POINTER = 1, OTHER = 2, HIDDEN_ARGUMENT = 3 };
struct argument {
  uint32_t offset, size, kind;
};
struct code {
  const uint8_t *data;
  size_t size;
  struct argument *arguments; /* NULL with count NO_ARGUMENT_TABLE where no metadata has the kernel */
  uint32_t count;
};
HIDDEN size_t image_size(const uint8_t *image);
HIDDEN void image_find(const uint8_t *image, size_t size, const char *device, const char *name, struct code *found);

/* table.c */
struct module {
  uint8_t *image;
  size_t size;
};
struct function {
  uint64_t id;
  char *name;
  struct module *module;
  int wanted; /* by the pattern */
  int ready;  /* the generation whose KERNEL record is in the file */
  uint32_t arguments_end;
  struct code code;
};
HIDDEN void module_loaded(void *handle, const void *image, size_t size);
HIDDEN void module_registered(void *handle, const void *image);
HIDDEN void module_unloaded(void *handle);
HIDDEN void function_named(void *function, void *module, const char *name);
HIDDEN void symbol_named(const void *symbol, void *module, const char *name);
HIDDEN void function_of_symbol(void *function, const void *symbol);
HIDDEN struct function *function_find(const void *handle, int by_symbol);

/* memory.c */
struct memory {
  uint64_t base, size;
  uint8_t digest[DIGEST];
};
enum { MOST_MEMORY = 64 };
HIDDEN void memory_allocated(void *base, size_t size, int on_host);
HIDDEN void memory_freed(void *base);
HIDDEN uint32_t memory_found(const struct function *function, const uint8_t *arguments, size_t size, struct memory *list);
HIDDEN int memory_copy(struct memory *list, uint32_t count);

/* launch.c */
enum { EXTRA = 1, PARAMETERS = 2 };
enum { NOT_PACKED = 1, NULL_PARAMETER = 2, BAD_EXTRA = 4, STREAM_CAPTURED = 8, MEMORY_LEFT_OUT = 16 };
struct launch {
  const void *handle;
  int by_symbol;
  uint32_t api, attributes, grid[3], block[3];
  uint64_t lds;
  void *stream;
  void **parameters, **extra;
  uint64_t sequence; /* from here on set by launch_before */
  int recorded, saved_errno;
  uint32_t memory_count;
  struct memory *memory;
};
HIDDEN void launch_before(struct launch *launch);
HIDDEN void launch_after(struct launch *launch, int code);

/* hooks.c: the runtime's own function of a name, or NULL. */
HIDDEN void *runtime_function(const char *name);

#endif
