#!/usr/bin/python3
"""firmware_test.py COMMAND...: runs a program of the README twice (power off between) and reads its file with h5py.
firmware_test.py --chip H5MOTE COMMAND...: the same for a program that records on a flash chip, of which H5MOTE makes
the file. --ring H5MOTE COMMAND...: for the program whose log never ends.
firmware_test.py --rotating COMMAND...: for the program that deletes its oldest log for a new one.
firmware_test.py --readme README SOURCE: whether the page shows this program, letter for letter."""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time


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


def run_rotating(command):
    import h5py
    import numpy

    # Before each count of further logs the program is started anew. A log never grows, and the file stops growing.
    largest = full = 0
    done = 0
    for logs in (1, 1, 1, 1, 2, 5, 20):
        subprocess.run([*command, "f.h5", str(logs)], check=True, stdin=subprocess.DEVNULL, timeout=120)
        done += logs
        size = os.path.getsize("f.h5")
        full = size if done == 3 else full
        largest = max(largest, size)
        with h5py.File("f.h5", "r") as file:
            names = sorted(f"log{n % 4}" for n in range(max(0, done - 3), done))
            assert sorted(file) == names and file.attrs["number"] == done, (list(file), dict(file.attrs))
            # The stand-ins for sensors begin anew with each start of the program.
            for age, n in enumerate(range(done - 1, max(0, done - min(3, logs)) - 1, -1)):
                begin = 1000 * (logs - 1 - age)
                rows = expected(numpy, begin + 1000)[begin:]
                for name in rows.dtype.names:
                    assert (file[f"log{n % 4}"][name] == rows[name]).all(), (n, name)
    assert 48000 < full <= largest <= 1.2 * full, (full, largest)
    if len(command) == 1:  # an emulator would outlive its wrapper
        kill_rotating(command, 1.2 * full * 4 / 3)


def kill_rotating(command, most):
    """Ends the program at random instants. What it was about to use, a log at most, is lost each time, and must be found
    again."""
    import h5py

    chance = random.Random(1)
    for _ in range(40):
        with subprocess.Popen([*command, "f.h5", "1000000"], stdin=subprocess.DEVNULL) as program:
            time.sleep(chance.uniform(0.005, 0.1))
            program.kill()
        with h5py.File("f.h5", "r") as file:
            assert 1 <= len(file) <= 4, list(file)
        size = os.path.getsize("f.h5")
        assert size <= most, (size, most)
    subprocess.run([*command, "f.h5", "4"], check=True, stdin=subprocess.DEVNULL, timeout=120)
    with h5py.File("f.h5", "r") as file:
        done = file.attrs["number"]
        assert sorted(file) == sorted(f"log{n % 4}" for n in range(done - 3, done)), (list(file), done)
        assert all(log.shape == (1000,) for log in file.values()), list(file.values())
    assert os.path.getsize("f.h5") <= most, (os.path.getsize("f.h5"), most)


def main(arguments):
    if arguments[0] == "--readme":
        return readme(*arguments[1:])
    with tempfile.TemporaryDirectory(prefix="firmware_") as folder:
        os.chdir(folder)
        try:
            if arguments[0] == "--ring":
                run_ring(arguments[2:], arguments[1])
            elif arguments[0] == "--rotating":
                run_rotating(arguments[1:])
            elif arguments[0] == "--chip":
                run(arguments[2:], arguments[1])
            else:
                run(arguments)
        finally:
            os.chdir("/")


main(sys.argv[1:])
