"""foldproof.reveal: the tree in which a callable sums, found from outside."""

from __future__ import annotations

import ctypes
import json
import re
from typing import Any, Callable, Dict, List, Optional

from . import _arrays, _library, _problem, _signals
from ._callable import Guest
from ._verify import _name_of, _table, check_callable


def _names_in(text: str) -> List[str]:
    """A name with parameters has commas; but only a whole name begins with a word that has a slash."""
    return re.split(r", (?=[^ ,]+/)", text) if text else []


class Tree:
    """What was revealed; print it.

    kind         "tree"; or what there is instead: "no order: exact", "no plain tree", "varies from run to run", "depends on values",
                 "no tree"
    orders       names of declared orders that have this tree at this n, or of the method whose replay gives the bits; [] if unknown
    why          what was seen where there is no tree; for a tree in more than one precision, which sums are in which
    accumulator  the dtype in which the tree's replay has fn's bits; it need not be the one that was declared. "f32, f64" for a tree in
                 both; record["accumulators"] then has the dtype of each join
    fingerprint  the fingerprint that `foldproof order` prints. It and joins are None if there is no tree
    joins        the tree. Entry j is join n + j, a list of its operands: terms 0 to n - 1, or earlier joins. The last join is the root
    text         the tree in words; where there is none, what is there instead, as printing the answer shows it
    record       all of it, as `foldproof reveal --format json` prints it"""

    def __init__(self, record: Dict[str, Any]) -> None:
        self.record = record
        self.kind: str = record["kind"]
        self.orders: List[str] = _names_in(record["orders"])
        self.why: str = record.get("why", "")
        self.accumulator: str = record["accumulator"]
        self.fingerprint: Optional[str] = record.get("fingerprint")
        self.joins: Optional[List[List[int]]] = record.get("tree")
        self.text: str = record.get("text") or f"{self.kind}{': ' if self.why or self.orders else ''}{self.why or ', '.join(self.orders)}"

    @property
    def _unusual(self) -> str:
        """Only the name of an order is accepted for its replay, which uses the usual accumulator."""
        usual = "f64" if self.record["dtype"] == "f64" else "f32"
        return "" if self.fingerprint is None or self.accumulator == usual else f" accumulated in {self.accumulator.replace(', ', ' and ')}"

    def __repr__(self) -> str:
        unknown = "unknown order" if self.fingerprint else self.why or "unknown order"
        return f"<foldproof.Tree: {self.kind}{self._unusual}, {', '.join(self.orders) or unknown}>"

    def __str__(self) -> str:
        head = f"{self.record['subject']}: {self.record['problem']} of {self.record['n']} {self.record['dtype']}{self._unusual}"
        if self.fingerprint is None:
            return f"{head}: {self.text}"
        place, batch = self.record.get("depends_on_place"), self.record["depends_on_batch"]
        single = f"of a single row: in a call with more rows {place}\n" if place else "of a single row: some calls with more rows have different bits\n" if batch else ""
        mixed = f"{self.why}\n" if self.why else ""
        return f"{head}: {', '.join(self.orders) or 'unknown order'}, {self.fingerprint}\n{mixed}{single}{self.text.rstrip()}"


def reveal(
    fn: Callable[..., Any],
    n: int = 64,
    dtype: str = "f32",
    *,
    problem: str = "sum",
    device: str = "cpu",
    like: Optional[str] = None,
    accumulator: Optional[str] = None,
    result: Optional[str] = None,
    rows: int = 0,
) -> Tree:
    """The tree in which fn sums n terms. It is found by runs on masked inputs, and returned only if its replay gives fn's bits on random data.

    fn(x) gets an array x of shape (rows, n) and returns the sums of its rows, as for verify; for problem "dot" it is fn(x, y), for "rows" any function of rows, which may be a sum. Of "matvec" no tree is revealed. `rows` is
    the number of rows of a call; 0 means 1,024, or fewer if these have more than four million terms. The other arguments are those of
    verify. Raises ValueError if no sum of the dtype shows an order."""
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r}: 'cpu' or 'cuda'")
    check_callable(fn)
    like = _arrays.pick(like, device == "cuda")
    _arrays.check(like, [dtype])
    n, rows = _library.whole("n", n, 1, 1 << 24), _library.whole("rows", rows, 0, 1 << 20)
    form = _problem.find(problem)
    problem = form.name
    guest = Guest(_name_of(fn), fn, like, device == "cuda", form=form)
    table = _table(
        [guest],
        problems=_library.text(problem),
        dtypes=_library.text(dtype),
        accumulator=_library.text(accumulator),
        result=_library.text(result),
        engine=b"cuda" if device == "cuda" else b"host",
        claims=b"run_to_run",
    )
    options = _library.RevealOptions(ctypes.sizeof(_library.RevealOptions), n, _library.text(dtype), _library.text(problem), rows)
    lines: List[bytes] = []

    def take(line: bytes, _context: Any) -> int:
        lines.append(line)
        return 0

    with guest.quiet(), _signals.lost_kept(guest.stop, take, guest.run_of), _signals.noted() as guest.signals:
        code = _library.library().foldproof_reveal(ctypes.byref(table), ctypes.byref(options), _library.Take(take), None)
    if guest.stop:
        raise guest.stop[0]
    if code and guest.traceback:
        raise ValueError(_library.library().foldproof_error().decode() + "\n" + guest.traceback)
    _library.check(code)
    return Tree(json.loads(lines[0]))
