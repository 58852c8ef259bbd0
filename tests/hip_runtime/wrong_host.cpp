// Does what HIP programs get wrong, prints the code of each call, and must come to its end: wrong_host KERNEL.CO OTHER.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "hip_api.h"

static void say(const char *what, hipError_t code) { std::printf("%s = %s\n", what, hipGetErrorName(code)); }
static void stub() {}
static void unknown() {}

static std::vector<char> contents(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int main(int, char **argv) {
  char host[4096] = "text";
  void *a = nullptr, *b = nullptr, *nowhere = (void *)0x10;
  int value = 0;
  float time = 0;
  say("good malloc", hipMalloc(&a, 1000));
  say("good second malloc", hipMalloc(&b, 4096));

  say("init with flags", hipInit(7));
  say("device 1", hipSetDevice(1));
  say("properties of device 1", hipGetDevicePropertiesR0600(host, 1));
  say("properties to null", hipGetDevicePropertiesR0600(nullptr, 0));
  say("properties to nowhere", hipGetDevicePropertiesR0600(nowhere, 0));
  say("unknown attribute", hipDeviceGetAttribute(&value, 5000, 0));
  say("malloc to null", hipMalloc(nullptr, 16));
  say("malloc of everything", hipMalloc(&b, 1ull << 50));

  say("copy too much to the device", hipMemcpy(a, host, 1001, hipMemcpyHostToDevice));
  say("copy too much from the middle", hipMemcpy(host, (char *)a + 900, 101, hipMemcpyDeviceToHost));
  say("copy to null", hipMemcpy(nullptr, host, 8, hipMemcpyHostToDevice));
  say("copy from nowhere", hipMemcpy(a, nowhere, 8, hipMemcpyHostToDevice));
  say("copy to nowhere", hipMemcpy(nowhere, a, 8, hipMemcpyDeviceToHost));
  say("copy to read-only memory", hipMemcpy((void *)"constant", a, 8, hipMemcpyDeviceToHost));
  say("copy to a device address of no buffer", hipMemcpy((char *)a + (1 << 22), host, 8, hipMemcpyHostToDevice));
  say("copy in the wrong direction", hipMemcpy(a, host, 8, hipMemcpyDeviceToHost));
  say("copy host to host as device to device", hipMemcpy(host, host + 64, 8, hipMemcpyDeviceToDevice));
  say("copy of a kind that is none", hipMemcpy(a, host, 8, 9));
  say("copy on a stream that is none", hipMemcpyAsync(a, host, 8, hipMemcpyHostToDevice, (hipStream_t)host));
  say("memset past the end", hipMemset(a, 0, 1001));
  say("memset of the host", hipMemset(host, 0, 8));
  say("memset of unaligned words", hipMemsetD32((char *)a + 2, 0, 1));
  say("attributes of a host pointer", hipPointerGetAttributes((hipPointerAttribute_t *)(host + 1024), host));

  say("free of the middle", hipFree((char *)a + 256));
  say("free of the host", hipFree(host));
  say("free of null", hipFree(nullptr));
  say("host free of device memory", hipHostFree(a));
  say("good free", hipFree(a));
  say("double free", hipFree(a));
  say("copy to freed memory", hipMemcpy(a, host, 8, hipMemcpyHostToDevice));

  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  std::vector<char> image = contents(argv[1]), other = contents(argv[2]);
  say("load of a missing file", hipModuleLoad(&module, "no such file.co"));
  say("load of text", hipModuleLoadData(&module, host));
  say("load of null", hipModuleLoadData(&module, nullptr));
  say("load from nowhere", hipModuleLoadData(&module, nowhere));
  say("load for another device", hipModuleLoadData(&module, other.data()));
  say("load of a newer compressed bundle", hipModuleLoadData(&module, "CCOB\11\0\1\0"));
  std::vector<char> half(image);
  std::memset(half.data() + 64, 0xff, half.size() - 64);
  say("load of a damaged file", hipModuleLoadData(&module, half.data()));
  say("function of a module that is none", hipModuleGetFunction(&function, (hipModule_t)host, "argpack_sgemm"));
  say("good load", hipModuleLoadData(&module, image.data()));
  say("missing function", hipModuleGetFunction(&function, module, "argpack_sgem"));
  say("descriptor instead of function", hipModuleGetFunction(&function, module, "argpack_sgemm.kd"));
  say("good function", hipModuleGetFunction(&function, module, "argpack_sgemm"));

  char arguments[72] = {};
  size_t size = 68, nothing = 0;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  void *endless[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments, arguments, &size, HIP_LAUNCH_PARAM_END};
  void *empty[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &nothing,
                   HIP_LAUNCH_PARAM_END};
  void *exchanged[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments,
                       HIP_LAUNCH_PARAM_END};
  void *unended[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, nullptr};
  void *scalars[13] = {};
  void *values[13] = {arguments, arguments, arguments, arguments, (void *)0x3f800000};
#define LAUNCH(f, grid, block, lds, params, extra) \
  hipModuleLaunchKernel(f, grid, 1, 1, block, 1, 1, lds, nullptr, params, extra)
  say("launch of null", LAUNCH(nullptr, 1, 64, 0, nullptr, extra));
  say("launch of a module", LAUNCH((hipFunction_t)module, 1, 64, 0, nullptr, extra));
  say("launch of an unknown function", LAUNCH((hipFunction_t)host, 1, 64, 0, nullptr, extra));
  say("launch without arguments", LAUNCH(function, 1, 64, 0, nullptr, nullptr));
  say("launch with both kinds of arguments", LAUNCH(function, 1, 64, 0, scalars, extra));
  say("launch with null parameters", LAUNCH(function, 1, 64, 0, scalars, nullptr));
  say("launch with parameters nowhere", LAUNCH(function, 1, 64, 0, (void **)nowhere, nullptr));
  say("launch with a value for its address", LAUNCH(function, 1, 64, 0, values, nullptr));
  say("launch with extra of another tag", LAUNCH(function, 1, 64, 0, nullptr, endless));
  say("launch with extra in another order", LAUNCH(function, 1, 64, 0, nullptr, exchanged));
  say("launch with extra without an end", LAUNCH(function, 1, 64, 0, nullptr, unended));
  say("launch with no bytes", LAUNCH(function, 1, 64, 0, nullptr, empty));
  say("launch of no blocks", LAUNCH(function, 0, 64, 0, nullptr, extra));
  say("launch of large blocks", LAUNCH(function, 1, 512, 0, nullptr, extra));
  say("launch of 2^32 threads", LAUNCH(function, 1 << 24, 256, 0, nullptr, extra));
  say("launch with much LDS", LAUNCH(function, 1, 64, 163841, nullptr, extra));
  say("launch of part of a block",
      hipExtModuleLaunchKernel(function, 100, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  say("launch of an unknown symbol", hipLaunchKernel((void *)unknown, 1, 64, scalars, 0, nullptr));
  say("function of an unknown symbol", hipGetFuncBySymbol(&function, (void *)unknown));
  static struct { uint32_t magic, version; const void *image; void *unused; } wrapper = {0x48495046, 1, other.data(), nullptr};
  void **binary = __hipRegisterFatBinary(&wrapper);
  __hipRegisterFunction(binary, (void *)stub, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  say("symbol for another device", hipLaunchKernel((void *)stub, 1, 64, scalars, 0, nullptr));
  __hipUnregisterFatBinary(binary);
  __hipRegisterFunction(nullptr, (void *)stub, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  say("symbol after it is gone", hipLaunchKernel((void *)stub, 1, 64, scalars, 0, nullptr));

  hipEvent_t event;
  say("good event", hipEventCreate(&event));
  say("time of events not recorded", hipEventElapsedTime(&time, event, event));
  say("event that is none", hipEventRecord((hipEvent_t)host, nullptr));
  say("stream instead of event", hipStreamSynchronize((hipStream_t)event));
  say("stream capture", hipStreamBeginCapture(nullptr, 0));
  say("second stream capture", hipStreamBeginCapture(nullptr, 0));
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
  say("pop without push", __hipPopCallConfiguration(&grid, &block, &lds, &stream));

  say("peek at the last error", hipPeekAtLastError());
  say("last error", hipGetLastError());
  say("last error again", hipGetLastError());
  say("good unload", hipModuleUnload(module));
  say("double unload", hipModuleUnload(module));
  say("launch after unload", LAUNCH(function, 1, 64, 0, nullptr, extra));

  // The last: a wild store loses the device.
  say("good load for the fault", hipModuleLoadData(&module, image.data()));
  say("good function for the fault", hipModuleGetFunction(&function, module, "argpack_sgemm"));
  uint32_t *words = (uint32_t *)arguments;
  words[0] = 0x1000, words[10] = 1, words[11] = 1, words[12] = 0;
  say("store to a wild address",
      hipModuleLaunchKernel(function, 1, 1, 1, 16, 16, 1, 0, nullptr, nullptr, extra));
  say("synchronize after a fault", hipDeviceSynchronize());
  say("copy after a fault", hipMemcpy(host, b, 8, hipMemcpyDeviceToHost));
  std::printf("%s\n", hipGetErrorString(0));
}
