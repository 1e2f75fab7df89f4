#!/usr/bin/python3
"""firmware_test.py COMMAND...: runs a program of the README twice (power off between) and reads its file with h5py.
firmware_test.py --chip H5MOTE COMMAND...: the same for a program that records on a flash chip, of which H5MOTE makes
the file. --ring H5MOTE COMMAND...: for the program whose log never ends.
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


def run_on(command, path, tool, *options):
    """Runs the program. With a tool, the file is made from its chip. Both run on the same machine, perhaps an emulated
    one."""
    subprocess.run([*command, path], check=True, stdin=subprocess.DEVNULL, timeout=120)
    if tool:
        pathlib.Path(path).unlink(missing_ok=True)
        subprocess.run([*command[:-1], tool, "extract", *options, "chip.bin", path], check=True,
                       stdin=subprocess.DEVNULL, timeout=120)


def run(command, tool=None):
    import h5py
    import numpy

    rows = expected(numpy, 1000)
    for times in (1, 2):
        run_on(command, "f.h5", tool)
        with h5py.File("f.h5", "r") as file:
            imu = file["flight/imu"]
            assert imu.dtype == rows.dtype, imu.dtype
            assert imu.shape == (1000 * times,), imu.shape
            for name in rows.dtype.names:
                assert (imu[name] == numpy.tile(rows, times)[name]).all(), name
            assert dict(imu.attrs) == {"accel_units": b"mg"}, dict(imu.attrs)


def run_ring(command, tool):
    import h5py
    import numpy

    # More rows than the chip can hold, of which it has the newest.
    rows = expected(numpy, 100000)["temp_c"]
    for _ in range(2):
        run_on(command, "f.h5", tool, "--join")
        with h5py.File("f.h5", "r") as file:
            found = file["temp_c"][...]
            assert list(file) == ["temp_c"], list(file)
        assert 50000 < len(found) < len(rows), len(found)
        assert (found == rows[-len(found):]).all()


def main(arguments):
    if arguments[0] == "--readme":
        return readme(*arguments[1:])
    with tempfile.TemporaryDirectory(prefix="firmware_") as folder:
        os.chdir(folder)
        try:
            if arguments[0] == "--ring":
                run_ring(arguments[2:], arguments[1])
            elif arguments[0] == "--chip":
                run(arguments[2:], arguments[1])
            else:
                run(arguments)
        finally:
            os.chdir("/")


main(sys.argv[1:])
