#!/usr/bin/env python3
"""total.py FOLDER FLOOR: adds up the figures of the power cut tests in FOLDER/powercut_*.tsv.

Writes FOLDER/powercut.tsv. Fails with fewer than FLOOR cuts, and when anything was lost.
"""

import pathlib
import sys


def main():
    folder, floor = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    totals = {"cuts": 0, "cuts_in_recoveries": 0, "first_cuts": 0, "first_cuts_recovery_cut": 0, "lost": 0}
    for path in sorted(folder.glob("powercut_*.tsv")):
        for line in path.read_text().splitlines():
            name, value = line.split("\t")[:2]
            totals[name.split(".")[0]] += int(value)
    cuts, lost = totals["cuts"], totals["lost"]
    print(
        f"all: {cuts} cuts, {lost} lost ({totals['cuts_in_recoveries']} of them in recoveries, of "
        f"{totals['first_cuts_recovery_cut']} of {totals['first_cuts']} first cuts at every point)"
    )
    lines = (f"{name}.all\t{value}\tcuts\t{0 if name == 'lost' else ''}\n" for name, value in totals.items())
    (folder / "powercut.tsv").write_text("".join(lines))
    return cuts < floor or lost > 0


if __name__ == "__main__":
    sys.exit(main())
