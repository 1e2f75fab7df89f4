#!/usr/bin/env python3
"""total.py FOLDER FLOOR: adds up what the tests of power cuts left in FOLDER/powercut_*.tsv.

Writes FOLDER/powercut.tsv. Fails with fewer than FLOOR cuts, and when anything was lost.
"""

import pathlib
import sys


def main():
    folder, floor = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    totals = {"cuts": 0, "lost": 0}
    for path in sorted(folder.glob("powercut_*.tsv")):
        for line in path.read_text().splitlines():
            name, value = line.split("\t")[:2]
            totals[name.split(".")[0]] += int(value)
    cuts, lost = totals["cuts"], totals["lost"]
    print(f"all: {cuts} cuts, {lost} lost")
    (folder / "powercut.tsv").write_text(f"cuts.all\t{cuts}\tcuts\t\nlost.all\t{lost}\tcuts\t0\n")
    return cuts < floor or lost > 0


if __name__ == "__main__":
    sys.exit(main())
