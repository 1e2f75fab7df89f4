#!/usr/bin/python3
"""extract_test.py MAKE_DUMPS H5MOTE: h5py compares what `h5mote extract` makes of the dumps of recorded chips."""

import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError:
    sys.exit(77)


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


def check_samples(rows, first):
    """`rows` are the samples from number `first` on."""
    number = numpy.arange(first, first + len(rows))
    assert (rows["number"] == number).all()
    assert (rows["accel"][:, 0] == number % 1000).all()
    assert (rows["accel"][:, 1] == -(number % 1000)).all()
    assert (rows["accel"][:, 2] == 77).all()
    assert (rows["temperature"] == (number / 4).astype("f4")).all()


def check_plain(path, rows):
    with h5py.File(path) as file:
        assert file.attrs["device"] in (b"simulated", "simulated"), file.attrs["device"]
        assert file.attrs["serial"] == 2024
        assert list(file.attrs["gains"]) == [1.5, 2.5, -3]
        assert list(file["table"]) == [1, 2, 3, 4]
        imu = file["flight/imu"]
        assert imu.shape == (rows,) and imu.maxshape == (None,) and imu.chunks == (64,), (imu.shape, imu.chunks)
        check_samples(imu[()], 0)
        assert (file["flight/battery"][()] == numpy.arange(rows // 10)).all()


def check_ring(path, rows):
    with h5py.File(path) as file:
        assert file.attrs["serial"] == 2024
        imu = sorted((file[f"flight/imu_{i}"] for i in range(5)), key=lambda each: each.attrs["sequence"])
        sequences = [int(each.attrs["sequence"]) for each in imu]
        assert sequences == list(range(sequences[0], sequences[0] + 5)), sequences
        found = numpy.concatenate([each[()] for each in imu])
        check_samples(found, rows - len(found))
        battery = sorted((file[f"flight/battery_{i}"] for i in range(5)), key=lambda each: each.attrs["sequence"])
        values = numpy.concatenate([each[()] for each in battery])
        assert (values == numpy.arange(rows // 10 - len(values), rows // 10)).all()
        assert all(len(each) > 0 and each.attrs["units"] in (b"mg", "mg") for each in imu)
        return found


def check_joined(path, found):
    with h5py.File(path) as file:
        assert sorted(file["flight"]) == ["battery", "imu"], sorted(file["flight"])
        imu = file["flight/imu"]
        assert (imu[()] == found).all() and imu.attrs["units"] in (b"mg", "mg")
        values = file["flight/battery"][()]
        assert (numpy.diff(values) == 1).all() and len(values) > len(found) // 10 - 2


def main():
    make, tool = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(make, folder)
        for dump, rows in (("plain.nor", 5000), ("plain.pages", 2000), ("ring.nor", 40000), ("ring.nand", 30000)):
            file = folder / (dump + ".h5")
            run(tool, "extract", folder / dump, file)
            run(tool, "check", file)
            run("h5dump", "-H", file)
            if dump.startswith("plain"):
                check_plain(file, rows)
                continue
            found = check_ring(file, rows)
            joined = folder / (dump + ".joined.h5")
            run(tool, "extract", "--join", folder / dump, joined)
            run(tool, "check", joined)
            check_joined(joined, found)
            print(dump, len(found), "rows of", rows)

        # Within a larger dump, one that is too short, one with a block that is gone, and one that holds something else.
        whole = (folder / "plain.nor").read_bytes()
        (folder / "larger").write_bytes(b"\x5a" * 8192 + whole)
        run(tool, "extract", "--offset", "8K", folder / "larger", folder / "larger.h5")
        check_plain(folder / "larger.h5", 5000)
        (folder / "short").write_bytes(whole[: 62 * 4096])
        run(tool, "extract", folder / "short", folder / "short.h5", code=1)
        run(tool, "extract", "--truncated", folder / "short", folder / "short.h5", code=2)
        check_plain(folder / "short.h5", 5000)
        (folder / "gone").write_bytes(whole[: 7 * 4096] + b"\x33" * 4096 + whole[8 * 4096 :])
        run(tool, "extract", folder / "gone", folder / "gone.h5", code=2)
        with h5py.File(folder / "gone.h5") as file:
            numbers = file["flight/imu"]["number"]
            assert 4600 < len(numbers) < 5000 and (numpy.diff(numbers.astype("i8")) > 0).all(), len(numbers)
        (folder / "blank").write_bytes(b"\xff" * 65536)
        run(tool, "extract", folder / "blank", folder / "blank.h5", code=1)


main()
