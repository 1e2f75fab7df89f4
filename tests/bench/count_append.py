#!/usr/bin/env python3
"""count_append BENCH: counts the instructions of this machine for one appended row, with h5mote and with libhdf5.

Runs `BENCH --append1 SUBJECT` under callgrind, which counts within append_rows(), exactly and the same on every run.
Writes insns.append1.host and libhdf5.insns.append1 to $H5MOTE_REPORT_DIR/figures.d/count_append.tsv.
"""

import os
import pathlib
import re
import subprocess
import sys

ROWS = 1000


def count(bench, subject):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=append_rows", bench]
    done = subprocess.run([*command, "--append1", subject], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found[1]) == 0:
        sys.exit(f"count_append: {subject}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return int(found[1]) / ROWS


def main():
    lines = "".join(
        f"{name}\t{count(sys.argv[1], subject):.1f}\tinstructions/row\t{budget}\n"
        for subject, name, budget in (("h5mote", "insns.append1.host", "150"), ("libhdf5", "libhdf5.insns.append1", ""))
    )
    print(lines, end="")
    if "H5MOTE_REPORT_DIR" in os.environ:
        folder = pathlib.Path(os.environ["H5MOTE_REPORT_DIR"]) / "figures.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "count_append.tsv").write_text(lines)


if __name__ == "__main__":
    main()
