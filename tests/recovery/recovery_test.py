#!/usr/bin/env python3
"""recovery_test.py TOOL MAKE_STORAGES [--emulator=COMMAND]

Tests h5mote recover, extract and flash-stat on journals and dumps of flash chips, which make_storages makes: whole
ones, ones cut by a power failure, damaged ones, and foreign ones. h5py reads the recovered files, value by value."""

import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py

OPTIONS = None


def run(program, *words):
    command = OPTIONS.emulator.split() + [program] + [str(word) for word in words]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def tool(*words):
    return run(OPTIONS.tool, *words)


def damage(data, chance):
    """A copy of the data in which some bytes are changed, and sometimes a range is wiped."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 3, 10, 100, 1000])):
        data[chance.randrange(len(data))] = chance.choice([0, 255, chance.randrange(256)])
    if chance.random() < 0.3:
        start = chance.randrange(len(data))
        size = min(chance.choice([512, 4096, 20000]), len(data) - start)
        data[start : start + size] = bytes([chance.choice([0, 255])]) * size
    return bytes(data)


class Recovery(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def make(self, *words):
        """Runs make_storages and returns the number of rows that were acknowledged."""
        done = run(OPTIONS.make_storages, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout.split()[1])

    def expect(self, done, code, *texts):
        everything = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, everything)
        for text in texts:
            self.assertRegex(everything, text)

    def check_rows(self, path, least, most):
        with h5py.File(path, "r") as file:
            rows = file["log"][...]
        self.assertGreaterEqual(len(rows), least)
        self.assertLessEqual(len(rows), most)
        for i, row in enumerate(rows):
            self.assertEqual((row["index"], row["triple"], row["quarter"]), (i, 3 * i, i / 4), f"row {i}")

    def left(self):
        return sorted(path.name for path in self.folder.iterdir())


class Recover(Recovery):
    def journal(self, rows=333, flush=10, name="a.h5"):
        path = self.folder / name
        return path, self.make("journal", path, rows, flush)

    def test_replays(self):
        path, acknowledged = self.journal()
        self.assertEqual(acknowledged, 330)
        before = path.read_bytes()
        self.expect(tool("recover", "--look", path), 0, r"\d+ transactions, \d+ records, \d+ bytes of journal to be")
        self.assertEqual(path.read_bytes(), before)
        self.assertRegex(tool("ls", path).stderr, r"a\.h5-journal has \d+ transactions that are not in the file")
        self.expect(tool("recover", path), 0, r"a\.h5: \d+ transactions, .* replayed: \d+ bytes\n$")
        self.check_rows(path, 330, 330)
        self.expect(tool("check", path), 0)
        self.assertEqual(tool("ls", path).stderr, "")
        self.expect(tool("recover", path), 0, "nothing to replay")
        self.assertEqual(self.left(), ["a.h5", "a.h5-journal"])

    def test_journal_of_another_name(self):
        path, _ = self.journal()
        shutil.move(self.folder / "a.h5-journal", self.folder / "elsewhere")
        self.expect(tool("recover", path), 0, "there is no journal")
        self.expect(tool("recover", path, self.folder / "nowhere"), 1, "not_found")
        self.expect(tool("recover", path, self.folder / "elsewhere"), 0, "replayed")
        self.check_rows(path, 330, 330)

    def test_card(self):
        for rows in (40, 333, 3000):
            path = self.folder / "card"
            acknowledged = self.make("card", path, rows, 10)
            self.expect(tool("recover", "--raw", "-n", path), 0)
            self.assertEqual(path.stat().st_size, 448 * 1024)
            self.expect(tool("recover", "--raw", path), 0)
            self.assertLess(path.stat().st_size, 100000)
            self.check_rows(path, acknowledged, rows)
            self.expect(tool("check", path), 0)

    def test_torn_journal(self):
        path, _ = self.journal()
        log = self.folder / "a.h5-journal"
        data = bytearray(log.read_bytes())
        used = len(bytes(data).rstrip(b"\0"))
        data[used - 30] ^= 1  # a byte of the last transaction
        log.write_bytes(data)
        self.expect(tool("recover", path), 0, "replayed")
        self.check_rows(path, 320, 320)

    def test_any_damage(self):
        """A damaged journal is refused, or replayed up to the damage: the file is sound in any case."""
        chance = random.Random(1)
        path, _ = self.journal(rows=3000)
        log = self.folder / "a.h5-journal"
        home, journal = path.read_bytes(), log.read_bytes()
        refused = 0
        for i in range(60):
            path.write_bytes(home)
            log.write_bytes(damage(journal, chance))
            done = tool("recover", path)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            if done.returncode != 0:
                refused += 1
                self.assertEqual(path.read_bytes(), home)
            else:
                self.expect(tool("check", path), 0)
        self.assertLess(refused, 60)

    def test_bad_input(self):
        path, _ = self.journal()
        other, _ = self.journal(rows=50, name="b.h5")
        self.expect(tool("recover", other), 0)
        kept = other.read_bytes()
        log = self.folder / "a.h5-journal"
        journal = log.read_bytes()
        for done in (tool("recover", other, log), tool("recover", "-n", other, log)):
            self.expect(done, 1, r"belongs to another file.*\(invalid_argument\)")
        self.expect(tool("recover", path, other), 1, r"is not a journal \(corrupt_file\)")
        self.expect(tool("recover", other, other), 1)
        self.assertEqual(other.read_bytes(), kept)
        self.assertEqual(log.read_bytes(), journal)
        damaged = bytearray(journal)
        damaged[20] ^= 1
        damaged[532] ^= 1
        log.write_bytes(damaged)
        self.expect(tool("recover", path), 1, r"beginning is damaged \(corrupt_file\)")
        log.write_bytes(b"")
        self.expect(tool("recover", path), 0, "nothing to replay")
        self.expect(tool("recover", self.folder / "none.h5"), 1, "not_found")
        self.expect(tool("recover"), 1)


class Extract(Recovery):
    KINDS = ("nor", "onchip", "nand")

    def extract(self, dump, *options):
        return tool("extract", dump, self.folder / "out.h5", *options)

    def test_whole(self):
        for kind in self.KINDS:
            with self.subTest(kind):
                dump = self.folder / "chip.bin"
                acknowledged = self.make("flash", dump, 2000, 50, kind, 0)
                self.assertEqual(acknowledged, 2000)
                before = dump.read_bytes()
                self.expect(self.extract(dump), 0, r"out\.h5: \d+ bytes from \d+ blocks of \d+ bytes\n$")
                self.check_rows(self.folder / "out.h5", 2000, 2000)
                self.expect(tool("check", self.folder / "out.h5"), 0)
                self.assertEqual(dump.read_bytes(), before)
                self.assertEqual(self.left(), ["chip.bin", "out.h5"])

    def test_after_a_cut(self):
        for kind in self.KINDS:
            for cut in (3, 20, 77, 150):
                with self.subTest(f"{kind} {cut}"):
                    dump = self.folder / "chip.bin"
                    acknowledged = self.make("flash", dump, 5000, 5, kind, cut)
                    self.assertLess(acknowledged, 5000)
                    self.expect(self.extract(dump), 0)
                    self.check_rows(self.folder / "out.h5", acknowledged, acknowledged + 5)

    def test_part_of_a_larger_chip(self):
        dump = self.folder / "chip.bin"
        self.make("flash", dump, 200, 50, "nor", 0)
        data = dump.read_bytes()
        dump.write_bytes(b"\x5a" * 65536 + data + b"\xff" * 5000)
        self.expect(self.extract(dump, "--offset", "64K"), 0)
        self.check_rows(self.folder / "out.h5", 200, 200)
        self.expect(self.extract(dump, "--offset", "64K", "--block-size", "4K"), 0)
        self.expect(self.extract(dump, "--offset", "64K", "--block-size", "8K"), 1, "holds nothing")
        self.expect(self.extract(dump), 1)

    def test_bad_input(self):
        dump = self.folder / "chip.bin"
        self.make("flash", dump, 0, 1, "nor", 0)
        self.expect(self.extract(dump), 1, r"is blank.*\(not_found\)")
        self.make("flash", dump, 500, 50, "nor", 0)
        data = dump.read_bytes()
        dump.write_bytes(data[: len(data) // 2 + 100])
        self.expect(self.extract(dump), 1, r"is truncated: \d+ of \d+ bytes")
        dump.write_bytes(bytes(i * i % 251 for i in range(100000)))
        self.expect(self.extract(dump), 1, r"holds nothing of the flash driver \(corrupt_file\)")
        dump.write_bytes(b"")
        self.expect(self.extract(dump), 1)
        self.expect(self.extract(self.folder / "none.bin"), 1, "No such file")
        self.expect(tool("extract", dump, dump), 1, "the file that is read")
        self.assertEqual(self.left(), ["chip.bin"])
        dump.write_bytes(data)
        self.expect(tool("extract", dump, self.folder / "no" / "out.h5"), 1, "No such file")
        self.assertEqual(self.left(), ["chip.bin"])

    def test_any_damage(self):
        """Whatever is damaged: the exit code is 0 only when the extracted file is sound."""
        chance = random.Random(1)
        dump = self.folder / "chip.bin"
        codes = {0: 0, 1: 0, 2: 0}
        for kind in self.KINDS:
            self.make("flash", dump, 3000, 20, kind, chance.choice([0, 50, 120]))
            data = dump.read_bytes()
            for _ in range(25):
                dump.write_bytes(damage(data, chance))
                done = self.extract(dump)
                self.assertIn(done.returncode, codes, done.stderr)
                codes[done.returncode] += 1
                if done.returncode == 0:
                    self.expect(tool("check", self.folder / "out.h5"), 0)
                self.assertIn(tool("flash-stat", dump).returncode, (0, 1))
        self.assertGreater(codes[0], 5)
        self.assertGreater(codes[2], 5)

    def test_damage(self):
        dump = self.folder / "chip.bin"
        self.make("flash", dump, 2000, 50, "nor", 0)
        data = bytearray(dump.read_bytes())
        whole = self.folder / "whole.h5"
        self.expect(tool("extract", dump, whole), 0)
        at = data.find(whole.read_bytes()[12000:12020])
        self.assertGreater(at, 0)
        data[at] ^= 0x10
        dump.write_bytes(data)
        self.expect(self.extract(dump), 2, r"bytes \d+ to \d+ of the file are damaged", r"; \d+ bytes are damaged")
        expected = whole.read_bytes()
        found = (self.folder / "out.h5").read_bytes()
        self.assertEqual(len(found), len(expected))
        differ = [i for i in range(len(found)) if found[i] != expected[i]]
        self.assertLess(len(differ), 4096)
        self.assertTrue(all(found[i] == 0 for i in differ))


class FlashStat(Recovery):
    def test_figures(self):
        for kind in Extract.KINDS:
            with self.subTest(kind):
                dump = self.folder / "chip.bin"
                self.make("flash", dump, 4000, 20, kind, 0)
                done = tool("flash-stat", dump)
                self.expect(done, 0, r"Device: \d+ blocks", r"File: \d+ bytes", r"Blocks: \d+ used, \d+ free, 0 bad",
                            r"Pages: \d+ live, \d+ dead", r"write amplification [1-9]\d*\.\d\d", r"Mount: \d+ reads")
                fewest, most, spread = map(int, re.search(r"Erases of a block: (\d+) to (\d+), spread (\d+)",
                                                          done.stdout).groups())
                self.assertEqual(most - fewest, spread)
                self.assertLessEqual(spread, 2)
                blocks = int(re.search(r"Device: (\d+)", done.stdout).group(1))
                used, free = map(int, re.search(r"Blocks: (\d+) used, (\d+) free", done.stdout).groups())
                self.assertEqual(used + free, blocks)
                lines = tool("flash-stat", "--blocks", dump).stdout.splitlines()
                self.assertEqual(sum(bool(re.match(r" +\d+  (free|used|bad) ", line)) for line in lines), blocks)

    def test_bad_input(self):
        dump = self.folder / "chip.bin"
        dump.write_bytes(b"\xff" * 8192)
        self.expect(tool("flash-stat", dump), 1, "is blank")
        self.expect(tool("flash-stat", self.folder / "none"), 1)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("make_storages")
    parser.add_argument("--emulator", default="")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
