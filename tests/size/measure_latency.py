#!/usr/bin/env python3
"""measure_latency: the most that one append() and one flush() take on raw flash, and whether the formulas hold.

Runs the image reference_latency (see reference_latency.cpp), which itself compares each call's operations with
FlashDriver::worst_case(). This script compares each call's instructions with the promises in vfd/README.md, "Latency on
raw flash":

  operations      310 a read, 20 a byte read, 1500 a program, 10 a byte programmed
  append, a row   6,000 + operations, and 20,000 more where a block of the index begins: with the first row of chunk 4,
                  8, 16, 32, 64, 96 ...
  flush           24,000 + operations

The formulas must not promise too much either: it is an error if the longest call takes less than half of the largest
promise.

Writes latency.{append,flush}PERIOD.*: the largest value of each, with the largest promise as its budget.
"""

import argparse
import pathlib
import struct
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "toolchains"
FILES, ROWS = 3, 11264
PERIODS = (1, 16, 64)
CHUNKS = (4, 16)  # rows
APPEND, INDEX_BLOCK, FLUSH = 6000, 20000, 24000
CALL = struct.Struct("<11I")
OPERATIONS = ("programs", "programmed", "reads", "read", "erases")
FORESEEN = (("programs", 5), ("programmed", 6), ("reads", 7), ("erases", 8))
UNITS = {"programmed": "bytes", "read": "bytes"}


class Failure(Exception):
    pass


def run(options, folder, what, period, chunk):
    """Runs the image. Returns a pair for each interval: its instructions, and the Call that the image saved."""
    saved, each = folder / "calls", folder / "each"
    image = options.images / "reference_latency.elf"
    command = [TOOLS / "count-insns", "-e", each, options.board, image, what, period, chunk, saved]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{what} {period} {chunk}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    calls = list(CALL.iter_unpack(saved.read_bytes()))
    counts = list(map(int, each.read_text().split()))
    expected = FILES * (ROWS if what == "append" else ROWS // period)
    if len(calls) != expected or len(counts) != expected:
        raise Failure(f"{what} {period} {chunk}: {len(calls)} calls, {len(counts)} intervals, not {expected}")
    return list(zip(counts, calls))


def operations(call):
    programs, programmed, reads, read = call[:4]
    return 310 * reads + 20 * read + 1500 * programs + 10 * programmed


def begins_index_block(number, chunk):
    row = number % ROWS
    return row % chunk == 0 and (row // chunk in (4, 8, 16) or row // chunk % 32 == 0)


def check(what, chunk, intervals):
    """Checks every interval. Returns the largest promise, and the longest call that does not begin an index block."""
    promised, ordinary = 0, 0
    for number, (count, call) in enumerate(intervals):
        bound = (APPEND if what == "append" else FLUSH) + operations(call)
        if what == "append" and begins_index_block(number, chunk):
            bound += INDEX_BLOCK
        else:
            ordinary = max(ordinary, count)
        if count > bound:
            raise Failure(f"{what} {number}: {count} instructions, promised {bound}: {call}")
        promised = max(promised, bound)
    largest = max(count for count, _ in intervals)
    if 2 * largest < promised:
        raise Failure(f"{what}: at most {largest} instructions, less than half of what is promised, {promised}")
    return promised, ordinary


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", required=True)
    parser.add_argument("--board", required=True)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--report", type=pathlib.Path, required=True, help="folder of the *.tsv files")
    options = parser.parse_args()
    lines = []
    try:
        for what in ("append", "flush"):
            for period in PERIODS:
                intervals, promised, ordinary = [], 0, 0
                for chunk in CHUNKS:
                    with tempfile.TemporaryDirectory() as folder:
                        found = run(options, pathlib.Path(folder), what, period, chunk)
                    bounds = check(what, chunk, found)
                    promised, ordinary = max(promised, bounds[0]), max(ordinary, bounds[1])
                    intervals += found
                name = f"latency.{what}{period}"
                figures = [("instructions", max(count for count, _ in intervals), promised)]
                if what == "append":
                    figures.append(("ordinary", ordinary, ""))
                for index, operation in enumerate(OPERATIONS):
                    most = max(call[dict(FORESEEN)[operation]] for _, call in intervals) if operation != "read" else ""
                    figures.append((operation, max(call[index] for _, call in intervals), most))
                for figure, value, budget in figures:
                    unit = UNITS.get(figure, "instructions" if figure in ("instructions", "ordinary") else figure)
                    lines.append(f"{name}.{figure}.{options.core}\t{value}\t{unit}\t{budget}")
    except (Failure, OSError) as error:
        print(f"measure_latency: {error}", file=sys.stderr)
        return 1
    text = "\n".join(lines) + "\n"
    options.report.mkdir(parents=True, exist_ok=True)
    (options.report / f"latency.{options.core}.tsv").write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
