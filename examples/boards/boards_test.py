#!/usr/bin/python3
"""boards_test.py flight|kill [OPTIONS] RUN_BOARD BOARD IMAGE [BOARD IMAGE]...

The logger on boards with storage of their own; what it left is read on this machine and compared with the CSV by h5py,
every value bit for bit.

flight: the whole flight in two runs, power off between, and on a small board until it is full. --figures: what that
took, for toolchains/figures.
kill: kills the emulator at random instants, restarts it on the same storage and goes on; --kills times (200), or as
H5MOTE_KILLS says, shared out among the boards. After each, every row that was acknowledged must be there.
--recorder: the image records into a file that the compiler made, on a flash chip with the recorder for such chips.
--forgetful: the image acknowledges rows that it has not stored; the test must see that they are lost.
--h5mote: the command-line tool, whose `extract` gets the file out of a raw copy of a flash chip; by default that of the
build `host`, which is built when it is not there."""

import argparse
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "logger"))

import h5py
import numpy

import flight_file

FLIGHT = HERE.parent / "logger/flight.csv"
# The whole recording, of which that is a part, where it is.
RECORDING = pathlib.Path(os.environ.get("H5MOTE_FLIGHT") or HERE.parents[2] / "shared/data/flight_sensors.csv")
# Bytes of the storage that the emulator keeps in a file, and what they are when new.
DRIVES = {"emcraft-sf2": (16 << 20, b"\xff"), "ast1030-evb": (4 << 20, b"\xff"), "lm3s6965evb": (64 << 20, b"\0")}
CARDS = ("lm3s6965evb",)
BUDGETS = {"ram.board.microbit": 16384, "code.recorder.microbit": 16384, "ram.recorder.microbit": 4096}
FLUSH_ROWS = 16  # where the storage becomes full


class Board:
    """One board with its storage, in the current folder."""

    def __init__(self, options, name, image):
        self.options, self.name, self.image = options, name, image
        # The recorder for flash chips does not know what a chip holds: its rows are those since its start.
        self.counts_runs = options.recorder and name not in CARDS
        # Only a file that the compiler made has the times as a scale, and on a flash chip each row has its time.
        self.scaled = options.recorder and name in CARDS
        self.starts = 0
        self.drive = pathlib.Path(f"{name}.bin")
        if name in DRIVES:
            size, blank = DRIVES[name]
            self.drive.write_bytes(blank * size)

    def logger(self, *arguments, csv="flight.csv"):
        command = [self.options.run_board]
        if self.drive.exists():
            command += ["--drive", str(self.drive)]
        self.starts += 1
        command += [self.name, self.image, "--csv", csv, *map(str, arguments)]
        # What the micro:bit's flash has become, the emulator does not keep.
        return command + (["--out", str(self.drive)] if self.name == "microbit" else [])

    def log(self, *arguments, status="ok", csv="flight.csv"):
        """One run to its end: what it printed, {"rows": ..., "status": ...}."""
        done = subprocess.run(self.logger(*arguments, csv=csv), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True, timeout=100, check=False)
        found = {line.split(" ")[0]: line for line in done.stdout.splitlines()}
        assert found.get("status") == f"status {status}", done.stdout
        assert done.returncode == (0 if status == "ok" else 1), done.stdout
        return found

    def file(self):
        """The HDF5 file. On a card it lies as it is."""
        if self.name in CARDS:
            return self.drive
        file = pathlib.Path(f"{self.name}.h5")
        file.unlink(missing_ok=True)
        self.h5mote("extract", self.drive, file)
        return file

    def check(self):
        done = self.run_h5mote("check", self.file())
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 1 and " 0 problems," in done.stdout, done.stdout

    def run_h5mote(self, *arguments):
        return subprocess.run([self.options.h5mote, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=60, check=False)

    def h5mote(self, *arguments):
        done = self.run_h5mote(*arguments)
        assert done.returncode == 0, done.stdout


def host_tool():
    """Two tests must not build it at the same time."""
    root = HERE.parents[1]
    tool = root / "build/host/examples/cli/h5mote"
    with open(root / "build/boards_test.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tool.exists():
            for command in (["cmake", "--preset", "host"], ["cmake", "--build", "--preset", "host", "--target", "h5mote_tool"]):
                subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return str(tool)


def numbers(line):
    return [int(number) for number in re.findall(r"\d+", line)]


def go_on(board, before):
    """Records the flight after `before` rows, as much of it as fits: what was recorded and what was printed."""
    if board.name != "microbit":
        # The emulator stores each word that this chip programs by itself.
        csv = "flight.csv" if board.name == "ast1030-evb" else "whole.csv"
        return flight_file.read_csv(csv), board.log(csv=csv)
    whole = flight_file.read_csv(FLIGHT)
    said = board.log("--flush-rows", FLUSH_ROWS, "--acks", status="no_space")
    acknowledged = numbers(said["flushed"])[0] + (before if board.counts_runs else 0)
    rows = flight_file.rows_in(board.file())[0]
    assert before < acknowledged <= rows <= acknowledged + FLUSH_ROWS, (acknowledged, rows)
    return whole[:rows - before], said


def flight(options):
    (name, image), = options.boards
    board = Board(options, name, image)
    # A recorder begins its file where nothing is. Flash that was never formatted is nothing that a driver takes for its
    # storage; a new card is blank, and so an empty file.
    if options.recorder:
        board.log("--rows", 70)
    elif name not in CARDS:
        board.log(status="not_found")
    runs = [flight_file.read_csv(FLIGHT, 500)]
    said = [board.log("--format", "--rows", len(runs[0]), "--flush-rows", 5)]
    rows, more = go_on(board, len(runs[0]))
    runs.append(rows)
    said.append(more)
    flight_file.check(board.file(), runs, counts_runs=board.counts_runs, scaled=board.scaled)
    board.check()
    rows = sum(map(len, runs))
    if name == "microbit":  # is full, and stays as it is
        said.append(board.log("--flush-rows", FLUSH_ROWS, status="no_space"))
        assert flight_file.rows_in(board.file())[0] == rows
    print("\n".join(said[1].values()))
    print(f"{rows} rows of {name} compared")
    if options.figures:
        save_figures(options, name, image, max(numbers(run["stack"])[0] for run in said))
    print("1 passed, 0 failed")


def save_figures(options, name, image, stack):
    """Memory, as the program and its image tell it."""
    size = subprocess.run([options.size, "-A", image], stdout=subprocess.PIPE, text=True, check=True).stdout
    sections = {fields[0]: int(fields[1]) for fields in map(str.split, size.splitlines())
                if len(fields) == 3 and fields[1].isdigit()}
    static = sections[".data"] + sections[".bss"]
    what = f"{'recorder' if options.recorder else 'board'}.{name}"
    figures = {key: (value, BUDGETS.get(key, "")) for key, value in (
        (f"code.{what}", sections[".text"] + sections[".vectors"] + sections[".data"]),
        (f"stack.{what}", stack),
        (f"ram.{what}", static + stack + options.arguments),
    )}
    path = pathlib.Path(options.figures)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{key}\t{value}\tbytes\t{budget}\n" for key, (value, budget) in figures.items()))
    print(path.read_text(), end="")
    assert all(value <= (budget or value) for value, budget in figures.values())


class Emulator:
    """A run that will be killed."""

    def __init__(self, command):
        self.monitor, self.pid_file = pathlib.Path("qmp"), pathlib.Path("pid")
        for path in (self.monitor, self.pid_file):
            path.unlink(missing_ok=True)
        environment = dict(os.environ, H5MOTE_EMULATOR_OPTIONS="-qmp unix:qmp,server=on,wait=off -pidfile pid")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment,
                                        bufsize=0)
        pid = ""
        while not self.monitor.exists() or not pid.endswith("\n"):
            assert self.process.poll() is None, self.process.stdout.read()
            time.sleep(0.001)
            pid = self.pid_file.read_text() if self.pid_file.exists() else ""
        self.pid = int(pid)

    def stop(self):
        """The processor stops where it is. The emulator hands what a chip has been told to store to threads of its own;
        a chip that is without power has either stored it or not: these come to an end, but nothing new begins."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.monitor))
            with connection.makefile("rw") as stream:
                stream.readline()
                for command in ("qmp_capabilities", "stop"):
                    stream.write(json.dumps({"execute": command}) + "\n")
                    stream.flush()
                    while "return" not in json.loads(stream.readline()):
                        pass

    def kill(self):
        if self.process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def kill_once(board, chance):
    """Whether it was killed, not at its end before; the last row acknowledged, or None."""
    emulator = Emulator(board.logger("--acks", "--flush-rows", chance.choice((1, 1, 2, 5, 10, 20))))
    said = b""
    if chance.random() < 0.8:  # else perhaps while it starts
        while b"flushed" not in said and emulator.process.poll() is None:
            said += emulator.process.stdout.readline()
    time.sleep(chance.uniform(0, 0.05))
    try:
        if board.name not in CARDS:
            emulator.stop()
        emulator.kill()
    except (OSError, ValueError):
        pass  # it has just ended
    said = (said + emulator.process.communicate(timeout=30)[0]).decode()
    assert "status" not in said or "status ok" in said, said
    acks = re.findall(r"^flushed (\d+)$", said, re.MULTILINE)
    return emulator.process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), int(acks[-1]) if acks else None


def kill(options):
    kills = int(os.environ.get("H5MOTE_KILLS", options.kills))
    chance = random.Random(int(os.environ.get("H5MOTE_SEED", "1")))
    boards = [Board(options, *pair) for pair in options.boards]
    whole = flight_file.read_csv(FLIGHT)
    expected = {}

    def begin(board):
        board.log("--format", "--rows", 100)
        board.starts = 0
        expected[board.name] = whole[:100]

    for board in boards:
        begin(board)
    i = lost = acknowledged = idle = 0
    while i < kills and not (options.forgetful and lost):
        board = boards[i % len(boards)]
        if board.starts == 200 and board.counts_runs:  # each start begins a block, of 256 or more
            begin(board)
        before = expected[board.name]
        killed, last = kill_once(board, chance)
        i += killed
        if last is not None and board.counts_runs:
            last += len(before)
        rows, found = flight_file.rows_in(board.file(), closed=False)
        now = numpy.concatenate([before, whole[:max(rows - len(before), 0)]])
        # What came after the last acknowledgement may be there, but must be right.
        bad = found.tobytes() != now.tobytes() or rows < (last or len(before))
        lost += bad
        idle += last is None
        acknowledged += (last or len(before)) - len(before)
        if bad:
            print(f"kill {i} of {board.name}: {rows} rows, {last} were acknowledged, {len(before)} there before")
        expected[board.name] = found
        if i % 10 == 0 and not options.forgetful:
            board.check()
    # Somebody still has to write: kills that all come before the first row prove little.
    print(f"{acknowledged} rows acknowledged, {idle} kills before the first of a run")
    print(f"{i} kills, {lost} lost")
    assert options.forgetful or (acknowledged > kills and idle < kills // 2)
    assert (lost > 0) == options.forgetful


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("flight", "kill"))
    parser.add_argument("--h5mote")
    parser.add_argument("--recorder", action="store_true")
    parser.add_argument("--forgetful", action="store_true")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--figures")
    parser.add_argument("--size", default="arm-none-eabi-size")
    parser.add_argument("--arguments", type=int, default=0, help="bytes of the command line in the board's memory")
    parser.add_argument("run_board")
    parser.add_argument("boards", nargs="+")
    options = parser.parse_args()
    options.boards = list(zip(options.boards[::2], options.boards[1::2]))
    options.h5mote = options.h5mote or host_tool()
    with tempfile.TemporaryDirectory(prefix="boards_") as folder:
        before = os.getcwd()
        os.chdir(folder)
        os.symlink(FLIGHT, "flight.csv")
        os.symlink(RECORDING if RECORDING.exists() else FLIGHT, "whole.csv")
        try:
            {"flight": flight, "kill": kill}[options.what](options)
        finally:
            os.chdir(before)


main()
