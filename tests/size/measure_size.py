#!/usr/bin/env python3
"""measure_size: runs the measuring images of one core on its emulated board and writes their figures.

The images in --images are built by measuring_images.cmake beside this file. The reference rows that an image saves are
read back with h5py, if that is installed. Figures (`toolchains/figures` collects them):

  code.* data.* bss.*   difference of two images, without the functions and constants of the programs themselves
                        code.reclaim: formats::reclaim and File::reclaim() beside a logger that deletes objects
  ram.logger.*          peak of the arena in the reference workload, and the static objects (library, arena, driver),
                        without the one chunk buffer
  stack.*               deepest stack below main(), painted; logger: the reference workload from creating the file to
                        closing it a second time; firmware: reference_logger; deflate: that with shuffle and deflate;
                        journal: that through a journal; free_space: that in a file that records its free space
  rom.recorder.image    bytes of a blueprint's empty file and its tables, in ROM; not part of code.recorder*
  ram.recorder          the recorder without its chunk in memory; *.dataset: for each dataset more
  code.recorder.flash   a FlashRecorder instead of a recorder, more; *.alone: all of it
  insns.recorder.flush  guest instructions of a flush of one row, without the driver
  insns.*append*        guest instructions a row, 1000 rows, all that append() does: also the writes of full chunks
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "toolchains"
ROWS = 1000
# Symbols of the measuring programs and of what they share: everything outside of namespace h5mote but the compiler's own
# functions, some of which the library calls.
PROGRAM = r"(\(anonymous namespace\)::|h5mote_test::|measure::|reference::|main$|_GLOBAL__|vtable for (\(anon|h5mote_test))"


# The file of a blueprint as constants: counted apart from the code that records into it.
BLUEPRINT = r"h5mote::blueprint::(Image<|detail::k)"


class Failure(Exception):
    pass


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Measurement:
    def __init__(self, options):
        self.options = options
        self.lines = []
        self.values = {}

    def image(self, name):
        return self.options.images / f"{name}.elf"

    def figure(self, name, value, unit, budget=""):
        self.values[name] = value
        self.lines.append(f"{name}.{self.options.core}\t{value}\t{unit}\t{budget}")

    def board(self, image, *arguments):
        """Runs an image and returns what it printed, as {name: number}."""
        output = run(TOOLS / "run-board", self.options.board, self.image(image), *arguments)
        numbers = dict(re.findall(r"^(\w+) (\d+)$", output, re.M))
        return {name: int(number) for name, number in numbers.items()}

    def code(self, name, image, without, budget="", program=PROGRAM):
        """Adds the figure code.NAME, the difference of two images. Returns the differences of data and bss in bytes."""
        text = run(TOOLS / "code-size", self.image(image), "--without", self.image(without), "--program", program)
        code, data, bss = map(int, re.fullmatch(r"code (-?\d+) data (-?\d+) bss (-?\d+)", text.strip()).groups())
        self.figure(f"code.{name}", code, "bytes", budget)
        return data, bss

    def budget(self, value):
        """The budget if the core is the Cortex-M4; the other cores have none."""
        return value if self.options.core == "cortex-m4" else ""

    def logger(self, folder):
        data, bss = self.code("logger", "reference_logger", "reference_empty", self.budget(22528))
        self.figure("data.logger", data, "bytes")
        self.figure("bss.logger", bss, "bytes")
        self.code("deflate", "reference_deflate", "reference_logger")
        self.code("filters", "reference_fletcher32", "reference_logger")
        self.code("journal", "reference_journal", "reference_logger", self.budget(6144))
        self.code("free_space", "reference_free_space", "reference_logger", self.budget(8192))
        for image in ("reference_logger", "reference_deflate", "reference_fletcher32", "reference_journal",
                      "reference_free_space"):
            printed = self.log(folder, image)
            name = {"reference_logger": "firmware", "reference_deflate": "deflate",
                    "reference_journal": "journal", "reference_free_space": "free_space"}.get(image)
            if name:
                self.figure(f"stack.{name}", printed["stack"], "bytes")

    def log(self, folder, image):
        """Runs an image of reference_logger and checks the file that it made."""
        saved = folder / f"{image}.{self.options.core}.h5"
        printed = self.board(image, saved)
        if printed["left"] != 0:
            raise Failure(f"{image}: {printed['left']} bytes were not released")
        check_rows(saved, "/flight/imu")
        return printed

    def reclaim(self):
        """What finding lost space costs a logger that deletes, and the stack that it takes."""
        self.code("reclaim", "reference_reclaim", "reference_reclaim_not", self.budget(3072))
        printed = self.board("reference_reclaim")
        if printed["left"] != 0 or printed["bytes"] == 0:
            raise Failure(f"reference_reclaim printed {printed}")
        self.figure("stack.reclaim", printed["stack"], "bytes", self.budget(1024))

    def workload(self, folder):
        saved = folder / f"reference.{self.options.core}.h5"
        printed = self.board("reference_workload", "rows", saved)
        if printed["left"] != 0:
            raise Failure(f"reference_workload: {printed['left']} bytes were not released")
        check_rows(saved, "/imu")
        ram = printed["arena"] + printed["objects"] - printed["chunk"]
        self.figure("ram.logger", ram, "bytes", self.budget(4096))
        self.figure("stack.logger", printed["stack"], "bytes", self.budget(1024))
        for what, budget in (("append1", 150), ("append64", "")):
            count = run(TOOLS / "count-insns", self.options.board, self.image("reference_workload"), what, saved)
            check_rows(saved, "/imu")
            self.figure(f"insns.{what}", f"{int(count) / ROWS:.1f}", "instructions/row", self.budget(budget))

    def recorder(self, folder):
        program = f"({PROGRAM}|{BLUEPRINT})"
        self.code("recorder", "reference_recorder", "reference_recorder_empty", self.budget(4096), program)
        self.code("recorder.whole", "reference_recorder_whole", "reference_recorder_empty", self.budget(6144), program)
        images = ["reference_recorder", "reference_recorder_whole"]
        if self.options.core == "cortex-m4":
            images.append("reference_recorder_filters")
            self.code("recorder.filters", "reference_recorder_filters", "reference_recorder", "", program)
        self.figure("rom.recorder.image", self.constants("reference_recorder", BLUEPRINT), "bytes")
        printed = {}
        for image in images:
            saved = folder / f"{image}.{self.options.core}.h5"
            printed[image] = self.board(image, "rows", saved)
            check_rows(saved, "/imu")
        one, three = printed["reference_recorder"], printed["reference_recorder_whole"]
        self.figure("ram.recorder", one["object"] - one["chunk"], "bytes", self.budget(128))
        # With shuffle and deflate: also their work memory.
        if "reference_recorder_filters" in printed:
            filtered = printed["reference_recorder_filters"]
            self.figure("ram.recorder.filters", filtered["object"] - filtered["chunk"], "bytes")
            self.figure("stack.recorder.filters", filtered["stack"], "bytes")
        # Two datasets more, with chunks of 32 rows of 8 bytes and of 16 rows of 8 bytes.
        more = (three["object"] - three["chunk"] - 32 * 8 - 16 * 8) - (one["object"] - one["chunk"])
        self.figure("ram.recorder.dataset", f"{more / 2:g}", "bytes", self.budget(48))
        self.figure("stack.recorder", max(one["stack"], three["stack"]), "bytes", self.budget(512))
        saved = folder / f"recorder.{self.options.core}.h5"
        count = run(TOOLS / "count-insns", self.options.board, self.image("reference_recorder"), "append1", saved)
        check_rows(saved, "/imu")
        budget = {"cortex-m4": 66, "cortex-m0": 120}.get(self.options.core, "")
        self.figure("insns.recorder.append", f"{int(count) / ROWS:.1f}", "instructions/row", budget)
        count = run(TOOLS / "count-insns", self.options.board, self.image("reference_recorder"), "flush", saved)
        check_rows(saved, "/imu")
        flushes = ROWS - (ROWS + 63) // 64  # those of the first row of a chunk are not counted
        self.figure("insns.recorder.flush", f"{int(count) / flushes:.0f}", "instructions", self.budget(3000))

    def flash_recorder(self):
        program = f"({PROGRAM}|{BLUEPRINT}|h5mote::FlashRecorder<.*>::kPlan)"
        one, whole, empty = (f"reference_flash_recorder{what}" for what in ("", "_whole", "_empty"))
        self.code("recorder.flash.alone", one, empty, "", program)
        self.code("recorder.flash.whole", whole, empty, "", program)
        with_driver = self.values["code.recorder"]
        self.figure("code.recorder.flash", self.values["code.recorder.flash.alone"] - with_driver,
                    "bytes more than code.recorder", self.budget(2560))
        self.figure("rom.recorder.flash.image", self.constants(one, BLUEPRINT), "bytes")
        printed = self.board(one, "rows")
        self.figure("ram.recorder.flash", printed["object"] - printed["window"], "bytes")
        self.figure("stack.recorder.flash", max(printed["stack"], self.board(whole, "rows")["stack"]), "bytes",
                    self.budget(512))
        for what, figure in (("append1", "append"), ("flush", "flush")):
            count = run(TOOLS / "count-insns", self.options.board, self.image(one), what)
            self.figure(f"insns.recorder.flash.{figure}", f"{int(count) / ROWS:.1f}", "instructions/row")

    def constants(self, image, pattern):
        """Bytes of the constants whose names match."""
        total = 0
        for line in run("arm-none-eabi-nm", "-S", "-C", "--defined-only", self.image(image)).splitlines():
            fields = line.split(maxsplit=3)
            if len(fields) == 4 and re.match(pattern, fields[3]):
                total += int(fields[1], 16)
        return total

    def whole(self, folder):
        self.code("flash", "reference_flash", "reference_logger", self.budget(11264))
        self.figure("stack.flash", self.log(folder, "reference_flash")["stack"], "bytes")
        self.code("full", "reference_full", "reference_full_empty", self.budget(131072))
        self.code("reader", "reference_reader", "reference_full_empty", self.budget(100352))
        for part in ("unfiltered_edges", "external_changes", "variable_length_changes", "virtual_changes",
                     "shared_message_changes"):
            self.code(f"part.{part}", f"reference_full_{part}", "reference_full")
        saved = folder / f"full.{self.options.core}.h5"
        printed = self.board("reference_full", saved)
        self.figure("stack.full", printed["stack"], "bytes", self.budget(2048))
        printed = self.board("reference_reader", saved)
        self.figure("stack.reader", printed["stack"], "bytes", self.budget(2048))

    def small(self, folder):
        self.code("reader.small", "reference_small", "reference_small_empty", self.budget(49152))
        for part in ("symbol_tables", "extensible_array", "fixed_array", "chunk_btree1"):
            self.code(f"part.{part}", f"reference_small_{part}", "reference_small_bare")
        for part in ("conversion", "virtual_data", "external_data", "dense_storage", "superblock_extension",
                     "unindexed_chunks", "chunk_btree2"):
            self.code(f"part.{part}", f"reference_small_{part}", "reference_small")
        for saved in small_files(folder, self.options.core):
            printed = self.board("reference_small", saved)
            if (printed.get("sum"), printed.get("scale")) != (sum(range(256)), 1013):
                raise Failure(f"{saved}: reference_small printed {printed}")


def small_files(folder, core):
    """Files of libhdf5 (h5py) with one dataset of each storage that the small reader has; none without h5py."""
    try:
        import h5py
        import numpy
    except ImportError:
        return []
    values = numpy.arange(256, dtype="<f4")
    chunks = {"chunks": (32,), "shuffle": True, "compression": "gzip"}
    kinds = {
        "contiguous": ("earliest", {}),
        "btree1": ("earliest", chunks),
        "fixed_array": ("latest", chunks),
        "extensible_array": ("latest", {**chunks, "maxshape": (None,)}),
    }
    paths = []
    for name, (version, storage) in kinds.items():
        path = folder / f"small.{name}.{core}.h5"
        with h5py.File(path, "w", libver=version) as file:
            dataset = file.create_dataset("values", data=values, **storage)
            dataset.attrs["scale"] = numpy.uint32(1013)
        paths.append(path)
    return paths


def check_rows(path, dataset):
    """Compares every value of the reference rows, as libhdf5 (h5py) reads them."""
    try:
        import h5py
    except ImportError:
        return
    with h5py.File(path, "r") as file:
        rows = file[dataset][...]
    if len(rows) != ROWS:
        raise Failure(f"{path}: {len(rows)} rows")
    for i, (t_ms, accel, temp_c) in enumerate(rows):
        if t_ms != 4 * i or list(accel) != [i, -i, i & 15] or temp_c != 20 + 0.5 * (i & 31):
            raise Failure(f"{path}: row {i} is {rows[i]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", required=True)
    parser.add_argument("--board", required=True)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--report", type=pathlib.Path, required=True, help="folder of the *.tsv files")
    parser.add_argument("--whole", action="store_true", help="also the images of the profiles full and reader")
    options = parser.parse_args()
    measurement = Measurement(options)
    try:
        measurement.logger(options.images)
        measurement.reclaim()
        measurement.workload(options.images)
        measurement.recorder(options.images)
        measurement.flash_recorder()
        if options.whole:
            measurement.whole(options.images)
            measurement.small(options.images)
    except (Failure, KeyError, OSError) as error:
        print(f"measure_size: {error}", file=sys.stderr)
        return 1
    text = "\n".join(measurement.lines) + "\n"
    options.report.mkdir(parents=True, exist_ok=True)
    (options.report / f"size.{options.core}.tsv").write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
