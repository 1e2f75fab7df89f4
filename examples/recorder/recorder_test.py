#!/usr/bin/python3
"""recorder_test.py COMMAND...: runs the logger in C twice, and on files that are not its own, and reads the rows with
h5py."""

import os
import subprocess
import sys
import tempfile

import h5py
import numpy


def run(path):
    return subprocess.run([*sys.argv[1:], path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


with tempfile.TemporaryDirectory(prefix="recorder_") as folder:
    os.chdir(folder)
    for times in (1, 2):
        done = run("flight.h5")
        assert done.returncode == 0, done.stderr
        with h5py.File("flight.h5", "r") as file:
            count = 1000 * times
            i = numpy.arange(count)
            imu = file["flight/imu"][...]
            assert len(imu) == count, len(imu)
            assert (imu["t_ms"] == 4 * i).all()
            assert (imu["accel"][:, 0] == i % 100).all() and not imu["accel"][:, 1:].any()
            assert (imu["temp_c"] == 20).all()
            assert (file["flight/events"][...] == numpy.arange(99, count, 100)).all()
            assert file.attrs["serial"] == 1013 and file.attrs["firmware"] == b"2.1", dict(file.attrs)

    # What is not the recorder's is refused by name and stays as it is.
    with h5py.File("other.h5", "w") as file:
        file["values"] = [1, 2, 3]
    with open("text.h5", "w") as file:
        file.write("no HDF5 " * 100)
    with h5py.File("flight.h5", "a") as file:
        del file["flight/events"]
    for path, name in (("other.h5", "other_blueprint"), ("text.h5", "not_hdf5"), ("flight.h5", "foreign_changes")):
        before = open(path, "rb").read()
        done = run(path)
        assert done.returncode == 1 and name in done.stderr, (path, done)
        assert open(path, "rb").read() == before, path
    os.chdir("/")
