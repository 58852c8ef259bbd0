"""Right values in each other's fields: A and B exchanged, M and N, or any permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argpack.hexdump.mistakes.evidence import Mistake, is_telling
from argpack.schema import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argpack.hexdump.diff import Diff, Difference


def exchanged(found: Diff) -> Mistake | None:
    """Every live difference is a value that another differing field has in the other dump.

    Row strides may follow: one that is M or N in both dumps differs because M and N are exchanged.
    """
    live = {difference.first.slot.name: difference for difference in found.live}
    if any(not side.whole for d in live.values() for side in (d.first, d.second)):
        return None
    following = _following(live)
    sources = _sources([d for name, d in live.items() if name not in following])
    if sources is None:
        return None
    names = list(sources)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i:] if sources[a] == b and sources[b] == a]
    if len(names) == 2 and not _are_kin(live[names[0]], live[names[1]]):
        return None
    if len(pairs) * 2 == len(sources):
        return Mistake("exchange", _exchange_text(pairs, following, live))
    held = ", ".join(sources.values())
    return Mistake(
        "permutation", f"fields are permuted: {', '.join(names)} of the second are {held} of the first"
    )


def _sources(live: Sequence[Difference]) -> dict[str, str] | None:
    """For each field the one whose value in the first dump it has in the second; None where that fails."""
    if len(live) < 2:
        return None
    sources: dict[str, str] = {}
    for one in live:
        fitting = [
            other
            for other in live
            if other.first.data == one.second.data and other.first.slot.name not in sources.values()
        ]
        if not fitting or not (is_telling(one.first.data) or is_telling(one.second.data)):
            return None
        mutual = [other for other in fitting if other.second.data == one.first.data]
        sources[one.first.slot.name] = (mutual or fitting)[0].first.slot.name
    return sources


def _are_kin(one: Difference, other: Difference) -> bool:
    """Whether two fields alone are exchanged rather than equal by chance: pointers, or names one letter apart."""
    names = one.first.slot.name, other.first.slot.name
    fields = one.first.slot.field, other.first.slot.field
    return all(f and f.type == "ptr" for f in fields) or (
        len(names[0]) == len(names[1]) and sum(x != y for x, y in zip(*names, strict=True)) == 1
    )


def _following(live: dict[str, Difference]) -> list[str]:
    """Strides that are M in both dumps, or N in both, where M and N differ."""
    sizes = [live[name] for name in live if any(_differ_by(name, other, "MN") for other in live)]
    return [
        name
        for name, d in live.items()
        if d.first.slot.field
        and d.first.slot.field.role is Role.STRIDE
        and any((d.first.value, d.second.value) == (s.first.value, s.second.value) for s in sizes)
    ]


def _exchange_text(
    pairs: Sequence[tuple[str, str]], following: Sequence[str], live: dict[str, Difference]
) -> str:
    """`A and B are exchanged (pointers, strides), M and N are exchanged`; other pairs by their names."""
    groups: list[str] = []
    rest = []
    for name, other in pairs:
        field = live[name].first.slot.field
        if field and _differ_by(name, other, "AB"):
            what = "scales" if "scale" in name.lower() else f"{field.role}s"
            if what not in groups:
                groups.append(what)
        else:
            rest.append(f"{name} and {other} are exchanged")
    text = [f"A and B are exchanged ({', '.join(groups)})"] if groups else []
    listed = " and ".join(filter(None, [", ".join(following[:-1]), *following[-1:]]))
    tail = f", and {listed} with them" if following else ""
    return ", ".join([*text, *rest]) + tail


def _differ_by(name: str, other: str, letters: str) -> bool:
    """Whether two names differ in one letter only, in which one has the first of `letters`, the other the second."""
    if len(name) != len(other):
        return False
    pairs = [x + y for x, y in zip(name, other, strict=True) if x != y]
    return len(pairs) == 1 and pairs[0] in {letters, letters[::-1], letters.lower(), letters[::-1].lower()}
