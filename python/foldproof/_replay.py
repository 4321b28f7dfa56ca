"""A line of Python that judges one case again: a callable by the words that name it where the line is pasted."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from types import FunctionType, ModuleType
from typing import Any, Dict, List, Optional, Tuple


class Code(str):
    """Words of Python, with what must be imported before them."""

    imports: Tuple[str, ...] = ()

    def __new__(cls, words: str, imports: Tuple[str, ...] = ()) -> "Code":
        code = super().__new__(cls, words)
        code.imports = imports
        return code

    __repr__ = str.__str__

    def __reduce__(self) -> Any:
        return Code, (str(self), self.imports)


def place_of(fn: Any) -> Tuple[str, str]:
    """The module and the name in it by which any process finds the callable; ValueError with the reason where there are none."""
    module, name = getattr(fn, "__module__", None), getattr(fn, "__qualname__", None)
    if not module or not name:
        raise ValueError(f"a {type(fn).__name__} has no name in a module")
    if "<" in name:
        raise ValueError(f"{name} is no function of a module")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if getattr(found, "foldproof_callable", None) is fn:  # pytest_plugin's test
        return module, name + ".foldproof_callable"
    if found is not fn:
        raise ValueError(f"{module}.{name} is not this callable")
    return module, name


def _lambdas(fn: FunctionType) -> List[str]:
    """The lambdas that begin in its line, as they were written."""
    lines, _ = inspect.findsource(fn)
    source = "".join(lines)
    of_line = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda) and node.lineno == fn.__code__.co_firstlineno]
    return [" ".join((ast.get_source_segment(source, node) or "").split()) for node in of_line]


def _lambda(fn: Any) -> Optional[Code]:
    """A lambda that needs nothing but modules, by its own words."""
    if not isinstance(fn, FunctionType) or fn.__name__ != "<lambda>" or fn.__code__.co_freevars or fn.__defaults__:
        return None
    try:
        words = _lambdas(fn)
    except (OSError, TypeError, IndexError, SyntaxError):
        return None
    imports = []
    for name in fn.__code__.co_names:
        meant = fn.__globals__.get(name)
        if isinstance(meant, ModuleType):
            imports.append(meant.__name__ if meant.__name__ == name else f"{meant.__name__} as {name}")
        elif meant is not None and not hasattr(builtins, name):
            return None
    return Code(words[0], tuple(imports)) if len(words) == 1 else None


def code_of(fn: Any, unknown: str) -> Code:
    """The callable's own words; `unknown` where no line can name it."""
    try:
        module, name = place_of(fn)
    except ValueError:
        return _lambda(fn) or Code(unknown)
    return Code(name) if module in ("__main__", "builtins") else Code(f"{module}.{name}", (module,))


def call_of(fn: Code, asked: Dict[str, Any]) -> str:
    """asked: verify's keywords; None: as usual."""
    known = {key: value for key, value in asked.items() if value is not None}
    codes = [fn] + [value for value in known.values() if isinstance(value, Code)]
    imports = dict.fromkeys(["foldproof"] + [name for code in codes for name in code.imports])
    words = ", ".join([str(fn)] + [f"{key}={value!r}" for key, value in known.items()])
    return f"import {', '.join(imports)}; foldproof.verify({words})"
