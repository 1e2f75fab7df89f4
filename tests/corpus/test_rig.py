#!/usr/bin/python3
"""test_rig.py FOLDER: tests compare.py itself with a folder of HDF5 files. With h5dump in the place of h5mote, all
output must be identical. Each deliberate change to the output, and each wrong entry in a list of differences, must be
found."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))

SHIM = """#!/bin/sh
command=$1; shift
memory=none
if [ "$1" = --memory ]; then memory=$2; shift 2; fi
%s
exec h5$command "$@"
"""


class Rig(unittest.TestCase):
    folder = None

    def setUp(self):
        self.out = tempfile.TemporaryDirectory()
        self.addCleanup(self.out.cleanup)

    def compare(self, change="", sets="default,p", differences="", more=()):
        """Runs compare.py with a tool that is h5dump, changed by a piece of shell script. Returns its exit code and
        report."""
        tool = os.path.join(self.out.name, "tool")
        with open(tool, "w") as file:
            file.write(SHIM % change)
        os.chmod(tool, 0o755)
        listed = os.path.join(self.out.name, "differences.list")
        with open(listed, "w") as file:
            file.write(differences)
        command = [os.path.join(HERE, "compare.py"), "--tool", tool, "--out", os.path.join(self.out.name, "out"),
                   "--made", self.folder, "--corpus", "/nonexistent", "--sets", sets, "--differences", listed,
                   "--filter", "made/groups-*", *more]
        done = subprocess.run([sys.executable] + command, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_accepts_what_is_equal(self):
        code, text = self.compare(sets="default,H,n,objects,ls-rv,stat", more=["--memory", "all,64K"])
        self.assertEqual(code, 0, text)
        self.assertIn("64K", text)
        for line in text.splitlines():
            words = line.split()
            at = words.index("of")
            self.assertEqual(words[at - 1], words[at + 1], line)
            self.assertGreater(int(words[at + 1]), 0, line)

    def test_finds_a_changed_byte(self):
        code, text = self.compare('"h5$command" "$@" | sed "s/HDF5/HDF4/"; exit 0')
        self.assertEqual(code, 1, text)
        self.assertIn("made/groups-old.h5 | p | line 1: ", text)

    def test_finds_a_missing_last_newline(self):
        code, text = self.compare('text=$("h5$command" "$@"); printf %s "$text"; exit 0')
        self.assertEqual(code, 1, text)

    def test_finds_another_exit_code(self):
        code, text = self.compare('"h5$command" "$@"; exit 1')
        self.assertEqual(code, 1, text)
        self.assertIn("exit code (exit 0, ours 1)", text)

    def test_finds_a_crash(self):
        code, text = self.compare('"h5$command" "$@"; kill -SEGV $$')
        self.assertEqual(code, 1, text)
        self.assertIn("ours None", text)

    def test_passes_the_arena_on(self):
        change = 'if [ $memory = 64K ]; then echo wrong; fi'
        code, text = self.compare(change, more=["--memory", "64K"])
        self.assertEqual(code, 1, text)
        code, text = self.compare(change, more=["--memory", "all"])
        self.assertEqual(code, 0, text)

    def test_explained_differences(self):
        change = 'case "$*" in *-p*groups-old.h5) echo wrong;; esac'
        code, text = self.compare(change)
        self.assertEqual(code, 1, text)
        code, text = self.compare(change, differences="made/groups-old.h5 | p | because\n")
        self.assertEqual(code, 0, text)
        self.assertIn("1 differences explained", text)
        code, text = self.compare(change, differences="made/*-old.h5 | * | because\n")
        self.assertEqual(code, 0, text)
        # An entry for another file, for other options, or for runs with an arena does not explain the difference.
        for entry in ("made/groups-new.h5 | p", "made/groups-old.h5 | default", "made/groups-old.h5 | p @64K"):
            self.assertEqual(self.compare(change, differences=entry + " | because\n")[0], 1)

    def test_explained_but_no_longer_different(self):
        code, text = self.compare(differences="# comment\n\nmade/groups-old.h5 | p | because\n")
        self.assertEqual(code, 1, text)
        self.assertIn("differences.list:3", text)
        # An entry for a case that did not run is no error.
        code, text = self.compare(differences="hdf5-tools/tattr2.h5 | p | because\n")
        self.assertEqual(code, 0, text)

    def test_a_command_that_is_not_there(self):
        change = 'if [ $command = ls ]; then exit 1; fi'
        self.assertEqual(self.compare(change, sets="ls", more=["--optional", "ls"])[0], 77)
        self.assertEqual(self.compare(change, sets="ls")[0], 1)

    def test_too_few(self):
        self.assertEqual(self.compare(more=["--floor", "100000"])[0], 2)
        self.assertEqual(self.compare(more=["--filter", "nothing"])[0], 2)


if __name__ == "__main__":
    Rig.folder = os.path.abspath(sys.argv.pop(1))
    unittest.main()
