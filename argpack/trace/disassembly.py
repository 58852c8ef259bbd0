"""Text of a decoded instruction as LLVM prints it, without `_e32` and `_e64`; branches name the address they go to.

Forms that no kernel executed here has (DPP, SDWA) are printed as mnemonic and words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from argpack.emulator.decoder import LITERAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from argpack.emulator.decoder import Instruction

_NAMED = {106: "vcc", 107: "vcc_hi", 124: "m0", 126: "exec", 127: "exec_hi"}
_LOW = {106: "vcc_lo", 126: "exec_lo"}
_FLOATS = {240: "0.5", 241: "-0.5", 242: "1.0", 243: "-1.0", 244: "2.0", 245: "-2.0", 246: "4.0", 247: "-4.0"}
_OTHERS = {248: "0.15915494", 251: "vccz", 252: "execz", 253: "scc"}
_TYPE = re.compile(r"_[bfui](\d+)")
_OFF = 0x7F
# Sources whose width is not that of the last type in the mnemonic, in dwords.
_SOURCE_DWORDS = {
    "v_mad_u64_u32": (1, 1, 2),
    "v_mad_i64_i32": (1, 1, 2),
    "v_lshl_add_u64": (2, 1, 2),
    "s_lshl_b64": (2, 1),
    "s_lshr_b64": (2, 1),
    "s_ashr_i64": (2, 1),
    "v_lshlrev_b64": (1, 2),
    "v_lshrrev_b64": (1, 2),
    "v_ashrrev_i64": (1, 2),
}
_SINGLE_SOURCE = (
    "v_cvt_f",
    "v_cvt_u",
    "v_cvt_i",
    "v_accvgpr",
    "v_mov_",
    "v_not_",
    "v_rcp",
    "v_rsq",
    "v_exp",
    "v_log",
)
_THREE_SOURCES = re.compile(
    r"v_(mad|fma|bfe|bfi|lshl_add|add_lshl|lshl_or|and_or|or3|add3|xad|perm|alignb|med3|min3|max3|sad|div_fix|cubeid)"
)


def text_of(instruction: Instruction) -> str:
    """One line: mnemonic, operands, modifiers."""
    encoding = instruction.encoding.removesuffix("_LIT")
    printer = _PRINTERS.get(encoding)
    if printer is None:
        return f"{instruction.mnemonic} ({instruction.encoding}) {instruction.raw.hex(' ', 4)}"
    name = instruction.mnemonic
    if name in {"v_accvgpr_read", "v_accvgpr_write"}:
        name += "_b32"
    operands, modifiers = printer(instruction)
    listed = ", ".join(operands)
    return " ".join(part for part in (name, listed, *modifiers) if part)


Printed = tuple[list[str], list[str]]


def _registers(letter: str, first: int, dwords: int) -> str:
    return f"{letter}{first}" if dwords == 1 else f"{letter}[{first}:{first + dwords - 1}]"


def _scalar(code: int, dwords: int = 1) -> str:
    if code in _LOW and dwords == 1:
        return _LOW[code]
    return _NAMED.get(code) or _registers("s", code, dwords)


def _source(instruction: Instruction, code: int, dwords: int = 1, *, acc: bool = False) -> str:
    if code >= 256:
        return _registers("a" if acc else "v", code - 256, dwords)
    if code == LITERAL:
        return f"{instruction.literal or 0:#x}"
    if 128 <= code <= 208:
        return str(code - 128 if code <= 192 else 192 - code)
    return _FLOATS.get(code) or _OTHERS.get(code) or _scalar(code, dwords)


def _widths(name: str) -> tuple[int, int]:
    """Dwords of the destination and of the sources, from the types in the mnemonic."""
    bits = [int(size) for size in _TYPE.findall(name)]
    if not bits:
        return 1, 1
    return max(1, bits[0] // 32), max(1, bits[-1] // 32)


def _source_dwords(name: str, position: int) -> int:
    listed = _SOURCE_DWORDS.get(name)
    return listed[position] if listed else _widths(name)[1]


def _sop2(i: Instruction) -> Printed:
    width = _widths(i.mnemonic)[0]
    sources = [_source(i, i.fields[f"ssrc{n}"], _source_dwords(i.mnemonic, n)) for n in range(2)]
    return [_scalar(i.fields["sdst"], width), *sources], []


def _sop1(i: Instruction) -> Printed:
    to, source = _widths(i.mnemonic)
    return [_scalar(i.fields["sdst"], to), _source(i, i.fields["ssrc0"], source)], []


def _sopc(i: Instruction) -> Printed:
    if i.mnemonic == "s_set_gpr_idx_on":
        names = [
            name for bit, name in enumerate(("SRC0", "SRC1", "SRC2", "DST")) if i.fields["ssrc1"] >> bit & 1
        ]
        return [_source(i, i.fields["ssrc0"]), f"gpr_idx({','.join(names)})"], []
    width = _widths(i.mnemonic)[1]
    return [_source(i, i.fields[f"ssrc{n}"], width) for n in range(2)], []


def _sopk(i: Instruction) -> Printed:
    return [_scalar(i.fields["sdst"]), f"{i.fields['simm16']:#x}"], []


def _sopp(i: Instruction) -> Printed:
    name, value = i.mnemonic, i.fields["simm16"]
    if name == "s_waitcnt":
        counts = (
            ("vmcnt", value & 15 | value >> 14 << 4, 63),
            ("expcnt", value >> 4 & 7, 7),
            ("lgkmcnt", value >> 8 & 15, 15),
        )
        return [" ".join(f"{counter}({count})" for counter, count, most in counts if count != most)], []
    if name == "s_branch" or name.startswith("s_cbranch"):
        return [f"{i.address + 4 + 4 * (value - 0x10000 if value & 0x8000 else value):#x}"], []
    plain = {"s_barrier", "s_set_gpr_idx_off", "s_icache_inv"} | ({"s_endpgm"} if not value else set())
    return [] if name in plain else [str(value)], []


def _smem(i: Instruction) -> Printed:
    fields = i.fields
    if "load" not in i.mnemonic:
        return [], []
    dwords = int(i.mnemonic.partition("dwordx")[2] or 1)
    offset = f"{fields['offset']:#x}"
    if not fields["imm"]:
        offset = _scalar(fields["offset"] & 0x7F)
    elif fields["soffset_en"]:
        offset = f"{_scalar(fields['soffset'])} offset:{offset}"
    return [_scalar(fields["sdata"], dwords), _scalar(fields["sbase"] * 2, 2), offset], _flags(i, "glc")


def _vop1(i: Instruction) -> Printed:
    to, source = _widths(i.mnemonic)
    if i.mnemonic == "v_readfirstlane_b32":
        return [_scalar(i.fields["vdst"]), _source(i, i.fields["src0"])], []
    return [_registers("v", i.fields["vdst"], to), _source(i, i.fields["src0"], source)], []


def _vop2(i: Instruction) -> Printed:
    fields = i.fields
    operands = [f"v{fields['vdst']}", _source(i, fields["src0"]), f"v{fields['vsrc1']}"]
    if "_co_" in i.mnemonic:
        operands.insert(1, "vcc")
    if i.mnemonic.startswith(("v_cndmask", "v_addc", "v_subb")):
        operands.append("vcc")
    return operands, []


def _vopc(i: Instruction) -> Printed:
    width = _widths(i.mnemonic)[1]
    return ["vcc", _source(i, i.fields["src0"], width), _registers("v", i.fields["vsrc1"], width)], []


def _vop3(i: Instruction) -> Printed:
    name, fields = i.mnemonic, i.fields
    to = _widths(name)[0]
    if name.startswith(("v_cmp_", "v_cmpx_")):
        operands = [_scalar(fields["vdst"], 2)]
    elif name == "v_readlane_b32":
        operands = [_scalar(fields["vdst"])]
    else:
        operands = [_registers("v", fields["vdst"], to)]
    if "sdst" in fields:
        operands.append(_scalar(fields["sdst"], 2))
    operands += [_modified(i, n, _source_dwords(name, n)) for n in range(_sources(name))]
    if name.startswith("v_cndmask"):
        operands.append(_scalar(fields["src2"], 2))
    return operands, ["clamp"] if fields.get("clmp") else []


def _sources(name: str) -> int:
    if name.startswith(_SINGLE_SOURCE) and not name.startswith("v_cvt_pk"):
        return 1
    return 3 if _THREE_SOURCES.match(name) else 2


def _modified(i: Instruction, position: int, dwords: int) -> str:
    text = _source(i, i.fields[f"src{position}"], dwords)
    if i.fields.get("abs", 0) >> position & 1:
        text = f"|{text}|"
    return f"-{text}" if i.fields.get("neg", 0) >> position & 1 else text


def _vop3p(i: Instruction) -> Printed:
    name, fields = i.mnemonic, i.fields
    if name.startswith("v_accvgpr_"):
        to_acc = name != "v_accvgpr_read"
        source = _source(i, fields["src0"], acc=name != "v_accvgpr_write")
        return [f"{'a' if to_acc else 'v'}{fields['vdst']}", source], []
    count = 3 if _THREE_SOURCES.match(name.replace("v_pk_", "v_")) else 2
    width = _widths(name)[0] * (2 if name.startswith("v_pk_") and name.endswith("32") else 1)
    operands = [_registers("v", fields["vdst"], width)]
    operands += [_source(i, fields[f"src{n}"], width) for n in range(count)]
    return operands, list(_selections(fields["opsel"], fields["opsel_hi"] | fields["opsel_hi2"] << 2, count))


def _mfma_scale(i: Instruction) -> Printed:
    fields = i.fields
    letter = "a" if fields["acc_cd"] else "v"
    dwords = 4 if "16x16" in i.mnemonic else 16
    kinds = (fields["cbsz"], fields["blgp"])
    # FP8 and BF8 elements take 8 registers, FP6 and BF6 take 6, FP4 takes 4.
    sizes = [{0: 8, 1: 8, 2: 6, 3: 6}.get(kind, 4) for kind in kinds]
    sources = [_source(i, fields[f"src{n}"], sizes[n], acc=bool(fields["acc"] >> n & 1)) for n in range(2)]
    sums = _source(i, fields["src2"], dwords, acc=bool(fields["acc_cd"]))
    scales = [_source(i, fields[f"scale_src{n}"]) for n in range(2)]
    modifiers = list(_selections(fields["opsel"] & 3, fields["opsel_hi"] & 3, 3))
    modifiers += [f"{name}:{kind}" for name, kind in zip(("cbsz", "blgp"), kinds, strict=True) if kind]
    return [_registers(letter, fields["vdst"], dwords), *sources, sums, *scales], modifiers


def _selections(low: int, high: int, count: int) -> Iterator[str]:
    if low:
        yield f"op_sel:[{','.join(str(low >> n & 1) for n in range(count))}]"
    if high != (1 << count) - 1:
        yield f"op_sel_hi:[{','.join(str(high >> n & 1) for n in range(count))}]"


def _mubuf(i: Instruction) -> Printed:
    fields = i.fields
    if i.mnemonic.count("_") < 2:
        return [], _flags(i, "sc0", "nt", "sc1")
    dwords = _memory_dwords(i.mnemonic)
    operands = [] if fields["lds"] else [_registers("a" if fields["acc"] else "v", fields["vdata"], dwords)]
    operands.append(f"v{fields['vaddr']}" if fields["offen"] or fields["idxen"] else "off")
    operands.append(_registers("s", 4 * fields["srsrc"], 4))
    operands.append(_source(i, fields["soffset"]))
    offset = [f"offset:{fields['offset']}"] if fields["offset"] else []
    return operands, [*_flags(i, "idxen", "offen"), *offset, *_flags(i, "sc0", "nt", "sc1", "lds")]


def _global(i: Instruction) -> Printed:
    fields = i.fields
    dwords = _memory_dwords(i.mnemonic)
    wide = fields["saddr"] == _OFF
    address = _registers("v", fields["addr"], 2 if wide else 1)
    base = "off" if wide else _scalar(fields["saddr"], 2)
    letter = "a" if fields["acc"] else "v"
    if "_load" in i.mnemonic:
        operands = [_registers(letter, fields["vdst"], dwords), address, base]
    else:
        operands = [address, _registers(letter, fields["data"], dwords), base]
    offset = fields["offset"] - 0x2000 if fields["offset"] & 0x1000 else fields["offset"]
    return operands, [*([f"offset:{offset}"] if offset else []), *_flags(i, "sc0", "nt", "sc1")]


def _memory_dwords(name: str) -> int:
    return int(name.partition("dwordx")[2] or 1)


def _ds(i: Instruction) -> Printed:
    name, fields = i.mnemonic, i.fields
    letter = "a" if fields["acc"] else "v"
    dwords = max(1, int(name.rpartition("_")[2].lstrip("biu")) // 32)
    pair = name.startswith(("ds_read2", "ds_write2"))
    operands = [f"v{fields['addr']}"]
    if "_write" in name or "permute" in name:
        sources = ("data0", "data1") if pair else ("data0",)
        operands += [_registers(letter, fields[source], dwords) for source in sources]
    if "_write" not in name:
        operands.insert(0, _registers(letter, fields["vdst"], dwords * (2 if pair else 1)))
    if pair:
        modifiers = [f"{which}:{fields[which]}" for which in ("offset0", "offset1") if fields[which]]
    else:
        offset = fields["offset0"] | fields["offset1"] << 8
        modifiers = [f"offset:{offset}"] if offset else []
    return operands, modifiers


def _flags(i: Instruction, *names: str) -> list[str]:
    return [name for name in names if i.fields.get(name)]


_PRINTERS: dict[str, Callable[[Instruction], Printed]] = {
    "SOP1": _sop1,
    "SOP2": _sop2,
    "SOPC": _sopc,
    "SOPK": _sopk,
    "SOPP": _sopp,
    "SMEM": _smem,
    "VOP1": _vop1,
    "VOP2": _vop2,
    "VOPC": _vopc,
    "VOP3": _vop3,
    "VOP3SD": _vop3,
    "VOP3_SDST": _vop3,
    "VOP3P": _vop3p,
    "VOP3PX2": _mfma_scale,
    "MUBUF": _mubuf,
    "GLOBAL": _global,
    "DS": _ds,
}
