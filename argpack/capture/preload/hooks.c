/* The functions of HIP that are taken over. Each calls the runtime's own one with the same arguments and returns what
 * that returned. Programs reach them by linking, by dlsym and by hipGetProcAddress.
 */
#define _GNU_SOURCE
#include "capture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  uint32_t x, y, z;
} dim3;

/* Prototypes of hip_runtime_api.h, with void * for handles and int for hipError_t. */
#define GEOMETRY uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz
/* hip_ext.h declares these two for C++, so that most programs link the mangled names. */
#define EXT_MODULE_LAUNCH _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
#define HCC_MODULE_LAUNCH _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_
/* The first ten in the order of the numbers that the file has for them. */
#define FUNCTIONS(X)                                                                                                  \
  X(int, hipModuleLaunchKernel, (void *f, GEOMETRY, uint32_t lds, void *stream, void **parameters, void **extra))     \
  X(int, hipExtModuleLaunchKernel, (void *f, GEOMETRY, size_t lds, void *stream, void **parameters, void **extra,     \
                                    void *start, void *stop, uint32_t flags))                                         \
  X(int, hipHccModuleLaunchKernel, (void *f, GEOMETRY, size_t lds, void *stream, void **parameters, void **extra,     \
                                    void *start, void *stop))                                                         \
  X(int, hipModuleLaunchCooperativeKernel, (void *f, GEOMETRY, uint32_t lds, void *stream, void **parameters))        \
  X(int, hipDrvLaunchKernelEx, (const struct driver_config *config, void *f, void **parameters, void **extra))        \
  X(int, hipLaunchKernelExC, (const struct config *config, const void *f, void **parameters))                         \
  X(int, hipLaunchKernel, (const void *f, dim3 grid, dim3 block, void **parameters, size_t lds, void *stream))        \
  X(int, hipLaunchKernel_spt, (const void *f, dim3 grid, dim3 block, void **parameters, size_t lds, void *stream))    \
  X(int, hipLaunchCooperativeKernel,                                                                                  \
    (const void *f, dim3 grid, dim3 block, void **parameters, uint32_t lds, void *stream))                            \
  X(int, hipExtLaunchKernel, (const void *f, dim3 grid, dim3 block, void **parameters, size_t lds, void *stream,      \
                              void *start, void *stop, int flags))                                                    \
  X(int, EXT_MODULE_LAUNCH, (void *f, GEOMETRY, size_t lds, void *stream, void **parameters, void **extra, void *start,\
                             void *stop, uint32_t flags))                                                             \
  X(int, HCC_MODULE_LAUNCH, (void *f, GEOMETRY, size_t lds, void *stream, void **parameters, void **extra, void *start,\
                             void *stop))                                                                             \
  X(int, hipGraphLaunch, (void *graph, void *stream))                                                                 \
  X(int, hipGraphLaunch_spt, (void *graph, void *stream))                                                             \
  X(int, hipLaunchByPtr, (const void *f))                                                                             \
  X(int, hipExtLaunchMultiKernelMultiDevice, (void *list, int count, uint32_t flags))                                 \
  X(int, hipLaunchCooperativeKernelMultiDevice, (void *list, int count, uint32_t flags))                              \
  X(int, hipModuleLaunchCooperativeKernelMultiDevice, (void *list, uint32_t count, uint32_t flags))                   \
  X(int, hipModuleLoadFatBinary, (void **module, const void *image))                                                  \
  X(int, hipModuleLoad, (void **module, const char *path))                                                            \
  X(int, hipModuleLoadData, (void **module, const void *image))                                                       \
  X(int, hipModuleLoadDataEx, (void **module, const void *image, uint32_t count, void *options, void **values))       \
  X(int, hipModuleUnload, (void *module))                                                                             \
  X(int, hipModuleGetFunction, (void **function, void *module, const char *name))                                     \
  X(int, hipGetFuncBySymbol, (void **function, const void *symbol))                                                   \
  X(void **, __hipRegisterFatBinary, (const struct wrapper *wrapper))                                                 \
  X(void, __hipRegisterFunction, (void **module, const void *symbol, char *device_function, const char *name,         \
                                  uint32_t limit, void *tid, void *bid, void *block, void *grid, int *size))          \
  X(int, hipMalloc, (void **pointer, size_t size))                                                                    \
  X(int, hipMallocAsync, (void **pointer, size_t size, void *stream))                                                 \
  X(int, hipMallocFromPoolAsync, (void **pointer, size_t size, void *pool, void *stream))                             \
  X(int, hipExtMallocWithFlags, (void **pointer, size_t size, uint32_t flags))                                        \
  X(int, hipMallocManaged, (void **pointer, size_t size, uint32_t flags))                                             \
  X(int, hipMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height))                                \
  X(int, hipHostMalloc, (void **pointer, size_t size, uint32_t flags))                                                \
  X(int, hipHostAlloc, (void **pointer, size_t size, uint32_t flags))                                                 \
  X(int, hipMallocHost, (void **pointer, size_t size))                                                                \
  X(int, hipFree, (void *pointer))                                                                                    \
  X(int, hipFreeAsync, (void *pointer, void *stream))                                                                 \
  X(int, hipHostFree, (void *pointer))                                                                                \
  X(int, hipFreeHost, (void *pointer))                                                                                \
  X(int, hipGetProcAddress, (const char *name, void **function, int version, uint64_t flags, void *status))

struct driver_config { /* HIP_LAUNCH_CONFIG */
  uint32_t grid[3], block[3], lds;
  void *stream, *attributes;
  uint32_t count;
};
struct config { /* hipLaunchConfig_t */
  dim3 grid, block;
  size_t lds;
  void *stream, *attributes;
  uint32_t count;
};
struct wrapper {
  uint32_t magic, version;
  const void *binary;
};

/* Two steps each: the mangled names are macros, and # and ## do not expand what they take. */
#define NUMBER_OF(name) N_##name
#define TYPE_OF(name) T_##name
#define TEXT_OF(name) #name
#define NUMBER(type, name, arguments) NUMBER_OF(name),
#define DECLARE(type, name, arguments) EXPORT type name arguments;
#define ENTRY(type, name, arguments) {TEXT_OF(name), (void *)name, NULL},
#define POINTER_TYPE(type, name, arguments) typedef type(*TYPE_OF(name)) arguments;
enum { FUNCTIONS(NUMBER) COUNT };
FUNCTIONS(DECLARE)
FUNCTIONS(POINTER_TYPE)
static struct hook {
  const char *name;
  void *ours, *real;
} hooks[] = {FUNCTIONS(ENTRY)};

enum { SYMBOL_NOT_FOUND = 302, WRAPPER_MAGIC = 0x48495046 };

HIDDEN void *(*capture_real_dlsym)(void *, const char *);

/* dlvsym is not taken over, so it finds the C library's dlsym. */
static void *real_dlsym(void *handle, const char *name) {
  if (!capture_real_dlsym) {
    static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions && !capture_real_dlsym; i++)
      *(void **)&capture_real_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    if (!capture_real_dlsym) {
      fputs("argpack capture: this C library has no dlsym of a known version\n", stderr);
      abort();
    }
  }
  return capture_real_dlsym(handle, name);
}

static int is_runtime(struct dl_phdr_info *info, size_t size, void *found) {
  (void)size;
  const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  base = base ? base + 1 : info->dlpi_name;
  if (!base || strncmp(base, "libamdhip64.so", 14)) return 0;
  *(const char **)found = info->dlpi_name;
  return 1;
}

/* In the program's own scope, else in a runtime that was opened for one library alone. */
void *runtime_function(const char *name) {
  const char *path = NULL;
  void *found = real_dlsym(RTLD_NEXT, name);
  if (!found && dl_iterate_phdr(is_runtime, &path) && path) {
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) found = real_dlsym(handle, name);
  }
  return found;
}

static void *real_of(struct hook *hook) {
  void *real = __atomic_load_n(&hook->real, __ATOMIC_ACQUIRE);
  if (!real && (real = runtime_function(hook->name))) __atomic_store_n(&hook->real, real, __ATOMIC_RELEASE);
  return real;
}

#define REAL_OR(name, failure)                                         \
  TYPE_OF(name) real = (TYPE_OF(name))real_of(&hooks[NUMBER_OF(name)]); \
  if (!real) return failure

static struct hook *hook_named(const char *name) {
  if (strncmp(name, "hip", 3) && strncmp(name, "__hip", 5) && strncmp(name, "_Z24hip", 7)) return NULL;
  for (size_t i = 0; i < COUNT; i++)
    if (!strcmp(hooks[i].name, name)) return &hooks[i];
  return NULL;
}

/* Ours in place of what a look-up found, unless calls through it would reach another runtime than before. */
static void *in_place_of(struct hook *hook, void *found) {
  void *none = NULL;
  if (found == hook->ours) return found;
  if (__atomic_compare_exchange_n(&hook->real, &none, found, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || none == found)
    return hook->ours;
  if (record_open()) record_note("%s of a second HIP runtime: calls of it are not recorded", hook->name);
  return found;
}

struct lookup {
  void *value;
  uintptr_t handled;
};

HIDDEN struct lookup capture_dlsym(void *handle, const char *name) {
  struct hook *hook = name ? hook_named(name) : NULL;
  struct lookup result = {NULL, 0};
  if (!hook) {
    if (!capture_real_dlsym) real_dlsym(RTLD_NEXT, "dlsym");
    return result;
  }
  result.handled = 1;
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
    result.value = real_of(hook) ? hook->ours : NULL;
  } else {
    void *found = real_dlsym(handle, name);
    /* The handle of the whole program finds ours first. */
    if (found == hook->ours) found = real_of(hook) ? found : NULL;
    result.value = found ? in_place_of(hook, found) : NULL;
  }
  return result;
}

/* What is not ours goes to the C library's dlsym by a jump: RTLD_NEXT means "behind the caller", which it knows by the
 * return address. */
#if defined(__x86_64__)
__asm__(
    ".text\n.globl dlsym\n.type dlsym, @function\ndlsym:\n"
    "  push %rdi\n  push %rsi\n  sub $8, %rsp\n"
    "  call capture_dlsym\n"
    "  add $8, %rsp\n  pop %rsi\n  pop %rdi\n"
    "  test %rdx, %rdx\n  jz 1f\n  ret\n"
    "1: jmp *capture_real_dlsym(%rip)\n"
    ".size dlsym, . - dlsym\n");
#else
EXPORT void *dlsym(void *handle, const char *name) {
  struct lookup result = capture_dlsym(handle, name);
  if (result.handled) return result.value;
  return capture_real_dlsym(handle, name);
}
#endif

int hipGetProcAddress(const char *name, void **function, int version, uint64_t flags, void *status) {
  REAL_OR(hipGetProcAddress, SYMBOL_NOT_FOUND);
  int code = real(name, function, version, flags, status);
  struct hook *hook = name ? hook_named(name) : NULL;
  if (!code && hook && function && *function) *function = in_place_of(hook, *function);
  return code;
}

#define AROUND(number, name, handle_, symbol_, grid_, block_, lds_, count_, call)                                  \
  REAL_OR(name, SYMBOL_NOT_FOUND);                                                                                    \
  struct launch launch = {.handle = handle_, .by_symbol = symbol_, .api = N_##number, .attributes = count_,           \
                          .grid = grid_, .block = block_, .lds = lds_, .stream = stream, .parameters = parameters,    \
                          .extra = extra};                                                                            \
  launch_before(&launch);                                                                                             \
  int code = real call;                                                                                               \
  launch_after(&launch, code);                                                                                        \
  return code
#define SIZES(x, y, z) {x, y, z}

int hipModuleLaunchKernel(void *f, GEOMETRY, uint32_t lds, void *stream, void **parameters, void **extra) {
  AROUND(hipModuleLaunchKernel, hipModuleLaunchKernel, f, 0, SIZES(gx, gy, gz), SIZES(bx, by, bz), lds, 0,
         (f, gx, gy, gz, bx, by, bz, lds, stream, parameters, extra));
}

#define EXT_LAUNCH(name)                                                                                              \
  int name(void *f, GEOMETRY, size_t lds, void *stream, void **parameters, void **extra, void *start, void *stop,     \
           uint32_t flags) {                                                                                          \
    AROUND(hipExtModuleLaunchKernel, name, f, 0, SIZES(gx, gy, gz), SIZES(bx, by, bz), lds, 0,                     \
              (f, gx, gy, gz, bx, by, bz, lds, stream, parameters, extra, start, stop, flags));                       \
  }
EXT_LAUNCH(hipExtModuleLaunchKernel)
EXT_LAUNCH(EXT_MODULE_LAUNCH)

#define HCC_LAUNCH(name)                                                                                              \
  int name(void *f, GEOMETRY, size_t lds, void *stream, void **parameters, void **extra, void *start, void *stop) {   \
    AROUND(hipHccModuleLaunchKernel, name, f, 0, SIZES(gx, gy, gz), SIZES(bx, by, bz), lds, 0,                     \
              (f, gx, gy, gz, bx, by, bz, lds, stream, parameters, extra, start, stop));                              \
  }
HCC_LAUNCH(hipHccModuleLaunchKernel)
HCC_LAUNCH(HCC_MODULE_LAUNCH)

int hipModuleLaunchCooperativeKernel(void *f, GEOMETRY, uint32_t lds, void *stream, void **parameters) {
  void **extra = NULL;
  AROUND(hipModuleLaunchCooperativeKernel, hipModuleLaunchCooperativeKernel, f, 0, SIZES(gx, gy, gz),
         SIZES(bx, by, bz), lds, 0,
         (f, gx, gy, gz, bx, by, bz, lds, stream, parameters));
}

int hipDrvLaunchKernelEx(const struct driver_config *config, void *f, void **parameters, void **extra) {
  static const struct driver_config none;
  const struct driver_config *c = config ? config : &none;
  void *stream = c->stream;
  AROUND(hipDrvLaunchKernelEx, hipDrvLaunchKernelEx, f, 0, SIZES(c->grid[0], c->grid[1], c->grid[2]),
         SIZES(c->block[0], c->block[1], c->block[2]), c->lds, c->count, (config, f, parameters, extra));
}

int hipLaunchKernelExC(const struct config *config, const void *f, void **parameters) {
  static const struct config none;
  const struct config *c = config ? config : &none;
  void *stream = c->stream, **extra = NULL;
  AROUND(hipLaunchKernelExC, hipLaunchKernelExC, f, 1, SIZES(c->grid.x, c->grid.y, c->grid.z),
         SIZES(c->block.x, c->block.y, c->block.z), c->lds, c->count, (config, f, parameters));
}

#define BY_SYMBOL(name, lds_type)                                                                                     \
  int name(const void *f, dim3 grid, dim3 block, void **parameters, lds_type lds, void *stream) {                     \
    void **extra = NULL;                                                                                              \
    AROUND(name, name, f, 1, SIZES(grid.x, grid.y, grid.z), SIZES(block.x, block.y, block.z), lds, 0,                 \
           (f, grid, block, parameters, lds, stream));                                                                \
  }
BY_SYMBOL(hipLaunchKernel, size_t)
BY_SYMBOL(hipLaunchKernel_spt, size_t)
BY_SYMBOL(hipLaunchCooperativeKernel, uint32_t)

int hipExtLaunchKernel(const void *f, dim3 grid, dim3 block, void **parameters, size_t lds, void *stream, void *start,
                       void *stop, int flags) {
  void **extra = NULL;
  AROUND(hipExtLaunchKernel, hipExtLaunchKernel, f, 1, SIZES(grid.x, grid.y, grid.z),
         SIZES(block.x, block.y, block.z), lds, 0,
         (f, grid, block, parameters, lds, stream, start, stop, flags));
}

/* What starts kernels without saying which: told once. */
#define UNSEEN(name, parameters, arguments)                                                                           \
  int name parameters {                                                                                               \
    static int told;                                                                                                  \
    REAL_OR(name, SYMBOL_NOT_FOUND);                                                                                  \
    if (record_open() && !__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))                                            \
      record_note("%s was called: the kernels that it starts are not recorded", #name);                               \
    return real arguments;                                                                                            \
  }
UNSEEN(hipGraphLaunch, (void *graph, void *stream), (graph, stream))
UNSEEN(hipGraphLaunch_spt, (void *graph, void *stream), (graph, stream))
UNSEEN(hipLaunchByPtr, (const void *f), (f))
UNSEEN(hipExtLaunchMultiKernelMultiDevice, (void *list, int count, uint32_t flags), (list, count, flags))
UNSEEN(hipLaunchCooperativeKernelMultiDevice, (void *list, int count, uint32_t flags), (list, count, flags))
UNSEEN(hipModuleLaunchCooperativeKernelMultiDevice, (void *list, uint32_t count, uint32_t flags), (list, count, flags))

static void loaded(void *module, const void *image) {
  if (!record_open()) return;
  size_t size = image_size(image);
  if (size) module_loaded(module, image, size);
  else record_note("a module whose size its bytes do not say: its code is not recorded");
}

int hipModuleLoadData(void **module, const void *image) {
  REAL_OR(hipModuleLoadData, SYMBOL_NOT_FOUND);
  int code = real(module, image);
  if (!code) loaded(*module, image);
  return code;
}

int hipModuleLoadFatBinary(void **module, const void *image) {
  REAL_OR(hipModuleLoadFatBinary, SYMBOL_NOT_FOUND);
  int code = real(module, image);
  if (!code) loaded(*module, image);
  return code;
}

int hipModuleLoadDataEx(void **module, const void *image, uint32_t count, void *options, void **values) {
  REAL_OR(hipModuleLoadDataEx, SYMBOL_NOT_FOUND);
  int code = real(module, image, count, options, values);
  if (!code) loaded(*module, image);
  return code;
}

int hipModuleLoad(void **module, const char *path) {
  REAL_OR(hipModuleLoad, SYMBOL_NOT_FOUND);
  int code = real(module, path);
  if (code || !record_open()) return code;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  uint8_t *image = NULL;
  if (descriptor >= 0 && !fstat(descriptor, &status) && status.st_size > 0) image = malloc((size_t)status.st_size);
  if (image && read(descriptor, image, (size_t)status.st_size) == status.st_size)
    module_loaded(*module, image, (size_t)status.st_size);
  else
    record_note("%s: could not be read again: its code is not recorded", path);
  free(image);
  if (descriptor >= 0) close(descriptor);
  return code;
}

int hipModuleUnload(void *module) {
  REAL_OR(hipModuleUnload, SYMBOL_NOT_FOUND);
  int code = real(module);
  if (!code && record_open()) module_unloaded(module);
  return code;
}

int hipModuleGetFunction(void **function, void *module, const char *name) {
  REAL_OR(hipModuleGetFunction, SYMBOL_NOT_FOUND);
  int code = real(function, module, name);
  if (!code && record_open()) function_named(*function, module, name);
  return code;
}

int hipGetFuncBySymbol(void **function, const void *symbol) {
  REAL_OR(hipGetFuncBySymbol, SYMBOL_NOT_FOUND);
  int code = real(function, symbol);
  if (!code && record_open()) function_of_symbol(*function, symbol);
  return code;
}

void **__hipRegisterFatBinary(const struct wrapper *wrapper) {
  REAL_OR(__hipRegisterFatBinary, NULL);
  void **module = real(wrapper);
  if (module && wrapper && wrapper->magic == WRAPPER_MAGIC && wrapper->binary && record_open())
    module_registered(module, wrapper->binary);
  return module;
}

void __hipRegisterFunction(void **module, const void *symbol, char *device_function, const char *name, uint32_t limit,
                           void *tid, void *bid, void *block, void *grid, int *size) {
  REAL_OR(__hipRegisterFunction, );
  real(module, symbol, device_function, name, limit, tid, bid, block, grid, size);
  if (name && record_open()) symbol_named(symbol, module, name);
}

#define ALLOCATE(name, parameters, arguments, bytes, on_host)             \
  int name parameters {                                                   \
    REAL_OR(name, SYMBOL_NOT_FOUND);                                      \
    int code = real arguments;                                            \
    if (!code && record_open()) memory_allocated(*pointer, bytes, on_host); \
    return code;                                                          \
  }
ALLOCATE(hipMalloc, (void **pointer, size_t size), (pointer, size), size, 0)
ALLOCATE(hipMallocAsync, (void **pointer, size_t size, void *stream), (pointer, size, stream), size, 0)
ALLOCATE(hipMallocFromPoolAsync, (void **pointer, size_t size, void *pool, void *stream), (pointer, size, pool, stream),
         size, 0)
ALLOCATE(hipExtMallocWithFlags, (void **pointer, size_t size, uint32_t flags), (pointer, size, flags), size, 0)
ALLOCATE(hipMallocManaged, (void **pointer, size_t size, uint32_t flags), (pointer, size, flags), size, 1)
ALLOCATE(hipMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height), (pointer, pitch, width, height),
         *pitch *height, 0)
ALLOCATE(hipHostMalloc, (void **pointer, size_t size, uint32_t flags), (pointer, size, flags), size, 1)
ALLOCATE(hipHostAlloc, (void **pointer, size_t size, uint32_t flags), (pointer, size, flags), size, 1)
ALLOCATE(hipMallocHost, (void **pointer, size_t size), (pointer, size), size, 1)

/* Forgotten before the call: right after it another thread may get the same address. */
#define RELEASE(name, parameters, arguments) \
  int name parameters {                      \
    REAL_OR(name, SYMBOL_NOT_FOUND);         \
    if (record_open()) memory_freed(pointer); \
    return real arguments;                   \
  }
RELEASE(hipFree, (void *pointer), (pointer))
RELEASE(hipFreeAsync, (void *pointer, void *stream), (pointer, stream))
RELEASE(hipHostFree, (void *pointer), (pointer))
RELEASE(hipFreeHost, (void *pointer), (pointer))
