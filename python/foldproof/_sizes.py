"""Sizes that verify tries as well as those of fixtures, as the command's --sweep and --around have them."""

from __future__ import annotations

import re
from typing import Any, List, NamedTuple, Optional, Sequence, Union

from . import _library

_MOST = (1 << 32) - 1
_NEAR = 3  # so many sizes below and above one of around="k=4096", as the command tries
_RANGE = re.compile(r"(k|m|n|batch)=\d+(:\d+(:\d+)?)?")
_SPREAD = re.compile(r"layout=[nt]{1,2}|keys=\w+")  # the library says what is wrong with a pattern of keys
_AT = re.compile(r"(k|m|n|batch)=(\d+)")
Around = Union[int, str, Sequence[Union[int, str]]]


class Sizes(NamedTuple):
    near: List[Union[int, str]]  # what `around` lists
    rows: List[int]  # batch_invariant tries batches near these
    sweep: Optional[str]  # sums of each of these sizes are judged
    adds: bool  # in addition to fixtures


def _items(around: Around) -> List[Any]:
    """[256] from 256, ["k=4096"] from "k=4096", or a list of any sequence's."""
    if isinstance(around, str):
        return list(filter(None, around.replace(",", " ").split())) or [around]
    if hasattr(around, "__index__"):
        return [around]
    if isinstance(around, bytes) or not hasattr(around, "__iter__"):
        raise TypeError(f"around={around!r}: a whole number, or a list of them, as [256, 1024]; or sizes along an axis, as 'k=4096'")
    return list(around)


def _near(item: str) -> str:
    """"k=4096" as "k=4093:4099"."""
    found = _AT.fullmatch(item)
    if not found:
        raise TypeError(f"around={item!r}: a number of rows, as 256, or a size along an axis, as 'k=4096', of axis k, m, n or batch")
    at = _library.whole("around", int(found[2]), 1, _MOST)
    return f"{found[1]}={max(1, at - _NEAR)}:{at + _NEAR}"


def _swept(sweep: Any) -> List[str]:
    if sweep is None:
        return []
    words = sweep.replace(",", " ").split() if isinstance(sweep, str) else []
    for word in words or [sweep]:
        if isinstance(word, str) and _SPREAD.fullmatch(word):
            continue
        if not isinstance(word, str) or not _RANGE.fullmatch(word):
            raise ValueError(f"sweep={sweep!r}: a text, AXIS=FIRST:LAST:STEP, as 'k=8:20000:8', of axis k, m, n or batch, or layout=nt, or keys=sorted; several with commas between them")
        first, _, rest = word.partition("=")[2].partition(":")
        if rest and int(rest.partition(":")[0]) < int(first):
            raise ValueError(f"sweep={sweep!r}: {word} ends before it begins")
    return words


def sizes_of(around: Around, sweep: Any) -> Sizes:
    items = _items(around)
    near = [item if isinstance(item, str) else _library.whole("around", item, 1, _MOST) for item in items]
    swept = [*_swept(sweep), *(_near(item) for item in near if isinstance(item, str))]
    return Sizes(near, [item for item in near if isinstance(item, int)], ",".join(swept) or None, sweep is None)
