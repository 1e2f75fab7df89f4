#!/usr/bin/python3
"""firmware_test.py COMMAND...: runs a program of the README twice (power off between) and reads its file with h5py.
firmware_test.py --readme README SOURCE: whether the page shows this program, letter for letter."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def readme(page, source):
    blocks = re.findall(r"^```cpp\n(.*?)^```$", pathlib.Path(page).read_text(), re.MULTILINE | re.DOTALL)
    if pathlib.Path(source).read_text() not in blocks:
        sys.exit(f"{page} does not show {source} as it is")


def expected(numpy, count):
    rows = numpy.zeros(count, {"names": ["t_ms", "accel", "temp_c"], "formats": ["<u4", ("<i2", 3), "<f4"],
                               "offsets": [0, 4, 12], "itemsize": 16})
    i = numpy.arange(count)
    rows["t_ms"] = 4 * i
    rows["accel"] = (i % 100)[:, None] * numpy.array([-1, 0, 1])
    rows["temp_c"] = 20 + i / 128
    return rows


def run(command):
    import h5py
    import numpy

    rows = expected(numpy, 1000)
    with tempfile.TemporaryDirectory(prefix="firmware_") as folder:
        os.chdir(folder)
        for times in (1, 2):
            subprocess.run([*command, "f.h5"], check=True, stdin=subprocess.DEVNULL, timeout=120)
            with h5py.File("f.h5", "r") as file:
                imu = file["flight/imu"]
                assert imu.dtype == rows.dtype, imu.dtype
                assert imu.shape == (1000 * times,), imu.shape
                for name in rows.dtype.names:
                    assert (imu[name] == numpy.tile(rows, times)[name]).all(), name
                assert dict(imu.attrs) == {"accel_units": b"mg"}, dict(imu.attrs)
        os.chdir("/")


if sys.argv[1] == "--readme":
    readme(*sys.argv[2:])
else:
    run(sys.argv[1:])
