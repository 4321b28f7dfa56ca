"""Problems by their signatures, as src/model/problem.def has them: the axes of each input, then those of the results. k is folded; b (batches), m and n
are axes of the results."""

from __future__ import annotations

import math
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

AXES = "bmnk"  # in the order of a call's extents and strides


class Problem:
    """name; number in foldproof_guest.h; inputs and results: their axes; optional: the axis that arrays lack where its extent is 1, unless a signature says
    otherwise, "" if there is none; keys: which of the inputs holds keys, -1 if none does; transposed: the signature of a callable that folds axis 0 of each matrix,
    "km,k->m", "" if there is no such form."""

    def __init__(self, name: str, number: int, signature: str) -> None:
        self.name, self.number, self.signature = name, number, signature
        inputs, self.results = signature.split("->")
        self.inputs = inputs.split(",")
        self.optional = "n" if name == "keyed" else "b" if "b" in signature else ""
        self.keys = 1 if name == "keyed" else -1
        turned = ["km" if axes == "mk" else axes for axes in self.inputs]
        self.transposed = f"{','.join(turned)}->m" if self.results == "m" and name != "rows" else ""


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


class Axis(NamedTuple):
    """Of a callable's array: the part `place` of `parts` of one of a problem's axes, where several letters share it."""

    of: str
    place: int = 0
    parts: int = 1


Parts = Dict[str, List[List[int]]]  # of an axis that several letters share: the extents of these letters in each of the caller's own arrays


class Form(NamedTuple):
    """In which arrays a callable takes a problem. Without `operands`: as the problem's signature has them, the optional axis only where its extent is not 1."""

    name: str
    operands: Tuple[Tuple[Axis, ...], ...] = ()  # the inputs', then the results'
    transposed: bool = False  # it folds axis 0 of its matrices, which have two axes
    parts: Parts = {}

    def lacks(self, axis: str) -> bool:
        """Whether no array has an axis of the problem."""
        return bool(self.operands) and not any(axis == one.of for operand in self.operands for one in operand)

    @property
    def shares(self) -> bool:
        """Whether several letters share an axis."""
        return any(one.parts > 1 for operand in self.operands for one in operand)

    def split(self, axis: Axis, extent: int) -> List[int]:
        """The extents of the letters that share an axis: those of the caller's arrays; of another extent all of these but the first, if they divide it;
        else any factors."""
        if axis.parts == 1:
            return [extent]
        known = self.parts.get(axis.of, [])
        same = [parts for parts in known if math.prod(parts) == extent]
        near = [[extent // math.prod(parts[1:]), *parts[1:]] for parts in known if math.prod(parts[1:]) and extent % math.prod(parts[1:]) == 0]
        return (same + near + [_factors(extent, axis.parts)])[0]


def _factors(extent: int, parts: int) -> List[int]:
    """As near to each other as can be."""
    if parts == 1:
        return [extent]
    first = next((n for n in range(int(extent ** (1 / parts) + 1e-9), 0, -1) if extent % n == 0), 1)
    return [first, *_factors(extent // first, parts - 1)]


def _wrong(signature: str, why: str) -> ValueError:
    known = ", ".join(f"'{form}' ({name})" for name, form in (("sum", "ij->i"), ("dot", "ij,ij->i"), ("matvec", "ij,j->i"), ("matmul", "ij,jk->ik"), ("keyed", "kn,k->mn")))
    return ValueError(f"problem={signature!r}: {why}; a signature is like {known}, with any letters, any order of an input's axes, and several letters for an axis"
                      f" ('bhmd,bhnd->bhmn'); or say a problem's name: {', '.join(BY_NAME)}")


def _operand(letters: str, axes: Dict[str, Axis]) -> Tuple[Axis, ...]:
    return tuple(axes[letter] for letter in letters)


def _of_keys(inputs: List[str], results: str) -> Optional[Form]:
    """"kn,k->mn", whose results have an axis that no input has; None if it is none."""
    new = set(results) - set("".join(inputs))
    if len(inputs) != 2 or len(new) != 1 or len(inputs[1]) != 1 or inputs[0][:1] != inputs[1] or results[1:] != inputs[0][1:] or len(results) > 2:
        return None
    axes = {inputs[1]: Axis("k"), results[0]: Axis("m"), **{letter: Axis("n") for letter in results[1:]}}
    return Form("keyed", tuple(_operand(letters, axes) for letters in (*inputs, results)))


def _classes(inputs: List[str], results: str, signature: str) -> Tuple[str, Dict[str, str]]:
    """The problem's name, and the letters of each of its axes."""
    first, second = set(inputs[0]), set(inputs[-1])
    both = {letter for letter in first & second if letter in results}
    own, other = (first - second) & set(results), (second - first) & set(results)
    folded = [letter for letter in inputs[0] if letter in second and letter not in results]
    lost = [letter for letter in "".join(inputs) if letter not in results and letter not in folded]
    if not folded:
        raise _wrong(signature, "no axis is folded")
    if lost:
        raise _wrong(signature, f"axis {lost[0]} is in one input alone, and not in the results")
    if other and not own:
        raise _wrong(signature, "give the matrix first, then the vector")
    name = "sum" if len(inputs) == 1 else "matmul" if own and (other or both) else "matvec" if own else "dot"
    rows = own if name in ("matmul", "matvec") else both
    letters = {"b": both if name == "matmul" else set(), "m": rows, "n": other}
    return name, {"k": "".join(folded), **{axis: "".join(c for c in results if c in some) for axis, some in letters.items()}}


def _parse(signature: str) -> Form:
    found = re.fullmatch(r"([A-Za-z]+)(?:,([A-Za-z]+))?->([A-Za-z]+)", signature.replace(" ", ""))
    if not found:
        raise _wrong(signature, "it is not of this form")
    inputs, results = [letters for letters in found.groups()[:-1] if letters], found[3]
    for letters in (*inputs, results):
        if len(set(letters)) < len(letters):
            raise _wrong(signature, f"'{letters}' has an axis twice")
    keyed = _of_keys(inputs, results)
    if keyed:
        return keyed
    if not set(results) <= set("".join(inputs)):
        raise _wrong(signature, "the results have an axis that no input has")
    name, letters = _classes(inputs, results, signature)
    if letters["b"] + letters["m"] + letters["n"] != results:
        raise _wrong(signature, "the results have first the axes of both inputs, then those of the first one, then those of the second")
    axes = {letter: Axis(axis, place, len(some)) for axis, some in letters.items() for place, letter in enumerate(some)}
    operands = tuple(_operand(one, axes) for one in (*inputs, results))
    return Form(name, operands, operands[0] == (Axis("k"), Axis("m")) and name != "matmul")


def find(problem: str, axis: int = -1) -> Form:
    """Of a problem that is given by its name, with the axis that a callable reduces, or by a signature as einsum has them."""
    if not isinstance(problem, str):
        raise TypeError(f"problem={problem!r}: a text, such as 'sum', or a signature, such as 'ij,jk->ik'")
    if not problem.strip():
        raise _wrong(problem, "it is empty")
    if isinstance(problem, str) and "->" in problem:
        return _parse(problem)
    if isinstance(problem, str) and "," in problem and not {word.strip() for word in problem.split(",")} & set(BY_NAME):
        raise _wrong(problem, "a signature has an arrow, and behind it the axes of the results")
    if not _folds_axis_0(problem, axis):
        return Form(problem)  # the library says what is wrong with a name
    return _parse(BY_NAME[problem if problem in BY_NAME else "sum"].transposed)._replace(name=problem)


def inputs_of(problem: str) -> List[str]:
    """The axes of each array that a callable gets; of an unknown name those of a sum."""
    return BY_NAME.get(find(problem).name, BY_NAME["sum"]).inputs


def _folds_axis_0(problem: str, axis: int) -> bool:
    """Whether a callable that reduces that axis of its matrices folds the first one; ValueError if it has no such axis."""
    if axis not in (-2, -1, 0, 1):
        raise ValueError(f"axis={axis!r}: fn gets arrays of two axes, and reduces -1, the last one, or 0")
    if axis in (-1, 1):
        return False
    if problem in BY_NAME and not BY_NAME[problem].transposed:
        raise ValueError(f"axis={axis}: problem {problem!r} has no such form: transpose in the function, as lambda x: mine(x.T)")
    return True
