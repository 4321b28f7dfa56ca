"""foldproof.verify: a Python callable as a guest in this process."""

from __future__ import annotations

import ctypes
import gc
import json
import traceback
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import _arrays, _library
from ._arrays import CPU, CUDA, CUDA_HOST, DTYPES, Lent

Names = Union[str, Sequence[str], None]
Record = Dict[str, Any]
_DTYPE_NUMBERS = {1: "f16", 2: "bf16", 3: "f32", 4: "f64", 5: "e4m3", 6: "e5m2"}  # foldproof_guest.h
_FAILED = 1


class Failure(AssertionError):
    """What ended badly: `record` is the first such judgement, as `foldproof verify --jsonl` writes it; `result` holds all."""

    def __init__(self, result: "Result", record: Record, text: str):
        super().__init__(text)
        self.result, self.record = result, record

    def _at(self, key: str) -> Any:
        return self.record.get(key)

    subject = property(lambda self: self._at("subject"), doc="its name")
    claim = property(lambda self: self._at("claim"), doc="the claim's name")
    case = property(lambda self: self._at("case"), doc="the case's name")
    dtype = property(lambda self: self._at("dtype"), doc="the terms' dtype")
    seed = property(lambda self: self._at("seed"), doc="the generator's seed; None: the input was not generated")
    row = property(lambda self: self._at("row"), doc="the first row that is wrong; None: none was compared")
    got = property(lambda self: self._at("got"), doc="its bits, '0x3f800000'; None: none was compared")
    want = property(lambda self: self._at("want"), doc="the bits that were wanted")
    replay = property(lambda self: self.result._replay(self.record), doc="a call that judges that case alone")


class Refuted(Failure):
    """A claim does not hold."""


class Broken(Failure):
    """The callable failed: an exception, or results of a wrong shape or dtype. Its own traceback is in the message."""


class NothingJudged(Exception):
    """All was skipped: that is no proof of anything. The message has the reasons."""


class Result:
    """All judgements of a call of verify.

    judgements: records as `foldproof verify --jsonl` writes them; counts: how many of each verdict, "held", "refuted", "skipped",
    "broken"; verdicts: per claim the same."""

    def __init__(self, asked: Dict[str, Any]) -> None:
        self.judgements: List[Record] = []
        self.tracebacks: Dict[str, str] = {}
        self._asked = asked

    @property
    def counts(self) -> Dict[str, int]:
        counts = {"held": 0, "refuted": 0, "skipped": 0, "broken": 0}
        for record in self.judgements:
            counts[record["verdict"]] = counts.get(record["verdict"], 0) + 1
        return counts

    @property
    def verdicts(self) -> Dict[str, Dict[str, int]]:
        verdicts: Dict[str, Dict[str, int]] = {}
        for record in self.judgements:
            of_claim = verdicts.setdefault(record["claim"], {})
            of_claim[record["verdict"]] = of_claim.get(record["verdict"], 0) + 1
        return verdicts

    def __repr__(self) -> str:
        return f"<foldproof.Result: {', '.join(f'{n} {verdict}' for verdict, n in self.counts.items() if n)}>"

    def of(self, *, claim: Optional[str] = None, dtype: Optional[str] = None) -> "Result":
        """The judgements of one claim, of terms of one dtype."""
        part = Result(self._asked)
        part.tracebacks = self.tracebacks
        part.judgements = [r for r in self.judgements if claim in (None, r["claim"]) and dtype in (None, r["dtype"])]
        return part

    def check(self) -> "Result":
        """Raises Refuted, Broken or NothingJudged; returns itself where at least one claim held and none failed."""
        for verdict, kind in (("refuted", Refuted), ("broken", Broken)):
            found = next((r for r in self.judgements if r["verdict"] == verdict), None)
            if found is not None:
                raise kind(self, found, self._describe(found))
        if not self.counts["held"]:
            reasons = sorted({r.get("reason", "") for r in self.judgements if r["verdict"] == "skipped"})
            raise NothingJudged("all was skipped: " + "; ".join(reasons[:5]))
        return self

    def _replay(self, record: Record) -> str:
        asked = dict(self._asked, dtypes=[record["dtype"]], claims=[record["claim"]], fixtures=record["case"])
        words = [f"{key}={value!r}" for key, value in asked.items() if value is not None]
        return f"foldproof.verify(fn, {', '.join(words)})"

    def _describe(self, record: Record) -> str:
        shape = f"{record['rows']} x {record['cols']} {record['dtype']}"
        seed = f", seed {record['seed']}" if "seed" in record else ""
        lines = [f"{record['subject']}: {record['claim']} is {record['verdict']} on {record['case']} ({shape}{seed})"]
        if record.get("reason"):
            lines.append(f"  {record['reason']}")
        if "got" in record:
            lines.append(f"  row {record['row']}: got {record['got']}, want {record['want']}")
        counts = ", ".join(f"{n} {verdict}" for verdict, n in self.counts.items() if n)
        lines.append(f"  in all: {counts}")
        lines.append(f"  replay: {self._replay(record)}")
        if record["verdict"] == "broken" and record["subject"] in self.tracebacks:
            lines.append(self.tracebacks[record["subject"]].rstrip())
        return "\n".join(lines)


class _Wrong(Exception):
    """What comes back is no result, in words."""


def _check(seen: Any, call: Any, dtype: str, cuda: bool) -> None:
    rows = call.rows
    if seen.dtype != dtype:
        raise _Wrong(f"its results are of {seen.dtype}, and not of {dtype}")
    if seen.shape not in ((rows,), (rows, 1)):
        raise _Wrong(f"its results have shape {seen.shape}, and not ({rows},)")
    if cuda != (seen.device == CUDA) or seen.device not in (CPU, CUDA, CUDA_HOST):
        raise _Wrong(f"its results are on {'the host' if seen.device != CUDA else 'a CUDA device'}, its input is not")


class _Callable:
    """One callable as a guest's run function."""

    def __init__(self, name: str, fn: Callable[..., Any], like: str, cuda: bool, result: "Result", stop: List[BaseException]):
        self.name, self.fn, self.cuda, self.result, self.stop = name, fn, cuda, result, stop
        self.make = _arrays.maker(like)
        self.run = _library.Run(self._run)
        if cuda:
            from ._cuda import Device

            self.cuda_device = Device()

    def _compute(self, call: Any) -> None:
        terms, result = _DTYPE_NUMBERS[call.dtype], _DTYPE_NUMBERS[call.result]
        device = (CUDA, self.cuda_device.number()) if self.cuda else (CPU, 0)
        parts = [call.in_] if call.other is None else [call.in_, call.other]
        lent = [Lent(at or 0, (call.rows, call.cols), terms, device) for at in parts]
        if self.cuda:
            self.cuda_device.wait(call.stream)
        value = self.fn(*map(self.make, lent))
        seen = _arrays.see(value, self.cuda_device.consumer(call.stream) if self.cuda else None)
        _check(seen, call, result, self.cuda)
        if self.cuda:
            self.cuda_device.copy(call.out, seen, call.stream)
        elif call.rows:
            _arrays.copy_out(seen, call.out)
        held = [weakref.ref(part) for part in lent]  # an array keeps what it was made of
        del value, seen, lent
        if any(part() for part in held):
            gc.collect()
            if any(part() for part in held):
                raise _Wrong("it keeps its input array, whose memory is gone after the run")

    def _run(self, pointer: Any, _context: Any) -> int:
        call = pointer.contents
        if call.threads or call.blocks or call.block:
            self._say(call, "a Python callable takes no launch")
            return _library.UNSUPPORTED
        try:
            self._compute(call)
            return 0
        except Exception as error:
            self._keep(call, error)
        except BaseException as error:  # KeyboardInterrupt, SystemExit, pytest's own: the caller's to have
            self.stop.append(error)
            self._say(call, type(error).__name__)
        return _FAILED

    def _keep(self, call: Any, error: Exception) -> None:
        words = str(error) if isinstance(error, _Wrong) else f"{type(error).__name__}: {error}"
        if not isinstance(error, _Wrong):
            # From the callable's own frame on.
            own = error.__traceback__
            while own is not None and own.tb_frame.f_globals.get("__name__", "").startswith("foldproof."):
                own = own.tb_next
            text = traceback.format_exception(type(error), error, own or error.__traceback__)
            self.result.tracebacks.setdefault(self.name, "".join(text))
        error.__traceback__ = None  # its frames hold the arrays
        self._say(call, words)

    @staticmethod
    def _say(call: Any, words: str) -> None:
        text = words.replace("\n", " ").encode()[: call.why_bytes - 1] + b"\0"
        text = text.decode(errors="ignore").encode()
        ctypes.memmove(call.why, text, len(text))


def _list(names: Names) -> Optional[str]:
    return names if names is None or isinstance(names, str) else ",".join(names)


def _encoded(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else text.encode()


def _name_of(fn: Any, prefix: str) -> str:
    name = getattr(fn, "__qualname__", type(fn).__qualname__).replace("<", "").replace(">", "")
    return prefix + "".join(c if c.isascii() and (c.isalnum() or c in "_-.@+") else "_" for c in name)


def judge(
    fn: Callable[..., Any],
    *,
    problem: str = "sum",
    dtypes: Names = ("f32",),
    device: str = "cpu",
    claims: Names = None,
    only: Names = None,
    fixtures: Names = None,
    set: Optional[str] = None,
    name: Optional[str] = None,
    same_bits_as: Union[Callable[..., Any], str, None] = None,
    like: Optional[str] = None,
    accumulator: Optional[str] = None,
    result: Optional[str] = None,
    order: Optional[str] = None,
    method: Optional[str] = None,
    repeats: int = 3,
) -> Result:
    """As verify, but returns the result whatever it is: Result.check raises."""
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r}: 'cpu' or 'cuda'")
    like = _arrays.pick(like)
    name = name or _name_of(fn, "py/")
    asked = {"problem": problem, "device": None if device == "cpu" else device, "like": like, "accumulator": accumulator}
    asked.update(result=result, order=order, method=method, repeats=None if repeats == 3 else repeats, name=name)
    if same_bits_as is not None:
        asked["same_bits_as"] = same_bits_as if isinstance(same_bits_as, str) else _Code("other")
        claims = [claims] if isinstance(claims, str) else list(claims or ())
        claims += [] if "same_bits_as" in claims else ["same_bits_as"]
    all_of = Result(asked)
    stop: List[BaseException] = []
    cuda = device == "cuda"
    runs = [_Callable(name, fn, like, cuda, all_of, stop)]
    if callable(same_bits_as):
        twin = _name_of(same_bits_as, "py/")
        runs.append(_Callable(twin if twin != name else twin + "@other", same_bits_as, like, cuda, all_of, stop))
        same_bits_as = runs[1].name
    subjects = (_library.Subject * len(runs))()
    for subject, run in zip(subjects, runs):
        first = run is runs[0]
        subject.name, subject.run = run.name.encode(), run.run
        subject.problems, subject.dtypes = _encoded(problem), _encoded(_list(dtypes))
        subject.accumulator, subject.result = _encoded(accumulator), _encoded(result)
        subject.order, subject.method = _encoded(order), _encoded(method)
        subject.engine = b"cuda" if cuda else b"host"
        subject.claims = _encoded(_list(claims)) if first else b"run_to_run"
        subject.same_bits_as = _encoded(same_bits_as) if first else None
    table = _library.Table(1, ctypes.sizeof(_library.Subject), len(runs), subjects)
    options = _library.Options(
        size=ctypes.sizeof(_library.Options),
        subjects=name.encode(),
        claims=_encoded(_list(only)),
        fixtures=_encoded(_list(fixtures)),
        set=_encoded(set),
        folder=_library.fixtures(),
        repeats=repeats,
    )

    def take(line: bytes, _context: Any) -> int:
        if not stop:
            all_of.judgements.append(json.loads(line))
        return len(stop)

    code = _library.library.foldproof_verify(ctypes.byref(table), ctypes.byref(options), _library.Take(take), None)
    if stop:
        raise stop[0]
    _library.check(code)
    return all_of


class _Code(str):
    """Written as it is, not as a string."""

    __repr__ = str.__str__


def verify(fn: Callable[..., Any], **asked: Any) -> Result:
    """Judges a callable in this process; raises Refuted, Broken or NothingJudged.

    fn(x) gets x of shape (rows, cols), of a dtype in `dtypes`, and returns the reduction of each row, of shape (rows,) or (rows, 1), of
    dtype `result`; of problem "dot" fn(x, y) gets two arrays of one shape. Arrays are contiguous views of foldproof's memory, aligned
    to their element and to no more, and are gone after the call: return a new array, keep none.

    problem       "sum", "prod", "max", "min" or "dot"
    dtypes        of the terms: "f16", "bf16", "f32", "f64", "e4m3", "e5m2"; a list, or comma-separated
    device        "cpu", or "cuda": arrays in device memory
    claims        names (`foldproof list claims`) or presets; None: bounded, run_to_run, fresh_process. Whether results are written, and
                  bounds, inputs and the process left as they were, is judged too
    only          of all these claims the only ones that are judged; None: all
    fixtures      globs of cases, fixtures or files; None: all of the set ("default", "large" or "all")
    name          of the subject: letters, digits and / _ - . @ +; None: "py/" and the callable's
    same_bits_as  another callable, or the name of one of foldproof's subjects, whose bits are wanted
    like          "numpy", "torch", "cupy" or "jax": whose arrays fn gets; None: torch's if it was imported, else numpy's
    accumulator, result  dtypes; None: f64 for f64 and f32 for all others; that of the terms
    order         the order in which terms are joined, if declared (`foldproof list orders`), which `replays` needs
    method        "plain", "kahan", "neumaier" or "exact"
    repeats       of run_to_run

    fresh_process is skipped: a callable is in its own process alone. ValueError for an unknown name, or a selection of nothing."""
    return judge(fn, **asked).check()
