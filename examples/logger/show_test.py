#!/usr/bin/python3
"""show_test.py LOGGER H5MOTE MODULES: whether xarray opens what the logger recorded with its times as coordinate, whether
jsfive (in the folder of modules) reads the copy in the oldest format, and whether the scripts of the demo that show it see
what is wrong. Exit code 77 without xarray or jsfive."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import h5py

import flight_file

FLIGHT = HERE / "flight.csv"
TOOLCHAINS = HERE.parents[1] / "toolchains"
LOGGER = H5MOTE = MODULES = None


def run(*command):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, check=False)


class Show(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="show_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.flight = self.folder / "flight.h5"
        self.good(LOGGER, "--csv", FLIGHT, "--out", self.flight)

    def good(self, *command):
        done = run(*command)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def seen(self, why, program, path, csv=FLIGHT):
        """The script must fail, and say why."""
        done = run(program, path, csv)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(why, done.stdout)

    def oldest(self, path):
        copy = self.folder / "oldest.h5"
        self.good(H5MOTE, "repack", "--low", "earliest", path, copy)
        return copy

    def changed(self, change):
        copy = self.folder / "changed.h5"
        shutil.copy(self.flight, copy)
        with h5py.File(copy, "r+") as file:
            change(file)
        return copy

    def other_csv(self):
        """The last digit of the last time and of the last value is another one."""
        lines = FLIGHT.read_text().splitlines()
        values = lines[-1].split(",")
        values[0] = str(int(values[0]) + 1)
        path = self.folder / "other.csv"
        path.write_text("\n".join([*lines[:-1], ",".join(values)]))
        return path

    def test_xarray(self):
        text = self.good(TOOLCHAINS / "show-xarray", self.flight, FLIGHT)
        self.assertRegex(text, r"\* t_us +\(t_us\) uint64 112614307 ")
        self.assertRegex(text, r"imu +\(t_us\) ")

    def test_jsfive(self):
        text = self.good(TOOLCHAINS / "show-jsfive", self.oldest(self.flight), FLIGHT)
        self.assertIn("all 6000 times are those of the CSV", text)

    def test_the_copy_in_the_oldest_format_has_the_scale_as_well(self):
        copy = self.oldest(self.flight)
        flight_file.check(copy, [flight_file.read_csv(FLIGHT)])
        self.good(TOOLCHAINS / "show-xarray", copy, FLIGHT)

    def test_a_scale_that_is_missing_is_seen(self):
        def detach(file):
            file["flight/imu"].dims[0].detach_scale(file["flight/t_us"])

        def forget(file):
            for name in ("CLASS", "NAME", "REFERENCE_LIST"):
                del file["flight/t_us"].attrs[name]
            del file["flight/imu"].attrs["DIMENSION_LIST"]

        self.seen("imu", TOOLCHAINS / "show-xarray", self.changed(detach))
        self.seen("imu", TOOLCHAINS / "show-xarray", self.changed(forget))
        self.seen("the class of /flight/t_us", TOOLCHAINS / "show-jsfive", self.oldest(self.changed(forget)))
        for change in (detach, forget):
            with self.assertRaises(AssertionError):
                flight_file.check(self.changed(change), [flight_file.read_csv(FLIGHT)])

    def test_another_value_is_seen(self):
        def add(file):
            file["flight/imu"][3000] = file["flight/imu"][3001]

        self.seen("imu: values differ", TOOLCHAINS / "show-xarray", self.changed(add))
        self.seen("t_us: values differ", TOOLCHAINS / "show-xarray", self.flight, self.other_csv())
        self.seen("time 5999 is ", TOOLCHAINS / "show-jsfive", self.oldest(self.flight), self.other_csv())

    def test_a_file_of_the_newest_format_is_no_copy(self):
        self.seen("the version of the superblock", TOOLCHAINS / "show-jsfive", self.flight)


if __name__ == "__main__":
    LOGGER, H5MOTE, MODULES = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    os.environ["H5MOTE_NODE_MODULES"] = str(MODULES)
    for what, there in (("xarray", all(map(importlib.util.find_spec, ("xarray", "h5netcdf")))),
                        ("jsfive", (MODULES / "jsfive").is_dir() and shutil.which("node"))):
        if not there:
            print(f"{what} is not there")
            sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
