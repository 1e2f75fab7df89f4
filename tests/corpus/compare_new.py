#!/usr/bin/env python3
"""compare_new.py --tool "COMMAND" --corpus FOLDER --expected FOLDER: compares the output for datatypes that h5dump 1.10
does not know.

Complex numbers and revised references must be printed as h5dump 2.0.0 prints them. The folder --expected has the output
of h5dump 2.0.0 for files of the folder --corpus, as NAME.ddl.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys

FILES = """
hdf5-hl/test_ds_be_new_ref-32bit.h5
hdf5-hl/test_ds_be_new_ref.h5
hdf5-hl/test_ds_le_new_ref.h5
hdf5-tools/tcomplex.h5
hdf5-tools/tcomplex_be.h5
hdf5-tools/trefer_attr.h5
hdf5-tools/trefer_obj_del.h5
hdf5-tools/trefer_param.h5
hdf5-tools/trefer_reg_1d.h5
""".split()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--expected", type=pathlib.Path, required=True)
    options = parser.parse_args()
    failed = 0
    for name in FILES:
        path = options.corpus / name
        run = subprocess.run([*shlex.split(options.tool), "dump", path.name], cwd=path.parent, capture_output=True,
                             timeout=120)
        seen = run.stdout.decode("utf-8", "replace").splitlines()
        wanted = (options.expected / f"{name}.ddl").read_text("utf-8", "replace").splitlines()
        if run.returncode != 0 or seen != wanted:
            failed += 1
            print(f"{name}: exit {run.returncode}, {run.stderr.decode('utf-8', 'replace')}")
            for a, b in zip(seen, wanted):
                if a != b:
                    print(f"  is     {a}\n  wanted {b}")
    print(f"{len(FILES)} files, {failed} differ")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
