#!/usr/bin/python3
"""logger_test.py [OPTION...] COMMAND...: runs the logger (COMMAND, perhaps on an emulated board) and compares its files
with the CSV, every value bit for bit.

--host: the logger is a process of this machine, which can be killed. --compress: the logger can compress. --no-trail:
the logger was built without the error trail. --blueprint: the logger records into a file that the compiler made.
--in-rows: the logger has no room for scales, and each row has its time. The whole recording is used if H5MOTE_FLIGHT
names it, or if it is at ../shared/data/flight_sensors.csv beside the project."""

import os
import pathlib
import random
import re
import signal
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
RECORDING = pathlib.Path(os.environ.get("H5MOTE_FLIGHT") or HERE.parents[2] / "shared/data/flight_sensors.csv")
HOST = COMPRESS = BLUEPRINT = IN_ROWS = False
TRAIL = True
COMMAND = []


def contents(path):
    return pathlib.Path(path).read_bytes()


class Logger(unittest.TestCase):
    def setUp(self):
        # Use short file names: a board has only a few hundred bytes for its command line.
        self.folder = tempfile.TemporaryDirectory(prefix="logger_")
        self.before = os.getcwd()
        os.chdir(self.folder.name)
        os.symlink(FLIGHT, "flight.csv")

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()

    def log(self, *options, csv="flight.csv", out="f.h5", code=0):
        """Runs the logger. Returns the lines that it printed by their first words, {"rows": ..., "status": ...}, under
        "acks" the acknowledged numbers of rows, and under "text" the whole output."""
        done = subprocess.run([*COMMAND, "--csv", csv, "--out", out, *map(str, options)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        lines = done.stdout.splitlines()
        found = {line.split(" ")[0]: line for line in lines if not line.startswith("flushed ")}
        found["acks"] = [int(line.split(" ")[1]) for line in lines if line.startswith("flushed ")]
        found["text"] = done.stdout
        return found

    def check(self, path, runs, compressed=False, scaled=None):
        flight_file.check(path, runs, compressed, scaled=not IN_ROWS if scaled is None else scaled)

    def test_thousand_rows(self):
        said = self.log("--rows", 1000)
        self.check("f.h5", [flight_file.read_csv(FLIGHT, 1000)])
        self.assertEqual(said["status"], "status ok")
        self.assertEqual(said["rows"], "rows 1000, in the file 1000")
        self.assertEqual(said["file"], f"file {os.path.getsize('f.h5')} bytes")
        peak, memory = map(int, re.findall(r"\d+", said["peak"]))
        self.assertTrue(1000 < peak <= memory)
        self.assertTrue(said["stack"])
        self.assertEqual(said["acks"], [])

    def test_flight(self):
        self.log()
        self.check("f.h5", [flight_file.read_csv(FLIGHT)])

    def test_whole_recording(self):
        if not RECORDING.exists():
            self.skipTest("no recording")
        os.symlink(RECORDING, "all.csv")
        self.log(csv="all.csv")
        runs = [flight_file.read_csv(RECORDING)]
        self.assertGreaterEqual(len(runs[0]), 17070)
        self.check("f.h5", runs)
        if COMPRESS:
            self.log("--compress", csv="all.csv", out="c.h5")
            self.check("c.h5", runs, compressed=True)

    def test_compressed(self):
        if not COMPRESS:
            self.log("--compress", code=2)
            self.skipTest("this machine has no memory for it")
        self.log("--compress", "--flush-rows", 100)
        self.check("f.h5", [flight_file.read_csv(FLIGHT)], compressed=True)
        self.assertLess(os.path.getsize("f.h5"), 0.75 * 44 * 6000)

    def test_scale(self):
        """--scale: the times are a dataset of their own, the scale of the rows."""
        if not COMPRESS:
            self.log("--scale", code=2)
            self.skipTest("this machine has no memory for it, or its file is always so")
        for compressed in (False, True):
            options = ["--scale", *(["--compress"] if compressed else [])]
            out = f"s{compressed}.h5"
            runs = []
            for rows in (1, 500, 63, 1000):
                self.log("--rows", rows, "--flush-rows", 50, *options, out=out)
                runs.append(flight_file.read_csv(FLIGHT, rows))
                self.check(out, runs, compressed, scaled=True)
        # What was begun in the one way does not go on in the other.
        before = contents("sFalse.h5")
        self.assertEqual(self.log(out="sFalse.h5", code=1)["status"], "status type_mismatch")
        self.assertEqual(contents("sFalse.h5"), before)
        self.log("--rows", 10)
        before = contents("f.h5")
        self.assertEqual(self.log("--scale", code=1)["status"], "status type_mismatch")
        self.assertEqual(contents("f.h5"), before)
        with h5py.File("sTrue.h5", "r+") as file:
            del file["flight/t_us"]
        before = contents("sTrue.h5")
        self.assertEqual(self.log("--scale", out="sTrue.h5", code=1)["status"], "status type_mismatch")
        self.assertEqual(contents("sTrue.h5"), before)

    def test_rows_without_times_are_taken_back(self):
        """A power cut within a flush may leave more times than rows, or more rows than times."""
        if not COMPRESS and IN_ROWS:
            self.skipTest("each row has its time")
        options = [] if BLUEPRINT else ["--scale"]
        runs = [flight_file.read_csv(FLIGHT, 130), flight_file.read_csv(FLIGHT, 100)]
        for longer in ("t_us", "imu"):
            for more in (1, 40, 80):
                self.log("--rows", 130, *options, out="cut.h5")
                with h5py.File("cut.h5", "r+") as file:
                    dataset = file["flight"][longer]
                    dataset.resize((130 + more,))
                    dataset[130:] = dataset[:more]
                self.assertEqual(self.log("--rows", 100, *options, out="cut.h5")["rows"], "rows 100, in the file 230")
                self.check("cut.h5", runs, scaled=True)
                os.remove("cut.h5")

    def test_goes_on(self):
        runs = []
        for rows in (1, 500, 63, 1000):
            self.log("--rows", rows)
            runs.append(flight_file.read_csv(FLIGHT, rows))
            self.check("f.h5", runs)
        self.assertEqual(self.log("--rows", 0)["rows"], "rows 0, in the file 1564")
        self.check("f.h5", runs)
        if COMPRESS:
            runs.clear()
            for rows in (70, 130):
                self.log("--rows", rows, "--compress", out="c.h5")
                runs.append(flight_file.read_csv(FLIGHT, rows))
            self.check("c.h5", runs, compressed=True)

    def test_acks(self):
        said = self.log("--rows", 250, "--flush-rows", 100, "--acks")
        self.assertEqual(said["acks"], [100, 200, 250])
        said = self.log("--rows", 3, "--flush-rows", 1, "--acks")
        self.assertEqual(said["acks"], [251, 252, 253])

    def test_killed(self):
        if not HOST:
            self.skipTest("killing the emulator says nothing about the board")
        chance = random.Random(1)
        expected = flight_file.read_csv(FLIGHT)
        for _ in range(10):
            for options in ([], ["--compress"], ["--scale"]) if COMPRESS else ([],):
                if os.path.exists("f.h5"):
                    os.remove("f.h5")
                process = subprocess.Popen([*COMMAND, "--csv", "flight.csv", "--out", "f.h5", "--acks", "--flush-rows",
                                            str(chance.randrange(1, 20)), *options], stdout=subprocess.PIPE, text=True)
                for _ in range(chance.randrange(1, 200)):
                    process.stdout.readline()
                process.send_signal(signal.SIGKILL)
                acks = re.findall(r"^flushed (\d+)$", process.communicate()[0], re.MULTILINE)
                rows, found = flight_file.rows_in("f.h5", closed=False)
                self.assertGreaterEqual(rows, int(acks[-1]) if acks else 0)
                self.assertEqual(found.tobytes(), expected[:rows].tobytes())
                self.log("--rows", 100, *options)
                again, found = flight_file.rows_in("f.h5")
                self.assertEqual(again, rows + 100)
                self.assertEqual(found.tobytes(), expected[:rows].tobytes() + expected[:100].tobytes())

    def test_other_columns(self):
        """Columns are found by name; blank lines, spaces, \\r and a missing last line end do not matter."""
        with open("o.csv", "w") as file:
            file.write("note,mag_z,mag_y,mag_x, accel_z,accel_y,accel_x,gyro_z,gyro_y,gyro_x,t_us,baro\r\n")
            file.write("a long text that says nothing of any use,1,2,3,4,5,6,7,8,9,10,\r\n\n")
            file.write(",1e-3, -2.5E+2,.5,0,-0,1e-46,3.4028235e38,1e-45,123456789,18446744073709551615,x")
        self.log(csv="o.csv")
        rows = flight_file.numpy.zeros(2, flight_file.IMU)
        rows[0] = (10, (9, 8, 7), (6, 5, 4), (3, 2, 1))
        rows[1] = (18446744073709551615, (123456789, 1e-45, 3.4028235e38), (1e-46, -0.0, 0), (.5, -250, 1e-3))
        self.check("f.h5", [rows])

    def test_bad_rows(self):
        header, *lines = FLIGHT.read_text().splitlines()
        for what in ("1,2,3", "x", "", "1,2,3,4,5,6,7,8,9,1e39", "1,2,3,4,5,6,7,8,9,1.2.3", "-1,2,3,4,5,6,7,8,9,0",
                     "18446744073709551616,2,3,4,5,6,7,8,9,0", "1,2,3,4,5,6,7,8,9,nan", "1,2,3,4,,6,7,8,9,0"):
            with open("bad.csv", "w") as file:
                file.write("\n".join([header, *lines[:70], what or ",,,,,,,,,", *lines[70:80]]))
            if os.path.exists("f.h5"):
                os.remove("f.h5")
            said = self.log(csv="bad.csv", code=1)
            self.assertIn("bad.csv:72: not a row", said["text"])
            self.assertEqual(said["status"], "status invalid_argument")
            # The rows before the malformed one stay in the file.
            self.check("f.h5", [flight_file.read_csv(FLIGHT, 70)])

    def test_bad_files(self):
        self.assertEqual(self.log(csv="none.csv", code=1)["status"], "status io_error")
        with open("short.csv", "w") as file:
            file.write("t_us,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z,mag_x,mag_y\n1,2,3,4,5,6,7,8,9\n")
        self.assertEqual(self.log(csv="short.csv", code=1)["status"], "status invalid_argument")
        self.assertFalse(os.path.exists("f.h5"))
        with open("text.h5", "w") as file:
            file.write("no HDF5 file at all, but somebody's notes\n" * 5)
        before = contents("text.h5")
        self.assertEqual(self.log(out="text.h5", code=1)["status"], "status not_hdf5")
        self.assertEqual(contents("text.h5"), before)
        self.assertEqual(self.log(out="no/such/folder.h5", code=1)["status"], "status not_found")

    def test_other_datatype(self):
        """A file whose /flight/imu has another datatype is refused and not changed, and the error trail is printed."""
        with h5py.File("f.h5", "w", libver=("v110", "v110")) as file:
            file.create_dataset("flight/imu", (3,), "<i4", maxshape=(None,), chunks=(64,))[...] = 1
        before = contents("f.h5")
        said = self.log(code=1)
        statuses = ["other_blueprint"] if BLUEPRINT else ["type_mismatch", "unsupported"]
        self.assertIn(said["status"], [f"status {status}" for status in statuses])
        if BLUEPRINT:
            self.assertRegex(said["text"], r"(?m)^  the file differs at \d+$")
        elif TRAIL:
            self.assertRegex(said["text"], r"(?m)^  \w+:\d+ (type_mismatch|unsupported) ")
        self.assertEqual(contents("f.h5"), before)

    def test_damaged(self):
        """A truncated file, and one with a bit of an object header changed, are refused and not changed."""
        self.log("--rows", 100)
        good = contents("f.h5")
        with open("t.h5", "wb") as file:
            file.write(good[:-1])
        self.assertEqual(self.log(out="t.h5", code=1)["status"], "status corrupt_file")
        at = good.index(b"OHDR") + 8
        with open("d.h5", "wb") as file:
            file.write(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        self.assertEqual(self.log(out="d.h5", code=1)["status"],
                         "status foreign_changes" if BLUEPRINT else "status corrupt_file")
        self.assertEqual(contents("t.h5"), good[:-1])
        self.assertEqual(contents("d.h5")[at + 1:], good[at + 1:])

    def test_usage(self):
        for options in (["--flush-rows", "0"], ["--rows", "x"], ["--rows"], ["--nonsense"]):
            self.assertIn("usage", self.log(*options, code=2)["text"])


if __name__ == "__main__":
    arguments = sys.argv[1:]
    while arguments and arguments[0] in ("--host", "--compress", "--no-trail", "--blueprint", "--in-rows"):
        HOST |= arguments[0] == "--host"
        COMPRESS |= arguments[0] == "--compress"
        TRAIL &= arguments[0] != "--no-trail"
        BLUEPRINT |= arguments[0] == "--blueprint"
        IN_ROWS |= arguments[0] == "--in-rows"
        del arguments[0]
    names = [name for name in arguments if name.startswith("Logger.")]
    COMMAND = [name for name in arguments if not name.startswith("Logger.")]
    unittest.main(argv=[sys.argv[0], *names])
