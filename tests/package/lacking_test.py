#!/usr/bin/env python3
"""lacking_test.py PROJECT COMPILER...: the compiler refuses what a build lacks, and names the option.

The public headers declare the same functions in every build. Each call below is compiled twice, with and without the
option that it needs.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path()
COMPILERS = []
HEADERS = ("h5mote.hpp", "check.hpp", "filters/deflate.hpp", "filters/szip.hpp")
# What a program does, and the option that it needs.
CALLS = {
    "Status f(Group& group, File& file) { return group.mount(\"/other\", file); }": "H5MOTE_ALL_FORMATS",
    "Status f(Group& group) { return group.unmount(\"/other\"); }": "H5MOTE_ALL_FORMATS",
    "Status f(File& file, CheckReporter& to) { return check_file(file, {}, to); }": "H5MOTE_ALL_FORMATS",
    "void f(Library& library) { library.set_conversions({}); }": "H5MOTE_CONVERSION",
}
SENTENCE = "this build of h5mote has {} 0 (see <h5mote/config.hpp>) and lacks this function"


def refusal(compiler, code, *options):
    """What the compiler says of the code; None if it compiles. An object file is made, because only then the compiler
    sees which calls are left."""
    text = "".join(f"#include <h5mote/{header}>\n" for header in HEADERS) + f"using namespace h5mote;\n{code}\n"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(text)
        result = subprocess.run(
            [compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{PROJECT / 'core/include'}", *options,
             "-c", source, "-o", source.with_suffix(".o")], capture_output=True, text=True, check=False)
    return result.stderr if result.returncode != 0 else None


class Lacking(unittest.TestCase):
    def test_calls(self):
        for compiler in COMPILERS:
            for code, option in CALLS.items():
                with self.subTest(compiler=compiler, code=code):
                    self.assertIsNone(refusal(compiler, code, "-DH5MOTE_PROFILE_FULL=1"))
                    self.assertIn(SENTENCE.format(option), refusal(compiler, code, "-DH5MOTE_PROFILE_LOGGER=1") or "")

    def test_what_a_logger_has(self):
        code = """Status f(Group& group, const Group& other, TypedDataset<int>& log) {
            (void)group.exists("/other");
            (void)group.create_group("new");
            H5MOTE_TRY(group.create_hard_link("one", other));
            H5MOTE_TRY(group.write_attribute("rate", 100));
            H5MOTE_TRY(log.append(1));
            int last = 0;
            H5MOTE_TRY(log.read(Selection::all(), Span<int>(&last, 1)));
            return group.unlink("one");
        }"""
        for compiler in COMPILERS:
            self.assertIsNone(refusal(compiler, code, "-DH5MOTE_PROFILE_LOGGER=1"))

    def test_filters(self):
        code = "const Filter* f(bool one) { return one ? static_cast<const Filter*>(&deflate_filter) : &szip_filter; }"
        for compiler in COMPILERS:
            self.assertIsNone(refusal(compiler, code))
            self.assertIn("FilterNotInThisBuild", refusal(compiler, code, "-DH5MOTE_FILTER_SZIP=0") or "")


if __name__ == "__main__":
    PROJECT = pathlib.Path(sys.argv[1])
    COMPILERS = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
