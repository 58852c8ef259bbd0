// Launches an f4gemm kernel as GEMM libraries do: f4gemm_host HOW FOLDER KERNEL M N K TILE_M TILE_N.
// FOLDER has kernel.co and the operands A, B, ScaleA, ScaleB and D, which is written back. HOW is the way of launching.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hip_api.h"

#define CHECK(call)                                                            \
  do {                                                                         \
    if (hipError_t code = (call)) {                                            \
      std::fprintf(stderr, "%s: %s (%d)\n", #call, hipGetErrorName(code), code); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

// Every argument has 16 bytes.
template <class T> struct alignas(16) Slot {
  T value{};
  Slot &operator=(T to) { return value = to, *this; }
};
struct Arguments {
  Slot<void *> D, C, A, B;
  Slot<float> alpha, beta;
  Slot<unsigned> strideD0, strideD1, strideC0, strideC1, strideA0, strideA1, strideB0, strideB1, M, N, K;
  Slot<void *> scaleA, scaleB;
  Slot<unsigned> strideScaleA0, strideScaleA1, strideScaleB0, strideScaleB1;
  Slot<int> log2KSplit;
};
static_assert(sizeof(Arguments) == 384);

static std::string folder;

static std::vector<char> contents(const std::string &name) {
  std::ifstream file(folder + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static void *upload(const std::string &name, hipStream_t stream) {
  std::vector<char> data = contents(name);
  void *address = nullptr;
  CHECK(hipMalloc(&address, data.size()));
  CHECK(hipMemcpyAsync(address, data.data(), data.size(), hipMemcpyHostToDevice, stream));
  return address;
}

// What clang makes of a __global__ function: something with an address of its own.
static void f4gemm_stub() {}

int main(int, char **argv) {
  std::string how = argv[1], kernel = argv[3];
  folder = argv[2];
  unsigned m = std::atoi(argv[4]), n = std::atoi(argv[5]), k = std::atoi(argv[6]);
  unsigned tileM = std::atoi(argv[7]), tileN = std::atoi(argv[8]);
  int count = 0;
  CHECK(hipInit(0));
  CHECK(hipGetDeviceCount(&count));
  CHECK(hipSetDevice(count - 1));
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));

  Arguments arguments;
  arguments.A = upload("A", stream);
  arguments.B = upload("B", stream);
  arguments.scaleA = upload("ScaleA", stream);
  arguments.scaleB = upload("ScaleB", stream);
  std::vector<char> before = contents("D");
  size_t outputSize = before.size();
  void *output = nullptr;
  CHECK(hipMallocAsync(&output, outputSize, stream));
  CHECK(hipMemsetAsync(output, 0xff, outputSize, stream));
  CHECK(hipMemcpyHtoD(output, before.data(), outputSize));
  arguments.D = output;
  arguments.alpha = 1.0f;
  unsigned scaleColumns = (k / 32 + 7) / 8 * 8;
  arguments.strideC0 = n, arguments.strideA0 = k, arguments.strideB0 = k;
  arguments.M = m, arguments.N = n, arguments.K = k;
  arguments.strideScaleA0 = scaleColumns, arguments.strideScaleB0 = scaleColumns;

  std::vector<char> image = contents("kernel.co");
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  void **binary = nullptr;
  static struct { uint32_t magic, version; const void *image; void *unused; } wrapper = {0x48495046, 1, nullptr, nullptr};
  if (how == "symbol" || how == "cluster") {
    wrapper.image = image.data();
    binary = __hipRegisterFatBinary(&wrapper);
    __hipRegisterFunction(binary, (const void *)f4gemm_stub, nullptr, kernel.c_str(), -1, nullptr, nullptr, nullptr,
                          nullptr, nullptr);
    CHECK(hipGetFuncBySymbol(&function, (const void *)f4gemm_stub));
  } else {
    if (how == "data") CHECK(hipModuleLoadData(&module, image.data()));
    else CHECK(hipModuleLoad(&module, (folder + "/kernel.co").c_str()));
    CHECK(hipModuleGetFunction(&function, module, kernel.c_str()));
  }

  // The host passes 372 bytes; the kernel's metadata ends at 384.
  size_t size = 372;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  unsigned gx = (n + tileN - 1) / tileN, gy = (m + tileM - 1) / tileM;
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  if (how == "threads") {
    CHECK(hipExtModuleLaunchKernel(function, gx * 256, gy, 1, 256, 1, 1, 0, stream, nullptr, extra, start, stop));
  } else {
    CHECK(hipEventRecord(start, stream));
    if (how == "cluster") {
      HIP_LAUNCH_CONFIG config = {gx, gy, 1, 256, 1, 1, 0, stream, nullptr, 0};
      CHECK(hipDrvLaunchKernelEx(&config, function, nullptr, extra));
    } else {
      CHECK(hipModuleLaunchKernel(function, gx, gy, 1, 256, 1, 1, 0, stream, nullptr, extra));
    }
    CHECK(hipEventRecord(stop, stream));
  }
  CHECK(hipEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  std::vector<char> result(outputSize);
  CHECK(hipMemcpy(result.data(), output, outputSize, hipMemcpyDeviceToHost));
  std::ofstream(folder + "/D", std::ios::binary).write(result.data(), outputSize);
  for (void *address : {arguments.A.value, arguments.B.value, arguments.scaleA.value, arguments.scaleB.value})
    CHECK(hipFree(address));
  CHECK(hipFreeAsync(output, stream));
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  CHECK(hipStreamDestroy(stream));
  if (module) CHECK(hipModuleUnload(module));
  if (binary) __hipUnregisterFatBinary(binary);
  std::printf("%s in %s ms\n", kernel.c_str(), milliseconds > 0 ? "some" : "no");
}
