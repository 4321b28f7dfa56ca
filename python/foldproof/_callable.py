"""A Python callable as the run function of a guest: gets its input as an array, and puts its result where the harness expects it."""

from __future__ import annotations

import builtins
import ctypes
import functools
import gc
import inspect
import math
import sys
import time
import traceback
import weakref
from contextlib import nullcontext
from typing import Any, Callable, ContextManager, Dict, Iterable, List, Optional, Tuple

from . import _arrays, _library, _outputs, _see
from ._arrays import CPU, CUDA, CUDA_HOST, Lent
from ._problem import AXES, BY_NUMBER, Axis, Form
from ._process_state import KeptResults, LateWrites, NoLateWrites, State
from ._see import Wrong
from ._signals import Signals
from ._takes import Takes

_FAILED = 1
_GROUPS: Any = getattr(builtins, "BaseExceptionGroup", ())  # since Python 3.11
_JAX_ALIGNMENT = 128  # XLA requires it, and copies arrays that are not aligned so
_ALIGNMENT = 256  # of an allocation on a device
_TO_DROP = 2.0  # seconds


_AT = {axis: k for k, axis in enumerate(AXES)}


@functools.lru_cache(None)
def _axes_of(letters: str, without: str) -> Tuple[Axis, ...]:
    return tuple(Axis(letter) for letter in letters if letter != without)


def _usual(call: Any, letters: str) -> Tuple[Axis, ...]:
    """The axes of an operand of the problem, the optional one only where its extent is not 1."""
    optional = BY_NUMBER[call.problem].optional
    return _axes_of(letters, optional if optional and call.extent[_AT[optional]] == 1 else "")


def _parts(call: Any, form: Form, axis: Axis) -> List[int]:
    return form.split(axis, call.extent[_AT[axis.of]])


def _shape(call: Any, form: Form, axes: Iterable[Axis]) -> Tuple[int, ...]:
    extent = call.extent
    return tuple([extent[_AT[axis.of]] if axis.parts == 1 else _parts(call, form, axis)[axis.place] for axis in axes])


def _strides(call: Any, form: Form, k: int, axes: Iterable[Axis]) -> Tuple[int, ...]:
    """Of input k, in elements."""
    stride = call.stride[k]
    return tuple([stride[_AT[axis.of]] * (1 if axis.parts == 1 else math.prod(_parts(call, form, axis)[axis.place + 1 :])) for axis in axes])


def _skips() -> Tuple[Any, ...]:
    """What a callable raises to have a case skipped, with the exception's text as the reason."""
    pytests = getattr(sys.modules.get("pytest"), "skip", None)
    return (NotImplementedError, pytests.Exception) if pytests else (NotImplementedError,)


def _is_own_call(error: BaseException) -> bool:
    """Whether the call itself failed: no frame but ours is in the traceback."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_globals.get("__name__", "").startswith("foldproof."):
        frame = frame.tb_next
    return frame is None


def _signature(fn: Any) -> Optional[inspect.Signature]:
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):  # many C functions have none
        return None


def _misfits(fn: Any, n: int) -> bool:
    """Whether the callable does not take n arguments."""
    signature = _signature(fn)
    if signature is None:
        return False
    try:
        signature.bind(*range(n))
    except TypeError:
        return True
    return False


def _let_go(error: BaseException, outside: Optional[BaseException]) -> None:
    """Clears tracebacks: their frames keep variables, and printing these would read arrays whose memory is gone. `outside` is the caller's."""
    left: List[Optional[BaseException]] = [error]
    seen = {id(None), id(outside)}
    while left:
        one = left.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        traceback.clear_frames(one.__traceback__)
        left += [one.__cause__, one.__context__, *(one.exceptions if isinstance(one, _GROUPS) else ())]


class Guest:
    """One callable. `rows`: None, or the object that keeps results of any length by their hashes (_rows.py). """

    def __init__(self, name: str, fn: Callable[..., Any], like: str, cuda: bool, rows: Any = None, form: Form = Form(""),
                 outputs: Optional[_outputs.Outputs] = None):
        self.name, self.fn, self.like, self.rows, self.form, self.outputs = name, fn, like, rows, form, outputs
        self.traceback = ""
        self.results: Optional[Tuple[str, bytes]] = None  # of the last run, their dtype and memory, if the harness keeps them
        self.keeps_results = False
        self.state, self.late = State(), LateWrites()
        self.keeps = False  # an earlier run has shown that it keeps its input
        self.stop: List[BaseException] = []  # exceptions to raise in the caller
        self.signals = Signals()
        self.make = _arrays.maker(like)
        self.run_of = self._run  # for exceptions that ctypes loses (_lost.py)
        self.run = _library.Run(self.run_of)
        self.takes: Optional[Takes] = None  # None: whatever it is called with
        self.device: Any = None
        if cuda:
            from ._cuda import Device

            self.device = Device()

    def alone(self) -> "Guest":
        """The same callable for other calls, what it leaves in the process noted with the rest."""
        other = Guest(self.name, self.fn, self.like, bool(self.device), self.rows, self.form, self.outputs)
        other.state, other.late = self.state, NoLateWrites()
        return other

    def _axes(self, call: Any, k: int) -> Tuple[Axis, ...]:
        """Of the callable's input k, or of its results where k is -1."""
        problem = BY_NUMBER[call.problem]
        return self.form.operands[k] if self.form.operands else _usual(call, problem.results if k < 0 else problem.inputs[k])

    def _in_memory(self, call: Any, k: int) -> Tuple[Axis, ...]:
        """The same axes of input k in the order in which memory has them."""
        if not self.form.operands:
            return self._axes(call, k)
        order = BY_NUMBER[call.problem].inputs[k]
        return tuple(sorted(self._axes(call, k), key=lambda axis: (order.index(axis.of), axis.place)))

    def _lend(self, call: Any, k: int) -> Lent:
        """Input k, of the shape that the callable's form says; for jax, which takes no strides, as it lies in memory."""
        problem = BY_NUMBER[call.problem]
        axes = self._in_memory(call, k) if self.like == "jax" else self._axes(call, k)
        dtype = "i32" if k == problem.keys else _library.DTYPES_BY_NUMBER[call.dtype]
        where = (CUDA, self.device.number()) if self.device else (CPU, 0)
        lent = Lent((call.other if k else call.in_) or 0, _shape(call, self.form, axes), dtype, where, None, _strides(call, self.form, k, axes))
        if self.like == "jax" and lent.at % _JAX_ALIGNMENT and lent.nbytes:
            copy = lent.at_other(*self._room(lent.nbytes, 0))
            self._copy(copy.at, lent, call)
            return copy
        return lent

    def _room(self, nbytes: int, like: int) -> Tuple[int, Any]:
        """The address of memory that is aligned as another address is, and the memory's owner."""
        owner: Any = self.device.memory(nbytes + _ALIGNMENT) if self.device else ctypes.create_string_buffer(nbytes + _ALIGNMENT)
        at = owner.at if self.device else ctypes.addressof(owner)
        return at + (like - at) % _ALIGNMENT, owner

    def memory_of(self, raw: bytes, stream: Any) -> Tuple[int, Any]:
        """The address of memory that holds these bytes, and the memory's owner."""
        at, owner = self._room(len(raw), 0)
        if self.device:
            self.device.put(at, raw, len(raw), stream)
        else:
            ctypes.memmove(at, raw, len(raw))
        return at, owner

    def _copy(self, to: int, lent: Lent, call: Any) -> None:
        if self.device:
            self.device.copy(to, lent.at, lent.nbytes, call.stream)
        else:
            ctypes.memmove(to, lent.at, lent.nbytes)

    def _is_contiguous(self, call: Any, k: int) -> bool:
        """Whether input k is so in memory, whatever the order of its axes is there."""
        order = self._in_memory(call, k)
        return _strides(call, self.form, k, order) == _arrays.contiguous(_shape(call, self.form, order))

    def is_strided(self, call: Any) -> bool:
        """Whether an input is not contiguous."""
        return not all(self._is_contiguous(call, k) for k in range(len(BY_NUMBER[call.problem].inputs)))

    def _turn(self, view: Lent, call: Any, k: int) -> Tuple[Lent, Callable[[], None]]:
        """What a callable gets whose form has the axes in another order than memory: a contiguous copy, aligned as the input is; of a strided input, a view. The
        function is for after the call: what the callable wrote to the copy is then written to the input, too, where keeps_input finds it."""
        if self._in_memory(call, k) == self._axes(call, k) or not self._is_contiguous(call, k):
            return view, lambda: None
        copy = view.contiguous_at(*self._room(math.prod(view.shape) * view.itemsize, view.at))
        self.make(copy)[...] = self.make(view)
        at, before = copy.at, self.bytes_at(copy.at, copy.nbytes, call)

        def bring_back() -> None:
            if self.bytes_at(at, len(before), call) != before:
                self.make(view)[...] = self.make(view.contiguous_at(at, None))

        return copy, bring_back

    def bytes_at(self, at: int, nbytes: int, call: Any) -> bytes:
        return bytes(self.device.fetch(at, nbytes, call.stream).raw[:nbytes] if self.device else ctypes.string_at(at, nbytes))

    def _shapes(self, call: Any) -> List[Tuple[int, ...]]:
        """The shapes that results may have."""
        shape = _shape(call, self.form, self._axes(call, -1))
        return [shape, (1, *shape) if self.form.transposed or "b" in BY_NUMBER[call.problem].results else (*shape, 1)]

    def _check(self, seen: Any, call: Any) -> None:
        if bool(self.device) != seen.on_cuda or not (seen.on_cuda or seen.device in (CPU, CUDA_HOST)):
            raise Wrong(f"its results are on {'a CUDA device' if seen.on_cuda else 'the host'}, its input is not")
        if self.device:
            self.device.check(seen)
        if self.rows:
            self.rows.check(seen, call.rows)
            return
        result = _library.DTYPES_BY_NUMBER[call.result]
        if seen.dtype != result:
            raise Wrong(f"its results are of {seen.dtype}, and not of {result}")
        shapes = self._shapes(call)
        if seen.shape not in shapes:
            longer = len(seen.shape) > 1 and seen.shape[0] == call.rows and call.other is None
            hint = "; for a function of rows, such as a norm, say problem='rows'" if longer else ""
            each = "column" if self.form.transposed else "row" if BY_NUMBER[call.problem].keys < 0 else "slot, +0 for a slot that no key names"
            one = f": one result for each {each}{hint}" if len(shapes[0]) == 1 else ""
            raise Wrong(f"its results have shape {seen.shape}, and not {shapes[0]}{one}")

    def _take(self, value: Any, call: Any) -> None:
        """Writes what the callable returned to call.out."""
        if self.device:
            seen = self.device.see(value, call.stream)
            self._check(seen, call)
            if self.rows is None:
                self.device.copy(call.out, seen.at, seen.nbytes, call.stream)
            else:
                host = self.device.fetch(seen.at, seen.nbytes, call.stream)
                hashes = self.rows.hashes(ctypes.addressof(host), seen, call.rows)
                self.device.put(call.out, hashes, 8 * call.rows, call.stream)
            return
        seen = _see.see(value)
        self._check(seen, call)
        seen = _see.tight(seen)
        if self.keeps_results:
            self.results = seen.dtype, ctypes.string_at(seen.at, seen.nbytes) if seen.nbytes else b""
        if self.rows is None:
            ctypes.memmove(call.out, seen.at, seen.nbytes if call.rows else 0)
        else:
            ctypes.memmove(call.out, self.rows.hashes(seen.at, seen, call.rows), 8 * call.rows)

    def compute(self, call: Any) -> None:
        """Calls the callable, and writes its results to call.out."""
        if self.device:
            self.device.wait(call.stream)  # for all work, because the framework may use any stream
        lent = [self._lend(call, k) for k in range(len(BY_NUMBER[call.problem].inputs))]
        ends: List[Callable[[], None]] = []
        if self.form.operands and self.like != "jax":
            turned = [self._turn(one, call, k) for k, one in enumerate(lent)]
            lent, ends = [one for one, _ in turned], [end for _, end in turned]
            del turned
        context = self.device.context() if self.device else None
        self.late.begin_run()
        value = self._call(lent, call)
        if self.device and self.device.context() != context:
            raise Wrong("it leaves another device, or context of CUDA's, than it found")
        for end in ends:
            end()
        parts = self._parts(value, call)
        at_end = None if self.device else self.late.end_run(parts)
        self._take(parts[0], call)
        if at_end is not None and self.late.is_written(parts, at_end):
            self.state.note("its output, by a thread that wrote to it after the call had returned")
        made = list(map(KeptResults.of, parts))
        del value, parts
        self.state.note_results(made, lambda: list(map(KeptResults.of, self._parts(self._call(lent, call), call))))
        held = [weakref.ref(part) for part in lent]  # an array refers to the memory that it was made of
        lent.clear()
        if any(part() for part in held):
            self._wait_for(held)

    def _parts(self, value: Any, call: Any) -> List[Any]:
        """The outputs, the judged one first."""
        if self.outputs:
            return self.outputs.parts(value, call.rows)
        _outputs.refuse_several(value)
        return [value]

    def _call(self, lent: List[Lent], call: Any) -> Any:
        before = self.state.before_run()
        try:
            arrays = list(map(self.make, lent))  # which outlive the call: as they are freed, torch runs our function, whatever exception is set
            if self.form.operands and self.like == "jax":
                orders = [(self._axes(call, k), self._in_memory(call, k)) for k in range(len(arrays))]
                arrays = [x.transpose([memory.index(axis) for axis in own]) for x, (own, memory) in zip(arrays, orders)]  # new arrays, of the usual layout
            problem = BY_NUMBER[call.problem]
            if problem.keys < 0:
                return self.fn(*arrays)
            arrays[problem.keys] = _arrays.as_keys(arrays[problem.keys], self.like)
            return self.fn(*arrays, call.extent[AXES.index("m")])
        finally:
            self.state.after_run(before)

    def quiet(self) -> ContextManager[Any]:
        """A context for all runs without numpy's warnings: fixtures overflow and hold NaN on purpose. What numpy is set to raise stays."""
        if self.like != "numpy":
            return nullcontext()
        import numpy

        kinds: Dict[str, Any] = {kind: "ignore" for kind, how in numpy.geterr().items() if how == "warn"}
        return numpy.errstate(**kinds)

    def _wait_for(self, held: List[Any]) -> None:
        """Waits until the arrays are gone, once garbage is collected: jax, or a thread of a pool, drops an input some time after its last use."""
        if not self.keeps:
            gc.collect()
        end = time.monotonic() + _TO_DROP
        while not self.keeps:
            if not any(part() for part in held):
                return
            self.keeps = time.monotonic() > end
            time.sleep(0.002)
        raise Wrong("it keeps its input array, whose memory is gone after the run")

    def _run(self, pointer: Any, _context: Any) -> int:
        outside = sys.exc_info()[1]
        try:
            return self._answer(pointer.contents)
        except BaseException as error:  # ctypes would turn it into a number
            _let_go(error, outside)
            self.stop.append(error)
            return _FAILED

    def _answer(self, call: Any) -> int:
        if call.threads or call.blocks or call.block:
            self._say(call, "a Python callable takes no launch")
            return _library.UNSUPPORTED
        if self.rows and not call.cols:
            self._say(call, "its rows have no terms, of which a function of rows need not have a value")
            return _library.UNSUPPORTED
        if call.size < ctypes.sizeof(_library.Call):
            raise OSError("foldproof's library is older than this package: $FOLDPROOF_LIBRARY says where it is")
        for axis, what in (("b", "batches"), ("n", "columns")):
            if axis in BY_NUMBER[call.problem].results and self.form.lacks(axis) and call.extent[AXES.index(axis)] != 1:
                self._say(call, f"its signature has no {what}")
                return _library.UNSUPPORTED
        outside = sys.exc_info()[1]
        self.signals.came()  # what came earlier has raised what it had to
        try:
            self.compute(call)
            return 0
        except BaseException as error:
            return self._fail(call, error, outside)

    def _is_callers(self, error: BaseException) -> bool:
        """Whether a handler of signals raised it: Ctrl-C, or a test's time limit."""
        return not isinstance(error, Exception) and self.signals.came()

    def _fail(self, call: Any, error: BaseException, outside: Optional[BaseException]) -> int:
        if self._is_callers(error):
            _let_go(error, outside)
            self.stop.append(error)
            self._say(call, type(error).__name__)
            return _FAILED
        if isinstance(error, _skips()):
            error.__traceback__ = None
            self._say(call, self.text_of(error) or f"it raises {type(error).__name__}")
            return _library.UNSUPPORTED
        why_not = self.takes.why_not(call, _library.DTYPES_BY_NUMBER[call.dtype]) if self.takes and isinstance(error, Exception) else ""
        if why_not:
            error.__traceback__ = None
            self._say(call, why_not)
            return _library.UNSUPPORTED
        if isinstance(error, TypeError) and _is_own_call(error) and _misfits(self.fn, self._arguments(call)):
            self.stop.append(TypeError(self._misfit(call)))
        if isinstance(error, _outputs.Misused):
            self.stop.append(ValueError(str(error)))
        self._keep(call, error)
        return _FAILED

    def _arguments(self, call: Any) -> int:
        problem = BY_NUMBER[call.problem]
        return len(problem.inputs) + (problem.keys >= 0)

    def _misfit(self, call: Any) -> str:
        """What foldproof calls, and what the callable takes."""
        problem = BY_NUMBER[call.problem]
        shapes = [str(_shape(call, self.form, self._axes(call, k))) for k in range(len(problem.inputs))]
        arrays = "an array of shape " if len(shapes) == 1 else "arrays of shapes "
        number = f" and the number of slots, {call.extent[AXES.index('m')]}" if problem.keys >= 0 else ""
        return (f"{self.name} takes {_signature(self.fn)}, and for problem {self.form.name!r} foldproof calls it with {self._arguments(call)} "
                f"argument{'s' if self._arguments(call) > 1 else ''}: {arrays}{' and '.join(shapes)}{number}")

    def text_of(self, error: BaseException) -> str:
        try:
            return str(error)
        except BaseException as own:
            if self._is_callers(own):
                raise
            return f"(its text cannot be told: {type(own).__name__})"

    def _keep(self, call: Any, error: BaseException) -> None:
        ours = isinstance(error, Wrong)
        words = str(error) if ours else f"{type(error).__name__}: {self.text_of(error)}"
        if not ours and not self.traceback:
            # The traceback begins at the callable's own frame.
            own = error.__traceback__
            while own is not None and own.tb_frame.f_globals.get("__name__", "").startswith("foldproof."):
                own = own.tb_next
            self.traceback = "".join(traceback.format_exception(type(error), error, own or error.__traceback__))
        error.__traceback__ = None  # its frames refer to the arrays
        self._say(call, words)

    @staticmethod
    def _say(call: Any, words: str) -> None:
        text = words.replace("\n", " ").encode(errors="backslashreplace")[: call.why_bytes - 1] + b"\0"
        text = text.decode(errors="ignore").encode()
        ctypes.memmove(call.why, text, len(text))
