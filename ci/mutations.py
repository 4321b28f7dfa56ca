"""Which changes of one line of C are tried: small mistakes that a programmer makes and a compiler accepts.

A line is cut into tokens, with comments, texts and preprocessor lines left alone. Binary operators are those with a space on both
sides, as clang-format leaves them; mutate.py drops what does not compile.
"""
import re

SWAPS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "<<": [">>"], ">>": ["<<"],
    "&": ["|"], "|": ["&"], "^": ["|"], "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="], "<<=": [">>="], ">>=": ["<<="],
}
WORDS = {"true": "false", "false": "true", "break": "continue", "continue": "break"}
TOKEN = re.compile(r"""
    (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?[a-zA-Z]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^<>=!~?:;,.(){}\[\]])
  | (?P<space>\s+)
""", re.X)
# How a statement begins that may be dropped: a call, or an assignment to something that already exists.
STATEMENT = re.compile(r"^\s*(\*?[\w.\[\]>-]+(\(| [-+*/|&^%]?=| <<=| >>=)|[\w.\[\]>-]+(\+\+|--);|(\+\+|--)[\w.\[\]>-]+;)")

# From which argument on a function commutes with the next one: exchanging these two changes nothing.
COMMUTES = {"calloc": 0, "CPU_EQUAL": 0, "mpfr_equal_p": 0, "mpfr_add": 1, "mpfr_mul": 1, "mpfr_max": 1, "mpz_add": 1, "mpz_mul": 1}

# A parameter in the head of a function; calls have none.
PARAMETER = re.compile(r"^(const |volatile |struct |enum |unsigned )*[A-Za-z_]\w* \**\w+(\[\w*\])*$")


def blank_comments(text):
    """The text with comments and preprocessor lines replaced by spaces, with the same length and lines."""
    def spaces(match):
        return match[0] if match[0][0] in "\"'" else re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', spaces, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, text, flags=re.M)


def tokens_of(line):
    return [m for m in TOKEN.finditer(line) if m.lastgroup != "space"]


def put(line, begin, end, new):
    return line[:begin] + new + line[end:]


def closing(tokens, at):
    """The index of the bracket that closes the one at tokens[at]; None if it is on another line."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i][0] in "([{") - (tokens[i][0] in ")]}")
        if depth == 0:
            return i
    return None


def numbers(text):
    """An integer plus and minus one, a decimal fraction plus one."""
    suffix = re.search(r"[uUlL]*$", text)[0]
    digits = text[:len(text) - len(suffix)]
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", digits):
        value = int(digits, 16)
        return [hex(value + 1) + suffix] + ([hex(value - 1) + suffix] if value else [])
    if re.fullmatch(r"\d+", digits):
        value = int(digits)
        return [f"{value + 1}{suffix}"] + ([f"{value - 1}{suffix}"] if value else [])
    if re.fullmatch(r"\d+\.\d*", digits):
        return [repr(float(digits) + 1) + suffix]
    return []


def arguments(tokens, opens):
    """Where each argument of the call that opens at tokens[opens] begins and ends, in characters."""
    end = closing(tokens, opens)
    if end is None or end == opens + 1:
        return []
    parts, begin, depth = [], tokens[opens].end(), 0
    for i in range(opens + 1, end):
        depth += (tokens[i][0] in "([{") - (tokens[i][0] in ")]}")
        if tokens[i][0] == "," and depth == 0:
            parts.append((begin, tokens[i].start()))
            begin = tokens[i].end()
    return parts + [(begin, tokens[end].start())]


def token_changes(line, code, tokens):
    for i, token in enumerate(tokens):
        text, begin, end = token[0], token.start(), token.end()
        spaced = 0 < begin and end < len(code) and code[begin - 1] == " " and code[end] == " "
        if token.lastgroup == "sign" and text in SWAPS and spaced:
            for other in SWAPS[text]:
                yield put(line, begin, end, other)
        elif text in ("++", "--"):
            yield put(line, begin, end, "--" if text == "++" else "++")
        elif text == "!" or (text == "-" and not spaced and end < len(code) and code[end] != " "):
            yield put(line, begin, end, "")
        elif token.lastgroup == "number":
            for other in numbers(text):
                yield put(line, begin, end, other)
        elif text in WORDS:
            yield put(line, begin, end, WORDS[text])
        elif text in ("if", "while") and i + 1 < len(tokens) and tokens[i + 1][0] == "(":
            last = closing(tokens, i + 1)
            if last is not None:
                yield put(line, tokens[i + 1].start(), tokens[last].end(),
                          "(!" + line[tokens[i + 1].start():tokens[last].end()] + ")")


def call_changes(line, tokens):
    for i, token in enumerate(tokens):
        if token[0] != "(" or i == 0 or tokens[i - 1].lastgroup != "word" or \
                tokens[i - 1][0] in ("if", "while", "for", "switch", "sizeof", "return"):
            continue
        parts, commutes = arguments(tokens, i), COMMUTES.get(tokens[i - 1][0])
        for k, ((a, b), (c, d)) in enumerate(zip(parts, parts[1:])):
            first, second = line[a:b].strip(), line[c:d].strip()
            if first != second and k != commutes and not PARAMETER.match(first):
                yield line[:a] + line[a:b].replace(first, second, 1) + line[b:c] + line[c:d].replace(second, first, 1) + line[d:]


def statement_changes(line, code, tokens):
    text = code.strip()
    if not text.endswith(";") or text.count("(") != text.count(")"):
        return
    indent = line[:len(line) - len(line.lstrip())]
    if text.startswith("return ") and len(tokens) > 2:
        value = text[len("return "):-1]
        if value in WORDS:
            return
        if tokens[1].lastgroup != "number":
            yield f"{indent}return !({value});"
        if "(" in value or tokens[1].lastgroup != "number":
            yield f"{indent}return fold_ok();" if "status" in value or "fold_" in value else f"{indent}return 0;"
    elif STATEMENT.match(code) and not text.startswith(("for ", "else", "case ")):
        yield f"{indent};"


def changes(line, code=None):
    """Each change of a line, as the line that it becomes; `code` is the line without its comments."""
    code = line if code is None else code
    tokens = tokens_of(code)
    seen = {line}
    for new in [*token_changes(line, code, tokens), *call_changes(line, tokens), *statement_changes(line, code, tokens)]:
        if new not in seen:
            seen.add(new)
            yield new


def changes_of(text):
    """(line number from 1, line, line that it becomes) of a whole file."""
    for number, (line, code) in enumerate(zip(text.split("\n"), blank_comments(text).split("\n")), 1):
        if code.strip():
            for new in changes(line, code):
                yield number, line, new


# Behind a line of code: what changes put there that no test can see, because every result stays as it is.
TAG = re.compile(r"/\* unseen: (.*?) \*/")


def put_there(before, after):
    """What a change puts into a line, in tokens: "<" for "a < b" in place of "a <= b", "!" for a condition negated, "drop" for less."""
    old, new = ([m[0] for m in tokens_of(TAG.sub("", line))] for line in (before, after))
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return "!" if new[:2] == ["!", "("] and new[-1] == ")" else " ".join(new) or "drop"


def is_tagged(lines, number, after):
    """Whether the line, or a line above that is only a tag, says that the change `after` cannot be seen."""
    tags = TAG.findall(lines[number - 1])
    above = lines[number - 2].strip().rstrip("\\").strip() if number > 1 else ""
    if TAG.fullmatch(above):
        tags += TAG.findall(above)
    return put_there(lines[number - 1], after) in [put for tag in tags for put in tag.split(" | ")]
