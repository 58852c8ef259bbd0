"""Which GPUs a code object is for: the target id, read from ELF flags or written as text.

The table is EF_AMDGPU_MACH of LLVM's "User Guide for AMDGPU Backend"; tests compare it with the assembler.
"""

from __future__ import annotations

from dataclasses import dataclass

from argpack.errors import InputError

# fmt: off
PROCESSORS = {
    0x020: "gfx600",   0x021: "gfx601",   0x022: "gfx700",   0x023: "gfx701",   0x024: "gfx702",
    0x025: "gfx703",   0x026: "gfx704",   0x028: "gfx801",   0x029: "gfx802",   0x02A: "gfx803",
    0x02B: "gfx810",   0x02C: "gfx900",   0x02D: "gfx902",   0x02E: "gfx904",   0x02F: "gfx906",
    0x030: "gfx908",   0x031: "gfx909",   0x032: "gfx90c",   0x033: "gfx1010",  0x034: "gfx1011",
    0x035: "gfx1012",  0x036: "gfx1030",  0x037: "gfx1031",  0x038: "gfx1032",  0x039: "gfx1033",
    0x03A: "gfx602",   0x03B: "gfx705",   0x03C: "gfx805",   0x03D: "gfx1035",  0x03E: "gfx1034",
    0x03F: "gfx90a",   0x040: "gfx940",   0x041: "gfx1100",  0x042: "gfx1013",  0x043: "gfx1150",
    0x044: "gfx1103",  0x045: "gfx1036",  0x046: "gfx1101",  0x047: "gfx1102",  0x048: "gfx1200",
    0x049: "gfx1250",  0x04A: "gfx1151",  0x04B: "gfx941",   0x04C: "gfx942",   0x04E: "gfx1201",
    0x04F: "gfx950",   0x055: "gfx1152",  0x058: "gfx1153",  0x05A: "gfx1251",
    0x051: "gfx9-generic",     0x052: "gfx10-1-generic",  0x053: "gfx10-3-generic",
    0x054: "gfx11-generic",    0x059: "gfx12-generic",    0x05F: "gfx9-4-generic",
}
# fmt: on

# Two bits a feature since code object V4: 0 the processor has no such feature, 1 any, 2 off, 3 on.
_SETTING = (None, None, "-", "+")


@dataclass(frozen=True, slots=True)
class TargetId:
    """A processor with its two features: `+` on, `-` off, None any (or a processor without the feature)."""

    processor: str
    sramecc: str | None = None
    xnack: str | None = None

    def __str__(self) -> str:
        features = [f":{name}{value}" for name, value in self._features() if value]
        return self.processor + "".join(features)

    def _features(self) -> tuple[tuple[str, str | None], ...]:
        return (("sramecc", self.sramecc), ("xnack", self.xnack))

    @classmethod
    def from_flags(cls, flags: int, abi_version: int) -> TargetId:
        """From ELF `e_flags` and the EI_ABIVERSION byte (1 is V3, 2 to 4 are V4 to V6). Raises InputError."""
        processor = PROCESSORS.get(flags & 0xFF)
        if processor is None:
            raise InputError(f"ELF flags {flags:#x}: unknown AMDGPU processor number {flags & 0xFF:#x}")
        if abi_version == 1:  # V3 had one bit a feature, and no "any"
            return cls(processor, "+" if flags & 0x200 else "-", "+" if flags & 0x100 else "-")
        return cls(processor, _SETTING[flags >> 10 & 3], _SETTING[flags >> 8 & 3])

    @classmethod
    def from_text(cls, text: str) -> TargetId:
        """From `gfx950:sramecc+:xnack-`, or the same behind `amdgcn-amd-amdhsa--`. Raises InputError."""
        processor, *features = text.removeprefix("amdgcn-amd-amdhsa--").split(":")
        found: dict[str, str] = {}
        for feature in features:
            name, setting = feature[:-1], feature[-1:]
            if name not in ("sramecc", "xnack") or setting not in ("+", "-") or name in found:
                raise InputError(
                    f"target id {text!r}: expected sramecc or xnack with + or -, found {feature!r}"
                )
            found[name] = setting
        if processor not in PROCESSORS.values():
            raise InputError(f"target id {text!r}: unknown AMDGPU processor {processor!r}")
        return cls(processor, found.get("sramecc"), found.get("xnack"))


def incompatibility(code: TargetId, device: TargetId) -> str | None:
    """Why code for `code` cannot run on `device`, in words; None when it can: an open feature fits all."""
    if code.processor != device.processor:
        return f"the code object is for {code}, the device is {device}"
    for name in ("sramecc", "xnack"):
        wanted, found = getattr(code, name), getattr(device, name)
        if wanted is not None and wanted != found:
            return f"the code object ({code}) needs {name}{wanted}, the device is {device}"
    return None
