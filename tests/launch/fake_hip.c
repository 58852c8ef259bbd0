/* A libamdhip64.so without a GPU, enough for hip-python to run end to end: device memory is malloc's, and the only
 * kernel writes the FNV-1a checksum of its arguments behind the first 8 bytes to where those 8 bytes point.
 *
 * FAKE_HIP_LOG    file that gets a line per call, with what matters of its arguments
 * FAKE_HIP_ARCH   gcnArchName of the devices, separated by commas; default one gfx950:sramecc+:xnack-
 * FAKE_HIP_FAIL   NAME=CODE, separated by commas: the call NAME returns CODE
 * FAKE_HIP_STRAY  the kernel also writes the byte 0x5a this many bytes from where it writes its checksum
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hipDeviceProp_tR0600: size and offsets of the only two fields that are read. */
enum { PROP_SIZE = 1472, PROP_NAME = 0, PROP_ARCH = 1160 };
enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_IMAGE = 200, NOT_FOUND = 500 };

static int answer(const char *name, const char *detail) {
  const char *log = getenv("FAKE_HIP_LOG"), *fail = getenv("FAKE_HIP_FAIL");
  if (log) {
    FILE *file = fopen(log, "a");
    fprintf(file, "%s%s\n", name, detail);
    fclose(file);
  }
  size_t length = strlen(name);
  for (; fail; fail = strchr(fail, ',')) {
    fail += *fail == ',';
    if (!strncmp(fail, name, length) && fail[length] == '=') return atoi(fail + length + 1);
  }
  return 0;
}

#define CALL(...)                                      \
  char detail[4096];                                   \
  snprintf(detail, sizeof detail, " " __VA_ARGS__);    \
  int code = answer(__func__, detail);                 \
  if (code) return code

static const char *architectures(void) {
  const char *list = getenv("FAKE_HIP_ARCH");
  return list ? list : "gfx950:sramecc+:xnack-";
}

int hipInit(unsigned flags) {
  (void)flags;
  CALL();
  return 0;
}

int hipGetDeviceCount(int *count) {
  *count = 0;
  CALL();
  const char *list = architectures();
  for (*count = *list != 0; (list = strchr(list, ',')); list++) ++*count;
  return 0;
}

int hipGetDevicePropertiesR0600(void *properties, int device) {
  CALL("%d", device);
  const char *list = architectures();
  for (; device > 0; device--) {
    if (!(list = strchr(list, ','))) return INVALID_DEVICE;
    list++;
  }
  memset(properties, 0, PROP_SIZE);
  strcpy((char *)properties + PROP_NAME, "Fake Instinct");
  memcpy((char *)properties + PROP_ARCH, list, strcspn(list, ","));
  return 0;
}

int hipRuntimeGetVersion(int *version) {
  CALL();
  *version = 70253211;
  return 0;
}

int hipSetDevice(int device) {
  CALL("%d", device);
  return 0;
}

int hipModuleLoadData(void **module, const void *image) {
  *module = NULL;
  CALL();
  if (memcmp(image, "\177ELF", 4)) return INVALID_IMAGE;
  *module = malloc(1);
  return 0;
}

int hipModuleUnload(void *module) {
  free(module);
  CALL();
  return 0;
}

int hipModuleGetFunction(void **function, void *module, const char *name) {
  *function = NULL;
  CALL("%s", name);
  *function = module;
  return 0;
}

int hipMalloc(void **address, size_t size) {
  *address = NULL;
  CALL("%zu", size);
  *address = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return 0;
}

int hipFree(void *address) {
  free(address);
  CALL();
  return 0;
}

int hipMemcpy(void *to, const void *from, size_t size, int kind) {
  CALL("%zu kind %d", size, kind);
  memcpy(to, from, size);
  return 0;
}

int hipEventCreate(void **event) {
  *event = NULL;
  CALL();
  *event = malloc(1);
  return 0;
}

int hipEventDestroy(void *event) {
  free(event);
  CALL();
  return 0;
}

int hipEventRecord(void *event, void *stream) {
  (void)event, (void)stream;
  CALL();
  return 0;
}

int hipEventSynchronize(void *event) {
  (void)event;
  CALL();
  return 0;
}

int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  CALL();
  *milliseconds = start != stop ? 1.5f : 0.0f;
  return 0;
}

int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned lds, void *stream, void **params, void **extra) {
  if (!function || stream || params) return INVALID_VALUE;
  if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3) return INVALID_VALUE;
  const uint8_t *arguments = extra[1];
  size_t size = *(size_t *)extra[3];
  char hex[2049] = "";
  for (size_t i = 0; i < size && i < 1024; i++) sprintf(hex + 2 * i, "%02x", arguments[i]);
  CALL("%u %u %u block %u %u %u lds %u arguments %s", gx, gy, gz, bx, by, bz, lds, hex);
  uint8_t *output = *(uint8_t *const *)arguments;
  uint32_t checksum = 2166136261u;
  for (size_t i = 8; i < size; i++) checksum = (checksum ^ arguments[i]) * 16777619u;
  memcpy(output, &checksum, sizeof checksum);
  if (getenv("FAKE_HIP_STRAY")) output[atol(getenv("FAKE_HIP_STRAY"))] = 0x5a;
  return 0;
}
