/* Programs that launch kernels, for the capture tests: host MODE CODE_OBJECT [ARGUMENT]. With -DDYNAMIC the runtime is
 * opened with dlopen instead of linked. The kernel's arguments are those of argpack_sgemm. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  uint32_t x, y, z;
} dim3;
typedef struct {
  uint32_t grid[3], block[3], lds;
  void *stream, *attributes;
  uint32_t count;
} driver_config;

#define FUNCTIONS(X)                                                                                                   \
  X(int, hipMalloc, (void **, size_t))                                                                                 \
  X(int, hipFree, (void *))                                                                                            \
  X(int, hipMemcpy, (void *, const void *, size_t, int))                                                               \
  X(int, hipModuleLoad, (void **, const char *))                                                                       \
  X(int, hipModuleLoadData, (void **, const void *))                                                                   \
  X(int, hipModuleUnload, (void *))                                                                                    \
  X(int, hipModuleGetFunction, (void **, void *, const char *))                                                        \
  X(int, hipModuleLaunchKernel, (void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, void *, \
                                 void **, void **))                                                                    \
  X(int, hipExtModuleLaunchKernel, (void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t,        \
                                    void *, void **, void **, void *, void *, uint32_t))                               \
  X(int, hipDrvLaunchKernelEx, (const driver_config *, void *, void **, void **))                                      \
  X(int, hipLaunchKernel, (const void *, dim3, dim3, void **, size_t, void *))                                         \
  X(int, hipGetFuncBySymbol, (void **, const void *))                                                                  \
  X(void **, __hipRegisterFatBinary, (const void *))                                                                   \
  X(void, __hipRegisterFunction, (void **, const void *, char *, const char *, unsigned, void *, void *, void *,       \
                                  void *, int *))                                                                      \
  X(int, hipGraphLaunch, (void *, void *))                                                                             \
  X(int, hipGetProcAddress, (const char *, void **, int, uint64_t, void *))

#ifdef DYNAMIC
#define DECLARE(type, name, arguments) static type(*name) arguments;
#define LOOK_UP(type, name, arguments) *(void **)&name = dlsym(runtime, #name);
FUNCTIONS(DECLARE)
static void begin(void) {
  /* Nothing has HIP before it is opened, whatever is preloaded. */
  if (dlsym(RTLD_DEFAULT, "hipMalloc")) exit(90);
  void *runtime = dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
  if (!runtime) exit(91);
  FUNCTIONS(LOOK_UP)
  if (dlsym(runtime, "hipNoSuchFunction") || !dlerror()) exit(92);
  if (!dlsym(RTLD_NEXT, "strlen") || dlsym(RTLD_NEXT, "main")) exit(93);
}
#else
#define DECLARE(type, name, arguments) type name arguments;
FUNCTIONS(DECLARE)
static void begin(void) {}
#endif

#pragma pack(push, 1)
typedef struct {
  void *d, *c, *a, *b;
  float alpha, beta;
  uint32_t m, n, k, strides[4];
} arguments;
#pragma pack(pop)

static void *device_memory(size_t size) {
  void *pointer = NULL;
  if (hipMalloc(&pointer, size)) exit(80);
  return pointer;
}

static arguments some_arguments(void) {
  arguments made = {device_memory(64), NULL, device_memory(32), device_memory(16), 1.5f, 0, 2, 3, 4, {3, 3, 4, 3}};
  for (int i = 0; i < 32; i++) ((char *)made.a)[i] = (char)i;
  return made;
}

static void *function_of(const char *path) {
  void *module = NULL, *function = NULL;
  if (hipModuleLoad(&module, path) || hipModuleGetFunction(&function, module, "argpack_sgemm")) exit(81);
  return function;
}

static int by_extra(void *function, arguments *made) {
  size_t size = sizeof *made;
  void *extra[] = {(void *)1, made, (void *)2, &size, (void *)3};
  return hipModuleLaunchKernel(function, 5, 6, 7, 16, 16, 1, 8, NULL, NULL, extra);
}

static char *file_contents(const char *path) {
  static char contents[1 << 20];
  int descriptor = open(path, O_RDONLY);
  if (read(descriptor, contents, sizeof contents) < 1) exit(82);
  close(descriptor);
  return contents;
}

static void host_stub(void) {}

/* Every way to launch, in a fixed order. `path` is a code object, argument an image for the fat binary. */
static int every_way(const char *path, const char *fat) {
  arguments a = some_arguments();
  void *parameters[] = {&a.d, &a.c, &a.a, &a.b, &a.alpha, &a.beta, &a.m, &a.n, &a.k,
                        &a.strides[0], &a.strides[1], &a.strides[2], &a.strides[3]};
  void *function = function_of(path);
  by_extra(function, &a);
  hipModuleLaunchKernel(function, 1, 2, 3, 16, 16, 1, 0, (void *)0x55, parameters, NULL);
  hipExtModuleLaunchKernel(function, 32, 48, 2, 16, 16, 1, 0, NULL, parameters, NULL, NULL, NULL, 0);
  hipExtModuleLaunchKernel(function, 33, 48, 2, 16, 16, 1, 0, NULL, parameters, NULL, NULL, NULL, 0);
  driver_config config = {{9, 8, 7}, {16, 16, 1}, 4, NULL, NULL, 2};
  hipDrvLaunchKernelEx(&config, function, parameters, NULL);
  struct {
    uint32_t magic, version;
    const void *binary, *unused;
  } wrapper = {0x48495046, 1, file_contents(fat), NULL};
  void **module = __hipRegisterFatBinary(&wrapper), *by_symbol;
  __hipRegisterFunction(module, (void *)host_stub, "argpack_sgemm", "argpack_sgemm", 256, 0, 0, 0, 0, 0);
  hipLaunchKernel((void *)host_stub, (dim3){2, 1, 1}, (dim3){16, 16, 1}, parameters, 0, NULL);
  hipGetFuncBySymbol(&by_symbol, (void *)host_stub);
  by_extra(by_symbol, &a);
  by_extra((void *)0x1000, &a);
  hipGraphLaunch(NULL, NULL);
  hipGraphLaunch(NULL, NULL);
  int (*allocate)(void **, size_t) = NULL;
  void *seen = NULL;
  if (hipGetProcAddress("hipMalloc", (void **)&allocate, 60000000, 0, NULL) || allocate(&seen, 16)) return 85;
  a.c = seen;
  by_extra(function, &a);
  fwrite(&a, 1, sizeof a, stdout);
  return 0;
}

static void *function;

static void *many(void *count) {
  arguments a = some_arguments();
  for (long i = 0; i < (long)count; i++) {
    a.m = (uint32_t)i;
    by_extra(function, &a);
  }
  return NULL;
}

/* Counts in its arguments and in all words of A (`size` bytes), and prints each launch that has returned. */
static _Noreturn void forever(long size) {
  arguments a = some_arguments();
  a.a = device_memory((size_t)size);
  for (uint32_t i = 0;; i++) {
    a.m = i;
    for (long word = 0; word < size / 4; word++) ((uint32_t *)a.a)[word] = i;
    by_extra(function, &a);
    dprintf(1, "%u\n", i);
  }
}

/* As daemons do; the program's own file then has a low number, and would have the capture's, were it low. */
static int careless(const char *path) {
  arguments a = some_arguments();
  by_extra(function, &a);
  closefrom(3);
  for (int i = 0; i < 600; i++)
    if (open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) < 0) exit(83);
  by_extra(function, &a);
  return 0;
}

int main(int count, char **values) {
  const char *mode = values[1], *path = values[2], *argument = count > 3 ? values[3] : NULL;
  begin();
  if (!strcmp(mode, "every_way")) return every_way(path, argument);
  if (!strcmp(mode, "image")) { /* freed before the launch */
    char *image = malloc(1 << 20);
    void *module;
    arguments a = some_arguments();
    memcpy(image, file_contents(path), 1 << 20);
    if (hipModuleLoadData(&module, image) || hipModuleGetFunction(&function, module, "argpack_sgemm")) return 84;
    free(image);
    by_extra(function, &a);
    hipFree(a.a);
    by_extra(function, &a);
    return hipModuleUnload(module);
  }
  function = function_of(path);
  if (!strcmp(mode, "threads")) {
    pthread_t threads[4];
    long each = atol(argument) / 4;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, many, (void *)each);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
  }
  if (!strcmp(mode, "one_thread")) return (int)(long)many((void *)atol(argument));
  if (!strcmp(mode, "forever")) forever(atol(argument));
  if (!strcmp(mode, "careless")) return careless(argument);
  if (!strcmp(mode, "fork")) {
    many((void *)3);
    if (!fork()) return (int)(long)many((void *)5);
    wait(NULL);
    return 0;
  }
  many((void *)2);
  if (!strcmp(mode, "exit")) return atoi(argument);
  if (!strcmp(mode, "signal")) return raise(atoi(argument));
  return 99;
}
