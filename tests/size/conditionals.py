#!/usr/bin/env python3
"""conditionals --root FOLDER --report FOLDER: counts `#if` on options, and says where one is out of place.

What a build leaves out of the core, the filters and the drivers is a file, a table that nobody names or `if constexpr`,
never lines of a function or of a class. So a preprocessor conditional on an H5MOTE_ name may stand around all code of
a file or around includes only. config.hpp, which gives the options their values, is left out. Fails where one stands
elsewhere. The report gets the figure conditionals.core.
"""

import argparse
import pathlib
import re
import sys

DIRECTIVE = re.compile(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif|include|error|pragma|define|undef)\b(.*)")
BUDGET = 60


def regions(lines):
    """(first line, last line, condition) of every conditional on an option; lines count from 1."""
    found = []
    open_ones = []
    for number, line in enumerate(lines, 1):
        match = DIRECTIVE.match(line)
        if not match:
            continue
        word, rest = match.groups()
        if word.startswith("if"):
            open_ones.append([number, rest, "H5MOTE_" in rest])
        elif word == "elif":
            open_ones[-1][2] = open_ones[-1][2] or "H5MOTE_" in rest
        elif word == "endif":
            first, condition, counts = open_ones.pop()
            if counts:
                found.append((first, number, condition.strip()))
    return found


def is_code(line):
    line = line.strip()
    return bool(line) and not line.startswith(("//", "#", "namespace ", "}  // namespace"))


def misplaced(lines, first, last):
    """Whether the conditional leaves out some of the file's code and not all of it."""
    inside = [line for line in lines[first:last - 1] if is_code(line)]
    outside = [line for line in lines[:first - 1] + lines[last:] if is_code(line)]
    return bool(inside) and bool(outside)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--report", type=pathlib.Path, required=True)
    options = parser.parse_args()
    count = 0
    good = True
    files = [path for folder in ("core", "filters", "vfd") for path in sorted((options.root / folder).rglob("*"))
             if path.suffix in (".hpp", ".cpp", ".in") and path.name != "config.hpp"]
    if not files:
        sys.exit(f"conditionals: {options.root} has no sources")
    for path in files:
        lines = path.read_text().splitlines()
        for first, last, condition in regions(lines):
            count += 1
            if misplaced(lines, first, last):
                print(f"{path}:{first}: `#if {condition}` leaves out part of a file")
                good = False
    print(f"{count} conditionals in {len(files)} files")
    options.report.mkdir(parents=True, exist_ok=True)
    (options.report / "conditionals.tsv").write_text(f"conditionals.core\t{count}\tconditionals\t{BUDGET}\n")
    return 0 if good and count <= BUDGET else 1


if __name__ == "__main__":
    sys.exit(main())
