#!/usr/bin/python3
"""make_all.py FOLDER: compiles make_files with the libhdf5 of this machine, also in a cross build, and makes all test
files anew."""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("fixed_time.c", "make_files.c", "make_structures.c", "make_datasets.c")


def main():
    folder = os.path.abspath(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    work = folder + ".build"
    os.makedirs(work, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    sources = [os.path.join(HERE, name) for name in SOURCES]
    subprocess.run(["h5cc", "-shlib", "-std=gnu11", "-Wall", "-Wextra", *sources, "-o", "make_files", "-lm"], cwd=work,
                   env=environment, check=True)
    subprocess.run([os.path.join(work, "make_files"), folder], env=environment, check=True)
    subprocess.run(["cc", "-shared", "-fPIC", sources[0], "-o", "fixed_time.so"], cwd=work, check=True)
    environment["LD_PRELOAD"] = os.path.join(work, "fixed_time.so")
    subprocess.run([sys.executable, os.path.join(HERE, "make_files.py"), folder], env=environment, check=True)
    print("%d files" % len(os.listdir(folder)))


if __name__ == "__main__":
    main()
