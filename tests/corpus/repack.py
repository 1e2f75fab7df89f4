#!/usr/bin/env python3
"""repack.py --tool "COMMAND" --made FOLDER [--corpus FOLDER] [--refused LIST] --floor N: copies files with `h5mote
repack`: with the library's own versions of structures, in the oldest ones and from there in the newest, in the newest
ones, and in those of libhdf5 1.10, and from there in the oldest.

A copy must be sound (`h5mote check`), `h5mote dump` and h5dump must print it as they print the original, but for the
addresses to which references lead, and h5diff must find no difference where it can read both. Files that h5dump cannot
open are left out. What cannot be copied must be refused by name, no file may be left behind then, and the list of
refusals must say why; an entry for a file that is copied is an error. Prints how many files there were of each kind;
fewer complete copies of the files in the folder --made than the floor are a failure. With H5MOTE_CORPUS_MADE_ONLY in
the environment the files of the corpus are left out, and of the others each gets the plain copy and one of the three
pairs of copies in turns.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SIGNATURE = b"\x89HDF\r\n\x1a\n"
REFUSED = re.compile(r": (unsupported|invalid_argument|over_budget|not_found|not_hdf5|corrupt_file)$", re.MULTILINE)
# Dumping the values of this dataset never ends, because it is too large.
ENDLESS = ("tlayouto.h5",)
# References to objects that were deleted are null in a copy, and the programs print these in another way.
DANGLING = ("trefer_obj_del.h5",)
PAIRS = (("earliest", "latest"), ("latest", "earliest"), ("v110", "earliest"))


def run(*command, cwd=None, timeout=60):
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, b"", b"takes too long")


def printed(command, name, cwd):
    """What a command prints of a file but for its name; None if it cannot print it."""
    header = ["-H"] if pathlib.Path(name).name in ENDLESS else []
    done = run(*command, *header, str(name), cwd=cwd)
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        return None
    text = re.sub(r"(DATASET|GROUP|DATATYPE|ATTRIBUTE) \d+ ", r"\1 ", text.partition("\n")[2])
    return re.sub(r'"/?#\d+"', '"#"', text)


def first_difference(expected, found):
    if found is None:
        return "it fails"
    pairs = itertools.zip_longest(expected.splitlines(), found.splitlines())
    return next((f"{a!r}, then {b!r}" for a, b in pairs if a != b), "ends of lines")


def link_beside(path, folder):
    """Gives a folder links to all files that stand beside the one at `path`."""
    for beside in path.parent.iterdir():
        if beside.name != path.name:
            (folder / beside.name).symlink_to(beside.resolve())


def copy(tool, path, original, folder, bounds):
    """Copies `original` into a new folder, in which the copy has the name of the file at `path`, and stands beside the
    same other files: links lead to them, and back. The kind of copy, and what is wrong with it."""
    folder.mkdir()
    link_beside(path, folder)
    out = folder / path.name
    copied = run(*tool, "repack", *bounds, str(original), str(out), cwd=path.parent)
    if copied.returncode != 0:
        text = copied.stderr.decode("utf-8", "replace")
        left = [each.name for each in folder.iterdir() if each.name == path.name or ".part" in each.name]
        if left or not REFUSED.search(text):
            return "failed", text + " ".join(left)
        return "refused", text
    # Chunks are copied as they are stored, damaged ones too.
    checked = run(*tool, "check", path.name, cwd=folder)
    if checked.returncode != 0 and run(*tool, "check", path.name, cwd=path.parent).returncode == 0:
        return "failed", checked.stdout.decode()
    if path.name in DANGLING:
        return "same but for references", ""
    for command in ([*tool, "dump"], ["h5dump"]):
        expected = printed(command, path.name, path.parent)
        found = printed(command, path.name, folder)
        # libhdf5 1.10 cannot read the newest structures.
        too_new = found is None and command == ["h5dump"] and "latest" in bounds
        if expected is None or expected == found or too_new:
            continue
        # h5dump 1.10 prints whatever is in memory for some shared messages.
        if expected == printed(command, path.name, path.parent):
            return "failed", f"{command[-1]} prints something else: {first_difference(expected, found)}"
    difference = run("h5diff", str(path), str(out), cwd=folder)
    if difference.returncode == 1:
        return "failed", difference.stdout.decode("utf-8", "replace")
    return ("same" if difference.returncode == 0 else "same, h5diff cannot say"), ""


def judge(tool, path, place, pairs):
    """The kinds of the copies of a file, and what is wrong with them."""
    yield "plain", *copy(tool, path, path, place / "plain", [])
    for first, second in pairs:
        kind, why = copy(tool, path, path, place / first, ["--low", first])
        yield first, kind, why
        if kind.startswith("same"):
            again = place / f"{second}-from-{first}"
            yield f"{second} from {first}", *copy(tool, path, place / first / path.name, again, ["--low", second])


def read_list(name):
    """The files that cannot be copied, with the reasons: `path | reason` a line."""
    lines = name.read_text().splitlines() if name else []
    entries = [line.split(" | ", 1) for line in lines if line and not line.startswith("#")]
    return {path.strip(): reason for path, reason in entries}


def is_candidate(path):
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return SIGNATURE in file.read(1 << 16) and run("h5dump", "-H", path.name, cwd=path.parent).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--made", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--refused", type=pathlib.Path)
    parser.add_argument("--floor", type=int, required=True)
    parser.add_argument("--verbose", action="store_true", help="names the files that are refused")
    options = parser.parse_args()
    tool = shlex.split(options.tool)
    refused = read_list(options.refused)
    kinds = collections.Counter()
    bad = 0
    complete = {}
    quick = bool(os.environ.get("H5MOTE_CORPUS_MADE_ONLY"))

    def results_of(path, number):
        pairs = PAIRS[number % len(PAIRS):][:1] if quick else PAIRS
        with tempfile.TemporaryDirectory() as place:
            return list(judge(tool, path, pathlib.Path(place), pairs))

    for folder in filter(None, (options.made, None if quick else options.corpus)):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = sorted(folder.resolve().rglob("*"))
            paths = [path for path, fits in zip(found, pool.map(is_candidate, found)) if fits]
            for path, results in zip(paths, pool.map(results_of, paths, itertools.count())):
                name = f"{folder.name}/{path.relative_to(folder.resolve())}"
                for bounds, kind, why in results:
                    kinds[bounds, kind] += 1
                    wrong = kind == "failed" or (kind == "refused" and name not in refused)
                    bad += wrong
                    if wrong or (options.verbose and kind == "refused"):
                        print(f"{name}: {bounds}: {kind}: {why.strip()[:600]}", flush=True)
                if name in refused and not quick and not any(kind == "refused" for _, kind, _ in results):
                    print(f"{name}: is copied, but the list says that it cannot be: {refused[name]}")
                    bad += 1
        if folder == options.made:
            complete = {which: sum(count for (bounds, kind), count in kinds.items()
                                   if bounds == which and kind.startswith("same"))
                        for which in ("plain", *(f"{second} from {first}" for first, second in PAIRS))}
    for bounds in dict.fromkeys(which for which, _ in kinds):
        counts = [f"{count} {kind}" for (which, kind), count in sorted(kinds.items()) if which == bounds]
        print(f"{bounds}: {', '.join(counts)}")
    share = len(PAIRS) + 1 if quick else 1
    return bad != 0 or any(count < options.floor // (1 if which == "plain" else share)
                           for which, count in complete.items())


if __name__ == "__main__":
    sys.exit(main())
