"""Problems by their signatures, as src/model/problem.def has them: the axes of each input, then those of the results. k is folded; b (batches), m and n
are axes of the results."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

AXES = "bmnk"  # in the order of a call's extents and strides


class Problem(NamedTuple):
    name: str
    number: int  # in foldproof_guest.h
    signature: str

    @property
    def inputs(self) -> List[str]:
        return self.signature.split("->")[0].split(",")

    @property
    def results(self) -> str:
        return self.signature.split("->")[1]

    @property
    def optional(self) -> str:
        """The axis that arrays lack where its extent is 1, unless a signature says otherwise; "" if there is none."""
        return "n" if self.name == "keyed" else "b" if "b" in self.signature else ""

    @property
    def keys(self) -> int:
        """Which of the inputs holds keys; -1: none."""
        return 1 if self.name == "keyed" else -1

    @property
    def transposed(self) -> str:
        """The signature of a callable that folds axis 0 of each matrix: "km,k->m". "" of problems that have no such form."""
        inputs = ["km" if axes == "mk" else axes for axes in self.inputs]
        return f"{','.join(inputs)}->m" if self.results == "m" and self.name != "rows" else ""


_ALL = [
    Problem("sum", 1, "mk->m"),
    Problem("prod", 2, "mk->m"),
    Problem("max", 3, "mk->m"),
    Problem("min", 4, "mk->m"),
    Problem("dot", 5, "mk,mk->m"),
    Problem("rows", 6, "mk->m"),
    Problem("matvec", 7, "mk,k->m"),
    Problem("matmul", 8, "bmk,bkn->bmn"),
    Problem("scan", 9, "mk->mk"),
    Problem("keyed", 10, "kn,k->mn"),
    Problem("scan_max", 11, "mk->mk"),
    Problem("scan_min", 12, "mk->mk"),
    Problem("exclusive_scan", 13, "mk->mk"),
    Problem("sumsq", 14, "mk->m"),
    Problem("asum", 15, "mk->m"),
]
BY_NAME = {problem.name: problem for problem in _ALL}
BY_NUMBER = {problem.number: problem for problem in _ALL}


def _extents(record: Dict[str, Any], axes: str) -> List[Tuple[str, int]]:
    """Of the axes that the case has; a batch of one is none."""
    sizes = dict(zip(AXES, record["shape"]))
    return [(axis, sizes[axis]) for axis in axes if axis != "b" or sizes[axis] != 1]


def shape_of(record: Dict[str, Any]) -> str:
    """The shape of a record's case: "3 x 1000" for rows, "3 x 5 x 33" for m x n x k."""
    if "shape" not in record:
        return f"{record['rows']} x {record['cols']}"
    axes = BY_NAME[record["op"]].results
    return " x ".join(str(n) for _, n in _extents(record, axes if "k" in axes else axes + "k"))


def result_of(record: Dict[str, Any], result: int) -> str:
    """"row 3"; of results along several axes "result 7 (m 1, n 2)"."""
    if "shape" not in record:
        return f"row {result}"
    places, rest = [], result
    for axis, n in reversed(_extents(record, BY_NAME[record["op"]].results)):
        places.append(f"{axis} {rest % n}")
        rest //= n
    return f"result {result} ({', '.join(reversed(places))})"


def _renamed(signature: str) -> str:
    """With letters in the order in which they first come: "ij,j->i" becomes "ab,b->a"."""
    seen: Dict[str, str] = {}
    return "".join(seen.setdefault(c, chr(ord("a") + len(seen))) if c.isalpha() else c for c in signature if c != " ")


class Form(NamedTuple):
    """In which arrays a callable takes a problem."""

    name: str
    transposed: bool = False  # it folds axis 0 of its matrices
    whole: Optional[bool] = None  # whether arrays have the problem's optional axis; None: where its extent is not 1


def _known() -> Dict[str, Form]:
    """By signature. One that several problems have means the first: sum."""
    found: Dict[str, Form] = {}
    for problem in _ALL:
        if "k" not in problem.results:  # an einsum sums over k: it is no scan
            found.setdefault(problem.signature, Form(problem.name, False, True))
            found.setdefault(problem.signature.replace(problem.optional or " ", ""), Form(problem.name, False, False))
            found.setdefault(problem.transposed, Form(problem.name, True, True))
    del found[""]
    return found


def find(problem: str) -> Form:
    """Of a problem that is given by its name, or by a signature as einsum has them."""
    if not isinstance(problem, str) or "->" not in problem:
        return Form(problem)  # the library says what is wrong with a name
    for signature, found in _known().items():
        if _renamed(signature) == _renamed(problem):
            return found
    known = ", ".join(f"'{signature}' ({form.name})" for signature, form in _known().items())
    raise ValueError(f"problem={problem!r}: a signature is one of {known}, with any letters; or say a problem's name: {', '.join(BY_NAME)}")


def inputs_of(problem: str) -> List[str]:
    """The axes of each array that a callable gets; of an unknown name those of a sum."""
    return BY_NAME.get(find(problem).name, BY_NAME["sum"]).inputs


def folds_axis_0(problem: str, axis: int) -> bool:
    """Whether a callable that reduces that axis of its matrices folds the first one; ValueError if it has no such axis."""
    if axis not in (-2, -1, 0, 1):
        raise ValueError(f"axis={axis!r}: fn gets arrays of two axes, and reduces -1, the last one, or 0")
    if axis in (-1, 1):
        return False
    if problem in BY_NAME and not BY_NAME[problem].transposed:
        raise ValueError(f"axis={axis}: problem {problem!r} has no such form: transpose in the function, as lambda x: mine(x.T)")
    return True
