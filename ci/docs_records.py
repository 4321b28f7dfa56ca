#!/usr/bin/env python3
"""docs/records.md from src/records/schema.def.

docs_records.py SOURCE_FOLDER: prints the page. ci/docs.sh puts it in its place.
"""
import ast
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
KINDS = {"TEXT": "text", "TEXT_OR_FALSE": "text or false", "BITS": "bits", "HASH": "hash", "INTEGER": "integer", "NUMBER": "number",
         "FLAG": "true or false", "LIST": "list", "OBJECT": "object"}
HEAD = """# Records

<!-- Made by ci/docs.sh from src/records/schema.def: edit that. -->

Commands that run or judge subjects write records as JSON lines: each line is an object. This page lists the fields of each type of record.

* A run begins with `environment` and ends with `end`. The file appears under its own name when it is complete.
* Bits and hashes are texts such as `"0x3f800000"`. JSON has no NaN and no infinity. A number with such a value is left out; its bits are recorded in another field.
* `schema` is the version of this list: {schema} today. A reader ignores fields that it does not know. If a required field is missing, or a field has a
  wrong type, the reader names the field, with file and line. It refuses a schema that is newer than its own. Older records must have the fields that their own schema required.
* "required" means that the field is in every record of that type; "from 2 on" means that records of schema 1 may lack it. All other fields are present if they apply.
* `a.b` is the field `b` of the object `a`, or of each object in the list `a`.

"""


def rows(text):
    """Each row's macro and arguments. Strings may contain commas."""
    for match in re.finditer(r'^(?:FOLD_(?:FIELD|RECORD|HAS)\(.*\) ?)+$', text, re.M):
        for macro, inner in re.findall(r'FOLD_(FIELD|RECORD|HAS)\(((?:[^"()]|"(?:[^"\\]|\\.)*")*)\)', match.group()):
            yield macro, [ast.literal_eval(part) if part.startswith('"') else part for part in
                          re.findall(r'"(?:[^"\\]|\\.)*"|[^,\s][^,]*', inner)]


def required(since, version):
    return "" if version == "0" else "required" if version == since else f"from {version} on"


TABLE = "| field | type | unit | required | what it says |\n| --- | --- | --- | --- | --- |\n"
SHARED = ("judgement", "run")


def read_schema():
    """Each type of record: its name, its heading's text, its rows."""
    text = (SOURCE / "src" / "records" / "schema.def").read_text()
    fields, records, began = {}, [], "1"
    for macro, parts in rows(text):
        if macro == "FIELD":
            fields[parts[0]] = parts[1:]
        elif macro == "RECORD":
            name, began, about = parts
            records.append((name, f"{about[0].upper()}{about[1:]}{'' if began == '1' else f'; since schema {began}'}.", []))
        else:
            key, kind, unit, meaning = fields[parts[0]]
            meaning += "" if parts[1] == "1" else f" (since schema {parts[1]})"
            row = f"| `{key}` | {KINDS[kind]} | {unit} | {required(parts[1], parts[2])} | {meaning} |\n"
            records[-1][2].append(row.replace("|  |", "| |").replace("|  |", "| |"))
    return records


def section(title, about, own):
    return f"\n## {title}\n\n{about}\n\n{TABLE}{''.join(own)}"


def page():
    """What a judgement and a run have in common is one table."""
    schema = re.search(r"#define FOLD_SCHEMA (\d+)", (SOURCE / "src" / "records" / "schema.h").read_text())[1]
    records = read_schema()
    first, second = ([*own] for name, _, own in records if name in SHARED)
    common = [row for row in first if row in second]
    out = [HEAD.format(schema=schema)]
    for name, about, own in records:
        if name == SHARED[0]:
            out.append(section("Both `judgement` and `run`", "These fields are in records of either type.", common))
        if name in SHARED:
            about, own = about + " It also has the fields of both types above.", [row for row in own if row not in common]
        out.append(section("Every record" if name == "every" else f"`{name}`", about, own))
    return "".join(out).replace("\n\n\n", "\n\n")


sys.stdout.write(page())
