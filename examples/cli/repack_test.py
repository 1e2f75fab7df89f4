#!/usr/bin/env python3
"""repack_test.py TOOL: what `h5mote repack` makes, and that it touches no other file. Whether the contents are copied is what
tests/corpus/repack.py tests."""

import os
import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

tool = shlex.split(sys.argv.pop(1))


class Repack(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def make(self, name, **options):
        with h5py.File(self.place / name, "w", **options) as file:
            file["values"] = numpy.arange(2000)

    def repack(self, *words, **options):
        done = subprocess.run([*tool, "repack", *map(str, words)], cwd=self.place, capture_output=True, text=True,
                              timeout=120, **options)
        return done.returncode, done.stderr

    def files(self):
        return {path.name: path.read_bytes() for path in self.place.iterdir() if path.is_file()}

    def refused(self, message, *words, lines=1, **options):
        """The call says so, and leaves all files as they are."""
        before = self.files()
        code, text = self.repack(*words, **options)
        self.assertEqual(code, 1, text)
        self.assertIn(message, text)
        self.assertEqual(text.count("\n"), lines, text)
        self.assertEqual(self.files(), before)

    def copied(self, *words, also=()):
        """The call succeeds; besides the files `also` all that were there are as before."""
        before = self.files()
        code, text = self.repack(*words)
        self.assertEqual((code, text), (0, ""))
        after = self.files()
        self.assertEqual({name: after.get(name) for name in before if name not in also},
                         {name: data for name, data in before.items() if name not in also})
        self.assertEqual(set(after) - set(before), set(also) - set(before))
        with self.read(words[-1]) as file:
            self.assertTrue((file["values"][...] == numpy.arange(2000)).all())

    def read(self, name):
        if "%" in name:
            return h5py.File(self.place / name, "r", driver="family", memb_size=4096)
        if not (self.place / name).exists():
            return h5py.File(self.place / name, "r", driver="split")
        return h5py.File(self.place / name, "r")

    def test_files_with_the_name_of_an_unfinished_one_stay(self):
        self.make("data.h5.part")
        self.copied("data.h5.part", "data.h5", also=["data.h5"])
        self.make("in.h5")
        (self.place / "res.h5.part").write_bytes(b"somebody's own")
        self.copied("in.h5", "res.h5", also=["res.h5"])
        self.make("fm0.part")
        members = [f"fm{i}" for i in range(5)]
        self.copied("--family", 4096, "fm0.part", "fm%d", also=members)
        self.make("q.part-m.h5")
        self.copied("--split", "q.part-m.h5", "q", also=["q-m.h5", "q-r.h5"])

    def test_the_input_is_not_replaced(self):
        self.make("in.h5")
        self.refused("in.h5: the file that is read", "in.h5", "in.h5")
        os.link(self.place / "in.h5", self.place / "same.h5")
        self.refused("same.h5: the file that is read", "in.h5", "same.h5")
        os.link(self.place / "in.h5", self.place / "x-r.h5")
        self.refused("x-r.h5: the file that is read", "--split", "in.h5", "x")
        # Also as a member of a longer family, which would be removed.
        for i in range(9):
            (self.place / f"y{i}").write_bytes(b"old")
        os.link(self.place / "in.h5", self.place / "y9")
        self.refused("y9: the file that is read", "--family", 4096, "in.h5", "y%d")
        self.make("fam%03d.h5", driver="family", memb_size=4096)
        self.refused("fam001.h5: the file that is read", "fam%03d.h5", "fam001.h5")
        self.make("theirs", driver="split")
        self.refused("theirs-r.h5: the file that is read", "theirs", "theirs-r.h5")

    def test_only_regular_files_are_replaced(self):
        self.make("in.h5")
        (self.place / "folder").mkdir()
        for special in ("pipe", "f2", "s-m.h5"):
            os.mkfifo(self.place / special)
        self.refused("folder: not a regular file", "in.h5", "folder")
        self.refused("pipe: not a regular file", "in.h5", "pipe")
        self.refused("f2: not a regular file", "--family", 4096, "in.h5", "f%d")
        self.refused("s-m.h5: not a regular file", "--split", "in.h5", "s")
        self.refused("none/x.h5.part", "in.h5", "none/x.h5")

    def test_links_are_followed(self):
        self.make("in.h5")
        (self.place / "target.h5").write_bytes(b"old")
        (self.place / "link.h5").symlink_to("target.h5")
        self.copied("in.h5", "link.h5", also=["target.h5", "link.h5"])
        self.assertTrue((self.place / "link.h5").is_symlink())
        (self.place / "dangling.h5").symlink_to("nothing.h5")
        self.refused("dangling.h5: a symbolic link, which is not followed", "in.h5", "dangling.h5")
        (self.place / "g1").symlink_to("target.h5")
        self.refused("g1: a symbolic link, which is not followed", "--family", 4096, "in.h5", "g%d")

    def make_as(self, name, create):
        """A file with that creation property list, whose user block, if it has one, says so."""
        file = h5py.File(h5py.h5f.create(str(self.place / name).encode(), h5py.h5f.ACC_TRUNC, create))
        file["values"] = numpy.arange(2000)
        file.close()
        with open(self.place / name, "r+b") as whole:
            whole.write((b"a user block " * 100000)[:create.get_userblock()])

    def facts(self, name):
        """The user block, and what else was said when the file was created."""
        with h5py.File(self.place / name, "r") as file:
            create = file.id.get_create_plist()
            strategy = create.get_file_space_strategy()
            facts = (create.get_userblock(), strategy, create.get_file_space_page_size(), create.get_sizes()[0])
        return (self.place / name).read_bytes()[:facts[0]], *facts[1:]

    def test_the_user_block_is_copied(self):
        for size in (512, 8192, 262144):
            create = h5py.h5p.create(h5py.h5p.FILE_CREATE)
            create.set_userblock(size)
            self.make_as("in.h5", create)
            (self.place / "out.h5").unlink(missing_ok=True)
            self.copied("in.h5", "out.h5", also=["out.h5"])
            self.assertEqual(len(self.facts("out.h5")[0]), size)
            self.assertEqual(self.facts("out.h5"), self.facts("in.h5"))
        for words, out in ((["--family", 4096], "fam%d"), (["--split"], "parts")):
            code, text = self.repack(*words, "in.h5", out)
            self.assertEqual(code, 0, text)
            self.assertIn(f"{out}: the user block of 262144 bytes is left out", text)
            with self.read(out) as file:
                self.assertEqual(file["values"][7], 7)

    def test_addresses_have_eight_bytes(self):
        """As with h5repack: not every reader knows others."""
        create = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        create.set_sizes(4, 4)
        self.make_as("in.h5", create)
        self.copied("in.h5", "out.h5", also=["out.h5"])
        with h5py.File(self.place / "out.h5", "r") as file:
            self.assertEqual(file.id.get_create_plist().get_sizes(), (8, 8))

    def test_properties_of_the_file_are_copied(self):
        makers = [lambda create: create.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_PAGE, True, 3),
                  lambda create: create.set_file_space_page_size(8192),
                  lambda create: create.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_FSM_AGGR, True, 17),
                  lambda create: create.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_AGGR, False, 1),
                  lambda create: create.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_NONE, False, 1)]
        usual = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        self.make_as("usual.h5", usual)
        for number, make in enumerate(makers):
            create = h5py.h5p.create(h5py.h5p.FILE_CREATE)
            make(create)
            create.set_userblock(16384)
            self.make_as("in.h5", create)
            for low in ("standard", "earliest", "v110", "latest"):
                with self.subTest(number=number, low=low):
                    (self.place / "out.h5").unlink(missing_ok=True)
                    bounds = () if low == "standard" else ("--low", low, "--high", "v110" if low != "latest" else low)
                    code, text = self.repack(*bounds, "in.h5", "out.h5")
                    self.assertEqual((code, text), (0, ""))
                    if low != "latest":
                        self.assertEqual(self.facts("out.h5"), self.facts("in.h5"))
                        self.assertNotEqual(self.facts("out.h5"), self.facts("usual.h5"))
                    check = subprocess.run([*tool, "check", "out.h5"], cwd=self.place, capture_output=True, text=True)
                    self.assertEqual(check.returncode, 0, check.stdout)
            code, text = self.repack("--high", "v18", "--low", "v18", "in.h5", "old.h5")
            self.assertEqual(code, 0, text)
            self.assertIn("old.h5: the file space strategy is left out: HDF5 1.8 has none", text)
            code, text = self.repack("--split", "in.h5", "parts")
            self.assertEqual(code, 0, text)
            self.assertIn("parts: the file space strategy is left out: a file in parts can have none", text)

    def test_errors_name_the_file_that_fails(self):
        self.make("in.h5")
        # The second line says where in the library that was.
        self.refused("out.h5: invalid_argument", "--low", "latest", "--high", "v18", "in.h5", "out.h5", lines=2)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))

        # Without restore_signals the limit is an error, no signal.
        self.refused("out.h5: no_space (File too large)", "in.h5", "out.h5", preexec_fn=limit, restore_signals=False)
        self.refused("none.h5: not_found", "none.h5", "out.h5")


if __name__ == "__main__":
    unittest.main()
