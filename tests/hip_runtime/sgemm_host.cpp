// What clang makes of `sgemm<<<grid, block>>>(…)`, by hand: sgemm_host IMAGE. The image, a code object or a bundle, is
// registered before main, arguments go by address, memory is pinned, threads launch at once, and a child of fork does.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "hip_api.h"

static std::vector<char> image;
static struct { uint32_t magic, version; const void *image; void *unused; } wrapper = {0x48495046, 1, nullptr, nullptr};

static void check(const char *what, hipError_t code) {
  if (!code) return;
  std::printf("%s: %s\n", what, hipGetErrorName(code));
  std::exit(1);
}
#define CHECK(call) check(#call, call)

// The host function that stands for the kernel.
static void sgemm(float *d, float *c, float *a, float *b, float alpha, float beta, unsigned m, unsigned n, unsigned k,
                  unsigned stride_d, unsigned stride_c, unsigned stride_a, unsigned stride_b) {
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
  CHECK(__hipPopCallConfiguration(&grid, &block, &lds, &stream));
  void *arguments[] = {&d, &c, &a, &b, &alpha, &beta, &m, &n, &k, &stride_d, &stride_c, &stride_a, &stride_b};
  CHECK(hipLaunchKernel((const void *)sgemm, grid, block, arguments, lds, stream));
}

// D = alpha · A · B for A = (i + j) of 5×3 and B = (i - j) of 3×7; gives the sum of D's elements.
static float product(float alpha) {
  float *a, *b, *d;
  CHECK(hipHostMalloc((void **)&a, 15 * sizeof *a, 0));
  CHECK(hipHostMalloc((void **)&b, 21 * sizeof *b, 0));
  CHECK(hipMalloc((void **)&d, 35 * sizeof *d));
  for (int i = 0; i < 15; i++) a[i] = float(i / 3 + i % 3);
  for (int i = 0; i < 21; i++) b[i] = float(i / 7 - i % 7);
  CHECK(hipMemsetD32(d, 0x7fc00000, 35));
  CHECK(__hipPushCallConfiguration(dim3(1, 1), dim3(16, 16), 0, nullptr));
  sgemm(d, nullptr, a, b, alpha, 0.0f, 5, 7, 3, 7, 7, 3, 7);
  CHECK(hipDeviceSynchronize());
  float result[35], sum = 0;
  CHECK(hipMemcpy(result, d, sizeof result, hipMemcpyDefault));
  for (float value : result) sum += value;
  CHECK(hipHostFree(a));
  CHECK(hipHostFree(b));
  CHECK(hipFree(d));
  return sum;
}

int main(int, char **argv) {
  std::ifstream file(argv[1], std::ios::binary);
  image.assign(std::istreambuf_iterator<char>(file), {});
  wrapper.image = image.data();
  void **binary = __hipRegisterFatBinary(&wrapper);
  __hipRegisterFunction(binary, (const void *)sgemm, (char *)"sgemm", "argpack_sgemm", -1, nullptr, nullptr, nullptr,
                        nullptr, nullptr);
  std::printf("sum %g\n", product(1.0f));

  std::vector<std::thread> threads;
  float sums[4];
  for (int i = 0; i < 4; i++) threads.emplace_back([&, i] { sums[i] = product(float(i)); });
  for (auto &thread : threads) thread.join();
  std::printf("threads %g %g %g %g\n", sums[0], sums[1], sums[2], sums[3]);

  // An error is the thread's own.
  hipFree((void *)16);
  int elsewhere = -1;
  std::thread([&] { elsewhere = hipGetLastError(); }).join();
  std::printf("last error here %s, elsewhere %s\n", hipGetErrorName(hipGetLastError()), hipGetErrorName(elsewhere));

  // The functions of AMD's runtime that are not emulated are there all the same.
  void *mapped;
  CHECK(hipHostMalloc(&mapped, 5000, 0));
  hipPointerAttribute_t attributes;
  CHECK(hipPointerGetAttributes(&attributes, (char *)mapped + 100));
  std::printf("pinned: type %d, same address %d\n", attributes.type, attributes.devicePointer == (char *)mapped + 100);
  std::memset(mapped, 7, 5000);
  void *copy;
  CHECK(hipMalloc(&copy, 5000));
  CHECK(hipMemcpyDtoD(copy, mapped, 5000));
  unsigned char back[5000];
  CHECK(hipMemcpy2D(back, 50, copy, 100, 50, 50, hipMemcpyDeviceToHost));
  std::printf("copied %d\n", back[0] + back[2499]);
  int called = 0;
  CHECK(hipLaunchHostFunc(nullptr, [](void *data) { *(int *)data = 1; }, &called));
  std::printf("callback %d\n", called);

  std::fflush(stdout);
  pid_t child = fork();
  if (!child) {
    void *memory;
    CHECK(hipMalloc(&memory, 100));
    size_t left, total;
    CHECK(hipMemGetInfo(&left, &total));
    std::printf("child has used %zu\n", total - left);
    std::fflush(stdout);
    _exit(0);
  }
  int status = -1;
  if (waitpid(-1, &status, 0) != child) std::printf("a child that is not ours\n");
  std::printf("child ended with %d\n", status);
  std::printf("sum %g\n", product(2.0f));
  __hipUnregisterFatBinary(binary);
}
