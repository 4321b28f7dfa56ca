"""Callables of several outputs: which one is judged, and the others, whose bits are compared: each is judged as a function of rows, by itself."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from . import _see
from ._problem import Axis, Form

Key = Union[int, str]
# Claims that compare a result with another one of the same callable: of a function of rows they are judged, too.
_OF_BITS = ("run_to_run", "fresh_process", "launch_invariant", "batch_invariant", "alignment_invariant", "stride_invariant", "same_bits_as")


class Misused(ValueError):
    """What outputs= says does not fit what the callable returns: raised in the caller."""


def check(outputs: Any, form: Form) -> None:
    """Refuses what names no output, and problems whose other outputs cannot be judged as a function of rows."""
    if outputs is None:
        return
    if isinstance(outputs, bool) or not isinstance(outputs, (int, str)):
        raise TypeError(f"outputs={outputs!r}: a number, the index of the judged output in a tuple, or a text, its key in a dict")
    if isinstance(outputs, int) and outputs < 0:
        raise ValueError(f"outputs={outputs}: an index in a tuple, from 0")
    if form.name in ("dot", "matvec", "matmul", "keyed") or form.operands and form.operands[0] != (Axis("m"), Axis("k")):
        raise ValueError(f"outputs={outputs!r}: the other outputs are compared by the rows of one array of rows and terms, and problem {form.name!r} has no such "
                         "input here: choose the output in the function, as lambda *x: mine(*x)[0]")


def is_several(value: Any) -> bool:
    return isinstance(value, (tuple, list, Mapping))


def _keys(value: Any) -> List[Any]:
    return list(value) if isinstance(value, Mapping) else list(range(len(value)))


def refuse_several(value: Any) -> None:
    if is_several(value):
        keys = _keys(value)
        raise _see.Wrong(f"it returns a {type(value).__name__} of {len(keys)}, and not one array: outputs={keys[0] if keys else 0!r} names the output to judge")


class Outputs:
    """Of one callable: the key of the judged output, and those of the others once it was called."""

    def __init__(self, key: Key, name: str, is_twin: bool = False) -> None:
        self.key, self.others = key, []  # type: Key, List[Any]
        self._name, self._is_twin = name, is_twin

    def parts(self, value: Any, rows: int) -> List[Any]:
        """The arrays that it returned, the judged one first."""
        if self._is_twin and not is_several(value):
            return [value]
        keys = self._checked(value)
        self.others = [key for key in keys if key != self.key]
        for key in self.others:
            self._check(key, value[key], rows)
        return [value[self.key], *(value[key] for key in self.others)]

    def _checked(self, value: Any) -> List[Any]:
        said = f"outputs={self.key!r}: {self._name} returns {type(value).__name__}"
        if not is_several(value):
            raise Misused(f"{said}, and no tuple or dict of outputs")
        if isinstance(value, Mapping) != isinstance(self.key, str):
            raise Misused(f"{said}: {'its outputs have keys' if isinstance(value, Mapping) else 'its outputs have numbers, from 0'}")
        keys = _keys(value)
        if self.key not in keys:
            raise Misused(f"{said} with outputs {', '.join(map(repr, keys)) or 'of no name'} only")
        return keys

    def _check(self, key: Any, other: Any, rows: int) -> None:
        advice = "return arrays with a row for each row of the input, or choose the output in the function, as lambda x: mine(x)[0]"
        try:
            shape = _see.see(other).shape
        except TypeError:
            raise Misused(f"output {key!r} of {self._name} is {type(other).__name__}, and no array: {advice}") from None
        if shape[:1] != (rows,):
            raise Misused(f"output {key!r} of {self._name} has shape {shape}, and not ({rows}, ...), for {rows} rows: {advice}")


def name_of(name: str, key: Any) -> str:
    """The name of the subject that is another output."""
    words = f"output{key}" if isinstance(key, int) else "".join(c if c.isascii() and (c.isalnum() or c in "_-.+") else "_" for c in key)
    return f"{name}@{words}"


def _cases_of_rows(fixtures: Optional[List[str]], problem: str) -> Optional[List[str]]:
    """Functions of rows get the cases of sums."""
    return None if fixtures is None else [glob.replace(f"/{problem}/", "/sum/") for glob in fixtures]


def judge_others(judge: Callable[..., Any], fn: Any, main: Outputs, twin: Optional[Outputs], found: Any, said: Dict[str, Any], problem: str) -> None:
    """Adds to the result a judgement of each other output by the claims about bits that were asked for. `said` has what judge takes."""
    share = said["seconds"] / max(len(main.others), 1)
    for key in main.others:
        other = said["same_bits_as"] if twin is not None and key in twin.others else None
        claims = [claim for claim in found.asked_for if claim in _OF_BITS and (other is not None or claim != "same_bits_as")]
        if claims:
            more = dict(said, problem="rows", outputs=key, claims=claims, only=claims, same_bits_as=other, seconds=share, name=name_of(said["name"], key))
            more["fixtures"] = _cases_of_rows(said["fixtures"], problem)
            found.add_output(more["name"], judge(fn, **more, _is_other=True))
