#!/usr/bin/env python3
"""Compares `h5mote dump` with h5dump 1.10, byte for byte, for files of every kind and for the corpus if there is one.

dump_test.py H5MOTE H5DUMP [--corpus DIRECTORY] [--keep DIRECTORY] [--memory SIZE] [--emulator COMMAND]
"""

import argparse
import difflib
import os
import subprocess
import sys
import tempfile

import dump_test_files

ALL = [[], ["-H"], ["-p"], ["-A"], ["-A", "0"], ["-B"], ["-i"], ["-r"], ["-e"], ["-y"], ["-w", "40"], ["-w", "0"],
       ["-n"], ["-n", "1"], ["-m", "%.3f"], ["-q", "creation_order"], ["-z", "descending"], ["-p", "-H", "-w", "120"]]
SINGLE = {
    "numbers.h5": [["-d", "/table", "-s", "3,5", "-c", "4,7"], ["-d", "/table[0,0;2,3;5,4;1,2]"],
                   ["-d", "/cube", "-s", "1,1,2", "-S", "2,3,4", "-c", "2,2,5", "-k", "1,2,3"],
                   ["-d", "/cube", "-c", "2,3,31"], ["-d", "/i4le", "-s", "10", "-c", "30"], ["-d", "/none"],
                   ["-d", "/i4le[1;2;3;1]", "-d", "/f4be"], ["-d", "/u2le", "-M", "0,3,5,9"],
                   ["-r", "-d", "/text8"], ["-r", "-y", "-d", "/text8"], ["-e", "-r", "-d", "/text8", "-w", "60"],
                   ["-y", "-d", "/cube", "-s", "0,0,0", "-c", "1,2,31"]],
    "links.h5": [["-g", "/a group"], ["-g", "/none"], ["-l", "/soft"], ["-l", "/external"], ["-l", "/none"],
                 ["-t", "/type"], ["-t", "/none"], ["-N", "same data"], ["-N", "/type"], ["-N", "unit"], ["-N", "/soft"],
                 ["-g", "/a group", "-d", "/same data"], ["-d", "/same data", "-d", "/a group/same data"],
                 ["-a", "/type/unit"], ["-a", "/a group/typed"], ["-a", "/none/x"], ["-a", "/type/none"]],
    "attributes.h5": [["-a", "number"], ["-a", "/data/unit"], ["-a", "/data/a\\/b"], ["-N", "unit"],
                      ["-g", "/many", "-A"]],
    "references.h5": [["-d", "/refs/regions"], ["-g", "/refs", "-H"]],
}


def run(command, place):
    # Standard output and exit codes are compared, but not standard error: the messages differ.
    done = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


class Comparison:
    def __init__(self, arguments):
        self.arguments = arguments
        self.tried = 0
        self.same = 0
        self.too_large = 0

    def compare(self, place, name, options, accepted=(0, 1)):
        expected = run([self.arguments.h5dump, *options, name], place)
        if expected[0] not in accepted:
            return  # h5dump crashed, or lacks a filter that h5mote has
        if b"H5T_REFERENCE { UNDEFINED }" in expected[1]:
            return  # revised references, which h5dump 1.10 does not know: tests/corpus/compare_new.py
        command = [*self.arguments.emulator, self.arguments.h5mote, "dump"]
        if self.arguments.memory:
            command += ["--memory", self.arguments.memory]
        found = run([*command, *options, name], place)
        self.tried += 1
        if found[:2] == expected[:2]:
            self.same += 1
            return
        # A name (up to 64 KiB) or a chunk may be larger than the whole arena.
        if self.arguments.memory and any(word in found[2] for word in (b"out_of_memory", b"over_budget")):
            print(f"too large: {os.path.join(place, name)} {' '.join(options)}")
            self.tried -= 1
            self.too_large += 1
            return
        print(f"DIFFERENT: {os.path.join(place, name)} {' '.join(options)}: exit code {found[0]}, not {expected[0]}")
        texts = [text.decode("utf-8", "replace").splitlines() for text in (expected[1], found[1])]
        for line in list(difflib.unified_diff(*texts, "h5dump", "h5mote", lineterm="", n=2))[:25]:
            print("   ", line[:150])
        print("   ", found[2].decode("utf-8", "replace")[:300].replace("\n", "\n    "))


def corpus_files(directory):
    for place, _, names in sorted(os.walk(directory)):
        for name in sorted(names):
            # tlayouto.h5 has a dataset so large that printing it never ends.
            if name.endswith((".h5", ".nc")) and name != "tlayouto.h5" and "cve" not in place:
                yield place, name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("h5mote")
    parser.add_argument("h5dump")
    parser.add_argument("--corpus")
    parser.add_argument("--keep")
    parser.add_argument("--memory")
    parser.add_argument("--emulator", default="", type=lambda text: text.replace(";", " ").split())
    parser.add_argument("--option-sets", type=int, default=len(ALL), help="only so many of them")
    arguments = parser.parse_args()
    version = run([arguments.h5dump, "--version"], ".")[1].decode()
    if "1.10." not in version:
        print(f"needs h5dump 1.10, this is {version.strip()}")
        return 77
    comparison = Comparison(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        for place, name in dump_test_files.make(arguments.keep or temporary):
            for options in ALL[:arguments.option_sets] + SINGLE.get(name, []):
                comparison.compare(place, name, options)
    if arguments.corpus and os.path.isdir(arguments.corpus):
        for place, name in corpus_files(arguments.corpus):
            comparison.compare(place, name, [], accepted=(0,))
            comparison.compare(place, name, ["-p"], accepted=(0,))
    print(f"{comparison.same} of {comparison.tried} identical, {comparison.too_large} larger than the memory")
    return 0 if comparison.same == comparison.tried > 100 and comparison.too_large <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
