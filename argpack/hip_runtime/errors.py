"""HIP's error codes: their names, and the exception that makes a call return one."""

from __future__ import annotations

import enum
import re

# Values and names of hipError_t, as hip_runtime_api.h of ROCm 7 has them.
NAMES: dict[int, str] = {
    int(number): name
    for number, name in re.findall(
        r"(\d+) (\w+)",
        """
    0 hipSuccess 1 hipErrorInvalidValue 2 hipErrorOutOfMemory 3 hipErrorNotInitialized 4 hipErrorDeinitialized
    5 hipErrorProfilerDisabled 6 hipErrorProfilerNotInitialized 7 hipErrorProfilerAlreadyStarted
    8 hipErrorProfilerAlreadyStopped 9 hipErrorInvalidConfiguration 12 hipErrorInvalidPitchValue
    13 hipErrorInvalidSymbol 17 hipErrorInvalidDevicePointer 21 hipErrorInvalidMemcpyDirection
    35 hipErrorInsufficientDriver 52 hipErrorMissingConfiguration 53 hipErrorPriorLaunchFailure
    98 hipErrorInvalidDeviceFunction 100 hipErrorNoDevice 101 hipErrorInvalidDevice 200 hipErrorInvalidImage
    201 hipErrorInvalidContext 202 hipErrorContextAlreadyCurrent 205 hipErrorMapFailed 206 hipErrorUnmapFailed
    207 hipErrorArrayIsMapped 208 hipErrorAlreadyMapped 209 hipErrorNoBinaryForGpu 210 hipErrorAlreadyAcquired
    211 hipErrorNotMapped 212 hipErrorNotMappedAsArray 213 hipErrorNotMappedAsPointer 214 hipErrorECCNotCorrectable
    215 hipErrorUnsupportedLimit 216 hipErrorContextAlreadyInUse 217 hipErrorPeerAccessUnsupported
    218 hipErrorInvalidKernelFile 219 hipErrorInvalidGraphicsContext 300 hipErrorInvalidSource
    301 hipErrorFileNotFound 302 hipErrorSharedObjectSymbolNotFound 303 hipErrorSharedObjectInitFailed
    304 hipErrorOperatingSystem 400 hipErrorInvalidHandle 401 hipErrorIllegalState 500 hipErrorNotFound
    600 hipErrorNotReady 700 hipErrorIllegalAddress 701 hipErrorLaunchOutOfResources 702 hipErrorLaunchTimeOut
    704 hipErrorPeerAccessAlreadyEnabled 705 hipErrorPeerAccessNotEnabled 708 hipErrorSetOnActiveProcess
    709 hipErrorContextIsDestroyed 710 hipErrorAssert 712 hipErrorHostMemoryAlreadyRegistered
    713 hipErrorHostMemoryNotRegistered 719 hipErrorLaunchFailure 720 hipErrorCooperativeLaunchTooLarge
    801 hipErrorNotSupported 900 hipErrorStreamCaptureUnsupported 901 hipErrorStreamCaptureInvalidated
    902 hipErrorStreamCaptureMerge 903 hipErrorStreamCaptureUnmatched 904 hipErrorStreamCaptureUnjoined
    905 hipErrorStreamCaptureIsolation 906 hipErrorStreamCaptureImplicit 907 hipErrorCapturedEvent
    908 hipErrorStreamCaptureWrongThread 910 hipErrorGraphExecUpdateFailure 911 hipErrorInvalidChannelDescriptor
    912 hipErrorInvalidTexture 914 hipErrorInvalidResourceType 915 hipErrorInvalidResourceConfiguration
    916 hipErrorStreamDetached 999 hipErrorUnknown 1052 hipErrorRuntimeMemory 1053 hipErrorRuntimeOther
    1054 hipErrorInvalidClusterSize 1055 hipErrorTbd
    """,
    )
}


class Code(enum.IntEnum):
    """The codes that this runtime returns."""

    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_MEMCPY_DIRECTION = 21
    INVALID_DEVICE_FUNCTION = 98
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    NO_BINARY_FOR_GPU = 209
    FILE_NOT_FOUND = 301
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    NOT_SUPPORTED = 801
    UNKNOWN = 999


class CallError(Exception):
    """The call at hand returns `code`; `reason` is the line that people read."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def text(code: int) -> str:
    """The error in words, from its name: `invalid device function`."""
    if code == 0:
        return "no error"
    name = NAMES.get(code, "hipErrorUnknown").removeprefix("hipError")
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", name)).lower()
