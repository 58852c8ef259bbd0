"""What the emulated device says of itself: names, limits, both versions of the properties struct, the attributes.

The structs are those of hip_runtime_api.h: R0000 as HIP 5 has it, R0600 as HIP 6 and later. What nobody can measure
on an emulator (textures, clocks of parts it does not have) is 0.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

NAME = "AMD Instinct MI355X, emulated by argpack"
TARGET = "gfx950:sramecc+:xnack-"
MEMORY_BYTES = 288 << 30
VERSION = 7_02_00000
LDS_BYTES = 160 * 1024

_VALUES: dict[str, Any] = {
    "name": NAME.encode(),
    "gcnArchName": TARGET.encode(),
    "totalGlobalMem": MEMORY_BYTES,
    "sharedMemPerBlock": LDS_BYTES,
    "sharedMemPerBlockOptin": LDS_BYTES,
    "sharedMemPerMultiprocessor": LDS_BYTES,
    "maxSharedMemoryPerMultiProcessor": LDS_BYTES,
    "regsPerBlock": 131072,
    "regsPerMultiprocessor": 131072,
    "warpSize": 64,
    "memPitch": 2**31 - 1,
    "maxThreadsPerBlock": 1024,
    "maxThreadsDim": (1024, 1024, 1024),
    "maxGridSize": (2**31 - 1, 65536, 65536),
    "clockRate": 2_400_000,
    "memoryClockRate": 2_000_000,
    "memoryBusWidth": 8192,
    "totalConstMem": 2**31 - 1,
    "major": 9,
    "minor": 5,
    "textureAlignment": 256,
    "texturePitchAlignment": 256,
    "multiProcessorCount": 256,
    "canMapHostMemory": 1,
    "concurrentKernels": 1,
    "ECCEnabled": 1,
    "unifiedAddressing": 1,
    "l2CacheSize": 4 << 20,
    "maxThreadsPerMultiProcessor": 2048,
    "clockInstructionRate": 100_000,
    "hdpMemFlushCntl": 0,
    "gcnArch": 950,
    "arch": 0x1FFFF,
}
_TYPES = {
    "i": ctypes.c_int,
    "u": ctypes.c_uint,
    "z": ctypes.c_size_t,
    "p": ctypes.c_void_p,
    "c": ctypes.c_char,
}
# A type letter, how many of it if not one, and the fields of that type.
_LAYOUTS = {
    "R0000": """
        c256 name  z totalGlobalMem sharedMemPerBlock  i regsPerBlock warpSize maxThreadsPerBlock
        i3 maxThreadsDim maxGridSize  i clockRate memoryClockRate memoryBusWidth  z totalConstMem
        i major minor multiProcessorCount l2CacheSize maxThreadsPerMultiProcessor computeMode clockInstructionRate
        u arch  i concurrentKernels pciDomainID pciBusID pciDeviceID  z maxSharedMemoryPerMultiProcessor
        i isMultiGpuBoard canMapHostMemory gcnArch  c256 gcnArchName  i integrated cooperativeLaunch
        i cooperativeMultiDeviceLaunch maxTexture1DLinear maxTexture1D  i2 maxTexture2D  i3 maxTexture3D
        p hdpMemFlushCntl hdpRegFlushCntl  z memPitch textureAlignment texturePitchAlignment
        i kernelExecTimeoutEnabled ECCEnabled tccDriver cooperativeMultiDeviceUnmatchedFunc
        i cooperativeMultiDeviceUnmatchedGridDim cooperativeMultiDeviceUnmatchedBlockDim
        i cooperativeMultiDeviceUnmatchedSharedMem isLargeBar asicRevision managedMemory
        i directManagedMemAccessFromHost concurrentManagedAccess pageableMemoryAccess
        i pageableMemoryAccessUsesHostPageTables
    """,
    "R0600": """
        c256 name  c16 uuid  c8 luid  u luidDeviceNodeMask  z totalGlobalMem sharedMemPerBlock
        i regsPerBlock warpSize  z memPitch  i maxThreadsPerBlock  i3 maxThreadsDim maxGridSize  i clockRate
        z totalConstMem  i major minor  z textureAlignment texturePitchAlignment  i deviceOverlap multiProcessorCount
        i kernelExecTimeoutEnabled integrated canMapHostMemory computeMode maxTexture1D maxTexture1DMipmap
        i maxTexture1DLinear  i2 maxTexture2D maxTexture2DMipmap  i3 maxTexture2DLinear  i2 maxTexture2DGather
        i3 maxTexture3D maxTexture3DAlt  i maxTextureCubemap  i2 maxTexture1DLayered  i3 maxTexture2DLayered
        i2 maxTextureCubemapLayered  i maxSurface1D  i2 maxSurface2D  i3 maxSurface3D  i2 maxSurface1DLayered
        i3 maxSurface2DLayered  i maxSurfaceCubemap  i2 maxSurfaceCubemapLayered  z surfaceAlignment
        i concurrentKernels ECCEnabled pciBusID pciDeviceID pciDomainID tccDriver asyncEngineCount unifiedAddressing
        i memoryClockRate memoryBusWidth l2CacheSize persistingL2CacheMaxSize maxThreadsPerMultiProcessor
        i streamPrioritiesSupported globalL1CacheSupported localL1CacheSupported  z sharedMemPerMultiprocessor
        i regsPerMultiprocessor managedMemory isMultiGpuBoard multiGpuBoardGroupID hostNativeAtomicSupported
        i singleToDoublePrecisionPerfRatio pageableMemoryAccess concurrentManagedAccess computePreemptionSupported
        i canUseHostPointerForRegisteredMem cooperativeLaunch cooperativeMultiDeviceLaunch  z sharedMemPerBlockOptin
        i pageableMemoryAccessUsesHostPageTables directManagedMemAccessFromHost maxBlocksPerMultiProcessor
        i accessPolicyMaxWindowSize  z reservedSharedMemPerBlock  i hostRegisterSupported sparseHipArraySupported
        i hostRegisterReadOnlySupported timelineSemaphoreInteropSupported memoryPoolsSupported gpuDirectRDMASupported
        u gpuDirectRDMAFlushWritesOptions  i gpuDirectRDMAWritesOrdering  u memoryPoolSupportedHandleTypes
        i deferredMappingHipArraySupported ipcEventSupported clusterLaunch unifiedFunctionPointers  i63 reserved
        i32 hipReserved  c256 gcnArchName  z maxSharedMemoryPerMultiProcessor  i clockInstructionRate  u arch
        p hdpMemFlushCntl hdpRegFlushCntl  i cooperativeMultiDeviceUnmatchedFunc
        i cooperativeMultiDeviceUnmatchedGridDim cooperativeMultiDeviceUnmatchedBlockDim
        i cooperativeMultiDeviceUnmatchedSharedMem isLargeBar asicRevision
    """,
}
# hipDeviceAttribute_t: what it asks for, by number; what is not here and below the limits is 0.
_ATTRIBUTES = {
    3: "canMapHostMemory",
    5: "clockRate",
    8: "concurrentKernels",
    19: "l2CacheSize",
    23: "major",
    **{26 + axis: ("maxThreadsDim", axis) for axis in range(3)},
    **{29 + axis: ("maxGridSize", axis) for axis in range(3)},
    55: ("maxThreadsDim", 0),
    56: "maxThreadsPerBlock",
    57: "maxThreadsPerMultiProcessor",
    58: "memPitch",
    59: "memoryBusWidth",
    60: "memoryClockRate",
    61: "minor",
    63: "multiProcessorCount",
    71: "regsPerBlock",
    72: "regsPerMultiprocessor",
    74: "sharedMemPerBlock",
    75: "sharedMemPerBlockOptin",
    76: "sharedMemPerMultiprocessor",
    80: "tccDriver",
    78: "textureAlignment",
    81: "texturePitchAlignment",
    83: "totalConstMem",
    84: "totalGlobalMem",
    85: "unifiedAddressing",
    87: "warpSize",
    0: "ECCEnabled",
    10000: "clockInstructionRate",
    10002: "maxSharedMemoryPerMultiProcessor",
    10015: "multiProcessorCount",
    10017: "clockInstructionRate",
}
_OTHER_ATTRIBUTES = {10018: 8}  # XCCs
_KNOWN = (range(96), range(10000, 10023))


@functools.cache
def properties(version: str) -> bytes:
    """The bytes of hipDeviceProp_t, version `R0000` or `R0600`."""
    fields: list[tuple[str, Any]] = []
    kind: Any = None
    for word in _LAYOUTS[version].split():
        if match := re.fullmatch(r"([iuzpc])(\d*)", word):
            kind = _TYPES[match[1]] * int(match[2]) if match[2] else _TYPES[match[1]]
        else:
            fields.append((word, kind))
    struct = type(f"hipDeviceProp_t{version}", (ctypes.Structure,), {"_fields_": fields})()
    for name, value in _VALUES.items():
        if hasattr(struct, name):
            setattr(struct, name, value)
    return bytes(struct)


def attribute(number: int) -> int | None:
    """The value of a hipDeviceAttribute_t, as an int of 32 bits, or None for a number that HIP does not have."""
    if not any(number in numbers for numbers in _KNOWN):
        return None
    wanted = _ATTRIBUTES.get(number)
    if wanted is None:
        return _OTHER_ATTRIBUTES.get(number, 0)
    name, axis = wanted if isinstance(wanted, tuple) else (wanted, None)
    value = _VALUES.get(name, 0)
    return min(int(value if axis is None else value[axis]), 2**31 - 1)
