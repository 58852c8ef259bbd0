"""Public mistakes in kernel arguments, as code objects and buffers, and what a user reads at the command line.

A1 to A10 are the cases' numbers; A2, A3, A5, A6 and A9 are in tests/cli/test_diff_cases.py and test_schema.py, too.
"""

import pytest
from made_objects import assembly, described, packed

from argpack.cli import main


def pointer(name, offset):
    return {".name": name, ".offset": offset, ".size": 8, ".value_kind": "global_buffer"}


def value(name, offset, size=4):
    return {".name": name, ".offset": offset, ".size": size, ".value_kind": "by_value"}


def hidden(kind, offset, size):
    return {".offset": offset, ".size": size, ".value_kind": f"hidden_{kind}"}


def toml(name, *fields, align=8):
    text = "".join(f'[[field]]\nname = "{field}"\ntype = "{kind}"\n' for field, kind in fields)
    return f'name = "{name}"\nalign = {align}\n{text}'


POINTERS = [(f"p{i}", "ptr") for i in range(4)]
V1 = [*POINTERS, *((f"n{i}", "u64") for i in range(4))]


@pytest.fixture
def made(build):
    """A code object of one kernel that declares these arguments in a segment of this size."""

    def make(arguments, segment):
        note = packed(described("made", args=arguments, kernarg_segment_size=segment))
        return build(assembly("made", f".amdhsa_kernarg_size {segment}"), note=note)

    return make


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs argpack in a folder with the files given, `x_toml` for x.toml and `x_co` for x.co."""
    monkeypatch.chdir(tmp_path)

    def command(*words, **files):
        for name, content in files.items():
            path = tmp_path / name.replace("_co", ".co").replace("_toml", ".toml")
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out.splitlines(), captured.err

    return command


def test_a1_a_call_site_that_packs_eight_arguments_of_nine(run):
    """The kernel gained a ninth argument; two callers still pass the eight of before."""
    new = toml("v2", *V1, ("residual_ptr", "ptr"))
    old_bytes = b"".join(i.to_bytes(8, "little") for i in range(0x7F0000001000, 0x7F0000009000, 0x1000))
    code, out, err = run("show", "old", "--schema", "v2.toml", old=old_bytes, v2_toml=new)
    assert (code, out) == (2, [])
    assert (
        err
        == "argpack: error: old: v2: expected 72 bytes, found 64, 8 short; missing: residual_ptr at 0x40\n"
    )
    code, out, _ = run(
        "diff", "new", "old", "--schema", "v2.toml", new=old_bytes + (4096).to_bytes(8, "little")
    )
    assert code == 1
    assert out[0] == "1 live difference: the second is 8 bytes short: residual_ptr at 0x040 is missing"
    code, out, _ = run("schema", "compare", "v1.toml", "v2.toml", v1_toml=toml("v1", *V1))
    assert (code, out[:2]) == (1, ["v1: 8 fields, 64 bytes", "v2: 9 fields, 72 bytes"])
    assert out[-1].split() == ["residual_ptr", "-", "0x40", "ptr", "only", "in", "v2"]


def test_a4_a_rebuilt_binary_whose_segment_has_grown_from_208_to_256(run, made):
    old = toml("old", *((f"p{i}", "ptr") for i in range(13)), align=16)
    new = [pointer(f"p{i}", 16 * i) for i in range(16)]
    code, out, _ = run(
        "schema", "check", "new.co", "--schema", "old.toml", new_co=made(new, 256), old_toml=old
    )
    assert code == 1
    text = "\n".join(out)
    for name, offset in (("p13", "0xd0"), ("p14", "0xe0"), ("p15", "0xf0")):
        assert f"argument {name} at {offset}: old has no field there" in text
    assert "200 bytes are passed, 256 declared" in text
    code, _, err = run("schema", "new.co", "--toml")
    assert code == 0
    (_, derived, _) = run("schema", "new.co", "--toml")
    code, _, err = run("show", "dump", "--schema", "new.toml", new_toml="\n".join(derived), dump=bytes(208))
    assert code == 2
    assert err == (
        "argpack: error: dump: made: expected 256 bytes, found 208, 48 short; missing: p13 at 0xd0, p14 at 0xe0, "
        "p15 at 0xf0\n"
    )


def test_a6_arguments_in_the_order_of_another_interface_version(run, made):
    v2 = toml("v2", *((f"ptr_{name}", "ptr") for name in "DCAB"))
    v3 = [pointer(f"ptr_{name}", 8 * i) for i, name in enumerate("ABCD")]
    code, out, _ = run("schema", "check", "v3.co", "--schema", "v2.toml", v3_co=made(v3, 32), v2_toml=v2)
    assert code == 1
    assert [line.split()[2:5] for line in out[-4:]] == [
        ["ptr_A", "for", "ptr_D"], ["ptr_B", "for", "ptr_C"], ["ptr_C", "for", "ptr_A"], ["ptr_D", "for", "ptr_B"],
    ]  # fmt: skip
    addresses = {name: 0x7F0000001000 + 0x1000 * i for i, name in enumerate("ABCD")}
    right, wrong = (
        b"".join(addresses[name].to_bytes(8, "little") for name in order) for order in ("DCAB", "ABCD")
    )
    code, out, _ = run("diff", "right", "wrong", "--schema", "v2.toml", right=right, wrong=wrong)
    assert code == 1
    assert out[0] == (
        "4 live differences: fields are permuted: ptr_D, ptr_C, ptr_A, ptr_B of the second are ptr_A, ptr_B, ptr_C, "
        "ptr_D of the first"
    )


def test_a7_metadata_that_omits_what_the_kernel_uses(run, made):
    ours = toml("ours", ("x", "u64"), ("y", "u64"), ("z", "u64"), ("out", "ptr"))
    code, out, _ = run("schema", "check", "k.co", "--schema", "ours.toml", k_co=made([pointer("out", 24)], 32),
                       ours_toml=ours)  # fmt: skip
    assert code == 1
    lost = [line for line in out if "HIP copies only what the metadata declares" in line]
    assert [line.split()[2] for line in lost] == ["x", "y", "z"]


def test_a8_twenty_values_for_nineteen_declared(run):
    ours = toml("ours", *((f"v{i}", "u32") for i in range(19)), align=4)
    settings = [f"--set=v{i}=1" for i in range(20)]
    code, out, err = run(
        "pack", "--schema", "ours.toml", *settings, ours_toml=ours.replace("align = 4", 'align = "natural"')
    )
    assert (code, out) == (2, [])
    assert err == "argpack: error: ours: no field is named 'v19'; did you mean v9?\n"
    code, _, err = run("show", "dump", "--schema", "ours.toml", dump=bytes(80 + 16))
    assert err == "argpack: error: dump: expected 76 bytes (ours), found 96\n"


def test_a9_a_scalar_after_natural_padding_where_the_kernel_has_8_byte_slots(run, made):
    kernel = [
        pointer("y", 0),
        pointer("x", 8),
        value("a", 16),
        value("n", 24),
        hidden("block_count_x", 32, 4),
    ]
    host = toml("host", ("y", "ptr"), ("x", "ptr"), ("a", "f32"), ("n", "u32")).replace(
        "align = 8", 'align = "natural"'
    )
    code, out, _ = run(
        "schema", "check", "k.co", "--schema", "host.toml", k_co=made(kernel, 40), host_toml=host
    )
    assert code == 1
    assert any("argument n at 0x18: host has no field there" in line for line in out)
    assert any("n at 0x14: no argument declares it" in line for line in out)
    code, _, err = run("schema", "bad.toml", bad_toml=host.replace('align = "natural"\n', ""))
    assert (code, err.count("\n")) == (2, 1)
    assert "align" in err


def test_a10_hidden_arguments_at_byte_201_and_a_visible_one_behind_a_hidden_one(run, made):
    winograd = [pointer("data", 0), value("blob", 8, 193), hidden("global_offset_x", 201, 8)]
    code, out, _ = run("schema", "w.co", w_co=made(winograd, 216))
    assert code == 0
    assert any(line.split()[:3] == ["0x0c9", "8", "hidden_global_offset_x"] for line in out)
    behind = [pointer("data", 0), hidden("global_offset_x", 8, 8), value("n", 16)]
    code, out, _ = run("schema", "b.co", b_co=made(behind, 24))
    rows = [line.split()[:3] for line in out if line.startswith("0x")]
    assert rows == [["0x000", "8", "data"], ["0x008", "8", "hidden_global_offset_x"], ["0x010", "4", "n"]]
