#!/usr/bin/env python3
"""total.py FOLDER FLOOR: adds up the numbers of random power cuts in FOLDER/random_cuts_*.tsv.

Writes FOLDER/random_cuts.tsv. Fails with fewer than FLOOR cuts, unless H5MOTE_RANDOM_SECONDS is set, which shortens
the runs.
"""

import os
import pathlib
import sys


def main():
    folder, floor = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    cuts = 0
    for path in folder.glob("random_cuts_*.tsv"):
        cuts += sum(int(line.split("\t")[1]) for line in path.read_text().splitlines())
    print(f"random: {cuts} cuts")
    (folder / "random_cuts.tsv").write_text(f"powercut.random.cuts\t{cuts}\tcuts\t\n")
    return cuts < floor and "H5MOTE_RANDOM_SECONDS" not in os.environ


if __name__ == "__main__":
    sys.exit(main())
