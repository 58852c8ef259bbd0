"""The schema of every declared family, in every form."""

import struct

import pytest
from schema_checks import check_schema, struct_format

from argpack.families.index import ENTRIES, load


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_declared_schema_agrees_with_itself_in_every_form(entry):
    schema = load(entry).schema
    values = {f.name: 0.5 if f.type == "f32" else index + 1 for index, f in enumerate(schema.fields)}
    check_schema(schema, values, struct.pack(struct_format(schema), *values.values()))
