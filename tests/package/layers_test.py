"""layers_test.py COMPILE_COMMANDS: a folder sees the headers of the layers below it, but cannot include those above."""

import json
import pathlib
import shlex
import subprocess
import sys
import unittest

commands = []


def compiles(source, header):
    """Whether the source file still compiles in its own folder's target if it also includes the header."""
    # Some tests compile the library's sources once more, in a target in a folder of tests, which sees all headers.
    own = f"-o {source.rpartition('/')[0]}/CMakeFiles/"
    entry = next(item for item in commands if item["file"].endswith(source) and own in item["command"])
    words = shlex.split(entry["command"])
    at = words.index("-o")
    del words[at : at + 2]
    result = subprocess.run(
        [*words, "-fsyntax-only", "-include", header], cwd=entry["directory"], capture_output=True, text=True
    )
    if result.returncode != 0 and f"{header}: No such file or directory" not in result.stderr:
        raise AssertionError(result.stderr)
    return result.returncode == 0


class Layers(unittest.TestCase):
    def test_downwards_is_seen(self):
        self.assertTrue(compiles("core/base/cursor.cpp", "cursor.hpp"))
        self.assertTrue(compiles("core/format/superblock.cpp", "cursor.hpp"))
        self.assertTrue(compiles("filters/shuffle/shuffle.cpp", "checked.hpp"))

    def test_upwards_is_not(self):
        self.assertFalse(compiles("core/base/cursor.cpp", "superblock.hpp"))
        self.assertFalse(compiles("core/format/superblock.cpp", "metadata_cache.hpp"))
        self.assertFalse(compiles("filters/shuffle/shuffle.cpp", "superblock.hpp"))
        self.assertFalse(compiles("vfd/memory/memory_driver.cpp", "metadata_cache.hpp"))


if __name__ == "__main__":
    commands += json.loads(pathlib.Path(sys.argv.pop(1)).read_text())
    unittest.main()
