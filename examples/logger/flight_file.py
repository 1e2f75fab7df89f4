"""Computes from the CSV, without the logger, what a file of the logger must hold, and compares it bit for bit."""

import csv
from fractions import Fraction

import h5py
import numpy

COLUMNS = ["gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z", "mag_x", "mag_y", "mag_z"]
IMU = numpy.dtype({"names": ["t_us", "gyro", "accel", "mag"], "formats": ["<u8", ("<f4", 3), ("<f4", 3), ("<f4", 3)],
                   "offsets": [0, 8, 20, 32], "itemsize": 44})
HEALTH = numpy.dtype({"names": ["t_us", "free_memory", "rows"], "formats": ["<u8", "<u4", "<u4"],
                      "offsets": [0, 8, 12], "itemsize": 16})
CHUNK = 64
ATTRIBUTES = {
    "/flight": {"device": b"PX4 autopilot", "firmware": b"h5mote logger", "firmware_version": None},
    "/flight/imu": {"rate_hz": 250.0, "t_us_units": b"us", "gyro_units": b"rad/s", "accel_units": b"m/s^2",
                    "mag_units": b"gauss"},
    "/flight/health": {"rate_hz": 1.0, "t_us_units": b"us", "free_memory_units": b"bytes"},
}


def nearest_floats(texts):
    """The floats nearest to decimal numbers. numpy rounds twice, to double and then to single precision. The result can
    differ from rounding once only if the double lies in the middle between two floats: these cases are corrected."""
    doubles = numpy.array(texts, dtype="f8")
    floats = doubles.astype("<f4")
    middle = numpy.nonzero((doubles.view("u8") & 0x1fffffff) == 0x10000000)[0]
    for i in middle:
        exact = Fraction(texts[i])
        around = [numpy.nextafter(floats[i], numpy.float32(-numpy.inf)), floats[i],
                  numpy.nextafter(floats[i], numpy.float32(numpy.inf))]
        floats[i] = min(around, key=lambda f: (abs(Fraction(float(f)) - exact), int(numpy.float32(f).view("u4")) & 1))
    return floats


def read_csv(path, rows=None):
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))[:rows]
    imu = numpy.zeros(len(lines), IMU)
    imu["t_us"] = [int(line["t_us"]) for line in lines]
    for i, column in enumerate(COLUMNS):
        imu[("gyro", "accel", "mag")[i // 3]][:, i % 3] = nearest_floats([line[column] for line in lines])
    return imu


def health_of(runs, counts_runs=False):
    """The expected rows of /flight/health: one for the first IMU row of every second and of every run of the logger.
    `counts_runs`: the logger does not know what earlier runs have recorded."""
    health, rows = [], 0
    for run in runs:
        due = 0
        rows = 0 if counts_runs else rows
        for t_us in run["t_us"].tolist():
            rows += 1
            if t_us >= due:
                due = (t_us // 1000000 + 1) * 1000000
                health.append((t_us, -rows % CHUNK * IMU.itemsize, rows))
    return numpy.array(health, HEALTH)


def check(path, runs, compressed=False, counts_runs=False):
    """Compares a file with the expected contents. `runs`: for each run of the logger, its rows as from read_csv()."""
    imu, health = numpy.concatenate(runs), health_of(runs, counts_runs)
    with h5py.File(path, "r") as file:
        for name, expected, kind in (("imu", imu, IMU), ("health", health, HEALTH)):
            dataset = file["flight"][name]
            assert dataset.dtype == kind, (name, dataset.dtype)
            assert dataset.shape == expected.shape, (name, dataset.shape, expected.shape)
            assert dataset.maxshape == (None,)
            assert dataset[...].tobytes() == expected.tobytes(), f"/flight/{name}: values differ"
        assert list(file) == ["flight"] and sorted(file["flight"]) == ["health", "imu"]
        assert file["flight/imu"].compression == ("gzip" if compressed else None)
        assert file["flight/imu"].shuffle == compressed
        for where, attributes in ATTRIBUTES.items():
            found = dict(file[where].attrs)
            assert found.keys() == attributes.keys(), (where, found)
            for name, value in attributes.items():
                assert value is None or found[name] == value, (where, name, found[name])


def rows_in(path):
    with h5py.File(path, "r") as file:
        return len(file["flight/imu"]), file["flight/imu"][...]
