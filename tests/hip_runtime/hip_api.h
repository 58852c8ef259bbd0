// The part of HIP's interface that the test programs use, declared by ourselves: names, parameters and values are those
// of HIP's documentation, so that a program built against this file is one built against HIP's headers.
#pragma once
#include <cstddef>
#include <cstdint>

typedef int hipError_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef void *hipDeviceptr_t;
struct dim3 {
  uint32_t x, y, z;
  constexpr dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}
};

enum { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)

struct HIP_LAUNCH_CONFIG {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  hipStream_t hStream;
  void *attrs;
  unsigned numAttrs;
};
struct hipPointerAttribute_t {
  int type, device;
  void *devicePointer, *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

extern "C" {
hipError_t hipInit(unsigned);
hipError_t hipGetDeviceCount(int *);
hipError_t hipSetDevice(int);
hipError_t hipGetDevice(int *);
hipError_t hipGetDevicePropertiesR0600(void *, int);
hipError_t hipGetDeviceProperties(void *, int);
hipError_t hipDeviceGetAttribute(int *, int, int);
hipError_t hipDeviceGetName(char *, int, int);
hipError_t hipRuntimeGetVersion(int *);
hipError_t hipDeviceSynchronize();
const char *hipGetErrorName(hipError_t);
const char *hipGetErrorString(hipError_t);
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
hipError_t hipMalloc(void **, size_t);
hipError_t hipMallocAsync(void **, size_t, hipStream_t);
hipError_t hipFree(void *);
hipError_t hipFreeAsync(void *, hipStream_t);
hipError_t hipHostMalloc(void **, size_t, unsigned);
hipError_t hipHostFree(void *);
hipError_t hipMemGetInfo(size_t *, size_t *);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *, const void *);
hipError_t hipMemcpy(void *, const void *, size_t, int);
hipError_t hipMemcpyAsync(void *, const void *, size_t, int, hipStream_t);
hipError_t hipMemcpyHtoD(hipDeviceptr_t, void *, size_t);
hipError_t hipMemcpyDtoH(void *, hipDeviceptr_t, size_t);
hipError_t hipMemcpyDtoD(hipDeviceptr_t, hipDeviceptr_t, size_t);
hipError_t hipMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
hipError_t hipMemset(void *, int, size_t);
hipError_t hipMemsetAsync(void *, int, size_t, hipStream_t);
hipError_t hipMemsetD8(hipDeviceptr_t, unsigned char, size_t);
hipError_t hipMemsetD32(hipDeviceptr_t, int, size_t);
hipError_t hipStreamCreate(hipStream_t *);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipStreamBeginCapture(hipStream_t, int);
hipError_t hipLaunchHostFunc(hipStream_t, void (*)(void *), void *);
hipError_t hipEventCreate(hipEvent_t *);
hipError_t hipEventDestroy(hipEvent_t);
hipError_t hipEventRecord(hipEvent_t, hipStream_t);
hipError_t hipEventSynchronize(hipEvent_t);
hipError_t hipEventElapsedTime(float *, hipEvent_t, hipEvent_t);
hipError_t hipModuleLoad(hipModule_t *, const char *);
hipError_t hipModuleLoadData(hipModule_t *, const void *);
hipError_t hipModuleUnload(hipModule_t);
hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 hipStream_t, void **, void **);
hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *, hipFunction_t, void **, void **);
hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);
hipError_t hipGetFuncBySymbol(hipFunction_t *, const void *);
void **__hipRegisterFatBinary(const void *);
void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *, void *, void *, void *, int *);
void __hipUnregisterFatBinary(void **);
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t, hipStream_t);
hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, hipStream_t *);
}
// Not extern "C" in HIP's headers either.
hipError_t hipExtModuleLaunchKernel(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t,
                                    hipStream_t, void **, void **, hipEvent_t = nullptr, hipEvent_t = nullptr,
                                    uint32_t = 0);
