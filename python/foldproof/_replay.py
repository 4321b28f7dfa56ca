"""A line of Python that judges one case again. It names the callable by words that mean the same where the line is pasted."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any, Dict, Iterator, List, Optional, Tuple

_TYPED = 200  # how many lines typed at a prompt are searched


class Code(str):
    """An expression in Python, with the imports that it needs."""

    imports: Tuple[str, ...] = ()
    unknown = False  # it is only a name for an object that the caller has

    def __new__(cls, words: str, imports: Tuple[str, ...] = (), unknown: bool = False) -> "Code":
        code = super().__new__(cls, words)
        code.imports, code.unknown = imports, unknown
        return code

    __repr__ = str.__str__

    def __reduce__(self) -> Any:
        return Code, (str(self), self.imports, self.unknown)


def place_of(fn: Any) -> Tuple[str, str]:
    """The module, and the name in it, by which any process can import the callable. ValueError with the reason if there is none."""
    module, name = getattr(fn, "__module__", None), getattr(fn, "__qualname__", None)
    if not module or not name:
        raise ValueError(f"a {type(fn).__name__} has no name in a module")
    if "<" in name:
        raise ValueError(f"{name} is no function of a module")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if getattr(found, "foldproof_callable", None) is fn:  # the test that pytest_plugin made of it
        return module, name + ".foldproof_callable"
    if found is not fn:
        raise ValueError(f"{module}.{name} is not this callable")
    return module, name


def _sources(fn: FunctionType) -> Iterator[Tuple[str, Optional[int]]]:
    """Texts that may contain the lambda, with the line in which it begins if that is known: a file, the text of `python3 -c`, lines typed at a prompt."""
    try:
        lines, _ = inspect.findsource(fn)
        yield "".join(lines), fn.__code__.co_firstlineno
    except (OSError, TypeError, IndexError):
        pass
    if fn.__code__.co_filename == "<string>":
        yield from ((text, None) for text in getattr(sys, "orig_argv", ())[2:])
    typed = sys.modules.get("readline")
    if fn.__code__.co_filename == "<stdin>" and typed is not None:
        newest = typed.get_current_history_length()
        yield from ((typed.get_history_item(k) or "", None) for k in range(newest, max(0, newest - _TYPED), -1))


def _same(a: CodeType, b: CodeType) -> bool:
    """Whether both compute the same, wherever they were written."""

    def known(code: CodeType) -> Tuple[Any, ...]:
        of_constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
        return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, of_constants

    inner = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (a, b)]
    return known(a) == known(b) and len(inner[0]) == len(inner[1]) and all(map(_same, *inner))


def _code(text: str) -> CodeType:
    return next(c for c in compile(text, "<replay>", "exec").co_consts if isinstance(c, CodeType))


def _words_in(source: str, line: Optional[int], fn: FunctionType) -> List[str]:
    """The lambdas in the text that are fn, each on one line; if the line is known, also the only lambda in it."""
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Lambda) and line in (None, n.lineno)]
    words = [" ".join((ast.get_source_segment(source, node) or "").split()) for node in nodes]
    modules = [name for name in fn.__code__.co_names if isinstance(fn.__globals__.get(name), ModuleType)]
    befores = ["", *(f"import {name}" for name in [", ".join(modules)] if name)]  # Python 3.11 compiles calls of imported modules differently
    same = [text for text in words if any(_same(_code(f"{before}\n{text}"), fn.__code__) for before in befores)]
    return same or (words if len(words) == 1 and line else [])


def _lambda_words(fn: FunctionType) -> Optional[str]:
    for source, line in _sources(fn):
        try:
            found = _words_in(source, line, fn)
        except (SyntaxError, ValueError):
            continue
        if found:
            return found[0]
    return None


def _lambda(fn: Any) -> Optional[Code]:
    """The lambda's own text, if it refers to nothing but modules."""
    if not isinstance(fn, FunctionType) or fn.__name__ != "<lambda>" or fn.__code__.co_freevars or fn.__defaults__:
        return None
    words = _lambda_words(fn)
    if words is None:
        return None
    imports = []
    for name in fn.__code__.co_names:
        meant = fn.__globals__.get(name)
        if isinstance(meant, ModuleType):
            imports.append(meant.__name__ if meant.__name__ == name else f"{meant.__name__} as {name}")
        elif meant is not None and not hasattr(builtins, name):
            return None
    return Code(words, tuple(imports))


def code_of(fn: Any, unknown: str) -> Code:
    """An expression for the callable; `unknown` if no expression can name it."""
    try:
        module, name = place_of(fn)
    except ValueError:
        return _lambda(fn) or Code(unknown, unknown=True)
    return Code(name) if module in ("__main__", "builtins") else Code(f"{module}.{name}", (module,))


def call_of(fn: Code, asked: Dict[str, Any], data: str = "") -> str:
    """The line; `asked` has verify's keywords, None for the defaults. `data`: what the caller's array is, if it is judged on one."""
    known = {key: value for key, value in asked.items() if value is not None}
    codes = [fn] + [value for value in known.values() if isinstance(value, Code)]
    imports = dict.fromkeys(["foldproof"] + [name for code in codes for name in code.imports])
    words = ", ".join([str(fn)] + [f"{key}={value!r}" for key, value in known.items()])
    yours = [str(code) for code in codes if code.unknown and code is not known.get("data")]
    told = f"  # {' and '.join(yours)}: your callable{'s' if len(yours) > 1 else ''}, of which no text was found" if yours else ""
    told += f"  # data: your array, {data}" if isinstance(known.get("data"), Code) else ""
    return f"import {', '.join(imports)}; foldproof.verify({words}){told}"
