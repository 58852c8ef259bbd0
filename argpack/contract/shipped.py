"""The contracts that argpack comes with, and how two contracts differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from argpack.contract.form import parse
from argpack.families.aiter_f4gemm.names import unmeasured

if TYPE_CHECKING:
    from argpack.contract.values import Contract, Value

FOLDER = Path(__file__).parent.parent / "families" / "aiter_f4gemm" / "contracts"


def path_of(kernel_name: str) -> Path:
    """Where the contract of an f4gemm kernel is or would be. Raises InputError for a name of another family."""
    return FOLDER / f"{unmeasured(kernel_name).name}.toml"


def shipped(kernel_name: str, sha256: str) -> Contract | None:
    """The contract of the code object with this digest; None where argpack has none, or one of another file."""
    path = path_of(kernel_name)
    if not path.is_file():
        return None
    contract = parse(path.read_text(), source=path.name)
    return contract if contract.code_object == sha256 else None


def differences(first: Contract, second: Contract) -> tuple[str, ...]:
    """Where values and uses differ, a sentence each; what they were measured with does not count."""
    found = [
        f"{name}: {_shown(limit.value)}, not {_shown(second.limits[name].value)}"
        for name, limit in first.limits.items()
        if limit.value != second.limits[name].value
    ]
    uses = {argument.name: argument.use for argument in second.arguments}
    found += [
        f"{argument.name}: {argument.use}, not {uses.get(argument.name, 'an argument')}"
        for argument in first.arguments
        if argument.use != uses.get(argument.name)
    ]
    return tuple(found)


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
