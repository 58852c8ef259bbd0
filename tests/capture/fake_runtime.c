/* A libamdhip64.so without a GPU for the capture tests: device memory is malloc's, a kernel adds 1 to the 8 bytes that
 * its first argument points to. FAKE_CAPTURING=1: every stream is being captured into a graph. FAKE_FAIL=CODE: launches
 * return it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t x, y, z;
} dim3;

static int launch(void *function, void **parameters, void **extra) {
  if (getenv("FAKE_FAIL")) return atoi(getenv("FAKE_FAIL"));
  if (!function) return 400;
  uint64_t *output = NULL;
  if (extra) memcpy(&output, extra[1], 8);
  else if (parameters) output = *(uint64_t **)parameters[0];
  if (output) __atomic_fetch_add(output, 1, __ATOMIC_RELAXED);
  return 0;
}

int hipGetDevice(int *device) { return *device = 0; }
int hipGetDevicePropertiesR0600(void *properties, int device) {
  (void)device;
  memset(properties, 0, 1472);
  strcpy((char *)properties + 1160, "gfx950:sramecc+:xnack-");
  return 0;
}
int hipMalloc(void **pointer, size_t size) { return (*pointer = calloc(1, size)) ? 0 : 2; }
int hipFree(void *pointer) { return free(pointer), 0; }
int hipMemcpy(void *to, const void *from, size_t size, int kind) { return (void)kind, memcpy(to, from, size), 0; }
int hipDeviceSynchronize(void) { return 0; }
int hipStreamIsCapturing(void *stream, int *status) { return (void)stream, *status = getenv("FAKE_CAPTURING") != NULL, 0; }
int hipModuleLoad(void **module, const char *path) { return (void)path, *module = malloc(1), 0; }
int hipModuleLoadData(void **module, const void *image) { return (void)image, *module = malloc(1), 0; }
int hipModuleUnload(void *module) { return free(module), 0; }
int hipModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  return *function = strcmp(name, "missing") ? malloc(1) : NULL, *function ? 0 : 500;
}
void **__hipRegisterFatBinary(const void *wrapper) { return (void)wrapper, malloc(8); }
void __hipRegisterFunction(void **module, const void *symbol, char *device, const char *name, unsigned limit, void *a, void *b,
                           void *c, void *d, int *e) {
  (void)module, (void)symbol, (void)device, (void)name, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
}
int hipGetFuncBySymbol(void **function, const void *symbol) { return (void)symbol, *function = malloc(1), 0; }

#define SIZES unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f
#define UNUSED (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)lds, (void)stream
int hipModuleLaunchKernel(void *function, SIZES, unsigned lds, void *stream, void **parameters, void **extra) {
  UNUSED;
  return launch(function, parameters, extra);
}
/* Through the exported function, as a runtime may: such a launch is one launch. */
int hipExtModuleLaunchKernel(void *function, SIZES, size_t lds, void *stream, void **parameters, void **extra, void *start,
                             void *stop, unsigned flags) {
  (void)start, (void)stop, (void)flags;
  return hipModuleLaunchKernel(function, a, b, c, d, e, f, (unsigned)lds, stream, parameters, extra);
}
int hipDrvLaunchKernelEx(const void *config, void *function, void **parameters, void **extra) {
  (void)config;
  return launch(function, parameters, extra);
}
int hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **parameters, size_t lds, void *stream) {
  (void)grid, (void)block, (void)lds, (void)stream;
  return launch((void *)function, parameters, NULL);
}
int hipGraphLaunch(void *graph, void *stream) { return (void)graph, (void)stream, 0; }
int hipGetProcAddress(const char *name, void **function, int version, uint64_t flags, void *status) {
  (void)version, (void)flags, (void)status;
  return *function = strcmp(name, "hipMalloc") ? NULL : (void *)hipMalloc, *function ? 0 : 500;
}
