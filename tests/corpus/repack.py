#!/usr/bin/env python3
"""repack.py --tool "COMMAND" --made FOLDER [--corpus FOLDER] --floor N: copies files with `h5mote repack`.

A copy must be sound (`h5mote check`), `h5mote dump` must print it as it prints the original, but for the addresses to
which references lead, and h5diff must find no difference where it can read both. What cannot be copied must be refused
by name, and no file may be left behind then. Prints how many files there were of each kind; fewer complete copies than
the floor are a failure.
"""

import argparse
import collections
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

NAMES = (".h5", ".hdf5", ".nc", ".he5")
# Files that are damaged on purpose, members of families, which are no files by themselves, and files to which others
# lead back by their name: what is printed of these depends on the name.
LEFT_OUT = re.compile(r"/cve/|^links-|err|bad|corrupt|CVE|tbogus|tfamily|family_|multi|split|h5clear|subfiling")
REFUSED = re.compile(r": (unsupported|invalid_argument|over_budget|not_found|not_hdf5)$", re.MULTILINE)


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, capture_output=True, timeout=300, check=False)


def dump(tool, name, cwd):
    text = run(*tool, "dump", str(name), cwd=cwd).stdout.decode("utf-8", "replace")
    text = re.sub(r"(DATASET|GROUP|DATATYPE) \d+ ", r"\1 ", text.partition("\n")[2])
    return re.sub(r'"/?#\d+"', '"#"', text)


def judge(tool, path, out):
    """The kind of a file, and what is wrong with its copy."""
    copied = run(*tool, "repack", path.name, str(out), cwd=path.parent)
    if copied.returncode != 0:
        text = copied.stderr.decode("utf-8", "replace")
        left = [each.name for each in out.parent.iterdir() if not each.is_symlink()]
        if left or not REFUSED.search(text):
            return "failed", text + " ".join(left)
        return "refused", ""
    checked = run(*tool, "check", str(out))
    if checked.returncode != 0:
        return "failed", checked.stdout.decode()
    if dump(tool, path.name, path.parent) != dump(tool, out, path.parent):
        return "failed", "dump prints something else"
    difference = run("h5diff", path.name, str(out), cwd=path.parent)
    if difference.returncode == 1:
        return "failed", difference.stdout.decode("utf-8", "replace")
    return ("same" if difference.returncode == 0 else "same, h5diff cannot say"), ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--made", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--floor", type=int, required=True)
    options = parser.parse_args()
    tool = shlex.split(options.tool)
    kinds = collections.Counter()
    for folder in filter(None, (options.made, options.corpus)):
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.suffix not in NAMES or LEFT_OUT.search(str(path.relative_to(folder))):
                continue
            with tempfile.TemporaryDirectory() as place:
                # External links lead to files beside the one that has them.
                for beside in path.parent.iterdir():
                    (pathlib.Path(place) / beside.name).symlink_to(beside.resolve())
                kind, why = judge(tool, path, pathlib.Path(place) / "copy.h5")
            kinds[kind] += 1
            if kind == "failed":
                print(f"{path}: {why.strip()[:600]}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    complete = sum(count for kind, count in kinds.items() if kind.startswith("same"))
    return kinds["failed"] != 0 or complete < options.floor


if __name__ == "__main__":
    sys.exit(main())
