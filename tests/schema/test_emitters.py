"""Emitted source is compiled, filled with values by its own language and compared byte by byte with `pack`."""

import shutil
import struct
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argpack.cli.emit import LANGUAGES, text_of
from argpack.families import FAMILIES, family_named
from argpack.families.index import ENTRIES, load
from argpack.schema import TYPES, Field, KernargSchema, Role
from argpack.schema.emitters import cpp_of, ctypes_of, rust_of
from argpack.schema.toml_form import dump, parse

ODD = KernargSchema(
    "odd",
    tuple(
        Field(
            f"{kind}_{index}" if index else ("type" if kind == "u32" else kind),
            kind,
            "bytes",
            Role.POINTER if kind == "ptr" else Role.SCALAR,
            'A "remark" with a \\ and */ in it \\',
            pad=index * 3,
        )
        for index, kind in enumerate(TYPES)
    ),
    'Every type, """odd""" pads \\',
)
SOME = [ODD, *(family_named(name).schema for name in ("aiter_f4gemm", "aiter_fmoe", "hipblaslt_wave_mxfp4"))]
ids = pytest.mark.parametrize("schema", SOME, ids=lambda schema: schema.name)


def values_of(schema):
    """A different value in each field; floats are exact in half precision."""
    return {f.name: 0.25 * (i + 1) if f.type.startswith("f") else i + 1 for i, f in enumerate(schema.fields)}


def literal(field, value):
    """The value as a struct member takes it: half floats are bits, pointers addresses."""
    if field.type == "f16":
        return str(struct.unpack("<H", struct.pack("<e", value))[0])
    return str(value)


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def compiler(name):
    if shutil.which(name) is None:
        pytest.fail(f"{name} is needed to check the emitted source")
    return name


@ids
@pytest.mark.parametrize(
    ("language", "tool", "standard"), [("c", "gcc", "-std=c11"), ("cpp", "g++", "-std=c++17")]
)
def test_a_compiled_struct_holds_the_packed_bytes(schema, language, tool, standard, tmp_path):
    values = values_of(schema)
    header = schema.c_header() if language == "c" else cpp_of(schema)
    (tmp_path / "args.h").write_text(header)
    name = f"struct {schema.name}_kernargs" if language == "c" else f"argpack::{schema.name}_kernargs"
    cast = "(void *)" if language == "c" else "reinterpret_cast<void*>"
    sets = "\n".join(
        f"  a.{f.name} = {f'{cast}({values[f.name]}ull)' if f.type == 'ptr' else literal(f, values[f.name])};"
        for f in schema.fields
    )
    start = f"{name} a;\n  memset(&a, 0, sizeof a);" if language == "c" else f"{name} a;"
    source = tmp_path / f"main.{language}"
    source.write_text(
        '#include <stdio.h>\n#include <string.h>\n#include "args.h"\n#include "args.h"\n'
        f"int main(void) {{\n  {start}\n{sets}\n  return fwrite(&a, 1, sizeof a, stdout) != sizeof a;\n}}\n"
    )
    flags = [standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0"]
    run(compiler(tool), *flags, source, "-o", tmp_path / "main", cwd=tmp_path)
    assert run(tmp_path / "main", cwd=tmp_path) == schema.pack(values)


@ids
def test_the_ctypes_structure_holds_the_packed_bytes(schema, tmp_path):
    values = values_of(schema)
    (tmp_path / "args.py").write_text(ctypes_of(schema))
    given_values = ", ".join(f"{f.name!r}: {literal(f, values[f.name])}" for f in schema.fields)
    code = f"import sys, args; a = args.{schema.name}_kernargs(**{{{given_values}}}); sys.stdout.buffer.write(bytes(a))"
    assert run(sys.executable, "-W", "error", "-c", code, cwd=tmp_path) == schema.pack(values)


@ids
def test_the_rust_struct_holds_the_packed_bytes(schema, tmp_path):
    """Where no Rust compiler is, the text is at least the one that was compiled where there is one."""
    text = rust_of(schema)
    assert text.count("offset_of!") == len(schema.slots)
    if shutil.which("rustc") is None:
        return
    values = values_of(schema)
    members = ", ".join(
        f"pad_{s.name[4:]}: [0; {s.size}]"
        if s.field is None
        else f"{'r#type' if s.name == 'type' else s.name}: {literal(s.field, values[s.name])}"
        for s in schema.slots
    )
    name = f"{schema.name}_kernargs"
    source = tmp_path / "main.rs"
    source.write_text(
        f"#![deny(warnings)]\n{text}\nfn main() {{\n    use std::io::Write;\n    let a = {name} {{ {members} }};\n"
        f"    let bytes: [u8; {schema.size}] = unsafe {{ std::mem::transmute(a) }};\n"
        "    std::io::stdout().write_all(&bytes).unwrap();\n}\n"
    )
    run("rustc", "--edition", "2021", source, "-o", tmp_path / "main", cwd=tmp_path)
    assert run(tmp_path / "main", cwd=tmp_path) == schema.pack(values)


def test_every_family_compiles_as_c_and_as_cpp(tmp_path):
    families = [*FAMILIES, *(load(entry) for entry in ENTRIES)]
    for language, tool, standard in (("c", "gcc", "-std=c11"), ("cpp", "g++", "-std=c++17")):
        source = tmp_path / f"all.{language}"
        source.write_text(
            "\n".join(text_of(family, language) for family in families).replace("#pragma once", "")
        )
        run(compiler(tool), standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source, cwd=tmp_path)


def test_a_wrong_offset_does_not_compile(tmp_path):
    source = tmp_path / "wrong.cpp"
    source.write_text(cpp_of(ODD).replace("double f64_11{};", "float f64_11{};"))
    done = subprocess.run(
        [compiler("g++"), "-std=c++17", "-fsyntax-only", source], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "static assertion failed" in done.stderr


def test_a_wrong_ctypes_offset_is_an_error_on_import(tmp_path):
    module = tmp_path / "args.py"
    module.write_text(ctypes_of(ODD).replace("ctypes.c_double)", "ctypes.c_float)"))
    done = subprocess.run([sys.executable, module], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "AssertionError" in done.stderr


@pytest.mark.parametrize("name", [f.name for f in FAMILIES] + [e.name for e in ENTRIES])
def test_a_family_survives_toml(name):
    family = family_named(name)
    document = parse(text_of(family, "toml"))
    assert document.schema == family.schema
    assert document.uses == {field: use.value for field, use in family.usage(name).items()}
    assert document.metadata == {field: names for field, names in family.metadata_names.items() if names}


TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


@given(st.data())
def test_any_schema_survives_toml(data):
    types = data.draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=5))
    roles = [Role.POINTER if t == "ptr" else data.draw(st.sampled_from(list(Role)[1:])) for t in types]
    fields = tuple(
        Field(f"f{i}", kind, data.draw(TEXTS), role, data.draw(TEXTS), data.draw(st.integers(0, 20)))
        for i, (kind, role) in enumerate(zip(types, roles, strict=True))
    )
    schema = KernargSchema("drawn", fields, data.draw(TEXTS))
    assert parse(dump(schema)).schema == schema


def test_languages_are_those_of_the_command():
    assert list(LANGUAGES) == ["c", "cpp", "python-ctypes", "rust", "toml"]
