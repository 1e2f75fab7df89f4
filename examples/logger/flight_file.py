"""Computes from the CSV, without the logger, what a file of the logger must hold, and compares it bit for bit."""

import csv
from fractions import Fraction

import h5py
import numpy

COLUMNS = ["gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z", "mag_x", "mag_y", "mag_z"]
IMU = numpy.dtype({"names": ["t_us", "gyro", "accel", "mag"], "formats": ["<u8", ("<f4", 3), ("<f4", 3), ("<f4", 3)],
                   "offsets": [0, 8, 20, 32], "itemsize": 44})
# Without the times, where these are a dataset of their own: the scale.
VALUES = numpy.dtype({"names": ["gyro", "accel", "mag"], "formats": [("<f4", 3)] * 3, "offsets": [0, 12, 24],
                      "itemsize": 36})
HEALTH = numpy.dtype({"names": ["t_us", "free_memory", "rows"], "formats": ["<u8", "<u4", "<u4"],
                      "offsets": [0, 8, 12], "itemsize": 16})
CHUNK = 64
# Of a scale and of what has one; others check what these say.
SCALE_ATTRIBUTES = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"}
UNITS = {"rate_hz": 250.0, "gyro_units": b"rad/s", "accel_units": b"m/s^2", "mag_units": b"gauss"}
ATTRIBUTES = {
    "/flight": {"device": b"PX4 autopilot", "firmware": b"h5mote logger", "firmware_version": None},
    "/health": {"rate_hz": 1.0, "t_us_units": b"us", "free_memory_units": b"bytes"},
}
SCALED_ATTRIBUTES = {"/flight/t_us": {"units": b"us"}, "/flight/imu": UNITS}
IN_ROWS_ATTRIBUTES = {"/flight/imu": {"t_us_units": b"us", **UNITS}}


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
    """The expected rows of /health: one for the first IMU row of every second and of every run of the logger.
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


def check(path, runs, compressed=False, counts_runs=False, scaled=True):
    """Compares a file with the expected contents. `runs`: for each run of the logger, its rows as from read_csv().
    `scaled`: the times are the dataset /flight/t_us, the scale of /flight/imu; otherwise each row has its time."""
    imu, health = numpy.concatenate(runs), health_of(runs, counts_runs)
    expected = {"/health": health, "/flight/imu": values_of(imu) if scaled else imu}
    attributes = {**ATTRIBUTES, **(SCALED_ATTRIBUTES if scaled else IN_ROWS_ATTRIBUTES)}
    if scaled:
        expected["/flight/t_us"] = imu["t_us"]
    with h5py.File(path, "r") as file:
        for name, rows in expected.items():
            dataset = file[name]
            assert dataset.dtype == rows.dtype, (name, dataset.dtype)
            assert dataset.shape == rows.shape, (name, dataset.shape, rows.shape)
            assert dataset.maxshape == (None,)
            assert dataset[...].tobytes() == rows.tobytes(), f"{name}: values differ"
        assert sorted(file) == ["flight", "health"], list(file)
        assert sorted(file["flight"]) == (["imu", "t_us"] if scaled else ["imu"]), list(file["flight"])
        for name in file["flight"]:
            assert file["flight"][name].compression == ("gzip" if compressed else None), name
            assert file["flight"][name].shuffle == compressed, name
        if scaled:
            check_scale(file["flight/t_us"], file["flight/imu"])
        for where, expected_here in attributes.items():
            found = {name: value for name, value in file[where].attrs.items()
                     if not (scaled and name in SCALE_ATTRIBUTES)}
            assert found.keys() == expected_here.keys(), (where, found)
            for name, value in expected_here.items():
                assert value is None or found[name] == value, (where, name, found[name])


def check_scale(time, imu):
    """Whether both datasets say that the one is the scale of the other, and of nothing else."""
    assert h5py.h5ds.is_scale(time.id) and h5py.h5ds.get_scale_name(time.id) == b"t_us"
    assert list(imu.dims[0].values()) == [time], list(imu.dims[0].values())
    assert [(time.file[reference], dimension) for reference, dimension in time.attrs["REFERENCE_LIST"]] == [(imu, 0)]


def values_of(imu):
    """Rows without their times."""
    values = numpy.zeros(len(imu), VALUES)
    for name in VALUES.names:
        values[name] = imu[name]
    return values


def rows_in(path, closed=True):
    """How many rows a file has, and these rows, each with its time. In a file that was not closed there may be times
    without rows, or rows without times, which no flush has covered."""
    with h5py.File(path, "r") as file:
        flight = file["flight"]
        if "t_us" not in flight:
            return len(flight["imu"]), flight["imu"][...]
        assert len(flight["imu"]) == len(flight["t_us"]) or not closed, (len(flight["imu"]), len(flight["t_us"]))
        rows = numpy.zeros(min(len(flight["imu"]), len(flight["t_us"])), IMU)
        rows["t_us"] = flight["t_us"][:len(rows)]
        for name in VALUES.names:
            rows[name] = flight["imu"][:len(rows)][name]
        return len(rows), rows
