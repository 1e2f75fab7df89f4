#!/usr/bin/env python3
"""family.py --tool "COMMAND" --made FOLDER: copies files into families and parts with `h5mote repack --family`, `--split` and
`--multi`, which the drivers of libhdf5 open, and files that libhdf5 has written with its family and split drivers into
one file again."""

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile

import h5py
import numpy

FILES = ("chunks-old.h5", "dense-new.h5", "groups-old.h5", "compounds-v18.h5")
MEMBER = 4096


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, timeout=120, check=False)


def text(done):
    return done.stdout.decode("utf-8", "replace").partition("\n")[2]


def verified(tool, original, kind, out, place):
    """libhdf5 prints the copy as the original, and the tool copies it back."""
    expected = run("h5dump", str(original), cwd=place)
    found = run("h5dump", f"--filedriver={kind}", out, cwd=place)
    if expected.returncode != 0 or found.returncode != 0 or text(expected) != text(found):
        yield f"{out}: h5dump prints something else of the {kind} file: {found.stderr.decode()[:300]}"
    back = run(*tool, "repack", "-f", kind, out, "back.h5", cwd=place)
    if back.returncode != 0 or run("h5diff", str(original), "back.h5", cwd=place).returncode != 0:
        yield f"{out}: the {kind} file is not copied back: {back.stderr.decode()}"


def into_families(tool, made, place):
    for name in FILES:
        out = f"{name[:-3]}-%05d.h5"
        # A longer family that was there leaves no members behind.
        stale = place / (out % 9999)
        (place / (out % 0)).write_bytes(b"old")
        copied = run(*tool, "repack", "--high", "v110", "--family", str(MEMBER), str(made / name), out, cwd=place)
        if copied.returncode != 0:
            yield f"{name}: {copied.stderr.decode()}"
            continue
        sizes = [path.stat().st_size for path in sorted(place.glob(f"{name[:-3]}-*.h5"))]
        if len(sizes) < 2 or any(size != MEMBER for size in sizes[:-1]) or stale.exists():
            yield f"{name}: members of {sizes} bytes"
        yield from verified(tool, made / name, "family", out, place)
    odd = run(*tool, "repack", "--family", "700", str(made / FILES[0]), "odd-%d.h5", cwd=place)
    if odd.returncode == 0 or list(place.glob("odd-*")):
        yield "members of no multiple of a sector are accepted"
    if list(place.glob("*.part*")):
        yield "unfinished members are left"
    wrong = run(*tool, "repack", "--family", "4096", str(made / FILES[0]), "no-place.h5", cwd=place)
    if wrong.returncode == 0 or list(place.glob("no-place*")):
        yield "a name without a place for the number is accepted"


def into_parts(tool, made, place):
    for kind, suffixes in {"split": "mr", "multi": "sbrglo"}.items():
        for name in FILES:
            out = f"{kind}-{name[:-3]}"
            (place / f"{out}-{suffixes[0]}.h5").write_bytes(b"old")
            copied = run(*tool, "repack", "--high", "v110", f"--{kind}", str(made / name), out, cwd=place)
            if copied.returncode != 0:
                yield f"{name}: {copied.stderr.decode()}"
                continue
            parts = sorted(path.name for path in place.glob(f"{out}-*"))
            if parts != sorted(f"{out}-{suffix}.h5" for suffix in suffixes):
                yield f"{name}: {parts}"
            yield from verified(tool, made / name, kind, out, place)
    both = run(*tool, "repack", "--split", "--multi", str(made / FILES[0]), "both", cwd=place)
    if both.returncode == 0 or list(place.glob("both*")):
        yield "two kinds at once are accepted"


def into_one_file(tool, place):
    values = numpy.arange(5000.0)
    makers = {"family": ("theirs-%05d.h5", {"driver": "family", "memb_size": 8192}),
              "split": ("theirs", {"driver": "split"})}
    for driver, (name, options) in makers.items():
        with h5py.File(place / name, "w", **options) as file:
            file["values"] = values
            file.create_group("group").attrs["text"] = "a value"
        copied = run(*tool, "repack", "-f", driver, name, "one.h5", cwd=place)
        if copied.returncode != 0:
            yield f"{driver}: {copied.stderr.decode()}"
            continue
        with h5py.File(place / "one.h5", "r") as file:
            if not (file["values"][...] == values).all() or file["group"].attrs["text"] != "a value":
                yield f"{driver}: other values"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--made", type=pathlib.Path, required=True)
    options = parser.parse_args()
    tool = shlex.split(options.tool)
    with tempfile.TemporaryDirectory() as place:
        bad = [*into_families(tool, options.made.resolve(), pathlib.Path(place)),
               *into_parts(tool, options.made.resolve(), pathlib.Path(place)),
               *into_one_file(tool, pathlib.Path(place))]
    print("\n".join(bad) or f"{len(FILES)} families, split and multi files made, a family and a split file copied")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
